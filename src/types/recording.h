// Recording: what happened on the machine while its meters were read: who used the CPUs, how busy
// everything was, what was requested and what recording cost. The power is in the PowerTrace beside
// it.
//
// A recording may come in pieces, as it is written; a piece has the same structure as the whole.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "types/note.h"
#include "types/power_trace.h"

namespace beryl {

// Whom a task belongs to.
enum class TaskOwner : uint8_t {
  kWatched,   // the watched processes and their descendants
  kRecorder,  // the program that measures
};

// A main thread that is listed again, without readings of its own, has a new name from then on: its
// process runs another program in its place (exec).
struct Task {
  int32_t pid = 0;
  int32_t tid = 0;
  std::string name;
  TaskOwner owner = TaskOwner::kWatched;
};

// CPU time of a task, from any origin.
struct TaskReading {
  uint32_t task = 0;  // index into ActivityTrace::tasks
  uint16_t cpu = 0;   // where it last ran
  uint64_t run_ns = 0;
};

// Who used which CPU. Sample i has the time times[i], the busy time busy_ns[i * cpus + c] of each
// CPU c (anything but waiting), and the readings from first_reading[i] up to first_reading[i + 1]:
// the tasks that are new or whose CPU time grew since the previous sample.
struct ActivityTrace {
  std::string cpu_time;               // where task times come from: "schedstat" or "stat"
  std::vector<uint16_t> cpu_package;  // the package of each CPU
  std::vector<Task> tasks;
  std::vector<Nanos> times;
  std::vector<uint64_t> busy_ns;
  std::vector<size_t> first_reading;  // times.size() + 1, or empty without samples
  std::vector<TaskReading> readings;

  size_t cpus() const { return cpu_package.size(); }
};

// Resource use over time, named after IrEne's features: cpu_util and mem_usg of the machine, c_clk
// (MHz) and c_temp (degrees Celsius) of its processors; gpu_util, gm_usg, g_clk, gm_clk and g_temp
// of each GPU; gpu_ours, the watched processes' share (0 to 1)
// of a GPU's use. NaN: unknown at that time.
struct FeatureColumn {
  std::string name;
  std::string device;  // "GPU:0"; empty: the machine
  std::vector<double> values;
};

struct FeatureTrace {
  std::vector<Nanos> times;
  std::vector<FeatureColumn> columns;
};

// A named stretch of the run. May nest and overlap.
struct RunWindow {
  std::string name;
  Nanos start;
  Nanos end;
  bool warm_up = false;  // not counted in the statistics of rounds
  uint32_t runs = 0;     // how often the command ran in it; 0: not a round
};

// The cost of measuring, and how punctual it was.
struct SamplerCost {
  Seconds cpu_time;
  Seconds wall_time;
  uint64_t ticks = 0;
  uint64_t late = 0;    // ticks read more than half a period late
  uint64_t missed = 0;  // ticks not read at all
  uint64_t lost = 0;    // samples that were read but could not be kept
  std::optional<double> late_p50_us;
  std::optional<double> late_p99_us;
  std::optional<double> late_max_us;
  uint64_t resident_bytes = 0;
};

struct Recording {
  std::vector<std::string> command;  // empty: a process that was already running
  std::vector<int32_t> pids;         // roots of the watched process trees
  std::string machine;
  Nanos period;
  Nanos start;
  Nanos end;           // 0: the recorder did not finish
  int exit_code = -1;  // of the command; 128 + signal if killed by one; -1: unknown
  ActivityTrace activity;
  FeatureTrace features;
  std::vector<RunWindow> windows;
  SamplerCost cost;
  std::vector<Note> notes;
};

// A piece of a recording with the readings of its time. A channel's gaps count from the first
// reading of the piece. Task indices continue from piece to piece, and a piece lists only its new
// tasks.
struct RecordingPiece {
  PowerTrace power;
  Recording recording;
};

}  // namespace beryl
