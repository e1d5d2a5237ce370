#include "importers/xla_names.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>
#include <vector>

#include "importers/tensorflow_names.h"

namespace beryl::importers {
namespace {

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsWordCharacter(char c) { return IsLetter(c) || IsDigit(c) || c == '_'; }

// `[A-Z_][A-Za-z0-9_]*`
bool IsOpType(std::string_view type) {
  if (type.empty() || (type[0] != '_' && (type[0] < 'A' || type[0] > 'Z'))) return false;
  return std::all_of(type.begin(), type.end(), IsWordCharacter);
}

// The characters that TensorFlow allows in a node's name, which may start with a dot scope.
bool IsOpName(std::string_view name) {
  if (name.empty() || (!IsWordCharacter(name[0]) && name[0] != '.')) return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    return IsWordCharacter(c) || c == '.' || c == '/' || c == '-' || c == '>';
  });
}

// `MatMul:MatMul`, and also the suffix of an XLA operation's name: `.../add:`.
bool IsTypeOrNothing(std::string_view type) {
  return std::all_of(type.begin(), type.end(),
                     [](char c) { return IsWordCharacter(c) || c == '-'; });
}

// Splits at `separator` outside of brackets.
std::vector<std::string_view> SplitOutside(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  int depth = 0;
  size_t start = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '(' || c == '[' || c == '{') ++depth;
    if ((c == ')' || c == ']' || c == '}') && depth > 0) --depth;
    if (c != separator || depth > 0) continue;
    parts.push_back(text.substr(start, i - start));
    start = i + 1;
  }
  parts.push_back(text.substr(start));
  return parts;
}

// The end of a name before brackets: `jvp` in `jvp(Dense_0)`. 0: not of that form.
size_t TransformationName(std::string_view part) {
  if (!part.ends_with(')')) return 0;
  size_t end = 0;
  while (end < part.size() && IsWordCharacter(part[end])) ++end;
  return end < part.size() && part[end] == '(' ? end : 0;
}

// Names of JAX's own calls between the scopes of the program.
constexpr std::array<std::string_view, 12> kCallMarks = {"checkpoint",
                                                         "rematted_computation",
                                                         "remat",
                                                         "remat2",
                                                         "pjit",
                                                         "closed_call",
                                                         "custom_vjp_call",
                                                         "custom_vjp_call_jaxpr",
                                                         "core_call",
                                                         "xla_call",
                                                         "custom_jvp_call",
                                                         "custom_lin"};

// Removes the transformations from a name, scope by scope.
class ScopeReader {
 public:
  explicit ScopeReader(FrameworkName& name) : name_(name) {}

  // A transformation may contain several scopes, and further transformations.
  void Read(std::string_view text, int depth) {
    const auto parts = SplitOutside(text, '/');
    std::string_view before;
    for (size_t i = 0; i < parts.size(); ++i) {
      const bool last = i + 1 == parts.size();
      // Until 2024, every compiled function contained a function `main`.
      if (i == 1 && depth == 0 && !last && parts[i] == "jit(main)") continue;
      const std::string_view inside = Innermost(parts[i]);
      // `transpose(jvp(Net))/jvp(Net)`: recomputed for the gradient, in the same place.
      const bool again = i > 0 && inside == before && inside.size() < parts[i].size();
      before = inside;
      if (again || (!last && IsCallMark(parts[i]))) continue;
      ReadPart(parts[i], depth);
    }
  }

 private:
  static bool IsCallMark(std::string_view part) {
    return std::find(kCallMarks.begin(), kCallMarks.end(), part) != kCallMarks.end();
  }

  static std::string_view Innermost(std::string_view part) {
    while (const size_t end = TransformationName(part)) {
      part = part.substr(end + 1, part.size() - end - 2);
    }
    return part;
  }

  void ReadPart(std::string_view part, int depth) {
    // Older versions append parameters to an operation: `dot_general[dimension_numbers=...]`.
    const size_t bracket = part.find('[');
    if (bracket != std::string_view::npos && bracket > 0 && part.ends_with(']')) {
      part = part.substr(0, bracket);
    }
    const size_t end = TransformationName(part);
    if (end == 0) {
      if (part.empty()) return;
      if (!name_.path.empty()) name_.path += '/';
      name_.path += part;
      return;
    }
    const std::string_view transformation = part.substr(0, end);
    if (transformation == "transpose") name_.backward = true;
    if (transformation == "transpose" || transformation == "jvp") name_.differentiated = true;
    constexpr int kDeepest = 32;
    if (depth < kDeepest) Read(part.substr(end + 1, part.size() - end - 2), depth + 1);
  }

  FrameworkName& name_;
};

struct NamedLine {
  std::string_view name;
  DeviceLine line;
};
// Derived lines have fixed names, followed by the queue if there are several.
constexpr std::array<NamedLine, 17> kDerivedLines = {{
    {"XLA Ops", DeviceLine::kOps},
    {"Sparse Core Ops", DeviceLine::kOps},
    {"Framework Ops", DeviceLine::kFrameworkOps},
    {"TensorFlow Ops", DeviceLine::kFrameworkOps},
    {"XLA Modules", DeviceLine::kModules},
    {"Sparse Core Modules", DeviceLine::kModules},
    {"Steps", DeviceLine::kSteps},
    {"Sparse Core Steps", DeviceLine::kSteps},
    {"Framework Name Scope", DeviceLine::kRepetition},
    {"TensorFlow Name Scope", DeviceLine::kRepetition},
    {"Source code", DeviceLine::kRepetition},
    {"Source Code", DeviceLine::kRepetition},
    {"Async XLA Ops", DeviceLine::kRepetition},
    {"XLA TraceMe", DeviceLine::kRepetition},
    {"Launch Stats", DeviceLine::kRepetition},
    {"CUPTI overhead", DeviceLine::kRepetition},
    {"_counters_", DeviceLine::kRepetition},
}};

}  // namespace

std::optional<TensorFlowEventName> ParseTensorFlowEvent(std::string_view text) {
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const TensorFlowEventName parsed{text.substr(0, colon), text.substr(colon + 1)};
  if (!IsOpType(parsed.type) || !IsOpName(parsed.name)) return std::nullopt;
  return parsed;
}

bool IsFunctionType(std::string_view type) { return type.starts_with("__"); }

std::optional<FrameworkName> ParseFrameworkName(std::string_view text) {
  FrameworkName name;
  const auto by_colon = SplitOutside(text, ':');
  if (by_colon.size() > 1 && IsTypeOrNothing(by_colon.back())) {
    name.type = by_colon.back();
    text.remove_suffix(name.type.size() + 1);
    // `XlaModule:` and `Thunk:` mark regions of the runtime.
    if (name.type.empty() && text.find('/') == std::string_view::npos) return std::nullopt;
  }
  if (text.find('/') == std::string_view::npos && text.find('[') != std::string_view::npos) {
    return std::nullopt;
  }
  ScopeReader(name).Read(text, 0);
  if (name.path.empty()) return std::nullopt;
  return name;
}

ModuleName ParseModuleName(std::string_view text) {
  ModuleName module{text, std::nullopt};
  const size_t bracket = text.rfind('(');
  if (bracket == std::string_view::npos || !text.ends_with(')')) return module;
  const std::string_view digits = text.substr(bracket + 1, text.size() - bracket - 2);
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size()) return module;
  module.name = text.substr(0, bracket);
  module.program = static_cast<int64_t>(number);
  return module;
}

std::optional<std::string> DeviceOfPlane(std::string_view plane) {
  constexpr std::string_view kPrefix = "/device:";
  const size_t at = plane.find(kPrefix);
  if (at == std::string_view::npos) return std::nullopt;
  plane.remove_prefix(at + kPrefix.size());
  size_t end = 0;
  while (end < plane.size() && (IsWordCharacter(plane[end]) || plane[end] == ':')) ++end;
  if (end == 0) return std::nullopt;
  return std::string(plane.substr(0, end));
}

bool IsHostPlane(std::string_view plane) { return plane.find("/host:") != std::string_view::npos; }

DeviceLine DeviceLineOf(std::string_view line) {
  for (const NamedLine& known : kDerivedLines) {
    if (!line.starts_with(known.name)) continue;
    const std::string_view rest = line.substr(known.name.size());
    if (rest.empty() || rest[0] == ' ' || rest[0] == '(' || rest[0] == '#') return known.line;
  }
  return line.starts_with("Stream") ? DeviceLine::kStream : DeviceLine::kOther;
}

bool IsInputPipeline(std::string_view type) {
  return type.find("Dataset") != std::string_view::npos ||
         type.find("Iterator") != std::string_view::npos;
}

NoteKind MachineryReason(std::string_view name) {
  if (name.starts_with('$')) return NoteKind::kPythonFrame;
  if (name.starts_with("end: ")) return NoteKind::kOperationEnd;
  if (name.starts_with("Iterator::")) return NoteKind::kInputPipeline;
  if (name.find("::") != std::string_view::npos) return NoteKind::kRuntimeWork;
  return NoteKind::kHostEvent;
}

Phase EagerPhase(std::string_view type) {
  const Phase phase = TensorFlowPhase({}, type);
  const bool gradient = type.find("Grad") != std::string_view::npos ||
                        type.find("Backprop") != std::string_view::npos;
  return phase == Phase::kForward && gradient ? Phase::kBackward : phase;
}

}  // namespace beryl::importers
