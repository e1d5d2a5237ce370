// The inputs of a model's passes, worked out from the sizes that a run shows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/models.h"
#include "tree/tree.h"
#include "types/description.h"

namespace beryl::flows {

struct SeenPass {
  ModelInput input;
  uint64_t count = 0;
  int64_t beams = 1;  // sequences of the decoder for each of the encoder
};

struct SeenPasses {
  std::vector<SeenPass> passes;  // of different inputs, the most frequent first
  bool complete = true;          // false: the run has inputs that none of them stands for
  bool cache_seen = true;        // false: tokens before single ones were not seen
};

// `input` has what the sizes do not show. A prompt and the single tokens after it are one pass.
SeenPasses PassesOf(const models::ModelTraits& traits, const tree::SeenInput& seen,
                    const ModelInput& input);

// "4x17 (2 times), 3x17 (1 time)"; equal ones are added up.
std::string SizesText(const std::vector<tree::SeenInput::Size>& sizes);

}  // namespace beryl::flows
