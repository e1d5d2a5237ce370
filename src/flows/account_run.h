// Accounts a run: from its traces to the tree with columns, and to the report that views show.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "flows/read_run.h"
#include "tree/tree.h"
#include "types/account_report.h"
#include "types/description.h"
#include "types/footprint.h"
#include "types/provenance.h"
#include "types/trace_tree.h"

namespace beryl::flows {

// A run with everything computed from it.
struct AccountedRun {
  RunInput input;                      // of a part of a run, without the operations outside of it
  account::AccountOptions accounting;  // with the window, if it is a part
  std::optional<EnergyOf> energy_of;   // nothing: no recording says who used the machine
  Footprint footprint;
  TraceTree built;
  TraceTree folded;
  std::vector<NodeId> folded_of;                   // by node of `built`: where it went in `folded`
  std::optional<tree::ModelOfRun> model;           // what a description gave it; flows/give_model.h
  std::shared_ptr<const Description> description;  // the description it was given
  std::string profile;                             // the profile that predicted it; empty: none
};
Result<AccountedRun> AccountRun(RunInput input, const RunOptions& options);

// What says that part of its input is missing.
std::vector<Note> MissingInput(const AccountedRun& run);
// "measured: CPU:0 (energy counter) from run.beryl". `label` qualifies power that is not an
// ordinary measurement.
std::string EnergySource(const PowerTrace& power, const std::string& label);

// Collects everything a view may show of a run.
AccountReport MakeReport(const AccountedRun& run, const RunOptions& options);

// Seconds at work of each node of the report's tree.
std::vector<double> SelfSeconds(const AccountedRun& run);

// The provenance of a result about several runs.
Provenance ProvenanceOf(const std::vector<AccountReport>& runs);

}  // namespace beryl::flows
