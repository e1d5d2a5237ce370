// ModelList: models that are known by name, and their sizes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "types/provenance.h"

namespace beryl {

struct ModelList {
  Provenance provenance;
  struct Row {
    std::string name;
    std::string family;       // its model_type
    uint64_t parameters = 0;  // of the bare model, without a head
    double layers = 0;        // that a token passes through; encoder plus decoder
    double flops = 0;         // for one default input: `tokens` tokens, or one image
    int64_t tokens = 0;       // of that input; for an image, its patches
  };
  std::vector<Row> rows;
};

}  // namespace beryl
