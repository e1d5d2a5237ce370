// What a machine draws just now, from one stretch of a recording after the other, and what it has
// used since the first.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "types/measurement.h"
#include "types/power_look.h"

namespace beryl::account {

class PowerLooks {
 public:
  // `stretch` is the energy of the time since the last look, `time` its end. The caller adds the
  // machine, pids, provenance and notes.
  PowerLook Next(const Measurement& stretch, Nanos time);

 private:
  struct Used {
    std::string name;  // a number may be given to another process
    Joules energy;
    uint64_t seen = 0;
  };

  std::optional<Nanos> start_;
  uint64_t looks_ = 0;
  // A meter slower than the looks keeps its last power for a while.
  struct Held {
    std::optional<Watts> power;
    std::optional<Watts> ours;
    Seconds since;
  };
  void Hold(Seconds now, PowerLook::Device& device);

  std::map<std::string, Held> held_;
  std::map<std::string, Joules> of_devices_;
  std::map<int32_t, Used> of_processes_;
  std::optional<Joules> energy_;
  std::optional<Joules> ours_;
};

}  // namespace beryl::account
