// The meters of a machine, and notes for readers of their numbers.
#pragma once

#include <vector>

#include "base/result.h"
#include "sources/discover.h"
#include "sources/machine.h"
#include "types/note.h"
#include "types/source_report.h"

namespace beryl::flows {

struct FoundMeters {
  sources::Discovery discovery;
  SourceReport report;
  std::vector<Note> notes;  // for every recording of them
};

inline constexpr Nanos kPatience{300'000'000};
// Finds meters and watches them for at most `patience` to see whether they can be trusted. Finding
// none is not an error; see sources::Discover.
Result<FoundMeters> FindMeters(const sources::Machine& machine,
                               const sources::DiscoverOptions& options, Nanos patience = kPatience);
// The same for those who need a meter: an error if there is none.
Result<FoundMeters> FindReadableMeters(const sources::Machine& machine,
                                       const sources::DiscoverOptions& options);

}  // namespace beryl::flows
