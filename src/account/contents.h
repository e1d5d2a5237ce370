// What is within a plug or a board, in joules. What a container reads beyond that is the rest of
// the box; so nothing is counted twice, and all totals together are what the outermost meters read.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "account/power_curve.h"
#include "base/units.h"
#include "types/containment.h"
#include "types/footprint.h"
#include "types/power_trace.h"

namespace beryl::account {

// One container, or several that stand side by side, and what they contain together.
struct Contents {
  std::vector<size_t> containers;  // channels
  std::vector<size_t> parts;       // channels directly within them
  Nanos from;                      // from the first reading of any of the containers
  Nanos to;                        // to the last
};

// Those of one container first.
std::vector<Contents> FindContents(const PowerTrace& power, const Containment& containment);

// By channel, the energy of its parts over its window. Through which of several plugs it came
// nobody knows: each is taken to have given in proportion to what it read, less what it contains
// alone.
std::vector<Joules> ContainedEnergy(const std::vector<Contents>& contents,
                                    const std::vector<PowerCurve>& curves);

// What has to be said of a channel as a container: that the meters disagree, or that a part was not
// read all the time. Of containers side by side it is said once, at the first.
std::vector<Note> NotesOnContents(const std::vector<Contents>& contents,
                                  const Containment& containment,
                                  const std::vector<ChannelAccount>& accounts, size_t channel);

}  // namespace beryl::account
