// The readings of a power file as they come, by channel.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/string_table.h"
#include "types/power_trace.h"

namespace beryl::sources {

// Keeps 24 bytes for each reading.
class PowerReadings {
 public:
  // `report` counts what is dropped and repaired, and must outlive this.
  PowerReadings(ChannelKind kind, ImportReport& report) : kind_(kind), report_(report) {}

  // `wrap_uj`: the count at which the counter wraps; nothing: not told.
  void Add(std::string_view device, std::string_view time, std::string_view value,
           std::optional<double> wrap_uj, uint64_t offset);
  // Drops a reading that the file does not identify, and says why.
  void Drop(NoteKind why, uint64_t offset) {
    ++report_.events;
    report_.Count(why, offset);
  }

  // The channels in order of appearance; a channel without a usable reading is left out. Call once.
  std::vector<PowerChannel> Finish();

 private:
  struct Readings {
    std::vector<Nanos> times;
    std::vector<double> values;
    std::vector<uint64_t> offsets;
    // When a reading that was dropped was taken, or, if that is unknown, the one before it.
    std::vector<Nanos> dropped;
    std::vector<std::pair<uint64_t, std::optional<double>>> wraps;  // from an offset on
  };

  Readings& Of(std::string_view device);
  void PutInOrder(Readings& readings);
  static void BreakWhereDropped(const Readings& readings, PowerChannel& channel);
  void Unwrap(Readings& readings, PowerChannel& channel);

  const ChannelKind kind_;
  ImportReport& report_;
  StringTable names_;
  std::vector<Readings> channels_ = std::vector<Readings>(1);  // by name; the first has none
};

}  // namespace beryl::sources
