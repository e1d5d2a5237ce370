// Activation functions by their names in configurations, and the operations that each is made of.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace beryl::models {

struct ActivationOperation {
  std::string_view name;
  double flops;             // an element; counted as in the published data: tanh 4, gelu 6
  bool two_inputs = false;  // both as large as what comes out
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
