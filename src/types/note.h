// Note: what a reader has to know to trust a result, or what was taken for granted. Rooms say which
// of a closed set of things it is, of what, and with which figures; views put it into words.
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
  kTold,      // how far the numbers hold
  kAssumed,   // taken for granted, because nobody said otherwise
  kDropped,   // of the input: meant to be used, and could not be
  kSkipped,   // of the input: not what is looked for, by its nature
  kRepaired,  // of the input: used after all
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
// What its values are called, in their order. The end of a key is its unit: "missing_s", "share".
std::vector<std::string_view> KeysOf(NoteKind kind);

// A number in the unit of its key, a text, why there is a gap; or nothing: not known.
class NoteValue {
 public:
  using Held = std::variant<std::monostate, double, std::string, GapReason>;

  NoteValue() = default;
  // Not inline: GCC 12 takes a text that a list of values does not hold for one that is not
  // initialised.
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
  std::string subject;            // the channel, device, model ... that it is about; empty: the run
  std::vector<NoteValue> values;  // by KeysOf(kind); those that are missing are not known
  uint64_t count = 1;
  // Where it was for the first time: "data.csv:12", the path of a node; or a byte of the text of a
  // file, decompressed. Empty: there is no such place.
  std::string first;
  std::optional<uint64_t> first_byte;
  // The file, run or phase that it belongs to, where a result has several.
  std::string source;

  bool operator==(const Note&) const = default;
};

// Nothing: it has no such value, or that is not known.
const NoteValue* FindValue(const Note& note, std::string_view key);

// The same thing of the same subject, once more: its count grows, and its first place and values
// stay. Otherwise it is added.
void CountNote(std::vector<Note>& notes, const Note& note);

// Adds notes that belong to `source`.
void AppendNotes(std::vector<Note>& to, const std::vector<Note>& notes,
                 const std::string& source = {});

// "counter_wrapped CPU:0 wraps=3": for where there are no words, and for tests.
std::string PlainText(const Note& note);
std::string PlainText(const NoteValue& value);

}  // namespace beryl
