// Accuracy against energy: as a table, JSON and CSV, and in sentences.

#include <algorithm>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "views/energy_use.h"
#include "views/text/csv_table.h"
#include "views/text/text_page.h"
#include "views/writers.h"

namespace beryl::views {
namespace {

constexpr const char* kSchema = "beryl.tradeoff/2";

std::string Label(const Tradeoff::Point& point) { return Printable(point.label); }

std::string Chosen(const Tradeoff::Point& point, bool predicted) {
  return fmt::format("{}, accuracy {:g} for {}", Label(point), point.accuracy,
                     FormatJoules(EnergyOf(point, predicted)));
}

std::string Missing(std::string_view what, const std::vector<std::string>& models) {
  constexpr size_t kMost = 8;
  std::vector<std::string> names;
  for (const std::string& model : std::span(models).first(std::min(kMost, models.size()))) {
    names.push_back(Printable(model));
  }
  if (models.size() > kMost) names.push_back(fmt::format("and {} more", models.size() - kMost));
  return fmt::format("{}: {}", what, fmt::join(names, ", "));
}

std::string Table(const Tradeoff& tradeoff, const ViewOptions& options) {
  TextPage page(options);
  page.Incomplete(tradeoff.origin.provenance);
  page.Paragraph("Accuracy against energy at " + TradeoffSize(tradeoff));
  page.Line();
  std::vector<int> widths = {0, 0, 9};
  for (const Tradeoff::Choice& choice : tradeoff.choices) widths[choice.predicted ? 1 : 0] = 13;
  page.Line(page.Dim(Cells(widths, {"measured  ", "predicted  ", "accuracy"}) + "  model"));
  const auto cell = [](const std::optional<Joules>& energy, bool optimal) {
    return JoulesOrDash(energy) + (optimal ? " *" : "  ");
  };
  for (const Tradeoff::Point& point : tradeoff.points) {
    const std::string label =
        Label(point) + (point.label == point.model ? "" : "  " + page.Dim(Printable(point.model)));
    page.Line(Cells(widths, {cell(point.energy.measured, point.optimal_measured),
                             cell(point.energy.predicted, point.optimal_predicted),
                             fmt::format("{:g}", point.accuracy)}) +
              "  " + label);
  }
  page.SmallPrint("*: on the Pareto front: no other model takes less energy and is as accurate");
  page.Line();
  for (const std::string& sentence : TradeoffSentences(tradeoff)) page.Paragraph(sentence);
  page.Notes(tradeoff.origin.notes);
  page.Foot(
      fmt::format("energy per batch, {}; data: {}; accuracies: {}", EnergySources(tradeoff.origin),
                  tradeoff.origin.data, tradeoff.accuracy_file),
      tradeoff.origin.provenance);
  return page.Take();
}

void WriteNames(JsonWriter& json, std::string_view key, const std::vector<std::string>& names) {
  json.Key(key).BeginArray();
  for (const std::string& name : names) json.Value(Printable(name));
  json.End();
}

std::string Json(const Tradeoff& tradeoff) {
  JsonWriter json;
  BeginResult(json, kSchema, tradeoff.origin.provenance);
  WriteOrigin(json, tradeoff.origin);
  json.Member("accuracies", Printable(tradeoff.accuracy_file));
  json.Member("batch_size", tradeoff.batch_size).Member("seq_len", tradeoff.seq_len);
  json.Member("size_chosen", tradeoff.size_chosen);
  json.Objects("points", tradeoff.points, [&](const Tradeoff::Point& point) {
    json.Member("model", Printable(point.model)).Member("label", Label(point));
    json.Member("accuracy", point.accuracy).Member("measured_j", point.energy.measured);
    json.Member("predicted_j", point.energy.predicted).Member("predicted_low_j", point.low);
    json.Member("predicted_high_j", point.high).Member("optimal_measured", point.optimal_measured);
    json.Member("optimal_predicted", point.optimal_predicted);
  });
  json.Member("budget_j", tradeoff.budget).Member("target", tradeoff.target);
  json.Objects("choices", tradeoff.choices, [&](const Tradeoff::Choice& choice) {
    auto name = [&](const std::optional<size_t>& at) {
      return at ? std::optional(Printable(tradeoff.points[*at].model)) : std::nullopt;
    };
    json.Member("energy", EnergySource(choice.predicted, tradeoff.origin));
    json.Member("within_budget", name(choice.within_budget));
    json.Member("at_target", name(choice.at_target));
  });
  WriteNames(json, "without_accuracy", tradeoff.without_accuracy);
  WriteNames(json, "without_energy", tradeoff.without_energy);
  WriteNames(json, "without_size", tradeoff.without_size);
  return EndResult(json);
}

std::string Csv(const Tradeoff& tradeoff) {
  CsvTable csv(kSchema, tradeoff.origin.provenance,
               "model,label,batch_size,seq_len,accuracy,measured_j,predicted_j,predicted_low_j,"
               "predicted_high_j,optimal_measured,optimal_predicted,predicted_by");
  for (const Tradeoff::Point& point : tradeoff.points) {
    csv.Row(point.model, point.label, tradeoff.batch_size, tradeoff.seq_len, point.accuracy,
            point.energy.measured, point.energy.predicted, point.low, point.high,
            point.optimal_measured, point.optimal_predicted, tradeoff.origin.predicted_by);
  }
  return csv.Take();
}

}  // namespace

std::optional<Joules> EnergyOf(const Tradeoff::Point& point, bool predicted) {
  return predicted ? point.energy.predicted : point.energy.measured;
}

std::string TradeoffSize(const Tradeoff& tradeoff) {
  const auto text = [](std::optional<double> size) {
    return size ? fmt::format("{:g}", *size) : std::string("unknown");
  };
  return fmt::format("batch {}, sequence {}{}", text(tradeoff.batch_size), text(tradeoff.seq_len),
                     tradeoff.size_chosen ? "" : " (the largest input size that all models have)");
}

std::vector<std::string> TradeoffSentences(const Tradeoff& tradeoff) {
  std::vector<std::string> sentences;
  for (const Tradeoff::Choice& choice : tradeoff.choices) {
    const char* how = choice.predicted ? "predicted" : "measured";
    if (tradeoff.budget) {
      sentences.push_back(fmt::format(
          "within {} ({}): {}", FormatJoules(*tradeoff.budget), how,
          choice.within_budget ? Chosen(tradeoff.points[*choice.within_budget], choice.predicted)
                               : "no model takes so little"));
    }
    if (tradeoff.target) {
      sentences.push_back(fmt::format(
          "at least {:g} ({}): {}", *tradeoff.target, how,
          choice.at_target ? Chosen(tradeoff.points[*choice.at_target], choice.predicted)
                           : "no model is that accurate"));
    }
  }
  const auto missing = [&](const char* what, const std::vector<std::string>& models) {
    if (!models.empty()) sentences.push_back(Missing(what, models));
  };
  missing("no accuracy for", tradeoff.without_accuracy);
  missing("not in the data", tradeoff.without_energy);
  missing("no energy at this input size", tradeoff.without_size);
  return sentences;
}

std::string WriteVerdicts(const Tradeoff& tradeoff) {
  std::string text;
  for (const std::string& sentence : TradeoffSentences(tradeoff)) text += sentence + "\n";
  return text;
}

std::string Write(const Tradeoff& tradeoff, Format format, const ViewOptions& options) {
  if (format == Format::kJson) return Json(tradeoff);
  if (format == Format::kCsv) return Csv(tradeoff);
  if (format == Format::kSvg) return DrawTradeoff(tradeoff);
  return Table(tradeoff, options);
}

}  // namespace beryl::views
