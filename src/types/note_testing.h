// Notes as text, for tests.
#pragma once

#include <string>
#include <vector>

#include "types/note.h"

namespace beryl {

inline std::vector<std::string> Plain(const std::vector<Note>& notes) {
  std::vector<std::string> texts;
  texts.reserve(notes.size());
  for (const Note& note : notes) texts.push_back(PlainText(note));
  return texts;
}

}  // namespace beryl
