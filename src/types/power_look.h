// PowerLook: what a machine draws just now, and which processes use it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "types/note.h"
#include "types/power_trace.h"
#include "types/provenance.h"

namespace beryl {

struct PowerLook {
  Provenance provenance;
  std::string machine;
  std::vector<int32_t> pids;  // the watched processes; empty: all
  Nanos time;                 // of its end
  Seconds duration;           // over which power is averaged
  Seconds elapsed;            // since the first look; energy counts from there

  // Devices may be added up.
  struct Device {
    std::string device;
    Origin origin = Origin::kMeasured;
    std::string source;
    std::optional<Watts> power;
    std::optional<Watts> ours;  // of the watched processes
    std::optional<Joules> energy;
  };
  std::vector<Device> devices;

  // The watched processes that ran, and the one that looks; the most power first.
  struct Process {
    int32_t pid = 0;
    std::string name;
    uint32_t threads = 0;
    double cpus = 0;             // busy with it, on average
    std::optional<Watts> power;  // of the devices that are divided among processes
    std::optional<Joules> energy;
    bool is_ours = true;  // false: the program that looks
  };
  std::vector<Process> processes;

  // The sums over all devices; nothing if one of them is unknown.
  std::optional<Watts> power;
  std::optional<Watts> ours;
  std::optional<Joules> energy;
  std::optional<Joules> our_energy;
  Origin origin = Origin::kMeasured;
  std::vector<Note> notes;
};

}  // namespace beryl
