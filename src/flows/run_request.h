// What users say of runs to account: their files, how they are read, and how energy is attributed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "account/account.h"
#include "base/result.h"
#include "flows/run_files.h"
#include "flows/window_request.h"

namespace beryl::flows {

struct RunRequest {
  RunFiles files;
  account::Policy policy = account::Policy::kAuto;
  std::string clock_offset_us;  // empty: none
  std::string align;            // "start", or empty
  std::vector<std::string> anchors;
  std::vector<std::string> idle_power;
  std::vector<std::string> feeds;
  std::string ops_format = "auto";
  std::optional<double> wrap_uj;
  std::optional<int> threads;  // nothing or 0: one for each CPU
  bool only_ours = false;
  bool whole_machine = false;
  WindowRequest window;
};
Result<RunOptions> RunOptionsOf(const RunRequest& request);

// In all of these, a text of another form is a misuse error.
// "OPS_US=POWER_US"
Status AddAnchors(const std::vector<std::string>& texts, account::AccountOptions& options);
// "[DEVICE=]WATTS"
Status AddIdlePower(const std::vector<std::string>& texts, account::AccountOptions& options);
// "CHANNEL=DEVICE[,DEVICE...]"
Status AddFeeds(const std::vector<std::string>& texts, account::AccountOptions& options);

}  // namespace beryl::flows
