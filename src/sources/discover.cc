#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "sources/search.h"

namespace beryl::sources {
namespace {

struct SourceEntry {
  const char* name;
  Result<FoundSource> (*find)(const Search&);
};

constexpr SourceEntry kSources[] = {
#define BERYL_SOURCE(name, find) {name, find},
#include "sources/source_table.inc"
#undef BERYL_SOURCE
};

Status CheckOnly(const std::vector<std::string>& only) {
  for (const std::string& name : only) {
    const bool known = std::any_of(std::begin(kSources), std::end(kSources),
                                   [&](const SourceEntry& entry) { return entry.name == name; });
    if (known) continue;
    std::vector<std::string_view> names;
    names.reserve(std::size(kSources));
    for (const SourceEntry& entry : kSources) names.emplace_back(entry.name);
    return MisuseError(fmt::format("no such source '{}'; the sources are: {}", Printable(name),
                                   fmt::join(names, ", ")),
                       {"only"});
  }
  return {};
}

// A replay is not mixed with the machine's own files.
bool IsWanted(std::string_view name, const DiscoverOptions& options) {
  if (name == "proc") return true;
  if (!options.replay.empty()) return name == "replay";
  if (name == "replay") return false;
  if (name == "meter" && !options.meters.empty()) return true;
  return options.only.empty() ||
         std::find(options.only.begin(), options.only.end(), name) != options.only.end();
}

void Append(FoundSource found, Discovery& discovery, Search& search) {
  if (found.power) {
    for (const PowerChannel& channel : found.power->channels()) {
      discovery.channels.push_back(channel);
      search.taken.push_back(channel);
    }
    discovery.power.push_back(std::move(found.power));
  }
  std::move(found.features.begin(), found.features.end(), std::back_inserter(discovery.features));
  std::move(found.duplicates.begin(), found.duplicates.end(),
            std::back_inserter(discovery.duplicates));
  std::move(found.refused.begin(), found.refused.end(), std::back_inserter(discovery.refused));
  AppendNotes(discovery.notes, found.notes);
}

}  // namespace

Machine Machine::FromEnvironment() {
  Machine machine;
  const auto take = [](const char* variable, std::string& place) {
    // A program with more rights than its caller must not load the caller's library.
    if (const char* given = ::secure_getenv(variable); given && *given) place = given;
  };
  take("BERYL_SYSFS", machine.sysfs);
  take("BERYL_PROCFS", machine.procfs);
  take("BERYL_NVML", machine.nvml);
  return machine;
}

const PowerChannel* Search::Holder(std::string_view channel) const {
  const auto found = std::find_if(taken.begin(), taken.end(),
                                  [&](const PowerChannel& other) { return other.name == channel; });
  return found == taken.end() ? nullptr : &*found;
}

bool Search::HasContainer() const {
  return std::any_of(taken.begin(), taken.end(),
                     [](const PowerChannel& channel) { return IsContainer(channel.scope); });
}

bool Search::IsDistrusted(std::string_view source, std::string_view reads) const {
  return std::any_of(distrusted.begin(), distrusted.end(), [&](const Distrusted& one) {
    return one.source == source && one.reads == reads;
  });
}

std::unique_ptr<PowerSource> Search::TakeOpen(std::string_view source) const {
  if (!open) return nullptr;
  for (std::unique_ptr<PowerSource>& one : *open) {
    if (one && !one->channels().empty() && one->channels().front().meter.source == source) {
      return std::move(one);
    }
  }
  return nullptr;
}

bool IsAskedFor(std::string_view source) { return source == "meter" || source == "replay"; }

size_t RankOf(std::string_view source) {
  const auto found = std::find_if(std::begin(kSources), std::end(kSources),
                                  [&](const SourceEntry& entry) { return entry.name == source; });
  return static_cast<size_t>(found - std::begin(kSources));
}

Result<Discovery> DiscoverWithout(const Machine& machine, const DiscoverOptions& options,
                                  const std::vector<Distrusted>& distrusted,
                                  std::vector<std::unique_ptr<PowerSource>>* open) {
  TRY(CheckOnly(options.only));
  Discovery discovery;
  Search search{machine, options, distrusted, {}, open};
  for (const SourceEntry& entry : kSources) {
    if (!IsWanted(entry.name, options)) continue;
    auto found = TRY(entry.find(search));
    Append(std::move(found), discovery, search);
  }
  return discovery;
}

Result<Discovery> Discover(const Machine& machine, const DiscoverOptions& options) {
  return DiscoverWithout(machine, options, {}, nullptr);
}

}  // namespace beryl::sources
