// How well energy is predicted: as a table, JSON, CSV, and the distribution of errors as a picture.
#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include <fmt/format.h>

#include "base/text.h"
#include "views/energy_use.h"
#include "views/evaluation_svg.h"
#include "views/learned.h"
#include "views/text_page.h"
#include "views/writers.h"

namespace beryl::views {
namespace {

constexpr int kErrorWidth = 14;

std::string TitleOf(const Evaluation& evaluation) {
  const std::string how =
      evaluation.test_data.empty()
          ? fmt::format("every model by the others of {}", evaluation.train_data)
          : fmt::format("trained on {}, tested on {}", evaluation.train_data, evaluation.test_data);
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
    for (const DataFinding& finding : evaluation_.findings) {
      Paragraph("note: " + FindingText(finding), 0, kWarningStyle);
    }
    Paragraph(fmt::format("mean absolute percentage error of energy; {}{}", SeedsText(),
                          evaluation_.tool),
              0, kDimStyle);
    return Take();
  }

 private:
  std::string SeedsText() const {
    if (!IsSeeded(evaluation_.method)) return "";
    return fmt::format("mean of {} seed{}; ", evaluation_.seeds.size(),
                       evaluation_.seeds.size() == 1 ? "" : "s");
  }

  // Folds of one machine mostly read the same.
  void Laws() {
    if (evaluation_.laws.empty()) return;
    const auto& laws = evaluation_.laws;
    const bool same =
        std::adjacent_find(laws.begin(), laws.end(), std::not_equal_to<>()) == laws.end();
    if (same) {
      Paragraph("energy = " + laws.front());
    } else {
      for (const std::string& law : laws) Paragraph("energy = " + law);
    }
    Line();
  }

  void Errors() {
    std::set<std::string> models;
    size_t widest = 14;
    for (const LevelErrors& level : evaluation_.levels) {
      for (const auto& [model, error] : level.by_model) {
        models.insert(model);
        widest = std::max(widest, DisplayWidth(Printable(model)));
      }
    }
    const int name = static_cast<int>(std::min<size_t>(widest, 36)) + 2;
    std::string head = Padded(evaluation_.test_data.empty() ? "left out" : "tested", name);
    for (const Level level : kDataLevels) head += RightAligned(LevelName(level), kErrorWidth);
    Line(Dim(head));
    for (const std::string& model : models) {
      std::string line = Padded(Ellipsize(Printable(model), static_cast<size_t>(name) - 2), name);
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
    Line(Bold(total("mean of models",
                    [](const LevelErrors& level) { return ErrorText(level.mape_models); })));
    if (evaluation_.seeds.size() > 1) {
      Line(Dim(total("  over seeds", [](const LevelErrors& level) {
        return std::isfinite(level.range[0])
                   ? fmt::format("{:.3g} to {:.3g}", level.range[0], level.range[1])
                   : std::string("-");
      })));
    }
    Line(total("mean of nodes",
               [](const LevelErrors& level) { return ErrorText(level.mape_nodes); }));
    Line(Dim(total("  nodes", [](const LevelErrors& level) { return FormatCount(level.nodes); })));
    Line(Dim(total("  half are below", [](const LevelErrors& level) {
      return level.cdf.empty() ? std::string("-") : ErrorText(level.cdf[50]);
    })));
    Line(Dim(total("  99 % are below", [](const LevelErrors& level) {
      return level.cdf.empty() ? std::string("-") : ErrorText(level.cdf[99]);
    })));
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
    json.Key("range_over_seeds").BeginArray();
    json.Value(errors.range[0]).Value(errors.range[1]);
    json.End();
    json.Key("by_model").BeginObject();
    for (const auto& [model, error] : errors.by_model) json.Member(model, error);
    json.End();
    json.Member("nodes", errors.nodes);
    json.Member("unpredicted", errors.unpredicted);
    json.Key("error_percentiles").BeginArray();
    for (const double error : errors.cdf) json.Value(error);
    json.End();
    json.End();
  }
  json.End();
  json.Key("by_operation").BeginObject();
  for (const auto& [type, error] : evaluation.by_operation) json.Member(type, error);
  json.End();
  json.Key("intervals").BeginObject();
  json.Member("nominal", evaluation.nominal);
  WriteLevels(json, "coverage",
              {evaluation.levels[0].coverage, evaluation.levels[1].coverage,
               evaluation.levels[2].coverage});
  WriteLevels(json, "mean_width_pct",
              {evaluation.levels[0].mean_width_pct, evaluation.levels[1].mean_width_pct,
               evaluation.levels[2].mean_width_pct});
  json.End();
  json.Key("seeds").BeginArray();
  for (const Evaluation::Seed& seed : evaluation.seeds) {
    json.BeginObject();
    json.Member("seed", seed.seed);
    WriteLevels(json, "mape_nodes", seed.mape_nodes);
    WriteLevels(json, "mape_models", seed.mape_models);
    json.End();
  }
  json.End();
  if (!evaluation.laws.empty()) {
    json.Key("laws").BeginArray();  // by model left out, in the order of the data
    for (const std::string& law : evaluation.laws) json.Value(law);
    json.End();
  }
  json.Member("seconds", evaluation.duration);
}

std::string Json(const Evaluation& evaluation) {
  JsonWriter json;
  json.BeginObject();
  json.Member("schema", "beryl.evaluate/1");
  WriteEvaluation(json, evaluation);
  WriteFindings(json, evaluation.findings);
  json.Member("tool", evaluation.tool);
  json.End();
  return json.Take() + "\n";
}

constexpr const char* kCsvHead =
    "method,features,level,model,mape_nodes,mape_models,nodes,coverage,mean_width_pct,schema\n";

std::string CsvLines(const Evaluation& evaluation) {
  std::string text;
  const std::string by =
      fmt::format("{},{}", MethodName(evaluation.method), FeatureSetName(evaluation.feature_set));
  for (size_t level = 0; level < kDataLevels.size(); ++level) {
    const LevelErrors& errors = evaluation.levels[level];
    const std::string_view name = LevelName(kDataLevels[level]);
    text += fmt::format("{},{},,{},{},{},{},{},beryl.evaluate/1\n", by, name,
                        CsvFigure(errors.mape_nodes), CsvFigure(errors.mape_models), errors.nodes,
                        CsvFigure(errors.coverage), CsvFigure(errors.mean_width_pct));
    for (const auto& [model, error] : errors.by_model) {
      text += fmt::format("{},{},{},{},,,,,beryl.evaluate/1\n", by, name, CsvText(model),
                          CsvFigure(error));
    }
  }
  return text;
}

// Tables 8 and 9 of IrEne's paper: a line for each method and set of features.
class AblationTable : public TextPage {
 public:
  AblationTable(const Ablation& ablation, const ViewOptions& options)
      : TextPage(options), ablation_(ablation) {}

  std::string Write() {
    if (ablation_.evaluations.empty()) return Take();
    Paragraph(Bold("every model by the others of " + ablation_.evaluations.front().train_data));
    Line();
    std::string head = Padded("method", 14) + Padded("features", 10);
    for (const Level level : kDataLevels) {
      head += RightAligned(LevelName(level), 11) + RightAligned("of nodes", 11);
    }
    Line(Dim(head));
    for (const Evaluation& evaluation : ablation_.evaluations) {
      std::string line = Padded(MethodName(evaluation.method), 14) +
                         Padded(FeatureSetName(evaluation.feature_set), 10);
      for (const LevelErrors& level : evaluation.levels) {
        line += RightAligned(ErrorText(level.mape_models), 11) +
                RightAligned(ErrorText(level.mape_nodes), 11);
      }
      Line(line);
    }
    Line();
    for (const DataFinding& finding : ablation_.findings) {
      Paragraph("note: " + FindingText(finding), 0, kWarningStyle);
    }
    Paragraph(fmt::format("mean absolute percentage error of energy: mean of models, and of nodes; "
                          "seeded methods are the mean of {} seed(s); {}",
                          MostSeeds(), ablation_.tool),
              0, kDimStyle);
    return Take();
  }

 private:
  size_t MostSeeds() const {
    size_t most = 0;
    for (const Evaluation& evaluation : ablation_.evaluations) {
      most = std::max(most, evaluation.seeds.size());
    }
    return most;
  }

  const Ablation& ablation_;
};

}  // namespace

std::string Write(const Evaluation& evaluation, Format format, const ViewOptions& options) {
  if (format == Format::kJson) return Json(evaluation);
  if (format == Format::kCsv) return kCsvHead + CsvLines(evaluation);
  if (format == Format::kSvg) return DrawErrors(evaluation);
  return EvaluationTable(evaluation, options).Write();
}

std::string Write(const Ablation& ablation, Format format, const ViewOptions& options) {
  if (format == Format::kCsv) {
    std::string text = kCsvHead;
    for (const Evaluation& evaluation : ablation.evaluations) text += CsvLines(evaluation);
    return text;
  }
  if (format != Format::kJson) return AblationTable(ablation, options).Write();
  JsonWriter json;
  json.BeginObject();
  json.Member("schema", "beryl.ablation/1");
  json.Key("evaluations").BeginArray();
  for (const Evaluation& evaluation : ablation.evaluations) {
    json.BeginObject();
    WriteEvaluation(json, evaluation);
    json.End();
  }
  json.End();
  WriteFindings(json, ablation.findings);
  json.Member("tool", ablation.tool);
  json.End();
  return json.Take() + "\n";
}

}  // namespace beryl::views
