// The instructions of the compiled programs in a trace, and the framework operation that each comes
// from. Profilers store the programs beside the events, as HloProto messages.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/string_table.h"
#include "base/wire_reader.h"

namespace beryl::importers {

struct HloInstruction {
  StringId name = 0;
  StringId opcode = 0;
  StringId op_name = 0;  // "jit(f)/dot_general"; may be empty
  StringId op_type = 0;  // "MatMul"; mostly empty
};

class HloTable {
 public:
  // Puts strings of instructions into `strings`, which must outlive this.
  explicit HloTable(StringTable& strings) : strings_(strings) {}

  // Reads the HloProto that `wire` has entered. `label` is its name in the trace.
  void Read(WireReader& wire, std::string_view label);

  struct Found {
    const HloInstruction* instruction = nullptr;
    bool trains = false;  // its program takes a gradient
  };
  // The instruction of that name in the program with that number, or else in one of that name.
  Found Find(std::optional<int64_t> program, StringId module, StringId instruction);

 private:
  struct Module {
    StringId name = 0;
    std::optional<int64_t> program;
    bool trains = false;
    bool sorted = false;
    std::vector<HloInstruction> instructions;
  };

  void ReadModule(WireReader& wire, Module& module);
  void ReadInstruction(WireReader& wire, Module& module);
  static const HloInstruction* FindIn(Module& module, StringId instruction);

  StringTable& strings_;
  std::vector<Module> modules_;
};

}  // namespace beryl::importers
