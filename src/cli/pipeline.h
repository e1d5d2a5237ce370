// From files to a report: the rooms called in order. Shared by the commands that account a run.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "account/account.h"
#include "base/file.h"
#include "base/result.h"
#include "importers/importers.h"
#include "sources/sources.h"
#include "store/store.h"
#include "tree/tree.h"
#include "types/account_report.h"
#include "types/op_trace.h"

namespace beryl::cli {

// The files of one rank, or of a run that has none.
struct RankFiles {
  std::string rank;
  std::vector<std::string> ops;
  std::vector<std::string> power;         // of the machine that this rank alone runs on
  std::vector<std::string> shared_power;  // of the machine that ranks without `power` share
};

using RunInput = store::StoredRun;

struct PipelineOptions {
  importers::ImportOptions import;
  sources::PowerFileOptions power;
  account::AccountOptions account;
  bool timeline = false;   // wanted for pictures only
  bool only_ours = false;  // of a recording: only what the watched processes used
};

// Adds the channels of a power file to a run.
Result<bool> AddPower(ByteSource& source, const PipelineOptions& options, RunInput& run);

// Reads operation traces and power traces, which may be recordings. Ranks with power of their own
// are machines of their own.
Result<RunInput> ReadRun(const std::vector<RankFiles>& ranks, const PipelineOptions& options);

// Reads run files: one run, or the ranks of one.
Result<RunInput> ReadRunFiles(const std::vector<std::string>& files);

// A run with everything that was worked out of it.
struct AccountedRun {
  RunInput input;
  Footprint footprint;
  tree::TraceTree built;
  tree::TraceTree folded;
  std::vector<NodeId> folded_of;                   // by node of `built`: where it went in `folded`
  std::optional<tree::ModelOfRun> model;           // what a description gave it; cli/model_of_run.h
  std::shared_ptr<const Description> description;  // that it was given
  std::string profile;                             // that predicted it; empty: none
};
Result<AccountedRun> AccountRun(RunInput input, const PipelineOptions& options);

// Gathers everything a view may show of a run.
AccountReport MakeReport(const AccountedRun& run, const PipelineOptions& options);

// Of a result that sets these runs side by side.
Provenance ProvenanceOf(const std::vector<AccountReport>& runs);

}  // namespace beryl::cli
