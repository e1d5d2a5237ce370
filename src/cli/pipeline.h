// From files to a report: the rooms called in order. Shared by the commands that account a run.
#pragma once

#include <string>
#include <vector>

#include "account/account.h"
#include "base/file.h"
#include "base/result.h"
#include "importers/importers.h"
#include "sources/sources.h"
#include "types/account_report.h"
#include "types/op_trace.h"

namespace beryl::cli {

struct RunInput {
  OpTrace ops;
  PowerTrace power;
  std::vector<std::string> power_notes;  // what was wrong with the power files
};

struct PipelineOptions {
  importers::ImportOptions import;
  sources::PowerFileOptions power;
  account::AccountOptions account;
  bool timeline = false;  // wanted for pictures only
};

// Adds the channels of a power file to a run.
Result<bool> AddPower(ByteSource& source, const PipelineOptions& options, RunInput& run);

// Reads the operation traces and the power traces.
Result<RunInput> ReadRun(const std::vector<std::string>& ops_files,
                         const std::vector<std::string>& power_files,
                         const PipelineOptions& options);

// Accounts a run and gathers everything a view may show of it.
Result<AccountReport> MakeReport(const RunInput& run, const PipelineOptions& options,
                                 RunContext context);

}  // namespace beryl::cli
