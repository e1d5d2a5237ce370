// What PyTorch's names say of an event.
#pragma once

#include <string>
#include <string_view>

namespace beryl::importers {

// Regions that versions before 1.13 do not tell apart from operations.
bool IsRegionName(std::string_view name);

// `autograd::engine::evaluate_function: X`, which wraps what the engine runs, and what it runs:
// `AddmmBackward`, `AddBackward0`, `torch::autograd::AccumulateGrad`.
bool IsBackwardName(std::string_view name);
bool IsEngineWrapper(std::string_view name);
// A parameter's gradient is added up; with or without the wrapper.
bool IsAccumulateGrad(std::string_view name);

// A name without what differs from run to run: the hash of a compiled graph. `changed` holds the
// text if it is not part of `name`.
std::string_view StableName(std::string_view name, std::string& changed);

}  // namespace beryl::importers
