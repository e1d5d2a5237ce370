// Recording: what happened on the machine while its meters were read: who used the CPUs, how busy
// everything was, what was asked for and what the recorder itself cost. The power is in the
// PowerTrace beside it.
//
// A recording may be given in pieces, one after the other, as it is written down; a piece has the
// same shape as the whole.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "types/note.h"

namespace beryl {

// Whose a task is.
enum class TaskOwner : uint8_t {
  kWatched,   // of the processes that were asked for, or a descendant of theirs
  kRecorder,  // of the program that measures
};

struct Task {
  int32_t pid = 0;
  int32_t tid = 0;
  std::string name;
  TaskOwner owner = TaskOwner::kWatched;
};

// CPU time of a task, counted from any origin.
struct TaskReading {
  uint32_t task = 0;  // index into ActivityTrace::tasks
  uint16_t cpu = 0;   // where it ran last
  uint64_t run_ns = 0;
};

// Who used which CPU. At times[i] stand busy_ns[i * cpus + c], the time that CPU c has spent on
// anything but waiting, and the readings from first_reading[i] up to first_reading[i + 1]: those
// tasks whose CPU time grew since the sample before, or that are new.
struct ActivityTrace {
  std::string cpu_time;               // what task time is told by: "schedstat" or "stat"
  std::vector<uint16_t> cpu_package;  // for each CPU, as numbered here, the package it is part of
  std::vector<Task> tasks;
  std::vector<Nanos> times;
  std::vector<uint64_t> busy_ns;
  std::vector<size_t> first_reading;  // times.size() + 1, or empty as long as there is no sample
  std::vector<TaskReading> readings;

  size_t cpus() const { return cpu_package.size(); }
};

// Resource use over time, by the names of IrEne's features: cpu_util and mem_usg of the machine;
// gpu_util, gm_usg, g_clk and gm_clk of each GPU; gpu_ours, the share (0 to 1) of a GPU's use that
// is of the watched processes. NaN: not known at that time.
struct FeatureColumn {
  std::string name;
  std::string device;  // "GPU:0"; empty: the machine
  std::vector<double> values;
};

struct FeatureTrace {
  std::vector<Nanos> times;
  std::vector<FeatureColumn> columns;
};

// A stretch of the run that was given a name. May nest and overlap.
struct RunWindow {
  std::string name;
  Nanos start;
  Nanos end;
  bool warm_up = false;  // not counted in what is said of the rounds
  uint32_t runs = 0;     // how often the command ran in it; 0: not a round
};

// What measuring cost, and how well it kept time.
struct SamplerCost {
  Seconds cpu_time;
  Seconds wall_time;
  uint64_t ticks = 0;
  uint64_t late = 0;    // ticks that were read more than half a period after their time
  uint64_t missed = 0;  // ticks that were not read at all
  uint64_t lost = 0;    // samples that were read and could not be kept
  std::optional<double> late_p50_us;
  std::optional<double> late_p99_us;
  std::optional<double> late_max_us;
  uint64_t resident_bytes = 0;
};

struct Recording {
  std::vector<std::string> command;  // empty: a process that ran already
  std::vector<int32_t> pids;         // the roots of what was watched
  std::string machine;
  Nanos period;
  Nanos start;
  Nanos end;           // 0: the recorder did not come to an end
  int exit_code = -1;  // of the command; 128 + signal if one ended it; -1: not known
  ActivityTrace activity;
  FeatureTrace features;
  std::vector<RunWindow> windows;
  SamplerCost cost;
  std::vector<Note> notes;
};

}  // namespace beryl
