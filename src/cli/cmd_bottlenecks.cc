#include "cli/arguments.h"

namespace beryl::cli {
namespace {

constexpr CommandText kText = {
    "bottlenecks", "Show where a model's energy goes: which types of modules, which layers",
    R"(OUTPUT
  parts   modules that contain only ML primitives, summed by type, and ML primitives beside modules.
          Energy outside all of them has its own line: the parts sum to the whole
  tree    every node of the model, with repeated layers folded into one and their energy summed
All numbers are means over the model's input sizes. Measured energy is that of the data; --profile adds
predicted energy, which stands alone where nothing was measured.

EXAMPLES
  beryl bottlenecks irene/device_1
  beryl bottlenecks irene/device_1 --model gpt2 --depth 2
  beryl bottlenecks features.csv --profile my_machine.json --format json)"};

struct BottleneckArguments {
  flows::DataRequest data;
  TreeArguments tree;
  OutputArguments output;
};

Result<int> RunBottlenecks(const BottleneckArguments& arguments) {
  return WriteResult(
      arguments.output, [&](auto& notes) { return flows::BreakDown(arguments.data, notes); },
      arguments.tree);
}

}  // namespace

void AddBottlenecks(Command& program, const char* group) {
  auto [command, arguments] = program.Subcommand(kText, group, RunBottlenecks);
  AddDataOptions(command, arguments.data);
  AddModelOption(command, arguments.data.model);
  AddTreeOptions(command, arguments.tree);
  AddOutputOptions(command, arguments.output, views::kFormats<Breakdowns>);
}

}  // namespace beryl::cli
