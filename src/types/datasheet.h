// Datasheet: what a machine's makers say of it. Enough for a prediction that nobody has held
// against a meter.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "base/units.h"
#include "types/description.h"

namespace beryl {

struct Datasheet {
  std::string device;  // "NVIDIA A100 80GB SXM"
  bool gpu = true;
  // Operations a second of matrix products, by Dtype: int8 and int4 are those of 8- and 4-bit
  // weights with 16-bit products unless the device has units for them and software uses them. NaN:
  // not said, or it has no units for it; of float32 it is always known.
  std::array<double, 5> matmul_flops = {};
  double vector_flops = 0;    // of everything else, in float32
  double bandwidth = 0;       // bytes a second to and from memory
  double link_bandwidth = 0;  // bytes a second to another GPU, each way; 0: by the host
  double memory = 0;          // bytes
  Watts idle_power;
  Watts board_power;  // at most
  // Where each figure is from: a line each, "matmul_flops: ...".
  std::vector<std::string> sources;
};

}  // namespace beryl
