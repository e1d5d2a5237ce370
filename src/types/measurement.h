// Measurement: what a recording comes to, ready to be shown. For every device: ours + others +
// recorder + idle = energy.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/units.h"
#include "types/note.h"
#include "types/power_trace.h"
#include "types/provenance.h"
#include "types/recording.h"
#include "types/run_context.h"
#include "types/unknown.h"

namespace beryl {

// A stretch of time for which a meter told nothing.
struct MeterGap {
  double start_s = 0;  // since the start of the recording
  double seconds = 0;
  GapReason why = GapReason::kNotTold;
};

// One meter over the whole recording.
struct ChannelEnergy {
  std::string name;
  ChannelScope scope = ChannelScope::kOther;
  ChannelKind kind = ChannelKind::kPowerGauge;
  MeterTraits meter;
  std::string within;          // the channels that contain it, "wall:1 + wall:2"; empty: none
  double energy_j = kUnknown;  // NaN: it told nothing
  double seconds = 0;          // for which it told something
  uint64_t readings = 0;
  uint64_t wraps = 0;
  std::vector<MeterGap> gaps;
};

// Where a device's energy went. NaN where that cannot be told.
struct EnergySplit {
  double ours_j = kUnknown;      // the watched processes
  double others_j = kUnknown;    // everything else that ran, the kernel included
  double recorder_j = kUnknown;  // the program that measured
  double idle_j = kUnknown;      // while nothing ran
};

// One entry a device: a package, its memory, a GPU; the whole machine only if nothing finer was
// measured. Devices may be added up.
struct DeviceEnergy {
  std::string device;
  Origin origin = Origin::kMeasured;
  std::string source;
  double energy_j = kUnknown;
  double low_j = kUnknown;  // the interval, where the meter's error is known
  double high_j = kUnknown;
  double mean_w = kUnknown;  // over `seconds`
  double seconds = 0;        // for which its power is known
  EnergySplit split;
  double rest_j = kUnknown;           // all that is not ours
  std::vector<std::string> channels;  // names of the channels it contains or is contained in
  std::vector<MeterGap> gaps;
  std::vector<double> slices_w;  // mean power in equal slices of the recording; NaN: not known
};

struct ProcessEnergy {
  int32_t pid = 0;
  std::string name;
  TaskOwner owner = TaskOwner::kWatched;
  uint32_t threads = 0;
  double cpu_s = 0;
  std::vector<double> energy_j;  // for each device; NaN: not told apart
};

// The mean of one of IrEne's resource features over the rounds, or over the recording if there are
// none.
struct FeatureMean {
  std::string name;
  std::string device;  // empty: the machine
  std::string unit;    // "%", "MHz", "s", "J"
  double mean = kUnknown;
};

// A round of the protocol, or a window that the program named.
struct WindowEnergy {
  std::string name;
  bool warm_up = false;
  double start_s = 0;
  double seconds = 0;
  double energy_j = kUnknown;  // of all devices together
  double ours_j = kUnknown;
  uint32_t runs = 0;  // how often the command ran in it; 0: not a round
};

// Mean and deviation over the rounds that count.
struct Spread {
  uint64_t rounds = 0;
  double mean = kUnknown;
  double deviation = kUnknown;  // of the sample
};

// Of all devices together, as far as each is known.
struct TotalEnergy {
  double energy_j = kUnknown;
  double low_j = kUnknown;  // where an estimate is among them
  double high_j = kUnknown;
  double mean_w = kUnknown;
  double ours_j = kUnknown;   // of the devices that are told apart
  double split_j = kUnknown;  // energy of those
  bool all_split = true;      // every device that told something is told apart
  Origin origin = Origin::kMeasured;
  // What has no part in the sum: "DRAM:1 for 1.50 s", "the CPUs, which only wall reads". Empty: the
  // sum is complete.
  std::vector<std::string> missing;
};

// The measured whole, where meters stand before everything (wall, battery, psys).
struct WholeMachine {
  std::vector<std::string> channels;  // none: no such meter
  double energy_j = kUnknown;
  double devices_j = kUnknown;  // what the devices above come to
  double rest_j = kUnknown;     // the difference: fans, disks, losses
};

struct Measurement {
  Provenance provenance;
  RunContext context;
  Recording recording;  // without activity and features over time
  double seconds = 0;
  std::vector<DeviceEnergy> devices;
  TotalEnergy total;
  std::vector<ChannelEnergy> channels;
  std::vector<ProcessEnergy> processes;  // most energy first
  std::vector<FeatureMean> features;
  std::vector<WindowEnergy> windows;
  Spread energy_j;   // of rounds
  Spread seconds_s;  // of rounds
  WholeMachine whole;
  double overhead_cpu_pct = kUnknown;  // of one core
  double overhead_j = kUnknown;        // the recorder's part of the time that the CPUs have
  std::vector<Note> notes;
};

}  // namespace beryl
