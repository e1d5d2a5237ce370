// A part of a run, as the user writes it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "account/account.h"
#include "base/result.h"
#include "flows/read_run.h"
#include "types/time_window.h"

namespace beryl::flows {

// All empty: the whole run.
struct WindowRequest {
  // "2.5" and "250ms" since the run's start (account::StartOfRun); "2026-11-18T01:32:48.5Z";
  // "@1763429568500000", microseconds on the power trace's clock.
  std::string from = {};
  std::string to = {};
  std::string_view end = "to";  // what the user calls `to`, for messages
  std::string step = {};        // number or name of a step, or a range of them, "2-5"
};

// Parses it, without the run.
Result<RunPart> ParseWindow(const WindowRequest& request);

// The window in that run; nothing if it is the whole. `options` fit the clocks.
Result<std::optional<TimeWindow>> FindWindow(const RunPart& part, const RunInput& run,
                                             const account::AccountOptions& options);

}  // namespace beryl::flows
