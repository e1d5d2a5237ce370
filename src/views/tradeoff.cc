// Accuracy against energy: as a table, JSON and CSV, and in sentences.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "views/energy_use.h"
#include "views/text_page.h"
#include "views/writers.h"

namespace beryl::views {
namespace {

constexpr const char* kSchema = "beryl.tradeoff/1";

std::string Label(const Tradeoff::Point& point) { return Printable(point.label); }

std::optional<Joules> EnergyOf(const Tradeoff::Point& point, bool predicted) {
  return predicted ? point.energy.predicted : point.energy.measured;
}

std::string Chosen(const Tradeoff::Point& point, bool predicted) {
  return fmt::format("{}, accuracy {:g} for {}", Label(point), point.accuracy,
                     FormatJoules(EnergyOf(point, predicted)));
}

std::string Missing(std::string_view what, const std::vector<std::string>& models) {
  constexpr size_t kMost = 8;
  std::vector<std::string> names;
  for (const std::string& model : models) {
    if (names.size() == kMost) {
      names.push_back(fmt::format("and {} more", models.size() - kMost));
      break;
    }
    names.push_back(Printable(model));
  }
  return fmt::format("{}: {}", what, fmt::join(names, ", "));
}

class TradeoffTable : public TextPage {
 public:
  TradeoffTable(const Tradeoff& tradeoff, const ViewOptions& options)
      : TextPage(options), tradeoff_(tradeoff) {}

  std::string Write() {
    Paragraph("Accuracy against energy at " + TradeoffSize(tradeoff_));
    Line();
    for (const Tradeoff::Choice& choice : tradeoff_.choices) {
      (choice.predicted ? predicted_ : measured_) = true;
    }
    Line(Dim((measured_ ? RightAligned("measured", 11) + "  " : "") +
             (predicted_ ? RightAligned("predicted", 11) + "  " : "") +
             RightAligned("accuracy", 9) + "  model"));
    for (const Tradeoff::Point& point : tradeoff_.points) Row(point);
    Paragraph("*: on the Pareto front: no other model takes less energy and is as accurate", 0,
              kDimStyle);
    Line();
    for (const std::string& sentence : TradeoffSentences(tradeoff_)) Paragraph(sentence);
    Paragraph(fmt::format("energy of a batch, {}; data: {}; accuracies: {}",
                          EnergySources(tradeoff_.origin), tradeoff_.origin.data,
                          tradeoff_.accuracy_file),
              0, kDimStyle);
    return Take();
  }

 private:
  static std::string Cell(const std::optional<Joules>& energy, bool optimal) {
    return RightAligned(JoulesOrDash(energy), 11) + (optimal ? " *" : "  ");
  }

  void Row(const Tradeoff::Point& point) {
    const std::string label =
        Label(point) + (point.label == point.model ? "" : "  " + Dim(Printable(point.model)));
    Line((measured_ ? Cell(point.energy.measured, point.optimal_measured) : "") +
         (predicted_ ? Cell(point.energy.predicted, point.optimal_predicted) : "") +
         RightAligned(fmt::format("{:g}", point.accuracy), 9) + "  " + label);
  }

  const Tradeoff& tradeoff_;
  bool measured_ = false;
  bool predicted_ = false;
};

void WriteNames(JsonWriter& json, std::string_view key, const std::vector<std::string>& names) {
  json.Key(key).BeginArray();
  for (const std::string& name : names) json.Value(Printable(name));
  json.End();
}

std::string Json(const Tradeoff& tradeoff) {
  JsonWriter json;
  json.BeginObject();
  json.Member("schema", kSchema);
  WriteOrigin(json, tradeoff.origin);
  json.Member("accuracies", Printable(tradeoff.accuracy_file));
  json.Member("batch_size", tradeoff.batch_size);
  json.Member("seq_len", tradeoff.seq_len);
  json.Member("size_chosen", tradeoff.size_chosen);
  json.Key("points").BeginArray();
  for (const Tradeoff::Point& point : tradeoff.points) {
    json.BeginObject();
    json.Member("model", Printable(point.model));
    json.Member("label", Label(point));
    json.Member("accuracy", point.accuracy);
    json.Member("measured_j", point.energy.measured);
    json.Member("predicted_j", point.energy.predicted);
    json.Member("predicted_low_j", point.low);
    json.Member("predicted_high_j", point.high);
    json.Member("optimal_measured", point.optimal_measured);
    json.Member("optimal_predicted", point.optimal_predicted);
    json.End();
  }
  json.End();
  json.Member("budget_j", tradeoff.budget);
  json.Member("target", tradeoff.target);
  json.Key("choices").BeginArray();
  for (const Tradeoff::Choice& choice : tradeoff.choices) {
    auto name = [&](const std::optional<size_t>& at) {
      return at ? std::optional(Printable(tradeoff.points[*at].model)) : std::nullopt;
    };
    json.BeginObject();
    json.Member("energy", EnergySource(choice.predicted, tradeoff.origin));
    json.Member("within_budget", name(choice.within_budget));
    json.Member("at_target", name(choice.at_target));
    json.End();
  }
  json.End();
  WriteNames(json, "without_accuracy", tradeoff.without_accuracy);
  WriteNames(json, "without_energy", tradeoff.without_energy);
  WriteNames(json, "without_size", tradeoff.without_size);
  json.End();
  return json.Take() + "\n";
}

std::string Csv(const Tradeoff& tradeoff) {
  std::string text =
      "model,label,batch_size,seq_len,accuracy,measured_j,predicted_j,predicted_low_j,"
      "predicted_high_j,optimal_measured,optimal_predicted,predicted_by,schema\n";
  for (const Tradeoff::Point& point : tradeoff.points) {
    text += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{}\n", CsvText(point.model),
                        CsvText(point.label), tradeoff.batch_size, tradeoff.seq_len, point.accuracy,
                        CsvFigure(point.energy.measured), CsvFigure(point.energy.predicted),
                        CsvFigure(point.low), CsvFigure(point.high), point.optimal_measured,
                        point.optimal_predicted, CsvText(tradeoff.origin.predicted_by), kSchema);
  }
  return text;
}

}  // namespace

std::string TradeoffSize(const Tradeoff& tradeoff) {
  return fmt::format("batch {:g}, sequence {:g}{}", tradeoff.batch_size, tradeoff.seq_len,
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
                               : "no model takes that little"));
    }
    if (tradeoff.target) {
      sentences.push_back(fmt::format(
          "at least {:g} ({}): {}", *tradeoff.target, how,
          choice.at_target ? Chosen(tradeoff.points[*choice.at_target], choice.predicted)
                           : "no model is that accurate"));
    }
  }
  if (!tradeoff.without_accuracy.empty()) {
    sentences.push_back(Missing("no accuracy for", tradeoff.without_accuracy));
  }
  if (!tradeoff.without_energy.empty()) {
    sentences.push_back(Missing("not in the data", tradeoff.without_energy));
  }
  if (!tradeoff.without_size.empty()) {
    sentences.push_back(Missing("no energy at this input size", tradeoff.without_size));
  }
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
  return TradeoffTable(tradeoff, options).Write();
}

}  // namespace beryl::views
