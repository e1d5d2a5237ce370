#include "importers/tensorflow_names.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace beryl::importers {
namespace {

// Prefixes of scopes made by optimizers, in lower case. TensorFlow marks them by name alone.
constexpr std::array<std::string_view, 13> kOptimizerStems = {
    "adam", "adagrad", "adadelta", "nadam",     "rmsprop",  "ftrl",           "sgd",
    "lamb", "lars",    "lion",     "adafactor", "momentum", "gradientdescent"};

std::string Lower(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
  });
  return lower;
}

// `gradients`, `gradients_1`, `gradient_tape`.
bool IsGradientScope(std::string_view part) {
  const auto numbered = SplitNumber(part);
  const std::string_view stem = numbered ? numbered->stem : part;
  return stem == "gradients" || stem == "gradients_" || stem == "gradient_tape";
}

// `Adam`, `Adam_1`, `AdamWeightDecayOptimizer`, `adam_v`: the stem, and then no further word in it.
bool IsOptimizerScope(std::string_view part) {
  const std::string lower = Lower(part);
  if (lower.ends_with("optimizer") || lower == "optimizer") return true;
  return std::any_of(kOptimizerStems.begin(), kOptimizerStems.end(), [&](std::string_view stem) {
    if (!lower.starts_with(stem)) return false;
    std::string_view rest = std::string_view(lower).substr(stem.size());
    if (rest.starts_with("w") || rest.starts_with("x")) rest.remove_prefix(1);  // AdamW
    if (rest.starts_with("max")) rest.remove_prefix(3);                         // Adamax
    return rest.empty() || rest == "_m" || rest == "_v" || rest.starts_with("optimizer") ||
           (rest.front() == '_' && SplitNumber(rest) && SplitNumber(rest)->stem == "_");
  });
}

// ResourceApplyAdam, ApplyMomentum, ResourceSparseApplyFtrl.
bool IsApplyType(std::string_view type) {
  if (type.starts_with("Resource")) type.remove_prefix(8);
  if (type.starts_with("Sparse")) type.remove_prefix(6);
  return type.starts_with("Apply") && type.size() > 5 && type[5] >= 'A' && type[5] <= 'Z';
}

}  // namespace

TensorFlowProcess ParseProcessName(std::string_view name) {
  TensorFlowProcess process;
  constexpr std::string_view kCompute = " Compute";
  if (!name.ends_with(kCompute)) return process;
  name.remove_suffix(kCompute.size());
  for (const std::string_view part : Split(name, '/')) {
    if (part.starts_with("job:") || part.starts_with("replica:") || part.starts_with("task:")) {
      if (!process.task.empty()) process.task += '/';
      process.task += part;
    } else if (part.starts_with("device:")) {
      process.device = part.substr(7);
    } else if (part.starts_with("gpu:") || part.starts_with("cpu:")) {
      // Before 1.3 devices were called /gpu:0, followed by the board's name in brackets.
      process.device = (part[0] == 'g' ? "GPU:" : "CPU:");
      process.device += part.substr(4, part.find_first_not_of("0123456789", 4) - 4);
    } else if (part.starts_with("stream:") || part.starts_with("memcpy")) {
      process.stream = part;
    }
  }
  process.compute = !process.device.empty();
  return process;
}

TensorFlowLayout::TensorFlowLayout(const std::vector<TensorFlowProcess>& processes) {
  for (const TensorFlowProcess& process : processes) {
    if (!process.compute) continue;
    if (process.stream.empty()) {
      tasks_of_device_[process.device].insert(process.task);
      continue;
    }
    with_streams_.insert(process.device);
    if (process.stream.starts_with("stream:") && process.stream != "stream:all") {
      with_numbered_.insert(process.device);
    }
  }
}

bool TensorFlowLayout::IsRepetition(const TensorFlowProcess& process) const {
  const bool collected = process.stream == "stream:all" || process.stream.starts_with("memcpy");
  return collected && with_numbered_.contains(process.device);
}

std::string TensorFlowLayout::DeviceName(const TensorFlowProcess& process) const {
  const bool launches = process.stream.empty() && with_streams_.contains(process.device) &&
                        process.device.starts_with("GPU:");
  const std::string device = launches ? "CPU:0" : process.device;
  const auto tasks = tasks_of_device_.find(device);
  const bool ambiguous = tasks != tasks_of_device_.end() && tasks->second.size() > 1;
  return ambiguous && !process.task.empty() ? process.task + "/" + device : device;
}

Phase TensorFlowPhase(std::string_view name, std::string_view type) {
  const auto parts = Split(name, '/');
  if (std::any_of(parts.begin(), parts.end(), IsGradientScope)) return Phase::kBackward;
  if (IsApplyType(type) || std::any_of(parts.begin(), parts.end(), IsOptimizerScope)) {
    return Phase::kOptimizer;
  }
  return Phase::kForward;
}

OpKind MakeTensorFlowKind(OpTrace& trace, StringId name, StringId type) {
  const std::string_view text = trace.strings.Text(name);
  OpKind kind;
  kind.phase = TensorFlowPhase(text, trace.strings.Text(type));
  kind.type = type;
  const size_t slash = text.rfind('/');
  std::string_view scope = slash == std::string_view::npos ? "" : text.substr(0, slash);
  const std::string_view op = slash == std::string_view::npos ? text : text.substr(slash + 1);
  if (slash != std::string_view::npos) {
    for (const std::string_view part : Split(scope, '/')) {
      kind.scope = trace.paths.Intern(kind.scope, trace.strings.Intern(part), PathKind::kModule);
    }
  }
  kind.op = trace.strings.Intern(op);
  kind.path = trace.paths.Intern(kind.scope, kind.op, PathKind::kOperation);
  return kind;
}

}  // namespace beryl::importers
