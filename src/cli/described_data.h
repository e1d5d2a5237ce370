// Data sets whose models are known by name: each run beside its description.
#pragma once

#include "types/dataset.h"

namespace beryl::cli {

// Describes every run whose model is in the catalog, at its batch size and length, in the
// operations that the published data was measured with. What could not be described goes to the
// notes.
void DescribeRuns(Dataset& data);

}  // namespace beryl::cli
