// What a search for meters hands from source to source: what was found so far, and what is not to
// be used. Each source is one Find function in the table of discover.cc.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
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
  // What an earlier search has open, if there was one. A source of which there must be only one
  // takes itself out of it: of bytes on a port nobody else would see those that were read.
  std::vector<std::unique_ptr<PowerSource>>* open = nullptr;

  const PowerChannel* Holder(std::string_view channel) const;
  bool HasContainer() const;  // a meter of a board, or at a plug
  bool IsDistrusted(std::string_view source, std::string_view reads) const;
  // Null: the earlier search did not have it.
  std::unique_ptr<PowerSource> TakeOpen(std::string_view source) const;
};

// A source that can tell power in another way than its channel does, to check the one by the other.
class SecondOpinion {
 public:
  virtual ~SecondOpinion() = default;
  // Of the channel at that place; NaN: no other way.
  virtual double OtherWatts(size_t channel) = 0;
};

// A source that can do with fewer channels.
class Divisible {
 public:
  virtual ~Divisible() = default;
  // From now on only the channels at these places, in order, are there and are read.
  virtual void KeepOnly(std::span<const size_t> places) = 0;
};

// The elements at these places, in order.
template <typename T>
std::vector<T> Picked(std::vector<T> all, std::span<const size_t> places) {
  std::vector<T> result;
  result.reserve(places.size());
  for (const size_t place : places) result.push_back(std::move(all[place]));
  return result;
}

// Like Discover, without the counters that are not believed. What must not be opened twice is taken
// out of `open`, the sources of the search before, where it leaves null.
Result<Discovery> DiscoverWithout(const Machine& machine, const DiscoverOptions& options,
                                  const std::vector<Distrusted>& distrusted,
                                  std::vector<std::unique_ptr<PowerSource>>* open);
// Whether the user named it: it is what is read, whatever it says.
bool IsAskedFor(std::string_view source);
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
