// Finds the meters of a machine and checks whether they are plausible.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "sources/machine.h"
#include "sources/power_source.h"
#include "types/note.h"
#include "types/power_trace.h"
#include "types/source_report.h"

namespace beryl::sources {

// Power of a machine without meters: from idle to full, in proportion to CPU use.
struct PowerGuess {
  std::optional<Watts> idle;  // of all packages together; nothing: guessed from the CPU count
  std::optional<Watts> full;
};

struct DiscoverOptions {
  // External meters, "PATH[,baud=N],format=FORMAT" each (docs/sources/meter.md).
  std::vector<std::string> meters;
  std::string replay;             // a power file to replay as if it were read now
  std::vector<std::string> only;  // names of sources; empty: all
  PowerGuess guess;
};

struct Discovery {
  std::vector<std::unique_ptr<PowerSource>> power;
  std::vector<std::unique_ptr<FeatureSource>> features;
  // The channels of all of `power`, in order; Probe fills in its observations.
  std::vector<PowerChannel> channels;
  std::vector<DuplicateChannel> duplicates;
  std::vector<RefusedSource> refused;
  std::vector<Note> notes;  // about what is read
};

// Finds everything that can be read. A machine without meters is not an error: the estimate
// replaces them. An Error is an invalid option, or a meter requested by name that does not exist.
Result<Discovery> Discover(const Machine& machine, const DiscoverOptions& options);

// Watches every channel until it has seen enough steps, for at most `patience`. Fills in `moves`
// and the update period of discovery.channels, and compares meters that should agree. A counter
// that stands still and has no replacement stays, as the last of the channels, with the estimate of
// its device within it (see EstimateName).
SourceReport Probe(const Machine& machine, const DiscoverOptions& options, Discovery& discovery,
                   Nanos patience);

}  // namespace beryl::sources
