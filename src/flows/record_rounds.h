// The protocol of a recording: warm-up, rounds of the command, and rests between them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "flows/live_view.h"
#include "sources/discover.h"
#include "sources/machine.h"

namespace beryl::flows {

struct RoundPlan {
  std::vector<std::string> command;  // empty: only watch
  std::vector<int32_t> pids;         // watched until all of them have ended
  uint32_t warm_up = 0;              // runs of the command that do not count
  uint32_t rounds = 0;               // 0: the command once, and no rounds
  std::optional<Nanos> length;       // of a round: repeats the command until it has passed
  std::optional<Nanos> cool_down;    // the longest rest before a round; empty: none
};

struct RoundsDone {
  int exit_code = 0;             // of the first command that failed; 0 if there was none
  std::optional<Error> trouble;  // why the recording is incomplete
  std::string file = {};         // that was written; empty: the command was never started
};

struct RecordOptions {
  sources::Machine machine;
  sources::DiscoverOptions discover;
  Nanos period;
  std::string output = {};  // as RecordingFile::Open takes it
  bool replace = false;     // what is there under that name
  RoundPlan plan;
  // Called once the recording has begun, with the name of its file.
  std::function<void(const std::string& file)> when_begun = {};
  LiveView live = {};  // while it records
};

// Runs the plan and records this machine from beginning to end. SIGINT and SIGTERM end it early;
// the recording stays valid. Fails if there is nothing to read or the command cannot be started.
// Uses the signals and children of the whole process, so call it once, without other threads.
Result<RoundsDone> RecordRounds(const RecordOptions& options);

}  // namespace beryl::flows
