// The arguments and options that several commands share, each declared once.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/output.h"
#include "flows/analyse_data.h"
#include "flows/electricity.h"
#include "flows/learn_machine.h"
#include "flows/meter_request.h"
#include "flows/model_request.h"
#include "flows/run_request.h"

namespace beryl::cli {

// A model: which one, its input, and how it runs.

using ModelArguments = flows::ModelRequest;

// --batch and --seq; `otherwise` describes the default.
inline void AddSizeOptions(Command& command, std::optional<double>& batch_size,
                           std::optional<double>& seq_len, const std::string& otherwise) {
  command.Option("--batch B", batch_size, "Batch size; " + otherwise, Above0());
  command.Option("--seq S", seq_len, "Sequence length; " + otherwise, Above0());
}
// NAME and everything in ModelArguments except --batch and --seq. Returns the added options.
std::vector<Parameter> AddModelOptions(Command& command, ModelArguments& arguments);
// The input and how the model runs: --prompt to --set, without --batch and --seq.
std::vector<Parameter> AddDescribeOptions(Command& command, ModelArguments& arguments);

// --model, --profile, --batch, --seq and the other options that describe a model.
void AddRunModelOptions(Command& command, ModelArguments& arguments);

// Runs: run files, or traces and power, and how to account them.

using RunArguments = flows::RunRequest;

// RUN, --ops, --power, --rank, --ops-format. `runs`: the help of RUN.
void AddInputOptions(Command& command, RunArguments& arguments,
                     const char* runs =
                         "A run file, as written by beryl import; "
                         "r0.beryl+r1.beryl: the ranks of one run");
// How to read them: --wrap-uj, --threads.
void AddReadingOptions(Command& command, RunArguments& arguments);
// These, and how energy is attributed: --policy, the clock, --idle-power, --feed,
// --whole-machine, --only-ours.
void AddAccountOptions(Command& command, RunArguments& arguments);
// --from, --to (or as `window.end` names it), --step.
void AddWindowOptions(Command& command, flows::WindowRequest& window);
// All of these, of one run: which, how to account it, and what part of it.
void AddOneRunOptions(Command& command, RunArguments& arguments);
inline void AddThreadsOption(Command& command, std::optional<int>& threads) {
  command.Option("--threads N", threads, "Threads to work with; default: one per CPU",
                 Between(0, 1024));
}
// --phase; empty: all.
void AddPhaseOption(Command& command, std::optional<Phase>& phase);
inline Parameter AddNodeOption(Command& command, std::string& node, const std::string& help) {
  return command.Option("--node PATH", node, help);
}
// For commands that check limits; and what to say if a limit fails because it was not given.
inline void AddAllowIncompleteOption(Command& command, bool& allow) {
  command.Flag("--allow-incomplete", allow,
               "Let incomplete input keep a limit if what is there keeps it");
}
inline constexpr const char* kIncompleteHint =
    "The input is incomplete, so it may have used more than is known; --allow-incomplete checks "
    "what is there.\n";
inline void AddSlicesOption(Command& command, size_t& slices, const std::string& help) {
  command.Option("--slices N", slices, help, Between(1, 100'000));
}
inline void AddLabelsOption(Command& command, std::string& labels) {
  command.Option("--labels A,B,...", labels, "Names for the runs; default: their file names");
}

// A progress bar, on a terminal: called with the bytes so far, gone when it is.
std::function<void(uint64_t)> ShowProgress(const std::string& what, uint64_t size);
// With progress bars.
Result<flows::RunOptions> ReadOptions(const RunArguments& arguments);

// What the user says of what is kept: --name, --tag, --notes, --model, --machine, --accuracy.
void AddEntryOptions(Command& command, LibraryEntry& entry);

// Shared by the commands that analyse one run.
struct AnalysisArguments {
  RunArguments run;
  ModelArguments model;
  OutputArguments output;
};
// RUN and all else of these, and the output in one of `formats`.
void AddAnalysisOptions(Command& command, AnalysisArguments& arguments, views::Formats formats);

// A run that was read and accounted.
struct Analysis {
  flows::AccountedRun run;
  AccountReport report;
  flows::RunOptions options;
  views::ViewOptions view;  // with width and colour set
};
Result<Analysis> Analyse(const AnalysisArguments& arguments, flows::RunOptions options);

// Reads and accounts the run, makes the bytes of the result and writes them. `only_folded`: the
// result shows nothing of the report but what is folded.
Result<int> RunAnalysis(const AnalysisArguments& arguments,
                        const std::function<Result<std::string>(Analysis&)>& make,
                        bool timeline = false, bool only_folded = false);

// A data set: its profile, the method of learning, and the electricity.

inline constexpr const char* kDataHelp =
    "A folder of *_level_features.csv, one such file, trees as JSON lines, a run file, or a folder "
    "of run files";
inline void AddDataArgument(Command& command, std::string& data) {
  command.Argument("DATA", data, kDataHelp).Required();
}
// --profile; `when` says what it is used for.
inline Parameter AddProfileOption(Command& command, std::string& profile, const std::string& when) {
  return command.Option("--profile NAME|FILE", profile,
                        when +
                            "name of a profile that comes with the program, or a file written "
                            "by beryl train");
}
// DATA and --profile, which adds predicted energy.
inline void AddDataOptions(Command& command, flows::DataRequest& data) {
  AddDataArgument(command, data.path);
  AddProfileOption(command, data.profile, "Profile that predicts energy: ");
}
inline Parameter AddModelOption(Command& command, std::string& model) {
  return command.Option("--model NAME", model, "Use only this model of the data; default: all");
}
inline void AddRunModelsOption(Command& command, std::vector<std::string>& models) {
  command.Option("--model [RUN=]NAME|CONFIG", models,
                 "For run files: the model that ran, for all of them or for RUN; repeatable");
}
// --seed; `what` says what it decides.
inline void AddSeedOption(Command& command, uint64_t& seed, const std::string& what) {
  command.Option("--seed N", seed, what, From0());
}

// --region, --price, --carbon, --grid. Returns the added options.
std::vector<Parameter> AddElectricityOptions(Command& command,
                                             flows::ElectricityRequest& arguments);

// --method, --features, --seed, --pue, --threads.
void AddMethodOptions(Command& command, learn::TrainOptions& arguments);
// --seed, --pue, --threads.
void AddTrainingOptions(Command& command, learn::TrainOptions& arguments);

// Meters, and a budget for what was measured.

// --meter, --replay, --only, --estimate.
void AddMeterOptions(Command& command, flows::MeterRequest& arguments);

inline void AddMeasuredBudgetOption(Command& command, std::string& file) {
  command.Option("--budget FILE", file,
                 "Energy limits of total, ours and devices (GPU:0); fails if one is exceeded");
}
// Says on stderr which lines were not kept. Returns kFailure if there are any.
int SayBudget(const std::vector<BudgetVerdict>& budget, const std::string& file);

}  // namespace beryl::cli
