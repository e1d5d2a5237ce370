// Collects notes about a data set: one for each kind, with its count and first occurrence.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "types/note.h"

namespace beryl::datasets {

class NoteLog {
 public:
  // `what` and `value` (such as "flops" and "abc") are kept for the first occurrence only. `line` 0
  // means the whole file.
  void Count(NoteKind kind, const std::string& file, uint64_t line, std::string_view what = {},
             std::string_view value = {});

  // In the order of first occurrence. Empties the log.
  std::vector<Note> Take();
  // "file:line: text for number: energy_mean 'x'" for the first note, to explain an error that has
  // no other cause; or empty.
  std::string First() const;

 private:
  std::vector<Note> notes_;
};

}  // namespace beryl::datasets
