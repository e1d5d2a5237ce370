// SourceReport: which meters a machine has for us, which it keeps from us, and whether what they
// read makes sense.
#pragma once

#include <string>
#include <vector>

#include "types/power_trace.h"
#include "types/provenance.h"

namespace beryl {

struct RefusedSource {
  std::string source;
  std::string reason;  // what was tried and what the system said
  std::string remedy;  // the exact command that would help, or what to do instead
};

// Two ways to read one thing; only one of them is used.
struct DuplicateChannel {
  std::string source;
  std::string reads;
  std::string channel;
  std::string used;  // the source that is read instead
};

// One look at whether the meters can be believed.
struct SourceCheck {
  enum class Verdict { kGood, kBad, kUntold };
  enum class About { kMoving, kAgreement };
  About about = About::kAgreement;
  std::string what;  // "the counter of CPU:0 moves", "psys is not less than its packages"
  Verdict verdict = Verdict::kUntold;
  std::string detail;  // the figures, and what follows
};

struct SourceReport {
  Provenance provenance;
  // Without readings. For a counter, the smallest energy it can resolve is what its device uses in
  // an update period; watts are those seen while the meters were watched.
  std::vector<PowerChannel> found;
  // For each of `found`, the channels that contain it, "psys", "wall:1 + wall:2"; empty: none.
  std::vector<std::string> within;
  std::vector<double> seen_w;  // for each of `found`; NaN: not known
  std::vector<double>
      smallest_j;  // for each of `found`: the least energy it can tell; NaN: not known
  std::vector<DuplicateChannel> duplicates;
  std::vector<RefusedSource> refused;
  std::vector<SourceCheck> checks;
  std::string cpu_time;               // what CPU time is told by: "schedstat" or "stat"
  std::vector<std::string> features;  // resource features that can be read
};

}  // namespace beryl
