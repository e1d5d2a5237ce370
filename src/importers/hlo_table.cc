#include "importers/hlo_table.h"

#include <algorithm>
#include <array>

#include "importers/xla_names.h"

namespace beryl::importers {
namespace {

// Longer names are cut: they are for people.
constexpr size_t kLongestName = 2048;

// Instructions that do no work, so they have no events.
bool NeverRuns(std::string_view opcode) {
  constexpr std::array<std::string_view, 5> kSilent = {"parameter", "constant", "tuple",
                                                       "get-tuple-element", "bitcast"};
  return std::find(kSilent.begin(), kSilent.end(), opcode) != kSilent.end();
}

}  // namespace

void HloTable::Read(WireReader& wire, std::string_view label) {
  Module module;
  const ModuleName named = ParseModuleName(label);
  module.name = strings_.Intern(named.name);
  module.program = named.program;
  while (wire.Next()) {
    if (wire.field() != 1 || !wire.Enter()) continue;
    ReadModule(wire, module);
    wire.Leave();
  }
  if (!module.instructions.empty()) modules_.push_back(std::move(module));
}

void HloTable::ReadModule(WireReader& wire, Module& module) {
  while (wire.Next()) {
    if (wire.field() == 1 && wire.IsBytes()) {
      module.name = strings_.Intern(wire.Text(kLongestName));
    } else if (wire.field() == 5 && wire.IsNumber() && !module.program) {
      module.program = wire.Signed();
    } else if (wire.field() == 3 && wire.Enter()) {
      while (wire.Next()) {
        if (wire.field() != 2 || !wire.Enter()) continue;
        ReadInstruction(wire, module);
        wire.Leave();
      }
      wire.Leave();
    }
  }
}

void HloTable::ReadInstruction(WireReader& wire, Module& module) {
  HloInstruction instruction;
  while (wire.Next()) {
    if (wire.field() == 1) {
      instruction.name = strings_.Intern(wire.Text(kLongestName));
    } else if (wire.field() == 2) {
      const std::string_view opcode = wire.Text(kLongestName);
      if (NeverRuns(opcode)) return;
      instruction.opcode = strings_.Intern(opcode);
    } else if (wire.field() == 7 && wire.Enter()) {
      while (wire.Next()) {
        if (wire.field() == 1) {
          instruction.op_type = strings_.Intern(wire.Text(kLongestName));
        } else if (wire.field() == 2) {
          const std::string_view op_name = wire.Text(kLongestName);
          module.trains = module.trains || op_name.find("transpose(jvp(") != std::string_view::npos;
          instruction.op_name = strings_.Intern(op_name);
        }
      }
      wire.Leave();
      break;  // the rest does not tell its origin
    }
  }
  if (instruction.name != 0) module.instructions.push_back(instruction);
}

HloTable::Found HloTable::Find(std::optional<int64_t> program, StringId module,
                               StringId instruction) {
  // If a program was compiled again, the last version is the one that ran.
  Found found;
  for (auto known = modules_.rbegin(); known != modules_.rend(); ++known) {
    const bool same_program =
        program && known->program == program && (module == 0 || known->name == module);
    if (!same_program && (known->name != module || found.instruction != nullptr)) continue;
    const HloInstruction* here = FindIn(*known, instruction);
    if (here == nullptr) continue;
    found = {here, known->trains};
    if (same_program) break;
  }
  return found;
}

const HloInstruction* HloTable::FindIn(Module& module, StringId instruction) {
  auto by_name = [](const HloInstruction& a, const HloInstruction& b) { return a.name < b.name; };
  if (!module.sorted) {
    std::stable_sort(module.instructions.begin(), module.instructions.end(), by_name);
    module.sorted = true;
  }
  const auto at = std::lower_bound(module.instructions.begin(), module.instructions.end(),
                                   HloInstruction{instruction}, by_name);
  return at != module.instructions.end() && at->name == instruction ? &*at : nullptr;
}

}  // namespace beryl::importers
