// Measurement: what a recording comes to, ready to be shown. For every device: ours + others +
// recorder + idle = energy.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "types/note.h"
#include "types/power_trace.h"
#include "types/provenance.h"
#include "types/recording.h"
#include "types/run_context.h"

namespace beryl {

// A stretch of time for which a meter told nothing.
struct MeterGap {
  Seconds start;  // since the start of the recording
  Seconds duration;
  GapReason why = GapReason::kNotTold;
};

// One meter over the whole recording.
struct ChannelEnergy {
  std::string name;
  ChannelScope scope = ChannelScope::kOther;
  ChannelKind kind = ChannelKind::kPowerGauge;
  MeterTraits meter;
  std::string within;            // the channels that contain it, "wall:1 + wall:2"; empty: none
  std::optional<Joules> energy;  // nothing: it told nothing
  Seconds known_time;            // for which it told something
  uint64_t readings = 0;
  uint64_t wraps = 0;
  std::vector<MeterGap> gaps;
};

// Where a device's energy went, as far as that can be told.
struct EnergySplit {
  std::optional<Joules> ours;      // the watched processes
  std::optional<Joules> others;    // everything else that ran, the kernel included
  std::optional<Joules> recorder;  // the program that measured
  std::optional<Joules> idle;      // while nothing ran
};

// One entry a device: a package, its memory, a GPU; the whole machine only if nothing finer was
// measured. Devices may be added up.
struct DeviceEnergy {
  std::string device;
  Origin origin = Origin::kMeasured;
  std::string source;
  std::optional<Joules> energy;
  std::optional<Joules> low;  // the interval, where the meter's error is known
  std::optional<Joules> high;
  std::optional<Watts> mean_power;  // over `known_time`
  Seconds known_time;               // for which its power is known
  EnergySplit split;
  std::optional<Joules> rest;         // all that is not ours
  std::vector<std::string> channels;  // names of the channels it contains or is contained in
  std::vector<MeterGap> gaps;
  std::vector<double> slices_w;  // mean power in equal slices of the recording; NaN: not known
};

struct ProcessEnergy {
  int32_t pid = 0;
  std::string name;
  TaskOwner owner = TaskOwner::kWatched;
  uint32_t threads = 0;
  Seconds cpu_time;
  std::vector<double> energy_j;  // for each device; NaN: not told apart
};

// The mean of one of IrEne's resource features over the rounds, or over the recording if there are
// none.
struct FeatureMean {
  std::string name;
  std::string device;  // empty: the machine
  std::string unit;    // "%", "MHz", "s", "J"
  std::optional<double> mean;
};

// A round of the protocol, or a window that the program named.
struct WindowEnergy {
  std::string name;
  bool warm_up = false;
  Seconds start;
  Seconds duration;
  std::optional<Joules> energy;  // of all devices together
  std::optional<Joules> ours;
  uint32_t runs = 0;  // how often the command ran in it; 0: not a round
};

// Mean and deviation over the rounds that count.
template <typename Quantity>
struct Spread {
  uint64_t rounds = 0;
  std::optional<Quantity> mean;
  std::optional<Quantity> deviation;  // of the sample
};

// Of all devices together, as far as each is known.
struct TotalEnergy {
  std::optional<Joules> energy;
  std::optional<Joules> low;  // where an estimate is among them
  std::optional<Joules> high;
  std::optional<Watts> mean_power;
  std::optional<Joules> ours;   // of the devices that are told apart
  std::optional<Joules> split;  // energy of those
  bool all_split = true;        // every device that told something is told apart
  Origin origin = Origin::kMeasured;
  // What has no part in the sum: "DRAM:1 for 1.50 s", "the CPUs, which only wall reads". Empty: the
  // sum is complete.
  std::vector<std::string> missing;
};

// The measured whole, where meters stand before everything (wall, battery, psys).
struct WholeMachine {
  std::vector<std::string> channels;  // none: no such meter
  std::optional<Joules> energy;
  std::optional<Joules> devices;  // what the devices above come to
  std::optional<Joules> rest;     // the difference: fans, disks, losses
};

struct Measurement {
  Provenance provenance;
  RunContext context;
  Recording recording;  // without activity and features over time
  Seconds duration;
  std::vector<DeviceEnergy> devices;
  TotalEnergy total;
  std::vector<ChannelEnergy> channels;
  std::vector<ProcessEnergy> processes;  // most energy first
  std::vector<FeatureMean> features;
  std::vector<WindowEnergy> windows;
  Spread<Joules> round_energy;
  Spread<Seconds> round_time;
  WholeMachine whole;
  std::optional<double> overhead_cpu_pct;  // of one core
  std::optional<Joules> overhead;  // energy: the recorder's part of the time that the CPUs have
  std::vector<Note> notes;
};

}  // namespace beryl
