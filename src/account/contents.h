// The energy of the channels within a plug or a board. The remainder of a container is the rest of
// the machine; so nothing is counted twice, and all totals together equal the readings of the
// outermost meters.
#pragma once

#include <cstddef>
#include <vector>

#include "account/power_curve.h"
#include "base/units.h"
#include "types/containment.h"
#include "types/footprint.h"
#include "types/power_trace.h"

namespace beryl::account {

// One container, or several side by side, and what they contain together.
struct Contents {
  std::vector<size_t> containers;  // channels
  std::vector<size_t> parts;       // channels directly within them
  Nanos from;                      // from the first reading of any of the containers
  Nanos to;                        // to the last
};

// Single containers first.
std::vector<Contents> FindContents(const PowerTrace& power, const Containment& containment);

// By channel, the energy of its parts over its window. The parts of several plugs are divided among
// them in proportion to their readings minus what each contains alone, because nothing tells
// through which plug the energy came.
std::vector<Joules> ContainedEnergy(const std::vector<Contents>& contents,
                                    const std::vector<PowerCurve>& curves);

// Adds notes about a channel as a container: the meters disagree, or a part was not read all the
// time. For containers side by side, only at the first.
std::vector<Note> NotesOnContents(const std::vector<Contents>& contents,
                                  const Containment& containment,
                                  const std::vector<ChannelAccount>& accounts, size_t channel);

}  // namespace beryl::account
