// The order in which a PyTorch trace is nested.
#pragma once

#include <cstdint>
#include <vector>

#include "importers/pytorch_records.h"

namespace beryl::importers {

// Positions of the host's operations and scopes by thread and time, outer before inner.
std::vector<uint32_t> HostOrder(const std::vector<KinetoRecord>& records);

}  // namespace beryl::importers
