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
};

struct PipelineOptions {
  importers::ImportOptions import;
  sources::PowerFileOptions power;
  account::AccountOptions account;
  bool timeline = false;  // wanted for pictures only
};

// Reads the operation traces and the power trace.
Result<RunInput> ReadRun(const std::vector<std::string>& ops_files, const std::string& power_file,
                         const PipelineOptions& options);

// Accounts a run and gathers everything a view may show of it.
Result<AccountReport> MakeReport(const RunInput& run, const PipelineOptions& options,
                                 RunContext context);

}  // namespace beryl::cli
