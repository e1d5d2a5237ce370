// How well energy is predicted: as a table, JSON, CSV, and the distribution of errors as a picture.
#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <span>

#include <fmt/format.h>

#include "base/text.h"
#include "views/csv_table.h"
#include "views/energy_use.h"
#include "views/learned.h"
#include "views/text_page.h"
#include "views/writers.h"

namespace beryl::views {
namespace {

constexpr const char* kSchema = "beryl.evaluate/2";
constexpr int kErrorWidth = 14;

std::string TitleOf(const Evaluation& evaluation) {
  const std::string how = ProtocolText(evaluation);
  if (evaluation.method == Method::kDescribe) {
    return fmt::format("describe, from descriptions alone: {}", how);
  }
  return fmt::format("{} with {} features: {}", MethodName(evaluation.method),
                     FeatureSetName(evaluation.feature_set), how);
}

class EvaluationTable : public TextPage {
 public:
  EvaluationTable(const Evaluation& evaluation, const ViewOptions& options)
      : TextPage(options), evaluation_(evaluation) {}

  std::string Write() {
    Paragraph(Bold(TitleOf(evaluation_)));
    Line();
    Errors();
    Operations();
    Intervals();
    Laws();
    Notes(evaluation_.notes);
    Foot("mean absolute percentage error of energy" + SeedsText(), evaluation_.provenance);
    return Take();
  }

 private:
  std::string SeedsText() const {
    if (!IsSeeded(evaluation_.method)) return "";
    return fmt::format("; mean of {} seed{}", evaluation_.seeds.size(),
                       evaluation_.seeds.size() == 1 ? "" : "s");
  }

  // Folds of one machine mostly read the same.
  void Laws() {
    const auto& laws = evaluation_.laws;
    const bool same =
        std::adjacent_find(laws.begin(), laws.end(), std::not_equal_to<>()) == laws.end();
    for (const std::string& law : laws) {
      Paragraph("energy = " + law);
      if (same) break;
    }
    if (!laws.empty()) Line();
  }

  void Errors() {
    std::set<std::string> models;
    for (const LevelErrors& level : evaluation_.levels) {
      for (const auto& [model, error] : level.by_model) models.insert(model);
    }
    const int name = std::min(36, Widest(models, 14, [](const auto& model) { return model; })) + 2;
    std::string head = Padded(evaluation_.test_data.empty() ? "left out" : "tested", name);
    for (const Level level : kDataLevels) head += RightAligned(LevelName(level), kErrorWidth);
    Line(Dim(head));
    for (const std::string& model : models) {
      std::string line = NameCell(model, name, 2);
      for (const LevelErrors& level : evaluation_.levels) {
        const auto at = level.by_model.find(model);
        line += RightAligned(at == level.by_model.end() ? "-" : ErrorText(at->second), kErrorWidth);
      }
      Line(line);
    }
    auto total = [&](std::string_view what, auto&& value) {
      std::string line = Padded(what, name);
      for (const LevelErrors& level : evaluation_.levels) {
        line += RightAligned(value(level), kErrorWidth);
      }
      return line;
    };
    const auto percentile = [](size_t percent) {
      return [percent](const LevelErrors& level) {
        return level.cdf.empty() ? std::string("-") : ErrorText(level.cdf[percent]);
      };
    };
    Line(Bold(total("mean of models", [](const auto& of) { return ErrorText(of.mape_models); })));
    if (evaluation_.seeds.size() > 1) {
      Line(Dim(total("  over seeds", [](const LevelErrors& level) {
        return std::isfinite(level.range[0])
                   ? fmt::format("{:.3g} to {:.3g}", level.range[0], level.range[1])
                   : std::string("-");
      })));
    }
    Line(total("mean of nodes", [](const auto& of) { return ErrorText(of.mape_nodes); }));
    Line(Dim(total("  nodes", [](const auto& of) { return FormatCount(of.nodes); })));
    Line(Dim(total("  half are below", percentile(50))));
    Line(Dim(total("  99 % are below", percentile(99))));
    Line();
  }

  void Operations() {
    if (evaluation_.by_operation.empty()) return;
    std::string text = "by ML primitive: ";
    for (const auto& [type, error] : evaluation_.by_operation) {
      text += fmt::format("{}{} {}", text.back() == ' ' ? "" : ", ", type, ErrorText(error));
    }
    Paragraph(text);
  }

  void Intervals() {
    std::string text;
    for (size_t level = 0; level < kDataLevels.size(); ++level) {
      const LevelErrors& errors = evaluation_.levels[level];
      if (std::isnan(errors.coverage)) continue;
      text += fmt::format("{}{} {} of nodes, {:.3g} % wide", text.empty() ? "" : "; ",
                          LevelName(kDataLevels[level]), FormatPercent(errors.coverage),
                          errors.mean_width_pct);
    }
    Paragraph(text.empty()
                  ? "intervals: none, too few models to calibrate them on"
                  : fmt::format("{:.0f} % intervals hold: {}", 100 * evaluation_.nominal, text));
    Line();
  }

  const Evaluation& evaluation_;
};

void WriteEvaluation(JsonWriter& json, const Evaluation& evaluation) {
  json.Member("method", MethodName(evaluation.method));
  json.Member("features", FeatureSetName(evaluation.feature_set));
  json.Member("protocol", evaluation.protocol);
  json.Member("data", evaluation.train_data);
  if (!evaluation.test_data.empty()) json.Member("test_data", evaluation.test_data);
  json.Key("levels").BeginObject();
  for (size_t level = 0; level < kDataLevels.size(); ++level) {
    const LevelErrors& errors = evaluation.levels[level];
    json.Key(LevelName(kDataLevels[level])).BeginObject();
    json.Member("mape_nodes", errors.mape_nodes);
    json.Member("mape_models", errors.mape_models);
    json.Member("range_over_seeds", errors.range);
    json.Members("by_model", errors.by_model);
    json.Member("nodes", errors.nodes);
    json.Member("unpredicted", errors.unpredicted);
    json.Member("error_percentiles", errors.cdf);
    json.End();
  }
  json.End();
  json.Members("by_operation", evaluation.by_operation);
  json.Key("intervals").BeginObject().Member("nominal", evaluation.nominal);
  WriteLevels(json, "coverage",
              {evaluation.levels[0].coverage, evaluation.levels[1].coverage,
               evaluation.levels[2].coverage});
  WriteLevels(json, "mean_width_pct",
              {evaluation.levels[0].mean_width_pct, evaluation.levels[1].mean_width_pct,
               evaluation.levels[2].mean_width_pct});
  json.End();
  json.Objects("seeds", evaluation.seeds, [&](const Evaluation::Seed& seed) {
    json.Member("seed", seed.seed);
    WriteLevels(json, "mape_nodes", seed.mape_nodes);
    WriteLevels(json, "mape_models", seed.mape_models);
  });
  if (!evaluation.laws.empty()) {
    json.Member("laws", evaluation.laws);
  }
  json.Member("seconds", evaluation.duration);
}

std::string Json(const Evaluation& evaluation) {
  JsonWriter json;
  BeginResult(json, kSchema, evaluation.provenance);
  WriteEvaluation(json, evaluation);
  WriteNotes(json, evaluation.notes);
  json.Member("tool", ToolText(evaluation.provenance));
  return EndResult(json);
}

std::string Csv(std::span<const Evaluation> evaluations, const Provenance& provenance) {
  CsvTable csv(kSchema, provenance,
               "method,features,level,model,mape_nodes,mape_models,nodes,coverage,mean_width_pct");
  for (const Evaluation& evaluation : evaluations) {
    const std::string_view method = MethodName(evaluation.method);
    const std::string_view features = FeatureSetName(evaluation.feature_set);
    for (size_t level = 0; level < kDataLevels.size(); ++level) {
      const LevelErrors& errors = evaluation.levels[level];
      const std::string_view name = LevelName(kDataLevels[level]);
      csv.Row(method, features, name, "", errors.mape_nodes, errors.mape_models, errors.nodes,
              errors.coverage, errors.mean_width_pct);
      for (const auto& [model, error] : errors.by_model) {
        csv.Row(method, features, name, model, error, "", "", "", "");
      }
    }
  }
  return csv.Take();
}

// Tables 8 and 9 of IrEne's paper: a line for each method and set of features.
std::string Table(const Ablation& ablation, const ViewOptions& options) {
  TextPage page(options);
  if (ablation.evaluations.empty()) return "";
  page.Paragraph(
      page.Bold("every model by the others of " + ablation.evaluations.front().train_data));
  page.Line();
  std::string head = Padded("method", 14) + Padded("features", 10);
  for (const Level level : kDataLevels) {
    head += RightAligned(LevelName(level), 11) + RightAligned("of nodes", 11);
  }
  page.Line(page.Dim(head));
  size_t most_seeds = 0;
  for (const Evaluation& evaluation : ablation.evaluations) {
    most_seeds = std::max(most_seeds, evaluation.seeds.size());
    std::string line = Padded(MethodName(evaluation.method), 14) +
                       Padded(FeatureSetName(evaluation.feature_set), 10);
    for (const LevelErrors& level : evaluation.levels) {
      line += RightAligned(ErrorText(level.mape_models), 11) +
              RightAligned(ErrorText(level.mape_nodes), 11);
    }
    page.Line(line);
  }
  page.Line();
  page.Notes(ablation.notes);
  page.Foot(fmt::format("mean absolute percentage error of energy: mean of models, and of nodes; "
                        "seeded methods are the mean of {} seed(s)",
                        most_seeds),
            ablation.provenance);
  return page.Take();
}

}  // namespace

std::string ProtocolText(const Evaluation& evaluation) {
  return evaluation.test_data.empty()
             ? fmt::format("every model by the others of {}", evaluation.train_data)
             : fmt::format("trained on {}, tested on {}", evaluation.train_data,
                           evaluation.test_data);
}

std::string Write(const Evaluation& evaluation, Format format, const ViewOptions& options) {
  if (format == Format::kJson) return Json(evaluation);
  if (format == Format::kCsv) return Csv({&evaluation, 1}, evaluation.provenance);
  if (format == Format::kSvg) return DrawErrors(evaluation);
  return EvaluationTable(evaluation, options).Write();
}

std::string Write(const Ablation& ablation, Format format, const ViewOptions& options) {
  if (format == Format::kCsv) return Csv(ablation.evaluations, ablation.provenance);
  if (format != Format::kJson) return Table(ablation, options);
  JsonWriter json;
  BeginResult(json, "beryl.ablation/2", ablation.provenance);
  json.Objects("evaluations", ablation.evaluations,
               [&](const Evaluation& evaluation) { WriteEvaluation(json, evaluation); });
  WriteNotes(json, ablation.notes);
  json.Member("tool", ToolText(ablation.provenance));
  return EndResult(json);
}

}  // namespace beryl::views
