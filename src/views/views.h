// Writes results in every format. Views compute nothing except sums of what they leave out.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "base/zip_writer.h"
#include "types/account_report.h"
#include "types/analysis.h"
#include "types/command_synopsis.h"
#include "types/comparison.h"
#include "types/described_prediction.h"
#include "types/energy_use.h"
#include "types/evaluation.h"
#include "types/exported_run.h"
#include "types/library_entry.h"
#include "types/library_job.h"
#include "types/live_power.h"
#include "types/measurement.h"
#include "types/model_list.h"
#include "types/power_look.h"
#include "types/precision.h"
#include "types/prediction.h"
#include "types/profile_list.h"
#include "types/side_by_side.h"
#include "types/source_report.h"
#include "types/timeline.h"
#include "views/format.h"

namespace beryl::views {

struct ViewOptions {
  std::optional<int> depth;          // levels of the tree below its root
  std::optional<Level> level;        // the deepest level of the tree
  std::vector<std::string> columns;  // of the tree, by name; empty: those that suit the format
  bool fold = false;       // in JSON and CSV, like layers are one node, as tables always have them
  std::optional<int> top;  // operations to list; in JSON and CSV everything unless this is given
  int width = 100;         // columns of the terminal
  int rows = 0;            // of the screen, for tables that have to fit on it; 0: any
  bool color = false;      // the output is a terminal that shows colours
  // What a hint writes before the name of an option: "--"; empty: options are not named.
  std::string_view flag = {};
};

// It is a misuse error if the trees lack a requested column, or if there is no tree.
Status CheckColumns(const TreeColumns& tree, const ViewOptions& options);
Status CheckColumns(const Sweep& sweep, const ViewOptions& options);
Status CheckColumns(const PredictionReport& report, const ViewOptions& options);
Status CheckColumns(const Breakdowns& breakdowns, const ViewOptions& options);
// It is a misuse error if two labels give two columns the same name.
Status CheckLabels(const TreeColumns& tree);

std::string Write(const AccountReport& report, Format format, const ViewOptions& options);
// Analyses are written with the balances of their run.
std::string Write(const AccountReport& report, const OperationRanking& ranking, Format format,
                  const ViewOptions& options);
std::string Write(const AccountReport& report, const std::vector<EnergyDiagram>& diagrams,
                  Format format, const ViewOptions& options);
// The budget lines that are exceeded, for stderr; empty if there are none.
std::string WriteBudgetFailures(const std::vector<BudgetVerdict>& budget);
// Those that are kept.
std::string WriteBudgetKept(const std::vector<BudgetVerdict>& budget);

// Which part of a comparison a picture or a CSV shows.
enum class ComparePart {
  kMatrices,
  kTotals,
  kDifferences,
};
std::string Write(const Comparison& comparison, Format format, ComparePart part,
                  const ViewOptions& options);
// Whether the gates hold, in lines for a terminal.
std::string WriteGates(const Comparison& comparison, const ViewOptions& options);
std::string Write(const SideBySide& set, Format format, const ViewOptions& options);
std::string Write(const Precision& precision, Format format, const ViewOptions& options);

std::string Write(const AccountReport& report, const Timeline& timeline, Format format,
                  const ViewOptions& options);

// The result of a recording. kSummary: one line and the notes, for stderr.
std::string Write(const Measurement& measured, Format format, const ViewOptions& options);

// What a machine draws just now. kSummary: a line without its end.
std::string Write(const PowerLook& look, Format format, const ViewOptions& options);

// Predictions for data: a tree for one run, one line each for several.
std::string Write(const PredictionReport& report, Format format, const ViewOptions& options);
// Predictions of a described model, and of variants of one (one line each).
std::string Write(const DescribedPrediction& prediction, Format format, const ViewOptions& options);
std::string Write(const Sweep& sweep, Format format, const ViewOptions& options);
// A description without energy.
std::string Write(const Description& description, const ShownTree& tree, Format format,
                  const ViewOptions& options);
std::string Write(const ModelList& models, Format format, const ViewOptions& options);
std::string Write(const ProfileList& profiles, Format format, const ViewOptions& options);
// Entries and jobs of a library, what collecting garbage freed, and what is wrong with it.
std::string Write(const EntryList& list, Format format, const ViewOptions& options);
std::string Write(const JobList& list, Format format, const ViewOptions& options);
std::string Write(const LibraryGarbage& garbage, Format format, const ViewOptions& options);
std::string Write(const LibraryCheck& check, Format format, const ViewOptions& options);
std::string Write(const Evaluation& evaluation, Format format, const ViewOptions& options);
std::string Write(const Ablation& ablation, Format format, const ViewOptions& options);
std::string Write(const Calibration& calibration, Format format, const ViewOptions& options);
// What was learned, in a few lines for a terminal.
std::string WriteSummary(const EnergyModel& model, const ViewOptions& options);
// The methods that learn, and what they do, for a help text.
std::string WriteMethods();

// The meters of a machine.
std::string Write(const SourceReport& report, Format format, const ViewOptions& options);

// Notes, one per line: "note: ...", "assumed: ...". Without those about events that are not of
// interest (skipped).
std::string WriteNotes(const std::vector<Note>& notes, std::string_view flag = {});
// The notes of results that have them in several places.
std::vector<Note> NotesOf(const AccountReport& report);
std::vector<Note> NotesOf(const Comparison& comparison);
std::vector<Note> NotesOf(const Precision& precision);
std::vector<Note> NotesOf(const DescribedPrediction& prediction);
std::vector<Note> NotesOf(const Sweep& sweep);
// What is missing of the input of a result, a line each; empty if nothing is.
std::string WriteIncomplete(const Provenance& provenance);

// Analyses of data sets.
std::string Write(const Breakdowns& breakdowns, Format format, const ViewOptions& options);
std::string Write(const ElectricityTable& table, Format format, const ViewOptions& options);
std::string Write(const QueryCosts& costs, Format format, const ViewOptions& options);
std::string Write(const Tradeoff& tradeoff, Format format, const ViewOptions& options);
// The chosen models and what the picture leaves out, for stderr.
std::string WriteVerdicts(const Tradeoff& tradeoff);

// In a CSV, text that a spreadsheet would run, because it starts with =, +, - or @, has an
// apostrophe in front. The same CSV without those.
std::string RawCsv(std::string_view csv);

// Formats of other tools, except those with the user's own files in them (kPerfettoBundle, kXprof).
std::string Write(const ExportedRun& run, Format format);
ExportNeeds NeedsOf(Format format);
// Whether it would spoil a terminal.
bool IsBinary(Format format);
// The bundle, piece by piece. `open` opens a file of run.traces.
using OpenTrace = std::function<Result<ByteSource>(const std::string& file)>;
Status WritePerfettoBundle(const ExportedRun& run, const OpenTrace& open, ZipWriter::Sink put);
// What a copy of an XPlane file says of the energy in it.
std::string WriteXProfDescription(const AccountReport& report);
// Nodes below the chosen level or depth give their own values to the node above, so that the sum
// stays: stacks become shorter.
void CutStacks(ExportedRun& run, const ViewOptions& options);
void CutStacks(TreeColumns& tree, const ViewOptions& options);

// The current power of a machine, for monitoring systems: Prometheus' text, and what OTLP/HTTP
// takes as JSON.
std::string WritePrometheus(const LivePower& power);
std::string WriteOtlp(const LivePower& power);

// A script that completes the commands in bash, zsh or fish.
std::string WriteCompletion(const std::vector<CommandSynopsis>& commands, std::string_view shell);

}  // namespace beryl::views
