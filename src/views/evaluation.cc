// The accuracy of predictions: as a table, JSON, CSV, and the distribution of errors as a picture.
#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <span>

#include <fmt/format.h>

#include "base/text.h"
#include "views/draw/svg_parts.h"
#include "views/learned.h"
#include "views/text/csv_table.h"
#include "views/text/text_page.h"
#include "views/writers.h"

namespace beryl::views {
namespace {

constexpr const char* kSchema = "beryl.evaluate/2";
constexpr int kErrorWidth = 14;

// "every model by the others of data"; "trained on a, tested on b"
std::string ProtocolText(const Evaluation& evaluation) {
  if (!evaluation.test_data.empty()) {
    return fmt::format("trained on {}, tested on {}", evaluation.train_data, evaluation.test_data);
  }
  const char* fold = evaluation.fold_by == FoldBy::kFamily ? "family"
                     : evaluation.fold_by == FoldBy::kSize ? "size"
                                                           : "model";
  return fmt::format("every {} predicted from the others of {}", fold, evaluation.train_data);
}

std::string TitleOf(const Evaluation& evaluation) {
  const std::string how = ProtocolText(evaluation);
  if (evaluation.method == Method::kDescribe) {
    return fmt::format("describe, from descriptions alone: {}", how);
  }
  return fmt::format("{} with {} features: {}", MethodName(evaluation.method),
                     FeatureSetName(evaluation.feature_set), how);
}

class EvaluationTable : public PageOf<Evaluation> {
 public:
  using PageOf::PageOf;

  std::string Write() {
    Paragraph(Bold(TitleOf(result_)));
    Line();
    Errors();
    Operations();
    Intervals();
    Laws();
    Notes(result_.notes);
    Foot("mean absolute percentage error of energy" + SeedsText(), result_.provenance);
    return Take();
  }

 private:
  std::string SeedsText() const {
    if (!IsSeeded(result_.method)) return "";
    return fmt::format("; mean of {} seed{}", result_.seeds.size(),
                       result_.seeds.size() == 1 ? "" : "s");
  }

  // Folds of one machine mostly have the same text.
  void Laws() {
    const auto& laws = result_.laws;
    const bool same =
        std::adjacent_find(laws.begin(), laws.end(), std::not_equal_to<>()) == laws.end();
    for (const std::string& law : laws) {
      Paragraph("energy = " + law);
      if (same) break;
    }
    if (!laws.empty()) Line();
  }

  void Errors() {
    // The errors of a row, by level: "-" where it has none.
    using Row = std::pair<std::string, std::array<std::string, 3>>;
    std::vector<Row> rows;
    for (size_t fold = 0; fold < result_.folds.size(); ++fold) {
      rows.push_back({result_.folds[fold], {}});
      for (size_t level = 0; level < kDataLevels.size(); ++level) {
        rows.back().second[level] = ErrorText(result_.levels[level].by_fold[fold]);
      }
    }
    std::set<std::string> models;
    for (const LevelErrors& level : result_.levels) {
      if (!result_.folds.empty()) break;
      for (const auto& [model, error] : level.by_model) models.insert(model);
    }
    for (const std::string& model : models) {
      rows.push_back({model, {}});
      for (size_t level = 0; level < kDataLevels.size(); ++level) {
        const auto& errors = result_.levels[level].by_model;
        const auto at = errors.find(model);
        rows.back().second[level] = at == errors.end() ? "-" : ErrorText(at->second);
      }
    }
    const int name = std::min(36, Widest(rows, 14, [](const Row& row) { return row.first; })) + 2;
    std::string head = Padded(result_.test_data.empty() ? "left out" : "tested", name);
    for (const Level level : kDataLevels) head += RightAligned(LevelName(level), kErrorWidth);
    Line(Dim(head));
    for (const auto& [what, errors] : rows) {
      std::string line = NameCell(what, name, 2);
      for (const std::string& error : errors) line += RightAligned(error, kErrorWidth);
      Line(line);
    }
    auto total = [&](std::string_view what, auto&& value) {
      std::string line = Padded(what, name);
      for (const LevelErrors& level : result_.levels) {
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
    if (result_.seeds.size() > 1) {
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
    if (result_.by_operation.empty()) return;
    std::string text = "by ML primitive: ";
    for (const auto& [type, error] : result_.by_operation) {
      text += fmt::format("{}{} {}", text.back() == ' ' ? "" : ", ", type, ErrorText(error));
    }
    Paragraph(text);
  }

  void Intervals() {
    std::string text;
    for (size_t level = 0; level < kDataLevels.size(); ++level) {
      const LevelErrors& errors = result_.levels[level];
      if (std::isnan(errors.coverage)) continue;
      text += fmt::format("{}{} {} of nodes, {:.3g} % wide", text.empty() ? "" : "; ",
                          LevelName(kDataLevels[level]), FormatPercent(errors.coverage),
                          errors.mean_width_pct);
    }
    Paragraph(text.empty()
                  ? "intervals: none, because there are too few models to calibrate them"
                  : fmt::format("{:.0f} % intervals hold: {}", 100 * result_.nominal, text));
    Line();
  }
};

void WriteEvaluation(JsonWriter& json, const Evaluation& evaluation) {
  json.Member("method", MethodName(evaluation.method));
  json.Member("features", FeatureSetName(evaluation.feature_set));
  json.Member("protocol", evaluation.protocol).Member("data", evaluation.train_data);
  if (!evaluation.test_data.empty()) json.Member("test_data", evaluation.test_data);
  json.Key("levels").BeginObject();
  for (size_t level = 0; level < kDataLevels.size(); ++level) {
    const LevelErrors& errors = evaluation.levels[level];
    json.Key(LevelName(kDataLevels[level])).BeginObject();
    json.Member("mape_nodes", errors.mape_nodes).Member("mape_models", errors.mape_models);
    json.Member("range_over_seeds", errors.range);
    json.Members("by_model", errors.by_model);
    if (!evaluation.folds.empty()) {
      json.Key("by_left_out").BeginObject();
      for (size_t fold = 0; fold < evaluation.folds.size(); ++fold) {
        json.Member(evaluation.folds[fold], errors.by_fold[fold]);
      }
      json.End();
    }
    json.Member("nodes", errors.nodes).Member("unpredicted", errors.unpredicted);
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
  return EndResult(json, evaluation.notes, evaluation.provenance);
}

std::string Csv(std::span<const Evaluation> evaluations, const Provenance& provenance) {
  CsvTable csv(kSchema, provenance,
               "method,features,level,model,mape_nodes,mape_models,nodes,coverage,mean_width_pct,"
               "left_out");
  for (const Evaluation& evaluation : evaluations) {
    const std::string_view method = MethodName(evaluation.method);
    const std::string_view features = FeatureSetName(evaluation.feature_set);
    for (size_t level = 0; level < kDataLevels.size(); ++level) {
      const LevelErrors& errors = evaluation.levels[level];
      const std::string_view name = LevelName(kDataLevels[level]);
      csv.Row(method, features, name, "", errors.mape_nodes, errors.mape_models, errors.nodes,
              errors.coverage, errors.mean_width_pct, "");
      for (const auto& [model, error] : errors.by_model) {
        csv.Row(method, features, name, model, error, "", "", "", "", "");
      }
      for (size_t fold = 0; fold < evaluation.folds.size(); ++fold) {
        csv.Row(method, features, name, "", "", errors.by_fold[fold], "", "", "",
                evaluation.folds[fold]);
      }
    }
  }
  return csv.Take();
}

// Tables 8 and 9 of IrEne's paper: a line for each method and set of features.
std::string Table(const Ablation& ablation, const ViewOptions& options) {
  TextPage page(options);
  if (ablation.evaluations.empty()) return "";
  page.Paragraph(page.Bold("every model predicted from the others of " +
                           ablation.evaluations.front().train_data));
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

constexpr double kNarrower = 760;  // than other pictures
constexpr double kPlotHeight = 300;

// The axis ends where nearly all errors do, so that one outlier does not flatten the rest.
double LargestShown(const Evaluation& evaluation) {
  double largest = 0;
  for (const LevelErrors& level : evaluation.levels) {
    if (!level.cdf.empty()) largest = std::max(largest, level.cdf[99]);
  }
  return largest > 0 ? 1.15 * largest : 1;
}

// Figure 3 of IrEne's paper: the distribution of errors.
std::string DrawErrors(const Evaluation& evaluation) {
  const std::string title =
      fmt::format("Errors of predicted energy, method {}", MethodName(evaluation.method));
  const std::string below = ProtocolText(evaluation);
  SvgCanvas canvas(title, below);
  const double y = DrawHeading(canvas, kNarrower, title, below) + 10;
  const double left = kMargin + kAxisRoom;
  const double right = kNarrower - kMargin;
  const double bottom = y + kPlotHeight;
  const double largest = LargestShown(evaluation);
  const Scale x{0, largest, left, right};
  const Scale share{0, 100, bottom, y};
  DrawLeftAxis(canvas, share, {left, right}, "nodes with a smaller error, %", "");
  DrawBottomAxis(canvas, x, {bottom, y}, "absolute error, %", "");
  auto color = [](size_t level) { return CategoryColor(level, kDataLevels.size()); };
  std::vector<LegendEntry> legend;
  for (size_t level = 0; level < kDataLevels.size(); ++level) {
    const LevelErrors& errors = evaluation.levels[level];
    if (errors.cdf.empty()) continue;
    std::vector<Point> line = {{left, bottom}};
    for (size_t percent = 0; percent < errors.cdf.size(); ++percent) {
      if (errors.cdf[percent] > largest) break;
      line.push_back({x(errors.cdf[percent]), share(static_cast<double>(percent))});
    }
    canvas.Polyline(line, {.stroke = color(level), .stroke_width = 2});
    legend.push_back({color(level),
                      fmt::format("{}: {} on average, 99 % below {}", LevelName(kDataLevels[level]),
                                  ErrorText(errors.mape_nodes), ErrorText(errors.cdf[99]))});
  }
  double end = DrawLegend(canvas, left, bottom + 52, right, legend) + 8;
  return FinishPicture(canvas, kNarrower, end, {ToolText(evaluation.provenance)},
                       evaluation.provenance);
}

}  // namespace

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
  return EndResult(json, ablation.notes, ablation.provenance);
}

}  // namespace beryl::views
