// What a search for meters hands from source to source: what was found so far, and what is not to
// be used. Each source is one Find function in the table of discover.cc.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sources/sources.h"

namespace beryl::sources {

// A counter that stood still, or that disagrees with another meter.
struct Distrusted {
  std::string source;
  std::string reads;
};

// What one source has to give.
struct FoundSource {
  std::unique_ptr<PowerSource> power;  // null: nothing to read
  std::vector<std::unique_ptr<FeatureSource>> features;
  std::vector<DuplicateChannel> duplicates;
  std::vector<RefusedSource> refused;
};

struct Search {
  const Machine& machine;
  const DiscoverOptions& options;
  const std::vector<Distrusted>& distrusted;
  std::vector<PowerChannel> taken;  // by sources that come before

  const PowerChannel* Holder(std::string_view channel) const;
  bool HasScope(ChannelScope scope) const;
  bool IsDistrusted(std::string_view source, std::string_view reads) const;
};

// A source that can tell power in another way than its channel does, to check the one by the other.
class SecondOpinion {
 public:
  virtual ~SecondOpinion() = default;
  // Of the channel at that place; NaN: no other way.
  virtual double OtherWatts(size_t channel) = 0;
};

// Like Discover, without the counters that are not believed.
Result<Discovery> DiscoverWithout(const Machine& machine, const DiscoverOptions& options,
                                  const std::vector<Distrusted>& distrusted);
// Where a source stands in the order of preference.
size_t RankOf(std::string_view source);

Result<FoundSource> FindReplay(const Search& search);
Result<FoundSource> FindRaplPerf(const Search& search);
Result<FoundSource> FindRaplPowercap(const Search& search);
Result<FoundSource> FindNvml(const Search& search);
Result<FoundSource> FindHwmon(const Search& search);
Result<FoundSource> FindBattery(const Search& search);
Result<FoundSource> FindMeters(const Search& search);
Result<FoundSource> FindEstimate(const Search& search);
Result<FoundSource> FindMachineFeatures(const Search& search);

}  // namespace beryl::sources
