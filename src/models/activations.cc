#include "models/activations.h"

#include <vector>

#include <fmt/ranges.h>

namespace beryl::models {
namespace {

const std::vector<ActivationFunction>& Functions() {
  static const std::vector<ActivationFunction> kAll = {
      {"gelu", "GELUActivation", {{"gelu", 6}}},
      {"gelu_new",
       "NewGELUActivation",
       {{"mul", 1},
        {"pow", 1},
        {"mul", 1, 2},
        {"add", 1, 0, 3},
        {"mul", 1, 4},
        {"tanh", 4, 5},
        {"add", 1, 6},
        {"mul", 1, 1, 7}}},
      {"gelu_fast",
       "FastGELUActivation",
       {{"mul", 1},
        {"mul", 1},
        {"mul", 1},
        {"mul", 1, 3, 0},
        {"add", 1, 4},
        {"mul", 1, 2, 5},
        {"tanh", 4, 6},
        {"add", 1, 7},
        {"mul", 1, 1, 8}}},
      {"gelu_python",
       "GELUActivation",
       {{"mul", 1}, {"div", 1}, {"erf", 4, 2}, {"add", 1, 3}, {"mul", 1, 1, 4}}},
      {"gelu_pytorch_tanh", "GELUTanh", {{"gelu", 9}}},
      {"quick_gelu", "QuickGELUActivation", {{"mul", 1}, {"sigmoid", 4, 1}, {"mul", 1, 0, 2}}},
      {"relu", "ReLU", {{"relu", 1}}},
      {"relu6", "ReLU6", {{"hardtanh", 2}}},
      {"relu2", "ReLUSquaredActivation", {{"relu", 1}, {"square", 1, 1}}},
      {"leaky_relu", "LeakyReLU", {{"leaky_relu", 2}}},
      {"silu", "SiLUActivation", {{"silu", 5}}},
      {"swish", "SiLUActivation", {{"silu", 5}}},
      {"mish", "MishActivation", {{"mish", 10}}},
      {"tanh", "Tanh", {{"tanh", 4}}},
      {"sigmoid", "Sigmoid", {{"sigmoid", 4}}},
      {"linear", "LinearActivation", {}},
  };
  return kAll;
}

}  // namespace

const ActivationFunction* FindActivation(std::string_view name) {
  for (const ActivationFunction& function : Functions()) {
    if (function.name == name) return &function;
  }
  return nullptr;
}

std::string ActivationNames() {
  std::vector<std::string_view> names;
  for (const ActivationFunction& function : Functions()) names.push_back(function.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace beryl::models
