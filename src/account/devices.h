// Which channels are devices: things whose energy may be added up.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "types/power_trace.h"

namespace beryl::account {

struct DevicePlan {
  std::vector<size_t> devices;    // channels
  std::vector<size_t> container;  // the outermost meters that told something: wall, battery or psys
  std::vector<std::string> notes;
};

// `told[i]`: whether channel i told anything. A package, its memory, a GPU and whatever else is not
// contained in one of them are devices; a meter that stands before them is one only if none of them
// was measured.
DevicePlan PlanDevices(const std::vector<PowerChannel>& channels, const std::vector<bool>& told);

// Channels that contain or are contained in `device`, by what they say of themselves and, where
// they do not, by their names.
std::vector<std::string> RelatedTo(const std::vector<PowerChannel>& channels, size_t device);

}  // namespace beryl::account
