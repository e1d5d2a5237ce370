// Whether a model fits: its weights, and the keys and values that a generation keeps.
#pragma once

#include <vector>

#include "types/datasheet.h"
#include "types/description.h"
#include "types/note.h"

namespace beryl::learn {

// Bytes over all GPUs.
struct MemoryNeed {
  double weights = 0;
  double cache = 0;  // of keys and values at the end of a generation, at most; 0: none is kept

  double Total() const { return weights + cache; }
};
MemoryNeed MemoryNeedOf(const Description& description);

// Whether it fits, and on how many GPUs it would; nothing where the memory is not known.
void NoteMemory(const Datasheet& sheet, const Description& description, std::vector<Note>& notes);

}  // namespace beryl::learn
