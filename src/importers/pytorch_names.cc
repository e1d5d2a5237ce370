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
  // `torch::autograd::` is the home of nodes that no operator's derivative is named after.
  return IsEngineWrapper(name) || name.starts_with("torch::autograd::") ||
         name.find("Backward") != std::string_view::npos;
}

bool IsAccumulateGrad(std::string_view name) {
  return name.ends_with("torch::autograd::AccumulateGrad");
}

std::string_view StableName(std::string_view name, std::string& changed) {
  // `## Call CompiledFxGraph fk3p...b7 ##`
  constexpr std::string_view kGraph = "CompiledFxGraph ";
  const size_t at = name.find(kGraph);
  if (at == std::string_view::npos) return name;
  const size_t hash = at + kGraph.size();
  size_t end = name.find(' ', hash);
  if (end == std::string_view::npos) end = name.size();
  if (end - hash < 16) return name;
  changed.assign(name.substr(0, hash - 1)).append(name.substr(end));
  return changed;
}

}  // namespace beryl::importers
