#include "cli/arguments.h"

#include <unistd.h>

#include <memory>
#include <utility>

#include "base/progress.h"

namespace beryl::cli {

std::vector<Parameter> AddDescribeOptions(Command& command, ModelArguments& arguments) {
  return {
      command.Option("--prompt P", arguments.prompt, "Tokens of the prompt, for text generation",
                     From0()),
      command.Option("--generate G", arguments.generate,
                     "Tokens generated after the prompt, one by one", From0()),
      command.Option("--context C", arguments.context, "Tokens already in the cache; default: 0",
                     From0()),
      command.Option("--decoder-seq S", arguments.decoder_seq,
                     "Tokens of the decoder of an encoder-decoder model; default: as --seq",
                     From0()),
      command.Option("--image-size N", arguments.image_size,
                     "Pixels per side; default: as configured", From0()),
      command.Option("--gpus N", arguments.gpus,
                     "GPUs that the model is split over (tensor parallel)", From0()),
      command.Option("--dtype", arguments.dtype,
                     "Type of weights and activations; default: the configuration's, or as seen in "
                     "the run. int8 and int4 apply to the weights of matrix products",
                     OneWordOf({"float32", "float16", "bfloat16", "int8", "int4"})),
      command.Option("--attention", arguments.attention,
                     "How attention is computed; default: sdpa, as in the library of today, or as "
                     "the profile was measured",
                     OneWordOf({"eager", "sdpa", "flash"})),
      command.Option("--set KEY=VALUE", arguments.set,
                     "Change a key of the configuration; repeatable"),
  };
}

std::vector<Parameter> AddModelOptions(Command& command, ModelArguments& arguments) {
  std::vector<Parameter> added = {command.Argument(
      "NAME|CONFIG", arguments.model,
      "A name that `beryl models` lists, a config.json, a folder with one, or - for standard "
      "input")};
  for (const Parameter& option : AddDescribeOptions(command, arguments)) added.push_back(option);
  const Parameter head = command.Flag(
      "--head", arguments.head,
      "Include the language model's head, on the last token; default: the head of the class that "
      "the configuration's architectures names, and the language model's if tokens are generated");
  added.push_back(head);
  added.push_back(command.Flag("--no-head", arguments.no_head, "The bare model").Excludes({head}));
  const Parameter training =
      command.Flag("--training", arguments.training,
                   "A step of training instead of a forward pass: forward, backward and optimizer");
  added.push_back(training);
  added.push_back(command
                      .Option("--optimizer", arguments.optimizer,
                              "With --training: what changes the weights; default: adamw",
                              OneWordOf({"sgd", "adam", "adamw", "adafactor"}))
                      .Needs(training));
  added.push_back(
      command
          .Flag("--gradient-checkpointing", arguments.checkpointing,
                "With --training: layers run again in the backward pass, to save memory")
          .Needs(training));
  added.push_back(command.Option(
      "--sweep KEY=V1,V2,...", arguments.sweep,
      "Try these values of a key of the configuration or of batch, seq, prompt, generate, context, "
      "gpus, dtype, attention; one line per value. Several sweeps: every combination. Keys joined "
      "by ':' change together, A:B=1:2,3:4"));
  return added;
}

void AddRunModelOptions(Command& command, ModelArguments& arguments) {
  const auto model = command.Option(
      "--model NAME|CONFIG", arguments.model,
      "The model that ran: a name that `beryl models` lists, or its config.json; gives the tree "
      "its names, FLOPs, bytes and parameters");
  AddProfileOption(command, arguments.profile, "With --model: also predict it; ").Needs(model);
  AddSizeOptions(command, arguments.batch, arguments.seq,
                 "default: taken from the shapes in the trace");
  for (const Parameter& option : AddDescribeOptions(command, arguments)) {
    option.Needs(model);
  }
}

void AddInputOptions(Command& command, RunArguments& arguments, const char* runs) {
  flows::RunFiles& files = arguments.files;
  command.Argument("RUN", files.runs, runs);
  command.Option("--rank NAME", command.Keep<std::vector<std::string>>(),
                 "A rank of a distributed run; the --ops and --power that follow belong to it");
  command.Option("--ops FILE", files.ops, "Operation trace; may be given several times");
  command.Option("--power FILE", files.power, "Power trace; may be given several times");
  std::vector<std::string> formats = {"auto"};
  for (const importers::FormatDescriptor& format : importers::Formats()) {
    formats.emplace_back(format.name);
  }
  command.Option("--ops-format", arguments.ops_format, "Format of the operation traces",
                 OneWordOf(formats));
  // Options are parsed by kind, but files belong to the --rank they follow.
  command.WhenRead([&command, &files] {
    const std::vector<std::string> named = std::move(files.runs);
    files = flows::GroupByRank(command.GivenInOrder());
    files.runs = named;
  });
}

void AddReadingOptions(Command& command, RunArguments& arguments) {
  command.Option("--wrap-uj X", arguments.wrap_uj,
                 "Value at which energy counters wrap to zero, in microjoules", Above0());
  AddThreadsOption(command, arguments.threads);
}

void AddAccountOptions(Command& command, RunArguments& arguments) {
  command.Choice("--policy", arguments.policy, flows::PolicyWords(),
                 "Power between two readings of a gauge: hold the last reading, or interpolate "
                 "linearly. Energy counters are always exact. auto: hold and exact");
  const auto offset = command.Option(
      "--clock-offset-us X", arguments.clock_offset_us,
      "Microseconds to add to operation times to convert them to the clock of the power trace");
  const auto align = command.Option("--align", arguments.align,
                                    "start: put the first operation at the first power reading",
                                    OneWordOf({"start"}));
  const auto anchor =
      command.Option("--anchor OPS_US=POWER_US", arguments.anchors,
                     "The same instant on both clocks; with two or more, drift is corrected too");
  align.Excludes({offset});
  anchor.Excludes({offset, align});
  command.Option(
      "--idle-power [DEVICE=]WATTS", arguments.idle_power,
      "Power that a device draws when idle; splits its energy into a static and a dynamic part");
  command.Option("--feed CHANNEL=DEVICE,...", arguments.feeds,
                 "Devices whose operations receive the energy of a channel; or all, or none");
  const auto whole = command.Flag(
      "--whole-machine", arguments.whole_machine,
      "Share out all energy of a recording; default: of one that watched a process, its part only");
  command
      .Flag("--only-ours", arguments.only_ours,
            "Share out the energy of the watched processes; fail if it is not known")
      .Excludes({whole});
  AddReadingOptions(command, arguments);
}

void AddWindowOptions(Command& command, flows::WindowRequest& window) {
  command.Option("--from TIME", window.from,
                 "Only from then on: seconds since the run's start (2.5, or 250ms), "
                 "2026-11-18T01:32:48.5Z, or @ and microseconds on the power trace's clock");
  command.Option(fmt::format("--{} TIME", window.end), window.to, "Only up to then");
  command.Option("--step STEP", window.step, "Only this step, its number or name; or steps, 2-5");
}

void AddOneRunOptions(Command& command, RunArguments& arguments) {
  AddInputOptions(command, arguments);
  AddAccountOptions(command, arguments);
  AddWindowOptions(command, arguments.window);
}

void AddPhaseOption(Command& command, std::optional<Phase>& phase) {
  command.Choice("--phase", phase, flows::PhaseWords(), "Show only this pass; default: all");
}

std::function<void(uint64_t)> ShowProgress(const std::string& what, uint64_t size) {
  auto shown = std::make_shared<Progress>(what, size, ::isatty(STDERR_FILENO) == 1);
  return [shown](uint64_t bytes) { shown->Update(bytes); };
}

Result<flows::RunOptions> ReadOptions(const RunArguments& arguments) {
  auto options = TRY(flows::RunOptionsOf(arguments));
  options.watch_reading = [](const std::string& file, uint64_t size) {
    return ShowProgress("reading " + file, size);
  };
  return options;
}

void AddEntryOptions(Command& command, LibraryEntry& entry) {
  command.Option("--name TEXT", entry.name, "Its name; default: that of the file");
  command.Option("--tag TAG", entry.tags, "A word to find it by; repeatable");
  command.Option("--notes TEXT", entry.notes, "Whatever is worth knowing about it");
  command.Option("--model NAME", entry.model, "The model that ran");
  command.Option("--machine NAME", entry.machine, "Where it ran; default: as a recording says");
  command.Option("--accuracy X", entry.figures.accuracy, "Accuracy, to compare with its energy");
}

void AddAnalysisOptions(Command& command, AnalysisArguments& arguments, views::Formats formats) {
  AddOneRunOptions(command, arguments.run);
  AddRunModelOptions(command, arguments.model);
  AddOutputOptions(command, arguments.output, formats);
}

Result<Analysis> Analyse(const AnalysisArguments& arguments, flows::RunOptions options) {
  auto run = TRY(flows::AccountRunOf(arguments.run.files, options));
  TRY(flows::GiveModel(arguments.model, run));
  AccountReport report = flows::MakeReport(run, options);
  return Analysis{std::move(run), std::move(report), std::move(options), {}};
}

Result<int> RunAnalysis(const AnalysisArguments& arguments,
                        const std::function<Result<std::string>(Analysis&)>& make, bool timeline,
                        bool only_folded) {
  TRY(flows::CheckOneRun(arguments.run.files));
  auto options = TRY(ReadOptions(arguments.run));
  options.timeline = timeline;
  options.only_folded = only_folded;
  auto output = TRY(Output::Open(arguments.output));
  auto analysis = TRY(Analyse(arguments, std::move(options)));
  analysis.view = output.view();
  const auto text = TRY(make(analysis));
  TRY(output.Write(text, {}, views::Write(analysis.report, views::Format::kSummary, PlainView())));
  return kSuccess;
}

std::vector<Parameter> AddElectricityOptions(Command& command,
                                             flows::ElectricityRequest& arguments) {
  return {command.Option("--region REGION", arguments.region, "Region whose electricity is used"),
          command.Option("--price X", arguments.price, "Price per kWh, in the region's currency",
                         From0()),
          command.Option("--carbon G", arguments.carbon, "Grams of CO2e per kWh", From0()),
          command.Option("--grid FILE", arguments.grid,
                         "Table of regions to use instead of the built-in one")};
}

void AddTrainingOptions(Command& command, learn::TrainOptions& arguments) {
  AddSeedOption(command, arguments.seed, "Random start of methods that have one");
  command.Option("--pue X", arguments.pue,
                 "For the baseline: power usage effectiveness, as in Strubell et al.", Above0());
  AddThreadsOption(command, arguments.threads);
}

void AddMethodOptions(Command& command, learn::TrainOptions& arguments) {
  command.Choice("--method", arguments.method, flows::MethodWords(), "Method of prediction");
  command.Choice("--features", arguments.features, flows::FeatureSetWords(),
                 "Features to use: a run's resources, the model's description, or all");
  AddTrainingOptions(command, arguments);
}

int SayBudget(const std::vector<BudgetVerdict>& budget, const std::string& file) {
  const std::string failures = views::WriteBudgetFailures(budget);
  if (failures.empty()) return kSuccess;
  Say("beryl: the budget is not kept ({})\n{}", Printable(file), failures);
  return kFailure;
}

}  // namespace beryl::cli
