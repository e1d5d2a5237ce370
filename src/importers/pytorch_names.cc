#include "importers/pytorch_names.h"

namespace beryl::importers {

bool IsRegionName(std::string_view name) {
  return name.starts_with("ProfilerStep#") || name.starts_with("Optimizer.") ||
         name.starts_with("enumerate(DataLoader)");
}

bool IsEngineWrapper(std::string_view name) {
  return name.starts_with("autograd::engine::evaluate_function");
}

bool IsBackwardName(std::string_view name) {
  // `torch::autograd::` contains nodes that are not named after an operator's derivative.
  return IsEngineWrapper(name) || name.starts_with("torch::autograd::") ||
         name.find("Backward") != std::string_view::npos;
}

bool IsAccumulateGrad(std::string_view name) {
  return name.ends_with("torch::autograd::AccumulateGrad");
}

std::string_view StableName(std::string_view name, std::string& changed) {
  // `## Call CompiledFxGraph fk3p...b7 ##`
  constexpr std::string_view kGraph = "## Call CompiledFxGraph ";
  if (!name.starts_with(kGraph)) return name;
  const size_t end = name.find(' ', kGraph.size());
  if (end == std::string_view::npos) return name;
  changed.assign(kGraph.substr(0, kGraph.size() - 1)).append(name.substr(end));
  return changed;
}

}  // namespace beryl::importers
