// Whether a model fits: its weights, and the keys and values that a generation keeps.
#pragma once

#include <string>

#include "types/datasheet.h"
#include "types/description.h"

namespace beryl::learn {

// Bytes over all GPUs.
struct MemoryNeed {
  double weights = 0;
  double cache = 0;  // of keys and values at the end of a generation, at most; 0: none is kept

  double Total() const { return weights + cache; }
};
MemoryNeed MemoryNeedOf(const Description& description);

// "does not fit: 140 GB of weights, 80 GB of memory on 1 GPU; --gpus 2 would do", or that it fits;
// empty where the memory is not known.
std::string MemoryNote(const Datasheet& sheet, const Description& description);

}  // namespace beryl::learn
