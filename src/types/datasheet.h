// Datasheet: the manufacturer's figures for a machine. Enough for a prediction that was never
// compared with a meter.
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
  // Matrix operations per second, by Dtype. int8 and int4 mean 8- and 4-bit weights with 16-bit
  // products, unless the device has units for them that software uses. NaN: not stated, or no such
  // units; always known for float32.
  std::array<double, 5> matmul_flops = {};
  double vector_flops = 0;    // everything else, in float32
  double bandwidth = 0;       // bytes per second to and from memory
  double link_bandwidth = 0;  // bytes per second to another GPU, each way; 0: through the host
  double memory = 0;          // bytes
  Watts idle_power;
  Watts board_power;  // maximum
  // The origin of each figure, one line each: "matmul_flops: ...".
  std::vector<std::string> sources;
};

}  // namespace beryl
