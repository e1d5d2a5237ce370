// LivePower: the current state of the monitor, for its clients.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "types/power_trace.h"
#include "types/provenance.h"
#include "types/recording.h"

namespace beryl {

struct LiveChannel {
  PowerChannel channel;          // without readings
  std::string within;            // the channels that contain it, "wall:1 + wall:2"; empty: none
  std::optional<Joules> energy;  // since `start`
  std::optional<Watts> power;
};

// Energy of a device since a session started. Devices may be added up.
struct LiveDevice {
  std::string device;
  Origin origin = Origin::kMeasured;
  std::string source;
  std::optional<Joules> energy;
  std::optional<Joules> ours;
};

// The energy of devices between two moments of a session.
struct LiveWindow {
  std::string name;
  Nanos start;
  Nanos end;
  std::vector<LiveDevice> devices;
  // The sums over all devices; nothing if one of them is unknown.
  std::optional<Joules> energy;
  std::optional<Joules> ours;
};

struct LiveSession {
  uint64_t id = 0;
  std::string name;
  uint32_t uid = 0;
  bool running = false;
  std::vector<LiveDevice> devices;
};

struct LivePower {
  Provenance provenance;
  std::string host;  // network name of the machine
  Nanos start;       // energy counts from here
  Nanos time;
  std::vector<LiveChannel> channels;
  std::vector<LiveSession> sessions;  // running sessions
  uint64_t sessions_started = 0;      // since the monitor started
  uint64_t sessions_refused = 0;      // since the monitor started
  SamplerCost cost;
};

}  // namespace beryl
