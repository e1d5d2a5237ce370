#include "importers/xla_kinds.h"

#include "base/text.h"
#include "importers/tensorflow_names.h"

namespace beryl::importers {
namespace {

// Inlined calls leave their node's name in front of what they called:
// `StatefulPartitionedCall/model/dense/MatMul`. It is not a scope of the program.
std::string_view WithoutCalls(std::string_view name) {
  while (true) {
    const size_t slash = name.find('/');
    if (slash == std::string_view::npos) return name;
    std::string_view first = name.substr(0, slash);
    const auto numbered = SplitNumber(first);
    if (numbered && numbered->stem.ends_with("Call_")) {
      first = numbered->stem.substr(0, numbered->stem.size() - 1);
    }
    if (first != "StatefulPartitionedCall" && first != "PartitionedCall") return name;
    name.remove_prefix(slash + 1);
  }
}

// `fusion` from `fusion.12`.
std::string_view WithoutNumber(std::string_view instruction) {
  const auto numbered = SplitNumber(instruction);
  return numbered && numbered->stem.size() > 1 && numbered->stem.ends_with('.')
             ? numbered->stem.substr(0, numbered->stem.size() - 1)
             : instruction;
}

std::string_view LastPart(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

uint32_t& Cached(std::vector<uint32_t>& kinds, uint32_t number) {
  if (number >= kinds.size()) kinds.resize(size_t{number} + 1, kNoKind);
  return kinds[number];
}

}  // namespace

uint32_t XlaKinds::OfHost(uint32_t number, const XlaWhat& what) {
  uint32_t& kind = Cached(host_, number);
  if (kind != kNoKind) return kind;
  if (const auto framework = FromNames(what)) {
    kind = Number(*framework);
  } else if (what.hlo_op != 0) {
    kind = Number(FromInstruction(what));
  } else if (what.eager_op != 0) {
    const std::string_view type = strings_.Text(what.eager_op);
    OpKind made = Make("", type, type);
    made.phase = EagerPhase(type);
    kind = Number(made);
  } else {
    const std::string_view name = strings_.Text(what.name);
    const auto parsed = ParseTensorFlowEvent(name);
    kind = Number(parsed ? FromTensorFlow(parsed->name, parsed->type) : Make("", name, name));
  }
  return kind;
}

uint32_t XlaKinds::OfDevice(uint32_t number, const XlaWhat& what) {
  uint32_t& kind = Cached(device_, number);
  if (kind != kNoKind) return kind;
  auto made = FromNames(what);
  if (!made && what.hlo_op != 0) made = FromInstruction(what);
  if (!made) return kNoKind;
  if (what.name != 0 && what.name != what.hlo_op) AddKernel(*made, strings_.Text(what.name));
  return kind = Number(*made);
}

uint32_t XlaKinds::OfLaunch(uint32_t number, const XlaWhat& what, uint32_t launcher_number,
                            const XlaWhat& launcher) {
  const uint64_t key = uint64_t{number} << 32 | launcher_number;
  auto [place, is_new] = launched_.try_emplace(key, kNoKind);
  if (!is_new) return place->second;
  OpKind kind = trace_.kinds[OfHost(launcher_number, launcher)];
  AddKernel(kind, strings_.Text(what.name));
  return place->second = Number(kind);
}

uint32_t XlaKinds::Untied(uint32_t number, const XlaWhat& what) {
  uint32_t& kind = Cached(untied_, number);
  if (kind != kNoKind) return kind;
  OpKind made;
  const PathId untied = trace_.paths.Intern(
      kRootPath, trace_.strings.Intern("(not tied to an operation)"), PathKind::kOutside);
  made.op = made.type = trace_.strings.Intern(Printable(strings_.Text(what.name)));
  made.path = trace_.paths.Intern(untied, made.op, PathKind::kKernel);
  return kind = Number(made);
}

// From the framework's name, in the program or in the event.
std::optional<OpKind> XlaKinds::FromNames(const XlaWhat& what) {
  if (what.hlo_op != 0) {
    const auto program = what.program == kNoXlaNumber ? std::nullopt : std::optional(what.program);
    const HloTable::Found found = programs_.Find(program, what.hlo_module, what.hlo_op);
    if (found.instruction != nullptr) {
      const std::string_view name = strings_.Text(found.instruction->op_name);
      const std::string_view type = strings_.Text(found.instruction->op_type);
      // Without a scope and a type it is an argument of the program.
      const bool named = !type.empty() || name.find('/') != std::string_view::npos;
      const auto parsed = named ? ParseFrameworkName(name) : std::nullopt;
      if (parsed) return FromFramework(*parsed, type, found.trains, what);
    }
  }
  if (what.tf_op == 0) return std::nullopt;
  const auto parsed = ParseFrameworkName(strings_.Text(what.tf_op));
  if (!parsed) return std::nullopt;
  return FromFramework(*parsed, parsed->type, false, what);
}

OpKind XlaKinds::FromFramework(const FrameworkName& name, std::string_view type, bool trains,
                               const XlaWhat& what) {
  OpKind kind = FromTensorFlow(name.path, type.empty() ? LastPart(name.path) : type);
  if (name.backward) {
    kind.phase = Phase::kBackward;
  } else if (trains && !name.differentiated && kind.phase == Phase::kForward) {
    // The program takes a gradient, and this is outside of the differentiated function.
    kind.phase = Phase::kOptimizer;
  }
  if (what.hlo_op != 0) AddKernel(kind, strings_.Text(what.hlo_op));
  return kind;
}

OpKind XlaKinds::FromTensorFlow(std::string_view name, std::string_view type) {
  return MakeTensorFlowKind(trace_, trace_.strings.Intern(Printable(WithoutCalls(name))),
                            trace_.strings.Intern(Printable(type)));
}

// Only the program is known.
OpKind XlaKinds::FromInstruction(const XlaWhat& what) {
  const std::string_view name = strings_.Text(what.hlo_op);
  return Make(strings_.Text(what.hlo_module), name, WithoutNumber(name));
}

OpKind XlaKinds::Make(std::string_view scope, std::string_view op, std::string_view type) {
  OpKind kind;
  if (!scope.empty()) {
    kind.scope =
        trace_.paths.Intern(kRootPath, trace_.strings.Intern(Printable(scope)), PathKind::kModule);
  }
  kind.op = trace_.strings.Intern(Printable(op));
  kind.type = trace_.strings.Intern(Printable(type));
  kind.path = trace_.paths.Intern(kind.scope, kind.op, PathKind::kOperation);
  return kind;
}

void XlaKinds::AddKernel(OpKind& kind, std::string_view name) {
  kind.path =
      trace_.paths.Intern(kind.path, trace_.strings.Intern(Printable(name)), PathKind::kKernel);
}

uint32_t XlaKinds::Number(OpKind kind) {
  kind.rank = rank_;
  const auto key = std::make_tuple(kind.path, kind.scope, kind.op, kind.type, kind.phase);
  auto [place, is_new] = numbers_.try_emplace(key, static_cast<uint32_t>(trace_.kinds.size()));
  if (is_new) trace_.kinds.push_back(kind);
  return place->second;
}

}  // namespace beryl::importers
