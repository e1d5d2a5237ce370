// The files of runs as the user names them: run files, or traces and power, by rank.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "flows/account_run.h"
#include "flows/read_run.h"

namespace beryl::flows {

struct RunFiles {
  std::vector<std::string> runs;  // each a run, as for FilesOfRun (flows/read_run.h)
  std::vector<std::string> ops;
  std::vector<std::string> power;
  // The files of each rank, if there are ranks. `power` is then that of a machine they share.
  std::vector<RankFiles> ranks = {};

  // Those of all runs.
  std::vector<std::string> All() const;
};

// Assigns files to the rank they follow. `given` has "rank", "ops" or "power" with a value, in
// order; other names are ignored. Files before the first rank go to `ops` and `power`.
RunFiles GroupByRank(const std::vector<std::pair<std::string, std::string>>& given);

// Checks that there is something to read, nothing is given twice, and each rank has what it needs.
Status CheckRunFiles(const RunFiles& files);
// Also checks that it is a single run.
Status CheckOneRun(const RunFiles& files);

// Reads a single run.
Result<RunInput> ReadRunOf(const RunFiles& files, const RunOptions& options);
Result<AccountedRun> AccountRunOf(const RunFiles& files, const RunOptions& options);

// Accounts each run (traces are one run) and passes it to `take` before the next is read, so that
// only one is in memory.
Status ForEachRun(const RunFiles& files, const RunOptions& options,
                  const std::function<Status(AccountedRun)>& take);
// The labels of runs: `given` ("a,b,c"), or the file names with as many folders as needed to
// distinguish them.
Result<std::vector<std::string>> LabelRuns(const std::vector<std::string>& files,
                                           const std::string& given);

}  // namespace beryl::flows
