// Interprets PyTorch's event names.
#pragma once

#include <string>
#include <string_view>

namespace beryl::importers {

// Regions that versions before 1.13 do not distinguish from operations.
bool IsRegionName(std::string_view name);

// `autograd::engine::evaluate_function: X`, which wraps what the engine runs, and the wrapped
// names: `AddmmBackward`, `AddBackward0`, `torch::autograd::AccumulateGrad`.
bool IsBackwardName(std::string_view name);
bool IsEngineWrapper(std::string_view name);
// Accumulates a parameter's gradient; with or without the wrapper.
bool IsAccumulateGrad(std::string_view name);

// A name without the part that differs from run to run: the hash of a compiled graph. `changed`
// holds the text if it is not part of `name`.
std::string_view StableName(std::string_view name, std::string& changed);

}  // namespace beryl::importers
