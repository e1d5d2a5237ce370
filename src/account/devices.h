// Which channels are devices: things whose energy may be added up.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "types/containment.h"
#include "types/power_trace.h"

namespace beryl::account {

struct DevicePlan {
  std::vector<size_t> devices;  // channels
  // The outermost meters that told something: plugs, or boards. They may be added up.
  std::vector<size_t> container;
  // Those that stand beside them and told nothing: what they read together is not the whole.
  std::vector<size_t> silent;
  std::vector<std::string> missing;  // what is in no device: "the CPUs, which only wall reads"
  std::vector<Note> notes;
};

// `told[i]`: whether channel i told anything; `containment` is of those. A package, its memory, a
// GPU and whatever else is not contained in one of them are devices; a meter of the whole is one
// only if nothing that it contains was measured.
DevicePlan PlanDevices(const std::vector<PowerChannel>& channels, const std::vector<bool>& told,
                       const Containment& containment);

// Whether no other channel of the same kind (CPU:n, DRAM:n) is there, but for what is within it.
bool IsOnlyOne(const std::vector<PowerChannel>& channels, const Containment& containment,
               size_t channel);

// Names of the device and of the channels that contain it or are contained in it.
std::vector<std::string> RelatedTo(const std::vector<PowerChannel>& channels,
                                   const Containment& containment, size_t device);

}  // namespace beryl::account
