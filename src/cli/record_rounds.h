// The protocol of a recording: warm-up, rounds of the command, and rests between them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/live_recording.h"
#include "cli/signal_inbox.h"

namespace beryl::cli {

struct RoundPlan {
  std::vector<std::string> command;  // empty: only watch
  std::vector<int32_t> pids;         // until all of them have ended
  uint32_t warm_up = 0;              // runs of the command that do not count
  uint32_t rounds = 0;               // 0: the command once, and no rounds
  std::optional<Nanos> length;       // of a round: the command is run again until it is over
  std::optional<Nanos> cool_down;    // the longest rest before a round; nothing: none
};

struct RoundsDone {
  int exit_code = 0;             // of the command (of the first that failed); 0 if there was none
  std::optional<Error> trouble;  // why the recording could not be written to its end
};

// Runs the plan and writes `recording` from its first moment to its end. SIGINT and SIGTERM end it
// early; what was recorded stays good. An Error: the command could not be started.
Result<RoundsDone> RunRounds(const RoundPlan& plan, const SignalInbox& signals,
                             LiveRecording& recording);

}  // namespace beryl::cli
