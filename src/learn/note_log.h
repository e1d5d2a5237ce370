// What readers of data sets have to say about them: one note of each kind, with how often and where
// it was first.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "types/note.h"

namespace beryl::learn {

class NoteLog {
 public:
  // `what` and `value` (as "flops" and "abc") are said of the first place only. `line` 0: the place
  // is the whole file.
  void Count(NoteKind kind, const std::string& file, uint64_t line, std::string_view what = {},
             std::string_view value = {});

  // In the order in which they first occurred; the log is empty afterwards.
  std::vector<Note> Take();
  // "file:line: text for number: energy_mean 'x'" of the first note, for an error that has nothing
  // else to go by; or empty.
  std::string First() const;

 private:
  std::vector<Note> notes_;
};

}  // namespace beryl::learn
