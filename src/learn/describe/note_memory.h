// Notes whether a model fits into the memory of a machine.
#pragma once

#include <vector>

#include "types/description.h"
#include "types/note.h"

namespace beryl::learn {

// `memory`: bytes of one device. Notes whether the model fits and, of a GPU, on how many it would.
// Adds nothing if the memory is unknown.
void NoteMemory(double memory, bool gpu, const Description& description, std::vector<Note>& notes);

}  // namespace beryl::learn
