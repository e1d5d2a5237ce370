#include <unistd.h>

#include "cli/arguments.h"
#include "flows/export_run.h"

namespace beryl::cli {
namespace {

constexpr CommandText kText = {"export", "Export a run's energy to other tools", R"(FORMATS
  folded      one stack per line with whole microjoules, for flamegraph.pl, inferno and others
  speedscope  for https://www.speedscope.app: one profile for all devices and one for each, in joules
  chrome      for chrome://tracing and https://ui.perfetto.dev: the tree, drawn so that one second is one joule,
              and the power of each channel over real time
  pprof       for go tool pprof and others: energy in microjoules, and time at work
  model-explorer, model-explorer-data
              for Model Explorer: the tree as a graph, with the model's dataflow if --model is given; and its
              energy, to colour it
  perfetto    for https://ui.perfetto.dev: power of each meter, steps, and stacks weighted in joules
  perfetto-bundle
              a ZIP archive of the same and of your own trace files, on one timeline
  tfevents    for TensorBoard and other readers of its files: power over time, energy of each step. TensorBoard
              only opens files with tfevents in their name
  firefox     for https://profiler.firefox.com: power of each meter, steps, and the CO2e of a selection
  xprof       a copy of your .xplane.pb file for XProf and TensorBoard, with the energy of each operation as
              vdd_energy_j: the energy of all meters that feed the device, not of the VDD rail alone
  Whole numbers are rounded so that they sum to the energy of all operations, or of the meter. Energy deeper than
  --level or --depth is added to the stack above.

EXAMPLES
  beryl export run.beryl --to folded | flamegraph.pl --countname uJ > energy.svg
  beryl export run.beryl --to speedscope -o run.speedscope.json
  beryl export run.beryl --to pprof -o run.pb.gz && go tool pprof -top run.pb.gz
  beryl export run.beryl --model bert-base-uncased --to model-explorer -o graph.json
  beryl export --ops trace.json.gz --power power.csv --to perfetto-bundle -o run.zip
  beryl export run.beryl --to tfevents -o logs/energy/events.out.tfevents.beryl
  beryl export run.beryl --to firefox --region DE -o run.firefox.json
  beryl export --ops host.xplane.pb --power power.csv --to xprof -o energy.xplane.pb)"};

struct ExportArguments {
  AnalysisArguments analysis;
  flows::ElectricityRequest electricity;
  TreeArguments tree;
};

// Formats that contain the user's own files, which may be larger than memory.
Result<int> RunStreaming(const ExportArguments& arguments) {
  const OutputArguments& output = arguments.analysis.output;
  const bool bundle = output.format == views::Format::kPerfettoBundle;
  TRY(flows::CheckOneRun(arguments.analysis.run.files));
  auto options = TRY(ReadOptions(arguments.analysis.run));
  std::vector<uint64_t> event_offsets;
  if (!bundle) options.import.event_offsets = &event_offsets;
  auto file = TRY(GrowingFile::Open(output.output));
  const auto analysis = TRY(Analyse(arguments.analysis, std::move(options)));
  const auto& [run, report, used, view] = analysis;
  if (bundle) {
    auto traces = TRY(flows::TracesToBundle(run));
    ExportedRun exported = flows::ExportOf(run, report, views::NeedsOf(output.format));
    exported.traces = std::move(traces);
    TRY(views::WritePerfettoBundle(exported, ByteSource::Open,
                                   [&](std::string_view bytes) { return file.Append(bytes); }));
  } else {
    TRY(flows::WriteXPlaneEnergy(run, used, views::WriteXProfDescription(report), file));
  }
  TRY(file.Show());
  Say(views::Write(report, views::Format::kSummary, PlainView()));
  return kSuccess;
}

Result<int> RunExport(const ExportArguments& arguments) {
  const OutputArguments& output = arguments.analysis.output;
  const views::Format to = output.format;
  if (views::IsBinary(to) && output.to_stdout() && ::isatty(STDOUT_FILENO) == 1) {
    return MisuseError(
        fmt::format("{} output is binary and not written to a terminal; name a file with -o",
                    views::FormatName(to)));
  }
  if (to == views::Format::kPerfettoBundle || to == views::Format::kXprof) {
    return RunStreaming(arguments);
  }
  const ExportNeeds needs = views::NeedsOf(to);
  const auto make = [&](Analysis& analysis) -> Result<std::string> {
    auto& [run, report, options, view] = analysis;
    ExportedRun exported = flows::ExportOf(run, report, needs);
    TakeTreeArguments(arguments.tree, view);
    views::CutStacks(exported, view);
    std::vector<Note> notes;
    const auto electricity = TRY(flows::ChooseElectricity(arguments.electricity, notes));
    exported.co2e_g_per_kwh = electricity.co2e_g_per_kwh;
    return views::Write(exported, to);
  };
  return RunAnalysis(arguments.analysis, make, needs.timeline);
}

}  // namespace

void AddExport(Command& program, const char* group) {
  auto [command, arguments] = program.Subcommand(kText, group, RunExport);
  AnalysisArguments& analysis = arguments.analysis;
  analysis.run.window.end = "until";
  AddOneRunOptions(command, analysis.run);
  AddRunModelOptions(command, analysis.model);
  command.Choice("--to", analysis.output.format, views::kExportFormats.Named(), "Format to write")
      .Required();
  command.Option("--region REGION", arguments.electricity.region,
                 "Region whose CO2e per kWh a firefox profile has");
  command.Option("--carbon G", arguments.electricity.carbon,
                 "Grams of CO2e per kWh, instead of the region's", From0());
  AddDepthOption(command, arguments.tree.depth, "Levels of the tree to write; default: all");
  AddLevelOption(command, arguments.tree.level);
  AddOutputFileOption(command, analysis.output.output);
}

}  // namespace beryl::cli
