// Measurement: the result of a recording, ready to be shown. For every device: ours + others +
// recorder + idle = energy.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "types/budget.h"
#include "types/energy_use.h"
#include "types/note.h"
#include "types/power_trace.h"
#include "types/provenance.h"
#include "types/recording.h"
#include "types/run_context.h"

namespace beryl {

// A stretch of time for which a meter gives no energy.
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
  std::optional<Joules> energy;  // nothing: no readings
  Seconds known_time;            // for which energy is known
  uint64_t readings = 0;
  uint64_t wraps = 0;
  std::vector<MeterGap> gaps;
};

// Who used a device's energy, as far as that can be determined.
struct EnergySplit {
  std::optional<Joules> ours;      // the watched processes
  std::optional<Joules> others;    // everything else that ran, including the kernel
  std::optional<Joules> recorder;  // the program that measured
  std::optional<Joules> idle;      // while nothing ran
};

// A device: a package, its memory, a GPU; the whole machine only if nothing finer was measured.
// Devices may be added up.
struct DeviceEnergy {
  std::string device;
  Origin origin = Origin::kMeasured;
  std::string source;
  std::optional<Joules> energy;
  std::optional<Joules> low;  // interval, if the meter's error is known
  std::optional<Joules> high;
  std::optional<Watts> mean_power;  // over `known_time`
  Seconds known_time;               // for which its power is known
  EnergySplit split;
  // Interval of `ours`: by both rules of a split, with the meter's error if it is known, and with
  // energy whose users are not. Nothing if all of that makes no difference.
  std::optional<Joules> ours_low;
  std::optional<Joules> ours_high;
  std::optional<Joules> rest;         // everything but `ours`
  std::vector<std::string> channels;  // the channels it contains or is contained in
  std::vector<MeterGap> gaps;
  std::vector<double> slices_w;  // mean power in equal slices of the recording; NaN: unknown
};

struct ProcessEnergy {
  int32_t pid = 0;
  std::string name;
  TaskOwner owner = TaskOwner::kWatched;
  uint32_t threads = 0;
  Seconds cpu_time;
  std::vector<double> energy_j;  // for each device; NaN: not split by process
};

// The mean of one of IrEne's resource features over the rounds, or over the recording if there are
// no rounds.
struct FeatureMean {
  std::string name;
  std::string device;  // empty: the machine
  std::string unit;    // "%", "MHz", "s", "J"
  std::optional<double> mean;
};

// A round of the protocol, or a window named by the program.
struct WindowEnergy {
  std::string name;
  bool warm_up = false;
  Seconds start;
  Seconds duration;
  std::optional<Joules> energy;  // of all devices together
  std::optional<Joules> ours;
  uint32_t runs = 0;  // how often the command ran in it; 0: not a round
};

// Mean and deviation over the counted rounds.
template <typename Quantity>
struct RoundStatistics {
  uint64_t rounds = 0;
  std::optional<Quantity> mean;
  std::optional<Quantity> deviation;  // sample standard deviation
};

// One run of the command, over the rounds: a round's energy and time, divided by its runs.
struct RunStatistics {
  // Ours; of the machine if ours is not known for any round.
  EnergyOf energy_of = EnergyOf::kMachine;
  RoundStatistics<Joules> energy;
  RoundStatistics<Seconds> time;
};

// What our energy and that of the machine cost.
struct MeasuredCosts {
  Electricity electricity;
  EnergyPrice ours;
  EnergyPrice machine;
};

// The sum of all devices whose energy is known.
struct TotalEnergy {
  std::optional<Joules> energy;
  std::optional<Joules> low;  // if it includes an estimate
  std::optional<Joules> high;
  std::optional<Watts> mean_power;
  std::optional<Joules> ours;      // of the devices that are split
  std::optional<Joules> ours_low;  // if one of them has an interval
  std::optional<Joules> ours_high;
  std::optional<Joules> split;  // energy of the devices that are split
  bool all_split = true;        // every device with readings is split
  Origin origin = Origin::kMeasured;
  // What the sum lacks: "DRAM:1 for 1.50 s", "the CPUs, which only wall reads". Empty if it is
  // complete.
  std::vector<std::string> missing;
};

// The measured whole, if meters read everything (wall, battery, psys).
struct WholeMachine {
  std::vector<std::string> channels;  // empty: no such meter
  std::optional<Joules> energy;
  std::optional<Joules> devices;  // sum of the devices above
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
  RoundStatistics<Joules> round_energy;
  RoundStatistics<Seconds> round_time;
  RunStatistics run;                   // of the command
  std::optional<MeasuredCosts> costs;  // nothing: no electricity was chosen
  WholeMachine whole;
  std::optional<double> overhead_cpu_pct;  // of one core
  std::optional<Joules> overhead;          // energy: the recorder's share of CPU time
  std::vector<BudgetVerdict> budget;       // empty: it was compared with none
  std::vector<Note> notes;
};

}  // namespace beryl
