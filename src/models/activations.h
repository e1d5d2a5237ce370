// Activation functions by their names in configurations, and the operations that each is made of.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace beryl::models {

struct ActivationOperation {
  std::string_view name;
  double flops;  // an element; counted as in the published data: tanh 4, gelu 6
  // What it reads, as large as what comes out: 0 is what goes in, N what the Nth operation gave.
  size_t reads = 0;
  std::optional<size_t> reads_too = {};
};

struct ActivationFunction {
  std::string_view name;
  std::string_view type;  // its class in the library
  std::vector<ActivationOperation> operations;
};

// Nothing: there is none of that name.
const ActivationFunction* FindActivation(std::string_view name);
// "gelu, gelu_new, ..."
std::string ActivationNames();

}  // namespace beryl::models
