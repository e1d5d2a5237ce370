// The orders in which a PyTorch trace is nested.
#pragma once

#include <cstdint>
#include <vector>

#include "importers/pytorch_records.h"

namespace beryl::importers {

// Positions of the host's operations and scopes by thread and time, outer before inner.
std::vector<uint32_t> HostOrder(const std::vector<KinetoRecord>& records);

// Positions of the accelerators' events: as in the file, or by time, enclosing ones before enclosed
// ones, if any encloses others.
std::vector<uint32_t> DeviceOrder(const std::vector<KinetoRecord>& records);

}  // namespace beryl::importers
