// Activation functions by their names in configurations, and the operations each consists of.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace beryl::models {

struct ActivationOperation {
  std::string_view name;
  double flops;  // per element; counted as in the published data: tanh 4, gelu 6
  // The operand, which is as large as the output: 0 is the input, N the output of the Nth
  // operation.
  size_t reads = 0;
  std::optional<size_t> reads_too = {};
};

struct ActivationFunction {
  std::string_view name;
  std::string_view type;  // its class in the library
  std::vector<ActivationOperation> operations;
};

// nullptr if there is no function of that name.
const ActivationFunction* FindActivation(std::string_view name);
// "gelu, gelu_new, ..."
std::string ActivationNames();

}  // namespace beryl::models
