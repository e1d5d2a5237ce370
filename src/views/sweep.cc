// Variants of a model, one per line: as a table, JSON and CSV.
#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "views/described.h"
#include "views/energy_use.h"
#include "views/text/csv_table.h"
#include "views/text/text_page.h"
#include "views/writers.h"

namespace beryl::views {
namespace {

constexpr const char* kSchema = "beryl.sweep/2";

// The numbers of a row, in the order of its columns. NaN: unknown.
struct RowNumbers {
  double parameters = kUnknown;
  double flops = kUnknown;
  double bytes = kUnknown;
  double energy_j = kUnknown;
  double low_j = kUnknown;
  double high_j = kUnknown;
  double seconds = kUnknown;
  double power_w = kUnknown;
  double token_j = kUnknown;
  EnergyPrice cost;  // of the queries that costs are of
  double memory = kUnknown;
};

RowNumbers NumbersOf(const SweepRow& row) {
  if (!row.failure.empty()) return {};
  const DescribedPrediction& prediction = row.prediction;
  const DescribedNode& root = prediction.description.nodes[0];
  const bool costed = prediction.costs && !prediction.costs->rows.empty();
  return {.parameters = static_cast<double>(root.parameters),
          .flops = root.work.flops,
          .bytes = root.work.Bytes(),
          .energy_j = At(prediction.energy.total, 0),
          .low_j = At(prediction.energy.low, 0),
          .high_j = At(prediction.energy.high, 0),
          .seconds = At(prediction.seconds, 0),
          .power_w = ValueOrNan(PowerOf(prediction, 0)),
          .token_j = ValueOrNan(prediction.energy.total.empty() ? std::nullopt
                                                                : EnergyPerToken(prediction, 0)),
          .cost = costed ? prediction.costs->rows.front().cost : EnergyPrice(),
          .memory = prediction.description.memory.Total()};
}

// The costs that the rows have: of how many queries, and in which currency.
const QueryCosts* CostsOf(const Sweep& sweep) {
  for (const SweepRow& row : sweep.rows) {
    if (row.failure.empty() && row.prediction.costs) return &*row.prediction.costs;
  }
  return nullptr;
}

bool IsCalibrated(const Sweep& sweep) {
  return std::all_of(sweep.rows.begin(), sweep.rows.end(),
                     [](const SweepRow& row) { return row.prediction.calibrated; });
}

bool IsTraining(const Sweep& sweep) {
  return std::any_of(sweep.rows.begin(), sweep.rows.end(), [](const SweepRow& row) {
    return row.prediction.description.training.has_value();
  });
}

std::vector<std::string> UncalibratedOf(const Sweep& sweep) {
  std::vector<std::string> names;
  for (const SweepRow& row : sweep.rows) {
    const std::string& name = row.prediction.profile;
    const bool known = std::find(names.begin(), names.end(), name) != names.end();
    if (!row.prediction.calibrated && !known) names.push_back(name);
  }
  return names;
}

// "batch = 8, seq = 64"
std::string VariantText(const Sweep& sweep, const SweepRow& row) {
  std::string text;
  for (size_t key = 0; key < sweep.keys.size(); ++key) {
    text += fmt::format("{}{} = {}", key == 0 ? "" : ", ", sweep.keys[key], row.values[key]);
  }
  return text;
}

bool IsOfAttention(NoteKind kind) {
  return kind == NoteKind::kAssumedSdpa || kind == NoteKind::kAssumedProfileAttention;
}

// The input except the swept keys; empty: not applicable, or the variant is impossible.
NamedFields InputsOf(const Sweep& sweep, const SweepRow& row) {
  NamedFields inputs = InputFields(row.prediction.description);
  std::erase_if(inputs, [&](const auto& input) {
    return std::find(sweep.keys.begin(), sweep.keys.end(), input.first) != sweep.keys.end();
  });
  for (auto& [name, value] : inputs) {
    if (!row.failure.empty()) value.clear();
  }
  return inputs;
}

class SweepTable : public TextPage {
 public:
  SweepTable(const Sweep& sweep, const ViewOptions& options)
      : TextPage(options), sweep_(sweep), has_energy_(!sweep.profile.empty()) {}

  std::string Write() {
    if (!IsCalibrated(sweep_)) {
      Paragraph(UncalibratedText(UncalibratedOf(sweep_), IsTraining(sweep_)), 0, kWarningStyle);
    }
    const auto failed = std::count_if(sweep_.rows.begin(), sweep_.rows.end(),
                                      [](const SweepRow& row) { return !row.failure.empty(); });
    Paragraph(Bold(fmt::format("{}: {} variants{}", Printable(sweep_.model), sweep_.rows.size(),
                               failed > 0 ? fmt::format(", {} of them impossible", failed) : "")));
    Line();
    Widths();
    Head();
    for (const SweepRow& row : sweep_.rows) Row(row);
    Line();
    CutReasons();
    Legend();
    Notes(NotesOf(sweep_));
    Inputs();
    Foot(has_energy_ ? "predicted from the configuration by " + Printable(sweep_.profile)
                     : "computed from the configuration alone",
         sweep_.provenance);
    return Take();
  }

 private:
  // The input that is the same for all variants: attention may follow the profile, a length
  // another.
  void Inputs() {
    std::optional<NamedFields> common;
    for (const SweepRow& row : sweep_.rows) {
      if (!row.failure.empty()) continue;
      const NamedFields inputs = InputsOf(sweep_, row);
      if (!common) common = inputs;
      std::erase_if(*common, [&](const auto& input) {
        return input.second.empty() ||
               std::find(inputs.begin(), inputs.end(), input) == inputs.end();
      });
    }
    if (!common || common->empty()) return;
    std::vector<std::string> parts;
    for (const auto& [name, value] : *common) parts.push_back(name + " " + value);
    SmallPrint(fmt::format("all with {}", fmt::join(parts, ", ")));
  }

  // Keys are on one line or, if that is too wide, split over several.
  void Widths() {
    numbers_ = {8, 9, 9, 9};
    if (has_energy_) numbers_ = {8, 9, 9, 9, 9, 19, 9, 8, 10, 9};
    int all = Sum(numbers_);
    for (const std::string& key : sweep_.keys) {
      heads_.push_back({Printable(key)});
      all += static_cast<int>(DisplayWidth(heads_.back().front())) + 2;
    }
    int keys = 0;
    for (size_t key = 0; key < sweep_.keys.size(); ++key) {
      if (all > width_) heads_[key] = Pieces(heads_[key].front());
      const int head = Widest(heads_[key], 0, [](const std::string& piece) { return piece; });
      widths_.push_back(
          Widest(sweep_.rows, head, [&](const auto& row) { return row.values[key]; }));
      keys += widths_.back() + 2;
    }
    // The least important columns go first: bytes, parameters, FLOP, between.
    for (const size_t column : {2, 0, 1, 5}) {
      if (keys + Sum(numbers_) > width_ && column < numbers_.size()) numbers_[column] = 0;
    }
  }

  static int Sum(const std::vector<int>& widths) {
    int sum = 0;
    for (const int width : widths) sum += width;
    return sum;
  }

  // "num", "_hidden", "_layers"
  static std::vector<std::string> Pieces(const std::string& key) {
    std::vector<std::string> pieces;
    for (const std::string_view word : Split(key, '_')) {
      pieces.push_back((pieces.empty() ? "" : "_") + std::string(word));
    }
    return pieces;
  }

  void Head() {
    size_t lines = 1;
    for (const auto& pieces : heads_) lines = std::max(lines, pieces.size());
    for (size_t line = 0; line < lines; ++line) {
      std::string text;
      for (size_t key = 0; key < heads_.size(); ++key) {
        // They end on the last line, above the numbers.
        const size_t first = lines - heads_[key].size();
        text += RightAligned(line < first ? "" : heads_[key][line - first], widths_[key]) + "  ";
      }
      if (line + 1 == lines) {
        text += Cells(numbers_, {"param.", "FLOP", "moved", "memory", "energy", "between", "time",
                                 "power", "per token", "cost"});
      }
      while (text.ends_with(' ')) text.pop_back();
      Line(Dim(text));
    }
  }

  void Row(const SweepRow& row) {
    std::string text;
    for (size_t key = 0; key < sweep_.keys.size(); ++key) {
      text += RightAligned(Printable(row.values[key]), widths_[key]) + "  ";
    }
    if (!row.failure.empty()) {
      const size_t used = DisplayWidth(text) + 1;
      const auto width = static_cast<size_t>(width_);
      const size_t room = std::max<size_t>(20, width > used ? width - used : 0);
      const std::string reason = Printable(row.failure);
      Line(text + " " + Styled(Ellipsize(reason, room), kWarningStyle));
      const bool known = std::find(cut_.begin(), cut_.end(), reason) != cut_.end();
      if (DisplayWidth(reason) > room && !known) cut_.push_back(reason);
      return;
    }
    const RowNumbers numbers = NumbersOf(row);
    Line(text + Cells(numbers_,
                      {Amount(numbers.parameters), Amount(numbers.flops),
                       Amount(numbers.bytes, "B"), MemoryCell(row), JoulesOrDash(numbers.energy_j),
                       JoulesBetween(numbers.low_j, numbers.high_j),
                       OrDash(numbers.seconds, FormatSeconds), OrDash(numbers.power_w, FormatPower),
                       JoulesOrDash(numbers.token_j), FigureOrDash(numbers.cost.price)}));
  }

  // A line has no room for most reasons, and what would help is at their end.
  void CutReasons() {
    constexpr size_t kMost = 3;
    for (size_t i = 0; i < std::min(kMost, cut_.size()); ++i) {
      Paragraph("impossible: " + cut_[i], 0, kWarningStyle);
    }
    if (cut_.size() <= kMost) return;
    SmallPrint(fmt::format("{} more such reasons are in JSON and CSV", cut_.size() - kMost));
  }

  static std::string FormatPower(double watts) { return FormatWatts(Watts{watts}); }

  // Marked if the machine has less.
  static std::string MemoryCell(const SweepRow& row) {
    const std::string text = Amount(row.prediction.description.memory.Total(), "B");
    return row.prediction.fits == false ? text + "!" : text;
  }

  // What the columns of memory and cost are.
  void Legend() {
    std::vector<std::string> parts;
    for (const SweepRow& row : sweep_.rows) {
      if (row.prediction.fits != false) continue;
      parts.emplace_back("!: more than the machine has; the numbers are as if it fitted");
      break;
    }
    if (const QueryCosts* costs = CostsOf(sweep_)) {
      const std::string& currency = costs->electricity.currency;
      parts.push_back(fmt::format("cost: of {} {}, in {}", FigureOrDash(costs->queries),
                                  IsTraining(sweep_) ? "sequences" : "queries",
                                  currency.empty() ? "the price's currency" : Printable(currency)));
    }
    if (!parts.empty()) SmallPrint(fmt::format("{}", fmt::join(parts, "; ")));
  }

  const Sweep& sweep_;
  bool has_energy_;
  std::vector<std::vector<std::string>> heads_;  // by key: lines
  std::vector<int> widths_;                      // of the columns of keys
  std::vector<int> numbers_;                     // of the columns of numbers
  std::vector<std::string> cut_;                 // reasons that did not fit into their lines
};

// A number is written as a number, an empty text as null.
void WriteGiven(JsonWriter& json, const std::string& name, const std::string& value) {
  if (const auto number = ParseNumber(value)) {
    WriteWhole(json, name, *number);
  } else {
    json.Member(name, value.empty() ? std::nullopt : std::optional(value));
  }
}

void WriteRow(JsonWriter& json, const Sweep& sweep, const SweepRow& row) {
  const RowNumbers numbers = NumbersOf(row);
  json.Key("values").BeginObject();
  for (size_t key = 0; key < sweep.keys.size(); ++key) {
    WriteGiven(json, sweep.keys[key], row.values[key]);
  }
  json.End();
  json.Key("input").BeginObject();
  for (const auto& [name, value] : InputsOf(sweep, row)) WriteGiven(json, name, value);
  json.End();
  WriteWhole(json, "parameters", numbers.parameters);
  WriteWhole(json, "flops", numbers.flops);
  WriteWhole(json, "bytes", numbers.bytes);
  if (!sweep.profile.empty()) {
    json.Member("energy_j", numbers.energy_j).Member("low_j", numbers.low_j);
    json.Member("high_j", numbers.high_j).Member("seconds", numbers.seconds);
    json.Member("power_w", numbers.power_w).Member("energy_per_token_j", numbers.token_j);
    json.Member("kwh", numbers.cost.kwh).Member("price", numbers.cost.price);
    json.Member("co2e_kg", numbers.cost.co2e_kg);
    json.Member("fits", row.prediction.fits);
  }
  WriteWhole(json, "memory_bytes", numbers.memory);
  json.Member("failure", row.failure.empty() ? std::nullopt : std::optional(row.failure));
}

std::string Json(const Sweep& sweep) {
  JsonWriter json;
  BeginResult(json, kSchema, sweep.provenance);
  json.Member("model", sweep.model);
  if (!sweep.profile.empty()) {
    json.Member("profile", sweep.profile).Member("calibrated", IsCalibrated(sweep));
  }
  if (const QueryCosts* costs = CostsOf(sweep)) {
    json.Member("queries", costs->queries);
    WriteElectricity(json, costs->electricity);
  }
  json.Member("keys", sweep.keys);
  json.Objects("rows", sweep.rows, [&](const SweepRow& row) { WriteRow(json, sweep, row); });
  return EndResult(json, NotesOf(sweep), sweep.provenance);
}

std::string Csv(const Sweep& sweep) {
  const bool has_energy = !sweep.profile.empty();
  CsvTable csv(kSchema, sweep.provenance);
  csv.Field("model");
  for (const std::string& key : sweep.keys) csv.Field(key);
  for (const auto& [name, value] : InputsOf(sweep, sweep.rows.front())) csv.Field(name);
  csv.Field("parameters").Field("flops").Field("bytes").Field("memory_bytes");
  if (has_energy) {
    for (const char* name : {"energy_j", "low_j", "high_j", "seconds", "power_w",
                             "energy_per_token_j", "kwh", "price", "co2e_kg"}) {
      csv.Field(name);
    }
  }
  csv.Field("failure");
  if (has_energy) csv.Field("profile").Field("calibrated");
  csv.EndRow();
  for (const SweepRow& row : sweep.rows) {
    const RowNumbers numbers = NumbersOf(row);
    csv.Field(sweep.model);
    for (const std::string& value : row.values) csv.Field(value);
    for (const auto& [name, value] : InputsOf(sweep, row)) csv.Field(value);
    for (const double whole : {numbers.parameters, numbers.flops, numbers.bytes, numbers.memory}) {
      csv.Field(WholeOrFigure(whole));
    }
    if (has_energy) {
      for (const double figure : {numbers.energy_j, numbers.low_j, numbers.high_j, numbers.seconds,
                                  numbers.power_w, numbers.token_j}) {
        csv.Field(figure);
      }
      csv.Field(numbers.cost.kwh).Field(numbers.cost.price).Field(numbers.cost.co2e_kg);
    }
    csv.Field(row.failure);
    if (has_energy)
      csv.Field(row.failure.empty() ? row.prediction.profile : sweep.profile)
          .Field(row.prediction.calibrated ? "yes" : "no");
    csv.EndRow();
  }
  return csv.Take();
}

}  // namespace

// One note of each kind: what is said of all variants, otherwise how many it is said of, and what
// of the first of them. Assumptions that differ follow from the lines of the variants, except
// attention that follows the profile.
std::vector<Note> NotesOf(const Sweep& sweep) {
  struct Said {
    Note note;
    size_t count = 0;
    bool same = true;  // figures that look the same count as the same
    const SweepRow* first = nullptr;
  };
  std::vector<Said> all;
  size_t described = 0;
  for (const SweepRow& row : sweep.rows) {
    if (!row.failure.empty()) continue;
    ++described;
    std::vector<Note> notes = row.prediction.notes;
    AppendNotes(notes, row.prediction.description.notes);
    for (const Note& note : notes) {
      auto at = std::find_if(all.begin(), all.end(),
                             [&](const Said& said) { return said.note.kind == note.kind; });
      if (at == all.end()) at = all.insert(all.end(), {note, 0, true, &row});
      ++at->count;
      at->same = at->same && NoteText(note) == NoteText(at->note);
    }
  }
  std::stable_partition(all.begin(), all.end(), [](const Said& said) {
    return ClassOf(said.note.kind) != NoteClass::kAssumed;
  });
  const bool follows_profile = std::any_of(all.begin(), all.end(), [](const Said& said) {
    return said.note.kind == NoteKind::kAssumedProfileAttention;
  });
  std::vector<Note> notes;
  for (const Said& said : all) {
    const bool of_all = said.count >= described;
    if (of_all && said.same) {
      notes.push_back(said.note);
    } else if (ClassOf(said.note.kind) != NoteClass::kAssumed ||
               (follows_profile && IsOfAttention(said.note.kind))) {
      const std::string whom =
          of_all ? "of all variants" : fmt::format("of {} of {} variants", said.count, described);
      AppendNotes(notes, {said.note},
                  fmt::format("{}, first {}", whom, VariantText(sweep, *said.first)));
    }
  }
  return notes;
}

Status CheckColumns(const Sweep& sweep, const ViewOptions& options) {
  if (!options.depth && !options.level && options.columns.empty()) return {};
  return MisuseError(
      fmt::format("{}: several variants or profiles have a line each and no tree; give one to see "
                  "its tree",
                  Printable(sweep.model)),
      {"columns", "level", "depth"});
}

std::string Write(const Sweep& sweep, Format format, const ViewOptions& options) {
  if (format == Format::kJson) return Json(sweep);
  if (format == Format::kCsv) return Csv(sweep);
  return SweepTable(sweep, options).Write();
}

}  // namespace beryl::views
