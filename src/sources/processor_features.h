// How warm the processors are and how fast they run: c_temp and c_clk.
#pragma once

#include <memory>

#include "base/units.h"
#include "sources/machine.h"
#include "sources/power_source.h"

namespace beryl::sources {

// Null if the machine tells neither, as a virtual one. Each file is read at most once in `every`,
// and its value holds until then, because they change slowly. What takes milliseconds to read is
// left out.
std::unique_ptr<FeatureSource> MakeProcessorFeatures(const Machine& machine,
                                                     Nanos every = Nanos{1'000'000'000});

}  // namespace beryl::sources
