// The arguments of every command that takes runs: a run file, or traces and power, and how to
// account them.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/pipeline.h"
#include "views/views.h"

namespace beryl::cli {

class Command;

struct RunArguments {
  std::vector<std::string> runs;  // run files
  std::vector<std::string> ops;
  std::vector<std::string> power;
  // With --rank: the files that follow each of them. Those before the first are in `ops`, `power`.
  std::vector<RankFiles> ranks;
  std::string policy = "auto";
  std::string clock_offset_us;
  std::string align;
  std::vector<std::string> anchors;
  std::vector<std::string> idle_power;
  std::vector<std::string> feeds;
  std::string ops_format = "auto";
  double wrap_uj = 0;
  int threads = 0;
  bool only_ours = false;
};

// Where a result goes and in what form.
struct OutputArguments {
  std::string format = "table";
  std::string output = "-";
  std::string color = "auto";

  bool to_stdout() const { return output == "-"; }
};

// What of a tree is shown.
struct TreeArguments {
  std::optional<int> depth;
  std::string level;
  std::string columns;  // joined by commas
};
// --depth, --level, --columns.
void AddTreeOptions(Command& command, TreeArguments& arguments);
void TakeTreeArguments(const TreeArguments& arguments, views::ViewOptions& view);

// RUN, --ops, --power, --rank.
void AddInputOptions(Command& command, RunArguments& arguments);
// How to read them: --wrap-uj, --threads.
void AddReadingOptions(Command& command, RunArguments& arguments);
// That, and how energy is shared out: --policy, the clock, --idle-power, --feed, --only-ours.
void AddAccountOptions(Command& command, RunArguments& arguments);
// --format (one of `formats`), -o, --color.
void AddOutputOptions(Command& command, OutputArguments& arguments,
                      const std::vector<std::string>& formats);

Result<PipelineOptions> ReadOptions(const RunArguments& arguments);

// That there is something to read, nothing is given twice, and that no input is overwritten.
Result<bool> CheckFiles(const RunArguments& arguments, const std::string& output);

// The one run that the arguments name, as read, and accounted.
Result<RunInput> ReadRunOf(const RunArguments& arguments, const PipelineOptions& options);
Result<AccountedRun> AccountRunOf(const RunArguments& arguments, const PipelineOptions& options);
// For commands that set runs side by side: each RUN a run of its own (traces are one run),
// accounted and given to `take` before the next is read, so that only one has to fit into memory.
Result<bool> ForEachRun(const RunArguments& arguments, const PipelineOptions& options,
                        const std::function<Result<bool>(AccountedRun)>& take);
// What such runs are called: `given` ("a,b,c") or their files' names, told apart where they are the
// same.
Result<std::vector<std::string>> LabelsOf(const RunArguments& arguments, const std::string& given);

// Lets go of a run's single operations: it is accounted, and they are most of what it takes in
// memory.
void ForgetOperations(AccountedRun& run);
// Runs as what sets them side by side wants them; `runs` has to outlive it.
std::vector<tree::RunToCompare> SidesOf(const std::vector<std::string>& labels,
                                        const std::vector<AccountedRun>& runs);

}  // namespace beryl::cli
