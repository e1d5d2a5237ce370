// Which channels are devices: things whose energy may be added up.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "types/power_trace.h"

namespace beryl::account {

struct DevicePlan {
  std::vector<size_t> devices;  // channels
  // The outermost meters that told something: wall, battery or psys. They may be added up.
  std::vector<size_t> container;
  std::vector<std::string> missing;  // what is in no device: "the CPUs, which only wall reads"
  std::vector<std::string> notes;
};

// `told[i]`: whether channel i told anything. A package, its memory, a GPU and whatever else is not
// contained in one of them are devices; a meter of the whole is one only if nothing that it stands
// before was measured.
DevicePlan PlanDevices(const std::vector<PowerChannel>& channels, const std::vector<bool>& told);

// Whether no other channel of the same kind (CPU:n, DRAM:n) is there, but for what is within it.
bool IsOnlyOne(const std::vector<PowerChannel>& channels, size_t channel);

// Whether a meter of the whole machine reads a device too: what is on the board, or behind the
// plug.
bool StandsBefore(const PowerChannel& container, const PowerChannel& device);

// Channels that contain or are contained in `device`, by what they say of themselves and, where
// they do not, by their names.
std::vector<std::string> RelatedTo(const std::vector<PowerChannel>& channels, size_t device);

}  // namespace beryl::account
