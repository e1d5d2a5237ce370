// State of a search for meters, passed from source to source: what was found so far, and what not
// to use. Each source is one Find function in source_table.inc.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "sources/discover.h"

namespace beryl::sources {

// A counter that stood still, or that disagrees with another meter.
struct Distrusted {
  std::string source;
  std::string reads;
};

// What one source found.
struct FoundSource {
  std::unique_ptr<PowerSource> power;  // null: nothing to read
  std::vector<std::unique_ptr<FeatureSource>> features;
  std::vector<DuplicateChannel> duplicates;
  std::vector<RefusedSource> refused;
  std::vector<Note> notes;  // about what it reads
};

struct Search {
  const Machine& machine;
  const DiscoverOptions& options;
  const std::vector<Distrusted>& distrusted;
  std::vector<PowerChannel> taken;  // by preceding sources
  // The open sources of an earlier search, if there was one. A source that must exist only once
  // is reused from there, because a second one would miss the bytes that it read from a port.
  std::vector<std::unique_ptr<PowerSource>>* open = nullptr;

  const PowerChannel* Holder(std::string_view channel) const;
  bool HasContainer() const;  // a meter of a board, or at a plug
  bool IsDistrusted(std::string_view source, std::string_view reads) const;
  // Null if the earlier search did not have it.
  std::unique_ptr<PowerSource> TakeOpen(std::string_view source) const;
};

// A source with a second way to read power, to check its channel.
class SecondOpinion {
 public:
  virtual ~SecondOpinion() = default;
  // For the channel at that index; NaN: no other way.
  virtual double OtherWatts(size_t channel) = 0;
};

// A source that can drop some of its channels.
class Divisible {
 public:
  virtual ~Divisible() = default;
  // Keeps and reads only the channels at these indices, in order, from now on.
  virtual void KeepOnly(std::span<const size_t> places) = 0;
};

// A counter without readings; the source sets its unit.
inline PowerChannel MakeCounter(std::string source, std::string name, std::string reads) {
  PowerChannel channel;
  channel.name = std::move(name);
  channel.scope = ScopeOfName(channel.name);
  channel.kind = ChannelKind::kEnergyCounter;
  channel.meter.source = std::move(source);
  channel.meter.reads = std::move(reads);
  return channel;
}

// The elements at these indices, in order.
template <typename T>
std::vector<T> Picked(std::vector<T> all, std::span<const size_t> places) {
  std::vector<T> result;
  result.reserve(places.size());
  for (const size_t place : places) result.push_back(std::move(all[place]));
  return result;
}

// Like Discover, without the distrusted counters. Moves sources that must not be opened twice out
// of `open`, the sources of the previous search, where they become null.
Result<Discovery> DiscoverWithout(const Machine& machine, const DiscoverOptions& options,
                                  const std::vector<Distrusted>& distrusted,
                                  std::vector<std::unique_ptr<PowerSource>>* open);
// Whether the user named it: then it is read, whatever it shows.
bool IsAskedFor(std::string_view source);
// Position of a source in the order of preference.
size_t RankOf(std::string_view source);

#define BERYL_SOURCE(name, find) Result<FoundSource> find(const Search& search);
#include "sources/source_table.inc"
#undef BERYL_SOURCE

}  // namespace beryl::sources
