// Decides which channels are devices: their energies may be added up.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "types/containment.h"
#include "types/power_trace.h"

namespace beryl::account {

struct DevicePlan {
  std::vector<size_t> devices;  // channels
  // The outermost meters with readings: plugs, or boards. They may be added up.
  std::vector<size_t> container;
  // Silent meters beside them: together they read less than the whole.
  std::vector<size_t> silent;
  std::vector<std::string> missing;  // parts without a device: "the CPUs, which only wall reads"
  std::vector<Note> notes;
};

// `has_energy[i]`: channel i has readings; `containment` is of these. Devices are packages, their
// memory, GPUs and anything else that is not within one of them; a meter of the whole only if
// nothing within it was measured.
DevicePlan PlanDevices(const std::vector<PowerChannel>& channels,
                       const std::vector<bool>& has_energy, const Containment& containment);

// Whether there is no other channel of the same kind (CPU:n, DRAM:n), except within it.
bool IsOnlyOne(const std::vector<PowerChannel>& channels, const Containment& containment,
               size_t channel);

// Names of the device and of the channels that contain it or are contained in it.
std::vector<std::string> RelatedTo(const std::vector<PowerChannel>& channels,
                                   const Containment& containment, size_t device);

}  // namespace beryl::account
