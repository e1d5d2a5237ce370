// Variants of a model, a line each: as a table, JSON and CSV.
#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "views/csv_table.h"
#include "views/described.h"
#include "views/energy_use.h"
#include "views/text_page.h"
#include "views/writers.h"

namespace beryl::views {
namespace {

constexpr const char* kSchema = "beryl.sweep/2";

// What a row says, in the order of its columns. NaN: not known.
struct RowNumbers {
  double parameters = kUnknown;
  double flops = kUnknown;
  double bytes = kUnknown;
  double energy_j = kUnknown;
  double low_j = kUnknown;
  double high_j = kUnknown;
  double seconds = kUnknown;
};

RowNumbers NumbersOf(const SweepRow& row) {
  if (!row.failure.empty()) return {};
  const DescribedPrediction& prediction = row.prediction;
  const DescribedNode& root = prediction.description.nodes[0];
  return {.parameters = static_cast<double>(root.parameters),
          .flops = root.work.flops,
          .bytes = root.work.Bytes(),
          .energy_j = At(prediction.energy.total, 0),
          .low_j = At(prediction.energy.low, 0),
          .high_j = At(prediction.energy.high, 0),
          .seconds = At(prediction.seconds, 0)};
}

bool IsCalibrated(const Sweep& sweep) {
  return std::all_of(sweep.rows.begin(), sweep.rows.end(),
                     [](const SweepRow& row) { return row.prediction.calibrated; });
}

// "batch = 8, seq = 64"
std::string VariantText(const Sweep& sweep, const SweepRow& row) {
  std::string text;
  for (size_t key = 0; key < sweep.keys.size(); ++key) {
    text += fmt::format("{}{} = {}", key == 0 ? "" : ", ", sweep.keys[key], row.values[key]);
  }
  return text;
}

// What was noted of all variants, and, of some of them, how many those are and which is the first.
// Of what was taken for granted, what differs stands in the lines of the variants.
std::vector<Note> NotesOf(const Sweep& sweep) {
  struct Said {
    Note note;
    std::string text;
    size_t count = 0;
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
      const std::string text = NoteText(note);  // figures that look the same are the same
      auto at =
          std::find_if(all.begin(), all.end(), [&](const Said& said) { return said.text == text; });
      if (at == all.end()) at = all.insert(all.end(), {note, text, 0, &row});
      ++at->count;
    }
  }
  std::stable_partition(all.begin(), all.end(), [](const Said& said) {
    return ClassOf(said.note.kind) != NoteClass::kAssumed;
  });
  constexpr size_t kMostOfSome = 8;
  std::vector<Note> notes;
  size_t some = 0;
  for (const Said& said : all) {
    if (said.count == described) {
      notes.push_back(said.note);
    } else if (ClassOf(said.note.kind) != NoteClass::kAssumed && some++ < kMostOfSome) {
      AppendNotes(notes, {said.note},
                  fmt::format("of {} of {} variants, first {}", said.count, described,
                              VariantText(sweep, *said.first)));
    }
  }
  if (some > kMostOfSome) {
    notes.push_back({NoteKind::kMoreOfOtherVariants, "", {some - kMostOfSome}});
  }
  return notes;
}

// What went in, but for what is swept; empty: it does not apply, or the variant is impossible.
CsvFields InputsOf(const Sweep& sweep, const SweepRow& row) {
  CsvFields inputs = InputFields(row.prediction.description);
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
      Paragraph(UncalibratedText(sweep_.profile), 0, kWarningStyle);
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
    Notes(NotesOf(sweep_));
    Inputs();
    Foot(has_energy_ ? "predicted from the configuration by " + Printable(sweep_.profile)
                     : "worked out from the configuration alone",
         sweep_.provenance);
    return Take();
  }

 private:
  // What went in, where it is the same for all.
  void Inputs() {
    std::string text;
    for (const SweepRow& row : sweep_.rows) {
      if (!row.failure.empty()) continue;
      for (const auto& [name, value] : InputsOf(sweep_, row)) {
        if (!value.empty()) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, value);
      }
      break;
    }
    SmallPrint("all with " + text);
  }

  // Keys stand in one line, or, where that is too wide, in pieces above one another.
  void Widths() {
    const int numbers = has_energy_ ? 66 : 26;
    int all = numbers;
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
    numbers_ = {8, 9, 9, 10, 20, 10};
    // Bytes are what is missed least.
    if (keys + numbers > width_) numbers_[2] = 0;
    if (!has_energy_) numbers_[3] = numbers_[4] = numbers_[5] = 0;
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
        text += Cells(numbers_, {"param.", "FLOP", "moved", "energy", "between", "time"});
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
      Line(text + " " + Styled(Ellipsize(Printable(row.failure), room), kWarningStyle));
      return;
    }
    const RowNumbers numbers = NumbersOf(row);
    Line(text + Cells(numbers_, {Amount(numbers.parameters), Amount(numbers.flops),
                                 Amount(numbers.bytes, "B"), JoulesOrDash(numbers.energy_j),
                                 JoulesBetween(numbers.low_j, numbers.high_j),
                                 OrDash(numbers.seconds, FormatSeconds)}));
  }

  const Sweep& sweep_;
  bool has_energy_;
  std::vector<std::vector<std::string>> heads_;  // by key: lines
  std::vector<int> widths_;                      // of the keys' columns
  std::vector<int> numbers_;                     // of those beside them
};

// A number as such; nothing as null.
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
    json.Member("energy_j", numbers.energy_j);
    json.Member("low_j", numbers.low_j);
    json.Member("high_j", numbers.high_j);
    json.Member("seconds", numbers.seconds);
  }
  json.Member("failure", row.failure.empty() ? std::nullopt : std::optional(row.failure));
}

std::string Json(const Sweep& sweep) {
  JsonWriter json;
  BeginResult(json, kSchema, sweep.provenance);
  json.Member("model", sweep.model);
  if (!sweep.profile.empty()) {
    json.Member("profile", sweep.profile);
    json.Member("calibrated", IsCalibrated(sweep));
  }
  json.Member("keys", sweep.keys);
  json.Objects("rows", sweep.rows, [&](const SweepRow& row) { WriteRow(json, sweep, row); });
  WriteNotes(json, NotesOf(sweep));
  json.Member("tool", ToolText(sweep.provenance));
  return EndResult(json);
}

std::string Csv(const Sweep& sweep) {
  const bool has_energy = !sweep.profile.empty();
  CsvTable csv(kSchema, sweep.provenance);
  csv.Field("model");
  for (const std::string& key : sweep.keys) csv.Field(key);
  for (const auto& [name, value] : InputsOf(sweep, sweep.rows.front())) csv.Field(name);
  csv.Field("parameters").Field("flops").Field("bytes");
  if (has_energy) csv.Field("energy_j").Field("low_j").Field("high_j").Field("seconds");
  csv.Field("failure");
  if (has_energy) csv.Field("profile").Field("calibrated");
  csv.EndRow();
  for (const SweepRow& row : sweep.rows) {
    const RowNumbers numbers = NumbersOf(row);
    csv.Field(sweep.model);
    for (const std::string& value : row.values) csv.Field(value);
    for (const auto& [name, value] : InputsOf(sweep, row)) csv.Field(value);
    for (const double whole : {numbers.parameters, numbers.flops, numbers.bytes}) {
      csv.Field(WholeOrFigure(whole));
    }
    if (has_energy) {
      csv.Field(numbers.energy_j).Field(numbers.low_j).Field(numbers.high_j).Field(numbers.seconds);
    }
    csv.Field(row.failure);
    if (has_energy) csv.Field(sweep.profile).Field(row.prediction.calibrated ? "yes" : "no");
    csv.EndRow();
  }
  return csv.Take();
}

}  // namespace

std::string Write(const Sweep& sweep, Format format, const ViewOptions& options) {
  if (format == Format::kJson) return Json(sweep);
  if (format == Format::kCsv) return Csv(sweep);
  return SweepTable(sweep, options).Write();
}

}  // namespace beryl::views
