// Note: something a reader must know to trust a result, or an assumption. Rooms choose one of a
// closed set of kinds, a subject and figures; views put it into words.
#pragma once

#include <cmath>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/units.h"
#include "types/gap_reason.h"

namespace beryl {

enum class NoteClass : uint8_t {
  kTold,      // how reliable the numbers are
  kAssumed,   // an assumption, because nothing else was specified
  kDropped,   // input that should have been used but could not be
  kSkipped,   // input of a kind that is not used
  kRepaired,  // input that was used after a repair
};
std::string_view NoteClassName(NoteClass note_class);  // "note", "assumed", "dropped", ...

enum class NoteKind : uint16_t {
#define BERYL_NOTE(kind, name, note_class, keys) kind,
#include "types/note_kinds.inc"
#undef BERYL_NOTE
};

inline constexpr auto kAllNoteKinds = {
#define BERYL_NOTE(kind, name, note_class, keys) NoteKind::kind,
#include "types/note_kinds.inc"
#undef BERYL_NOTE
};

std::string_view NoteKindName(NoteKind kind);  // "counter_wrapped": in JSON and run files
std::optional<NoteKind> FindNoteKind(std::string_view name);
NoteClass ClassOf(NoteKind kind);
// Keys of the values, in order. The suffix of a key is its unit: "missing_s", "share".
std::vector<std::string_view> KeysOf(NoteKind kind);

// A number in the unit of its key, a text, the reason of a gap, or nothing if unknown.
class NoteValue {
 public:
  using Held = std::variant<std::monostate, double, std::string, GapReason>;

  NoteValue() = default;
  // Not inline: GCC 12 warns that the unused text of a list of values is uninitialised.
  NoteValue(const NoteValue&);
  NoteValue(NoteValue&&) noexcept;
  NoteValue& operator=(const NoteValue&);
  NoteValue& operator=(NoteValue&&) noexcept;
  ~NoteValue();
  template <typename Number>
  requires(std::integral<Number> || std::floating_point<Number>)
      // NOLINTNEXTLINE(google-explicit-constructor): a list of values reads as what it holds
      NoteValue(Number number) {
    const auto value = static_cast<double>(number);
    if (std::isfinite(value)) held_ = value;
  }
  template <typename Unit>
  // NOLINTNEXTLINE(google-explicit-constructor)
  NoteValue(Scalar<Unit> quantity) : NoteValue(quantity.value) {}
  template <typename Unit>
  // NOLINTNEXTLINE(google-explicit-constructor)
  NoteValue(const std::optional<Scalar<Unit>>& quantity) : NoteValue(ValueOrNan(quantity)) {}
  // NOLINTNEXTLINE(google-explicit-constructor)
  NoteValue(std::string text);
  // NOLINTNEXTLINE(google-explicit-constructor)
  NoteValue(std::string_view text) : NoteValue(std::string(text)) {}
  // NOLINTNEXTLINE(google-explicit-constructor)
  NoteValue(const char* text) : NoteValue(std::string(text)) {}
  // NOLINTNEXTLINE(google-explicit-constructor)
  NoteValue(GapReason why) : held_(why) {}

  const Held& held() const { return held_; }
  bool known() const { return !std::holds_alternative<std::monostate>(held_); }
  bool operator==(const NoteValue&) const = default;

 private:
  Held held_;
};

struct Note {
  // NOLINTNEXTLINE(google-explicit-constructor): a kind alone may be all there is to say
  Note(NoteKind of, std::string about = {}, std::vector<NoteValue> figures = {})
      : kind(of), subject(std::move(about)), values(std::move(figures)) {}

  NoteKind kind;
  std::string subject;            // the channel, device, model ...; empty: the run
  std::vector<NoteValue> values;  // by KeysOf(kind); missing ones are unknown
  uint64_t count = 1;
  // The first place: "data.csv:12", the path of a node, or a byte of a file's decompressed text.
  // Empty if there is none.
  std::string first;
  std::optional<uint64_t> first_byte;
  // The file, run or phase that it belongs to, if a result has several.
  std::string source;

  bool operator==(const Note&) const = default;
};

// Whether a note of this kind says that input is incomplete: part of a run is missing, so that it
// may have used more than is known.
bool SaysIncomplete(NoteKind kind);

// Nothing if it has no such value or the value is unknown.
const NoteValue* FindValue(const Note& note, std::string_view key);

// Increases the count if there is a note of this kind and subject, whose first place and values
// stay; otherwise adds it.
void CountNote(std::vector<Note>& notes, const Note& note);

// Adds notes that belong to `source`.
void AppendNotes(std::vector<Note>& to, const std::vector<Note>& notes,
                 const std::string& source = {});

// "counter_wrapped CPU:0 wraps=3": for tests, and where there are no words.
std::string PlainText(const Note& note);
std::string PlainText(const NoteValue& value);

}  // namespace beryl
