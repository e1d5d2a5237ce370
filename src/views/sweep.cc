// Variants of a model, a line each: as a table, JSON and CSV.
#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "base/text.h"
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
  RowNumbers numbers;
  if (!row.failure.empty()) return numbers;
  const DescribedPrediction& prediction = row.prediction;
  const DescribedNode& root = prediction.description.nodes[0];
  numbers.parameters = static_cast<double>(root.parameters);
  numbers.flops = root.work.flops;
  numbers.bytes = root.work.Bytes();
  numbers.energy_j = At(prediction.energy.total, 0);
  numbers.low_j = At(prediction.energy.low, 0);
  numbers.high_j = At(prediction.energy.high, 0);
  numbers.seconds = At(prediction.seconds, 0);
  return numbers;
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
std::vector<std::pair<std::string, std::string>> InputsOf(const Sweep& sweep, const SweepRow& row) {
  const Description& description = row.prediction.description;
  const ModelInput& input = description.input;
  const bool known = row.failure.empty();
  std::vector<std::pair<std::string, std::string>> inputs;
  const auto add = [&](const std::string& name, const std::string& value) {
    if (std::find(sweep.keys.begin(), sweep.keys.end(), name) != sweep.keys.end()) return;
    inputs.emplace_back(name, known ? value : "");
  };
  const auto number = [](int64_t size) { return size > 0 ? std::to_string(size) : std::string(); };
  add("batch", number(input.batch));
  add("seq", number(input.seq));
  add("decoder_seq", number(input.decoder_seq));
  add("image_size", number(input.image_size));
  add("prompt", number(input.prompt));
  add("generate", number(input.generate));
  add("context", number(input.context));
  add("gpus", number(input.gpus));
  add("dtype", std::string(DtypeName(description.dtype)));
  add("attention", std::string(AttentionName(description.attention)));
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
    const size_t failed = static_cast<size_t>(
        std::count_if(sweep_.rows.begin(), sweep_.rows.end(),
                      [](const SweepRow& row) { return !row.failure.empty(); }));
    Paragraph(Bold(fmt::format("{}: {} variants{}", Printable(sweep_.model), sweep_.rows.size(),
                               failed > 0 ? fmt::format(", {} of them impossible", failed) : "")));
    Line();
    Widths();
    Head();
    for (const SweepRow& row : sweep_.rows) Row(row);
    Line();
    Notes(NotesOf(sweep_));
    Inputs();
    Paragraph(has_energy_ ? fmt::format("predicted from the configuration by {}; {}",
                                        Printable(sweep_.profile), sweep_.tool)
                          : fmt::format("worked out from the configuration alone; {}", sweep_.tool),
              0, kDimStyle);
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
    Paragraph("all with " + text, 0, kDimStyle);
  }

  // Keys stand in one line, or, where that is too wide, in pieces above one another.
  void Widths() {
    int all = has_energy_ ? 66 : 26;
    for (const std::string& key : sweep_.keys) {
      heads_.push_back({Printable(key)});
      all += static_cast<int>(DisplayWidth(heads_.back().front())) + 2;
    }
    for (size_t key = 0; key < sweep_.keys.size(); ++key) {
      if (all > width_) heads_[key] = Pieces(heads_[key].front());
      size_t width = 0;
      for (const std::string& piece : heads_[key]) width = std::max(width, DisplayWidth(piece));
      for (const SweepRow& row : sweep_.rows) {
        width = std::max(width, DisplayWidth(Printable(row.values[key])));
      }
      widths_.push_back(static_cast<int>(width));
    }
    const int keys =
        std::accumulate(widths_.begin(), widths_.end(), 2 * static_cast<int>(widths_.size()));
    // Bytes are what is missed least.
    moved_ = keys + (has_energy_ ? 66 : 26) <= width_;
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
      if (line + 1 == lines) text += NumberHeads();
      while (text.ends_with(' ')) text.pop_back();
      Line(Dim(text));
    }
  }

  std::string NumberHeads() const {
    std::string text = RightAligned("param.", 8) + RightAligned("FLOP", 9);
    if (moved_) text += RightAligned("moved", 9);
    if (has_energy_) {
      text += RightAligned("energy", 10) + RightAligned("between", 20) + RightAligned("time", 10);
    }
    return text;
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
    text += RightAligned(Amount(numbers.parameters), 8) + RightAligned(Amount(numbers.flops), 9);
    if (moved_) text += RightAligned(Amount(numbers.bytes, "B"), 9);
    if (has_energy_) {
      const std::string between = JoulesBetween(numbers.low_j, numbers.high_j);
      text +=
          RightAligned(JoulesOrDash(numbers.energy_j), 10) + RightAligned(between, 20) +
          RightAligned(std::isfinite(numbers.seconds) ? FormatSeconds(numbers.seconds) : "-", 10);
    }
    Line(text);
  }

  const Sweep& sweep_;
  bool has_energy_;
  std::vector<std::vector<std::string>> heads_;  // by key: lines
  std::vector<int> widths_;
  bool moved_ = true;
};

void WriteRow(JsonWriter& json, const Sweep& sweep, const SweepRow& row) {
  const RowNumbers numbers = NumbersOf(row);
  json.BeginObject();
  json.Key("values").BeginObject();
  for (size_t key = 0; key < sweep.keys.size(); ++key) {
    if (const auto number = ParseNumber(row.values[key])) {
      WriteWhole(json, sweep.keys[key], *number);
    } else {
      json.Member(sweep.keys[key], row.values[key]);
    }
  }
  json.End();
  json.Key("input").BeginObject();
  for (const auto& [name, value] : InputsOf(sweep, row)) {
    if (const auto number = ParseNumber(value)) {
      WriteWhole(json, name, *number);
    } else {
      json.Member(name, value.empty() ? std::optional<std::string>() : std::optional(value));
    }
  }
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
  json.Member("failure",
              row.failure.empty() ? std::optional<std::string>() : std::optional(row.failure));
  json.End();
}

std::string Json(const Sweep& sweep) {
  JsonWriter json;
  json.BeginObject();
  json.Member("schema", kSchema);
  json.Member("model", sweep.model);
  if (!sweep.profile.empty()) {
    json.Member("profile", sweep.profile);
    json.Member("calibrated", IsCalibrated(sweep));
  }
  WriteSentences(json, "keys", sweep.keys);
  json.Key("rows").BeginArray();
  for (const SweepRow& row : sweep.rows) WriteRow(json, sweep, row);
  json.End();
  WriteNotes(json, NotesOf(sweep));
  json.Member("tool", sweep.tool);
  json.End();
  return json.Take() + "\n";
}

std::string Csv(const Sweep& sweep) {
  const bool has_energy = !sweep.profile.empty();
  std::string text = "model,";
  for (const std::string& key : sweep.keys) text += CsvText(key) + ",";
  for (const auto& [name, value] : InputsOf(sweep, sweep.rows.front())) text += name + ",";
  text += "parameters,flops,bytes,";
  if (has_energy) text += "energy_j,low_j,high_j,seconds,";
  text += "failure,";
  if (has_energy) text += "profile,calibrated,";
  text += "schema\n";
  for (const SweepRow& row : sweep.rows) {
    const RowNumbers numbers = NumbersOf(row);
    text += CsvText(sweep.model) + ",";
    for (const std::string& value : row.values) text += CsvText(value) + ",";
    for (const auto& [name, value] : InputsOf(sweep, row)) text += value + ",";
    text += fmt::format("{},{},{},", WholeOrFigure(numbers.parameters),
                        WholeOrFigure(numbers.flops), WholeOrFigure(numbers.bytes));
    if (has_energy) {
      text += fmt::format("{},{},{},{},", CsvFigure(numbers.energy_j), CsvFigure(numbers.low_j),
                          CsvFigure(numbers.high_j), CsvFigure(numbers.seconds));
    }
    text += CsvText(row.failure) + ",";
    if (has_energy) {
      text +=
          fmt::format("{},{},", CsvText(sweep.profile), row.prediction.calibrated ? "yes" : "no");
    }
    text += fmt::format("{}\n", kSchema);
  }
  return text;
}

}  // namespace

std::string Write(const Sweep& sweep, Format format, const ViewOptions& options) {
  if (format == Format::kJson) return Json(sweep);
  if (format == Format::kCsv) return Csv(sweep);
  return SweepTable(sweep, options).Write();
}

}  // namespace beryl::views
