// Reads a run: operation and power traces, in files or a profiler's folders, of one machine or
// several ranks; or run files, which contain both.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "account/account.h"
#include "base/file.h"
#include "base/result.h"
#include "importers/importers.h"
#include "sources/power_file.h"
#include "store/store.h"
#include "types/power_trace.h"
#include "types/provenance.h"

namespace beryl::flows {

// The files of one rank, or of a run without ranks.
struct RankFiles {
  std::string rank;
  std::vector<std::string> ops;
  std::vector<std::string> power;         // of the machine that only this rank uses
  std::vector<std::string> shared_power;  // of the machine that ranks without `power` share
};

using RunInput = store::StoredRun;

// A part of a run: a stretch of time, or steps by name or number, "2-5" (flows/window_request.h).
struct RunPart {
  struct Time {
    Nanos time;
    bool since_start = false;  // of the run; otherwise on the power trace's clock
  };
  std::optional<Time> from;
  std::optional<Time> to;
  std::string steps;
};

struct RunOptions {
  importers::ImportOptions import;
  sources::PowerFileOptions power;
  account::AccountOptions account;  // without a window, which follows from `part`
  RunPart part;                     // what is accounted; empty: all of it
  bool timeline = false;            // only needed for pictures
  bool only_folded = false;         // a report needs no tree and operations but the folded ones
  // Whose energy is shared out: kOurs or kMachine. Nothing: ours, if a recording of one machine
  // watched a process.
  std::optional<EnergyOf> energy_of;
  // Called for each trace with its size in bytes, or 0 if unknown. The returned function is called
  // with the bytes read so far, and destroyed when the trace has been read.
  std::function<std::function<void(uint64_t bytes)>(const std::string& file, uint64_t size)>
      watch_reading;
};

// Adds the channels of a power file to a run.
Status AddPower(ByteSource& source, const RunOptions& options, RunInput& run);

// Reads operation traces and power traces, which may be recordings. Ranks with power of their own
// are separate machines.
Result<RunInput> ReadRun(const std::vector<RankFiles>& ranks, const RunOptions& options);

// The files of a run that the user names: a run file, or those of its ranks, "r0.beryl+r1.beryl".
std::vector<std::string> FilesOfRun(const std::string& run);
// Reads them; each rank is on a machine of its own.
Result<RunInput> ReadRunFiles(const std::string& run);

// Removes channels that cannot be accounted: those without readings and, in a recording, counters
// that never moved.
void LeaveOutSilent(bool recorded, PowerTrace& power);

}  // namespace beryl::flows
