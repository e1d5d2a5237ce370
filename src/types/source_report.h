// SourceReport: the meters of a machine, those that are refused, and whether the readings are
// plausible.
#pragma once

#include <string>
#include <vector>

#include "types/power_trace.h"
#include "types/provenance.h"

namespace beryl {

struct RefusedSource {
  std::string source;
  std::string reason;  // what was tried and what the system answered
  std::string remedy;  // the exact command that helps, or an alternative
};

// Two ways to read the same thing; only one is used.
struct DuplicateChannel {
  std::string source;
  std::string reads;
  std::string channel;
  std::string used;  // the source that is read instead
};

// One plausibility check of the meters.
struct SourceCheck {
  enum class Verdict { kGood, kBad, kUntold };
  enum class About { kMoving, kAgreement };
  About about = About::kAgreement;
  std::string what;  // "the counter of CPU:0 moves", "psys is not less than its packages"
  Verdict verdict = Verdict::kUntold;
  std::string detail;  // figures and conclusion
};

struct SourceReport {
  Provenance provenance;
  // Without readings. The smallest energy a counter can resolve is what its device uses in an
  // update period; watts are those observed during discovery.
  std::vector<PowerChannel> found;
  // For each of `found`, the channels that contain it, "psys", "wall:1 + wall:2"; empty: none.
  std::vector<std::string> within;
  std::vector<double> seen_w;  // for each of `found`; NaN: unknown
  std::vector<double>
      smallest_j;  // for each of `found`: the least energy it can resolve; NaN: unknown
  std::vector<DuplicateChannel> duplicates;
  std::vector<RefusedSource> refused;
  std::vector<SourceCheck> checks;
  std::string cpu_time;               // where CPU time comes from: "schedstat" or "stat"
  std::vector<std::string> features;  // resource features that can be read
};

}  // namespace beryl
