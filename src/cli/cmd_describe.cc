#include "cli/arguments.h"
#include "flows/describe_model.h"

namespace beryl::cli {
namespace {

constexpr CommandText kText = {
    "describe", "Show a model's parts and the work of running it, from its configuration alone",
    R"(OUTPUT
The model as a tree at four levels (model, module, ML primitive, math operation), with floating-point
operations, bytes read and written, and parameters of every part. It needs no weights, no run and no
network: NAME is one that `beryl models` lists, or a Hugging Face config.json.
  table   repeated layers folded into one line, down to the ML primitives; --depth goes deeper
  json    every node, with the shapes of its inputs and outputs
  csv     the same, one line per node
With --sweep, one line per variant instead.

EXAMPLES
  beryl describe bert-base-uncased --batch 8 --seq 128
  beryl describe meta-llama/Llama-3.1-8B --seq 2048 --dtype bfloat16 --attention flash --gpus 2
  beryl describe bert-base-uncased --set num_hidden_layers=6 --format json
  beryl describe bert-base-uncased --sweep num_hidden_layers=2,4,6 --sweep batch=1,8
  beryl describe bert-base-uncased --sweep hidden_size:num_attention_heads=128:2,256:4,512:8)"};

struct DescribeArguments {
  ModelArguments model;
  TreeArguments tree;
  OutputArguments output;
};

Result<int> RunDescribe(const DescribeArguments& arguments) {
  if (!arguments.model.sweep.empty()) {
    return WriteResult(
        arguments.output, [&](auto&) { return flows::DescribeVariants(arguments.model); },
        arguments.tree);
  }
  auto output = TRY(Output::Open(arguments.output));
  views::ViewOptions view = output.view();
  TakeTreeArguments(arguments.tree, view);
  const auto [description, tree] = TRY(flows::DescribeModel(arguments.model));
  TRY(views::CheckColumns(tree.folded, view));
  TRY(output.Write(views::Write(description, tree, output.format(), view), description.notes));
  return kSuccess;
}

}  // namespace

void AddDescribe(Command& program, const char* group) {
  auto [command, arguments] = program.Subcommand(kText, group, RunDescribe);
  AddModelOptions(command, arguments.model).front().Required();
  AddSizeOptions(command, arguments.model.batch, arguments.model.seq, "default: 1 x 128 tokens");
  AddTreeOptions(command, arguments.tree);
  AddOutputOptions(command, arguments.output, views::kFormats<Description>);
}

}  // namespace beryl::cli
