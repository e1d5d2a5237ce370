#include "types/containment.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace beryl {
namespace {

std::vector<bool> AllButThoseThatStandStill(const std::vector<PowerChannel>& channels) {
  std::vector<bool> tells;
  tells.reserve(channels.size());
  for (const PowerChannel& channel : channels) tells.push_back(channel.meter.moves.value_or(true));
  return tells;
}

void Join(std::string& text, std::string_view more) {
  if (!text.empty()) text += " + ";
  text += more;
}

// "CPU:0" from "CPU:0:die1", "node2/CPU:0" from "node2/CPU:0:die1"; empty: it is not a part.
std::string_view WholeOf(std::string_view name) {
  const size_t bare = name.size() - BareDevice(name).size();
  const size_t colon = name.rfind(':');
  return colon == std::string_view::npos || colon < bare ? std::string_view()
                                                         : name.substr(0, colon);
}

bool IsBattery(const PowerChannel& channel) { return BareDevice(channel.name) == "battery"; }

// "wall" and "psys" alone read everything.
bool IsOneOfSeveral(const PowerChannel& channel) {
  return !IsBattery(channel) && BareDevice(channel.name).find(':') != std::string_view::npos;
}

// Which channels contain which, silent ones included. Every step keeps the graph free of cycles:
// nothing is put into its own content.
class Settler {
 public:
  Settler(const std::vector<PowerChannel>& channels, const std::vector<bool>& tells,
          std::vector<Note>& notes)
      : channels_(channels),
        tells_(tells),
        notes_(notes),
        within_(channels.size()),
        settled_(channels.size(), false) {
    for (size_t i = 0; i < channels.size(); ++i) {
      const auto [place, is_new] = by_name_.emplace(channels[i].name, i);
      if (!is_new && tells[i] && !tells[place->second]) place->second = i;
    }
  }

  std::vector<std::vector<size_t>> Run() {
    for (size_t i = 0; i < channels_.size(); ++i) BelieveTheMeter(i);
    std::vector<std::string_view> machines;
    for (const PowerChannel& channel : channels_) {
      const std::string_view machine = MachineOf(channel.name);
      if (std::find(machines.begin(), machines.end(), machine) != machines.end()) continue;
      machines.push_back(machine);
      SettleMachine(machine);
    }
    return std::move(within_);
  }

 private:
  using Set = std::vector<size_t>;

  void BelieveTheMeter(size_t channel) {
    const std::string& said = channels_[channel].meter.within;
    if (said.empty()) return;
    const std::string& name = channels_[channel].name;
    const auto outer = Find(said);
    if (!outer) {
      notes_.push_back({NoteKind::kWithinNotThere, name, {said}});
    } else if (*outer == channel || IsIn(*outer, channel)) {
      notes_.push_back({NoteKind::kWithinItself, name, {said}});
    } else {
      Put(channel, {*outer});
    }
  }

  void SettleMachine(std::string_view machine) {
    const Set plugs = Settle(Those(machine, ChannelScope::kWall), {});
    const Set boards = Settle(Those(machine, ChannelScope::kBoard), plugs);
    for (size_t i = 0; i < channels_.size(); ++i) {
      const PowerChannel& channel = channels_[i];
      if (settled_[i] || IsContainer(channel.scope) || MachineOf(channel.name) != machine) continue;
      if (PutInto(i, PackageOf(channel)) || PutInto(i, BoardOf(channel, boards))) continue;
      PutInto(i, plugs);
    }
  }

  // Meters of one place: those of its parts are in `outside`, and one of all of it is in them.
  // Returns the innermost meters, which contain what is further in.
  Set Settle(const Set& meters, const Set& outside) {
    const auto tells = [&](size_t i) { return tells_[i]; };
    Set parts;
    std::copy_if(meters.begin(), meters.end(), std::back_inserter(parts),
                 [&](size_t i) { return IsOneOfSeveral(channels_[i]); });
    for (const size_t i : meters) {
      if (settled_[i]) continue;
      const bool is_whole = !IsOneOfSeveral(channels_[i]) && !IsBattery(channels_[i]);
      if (!is_whole || !PutInto(i, parts)) {
        PutInto(i, outside);
      } else if (tells_[i] && std::any_of(within_[i].begin(), within_[i].end(), tells)) {
        notes_.push_back({NoteKind::kMayReadTheSame, channels_[i].name, {Names(within_[i])}});
      }
    }
    Set innermost;
    for (const size_t i : meters) {
      const bool is_outer =
          std::any_of(meters.begin(), meters.end(), [&](size_t other) { return IsIn(other, i); });
      const bool again = std::any_of(innermost.begin(), innermost.end(), [&](size_t other) {
        return channels_[other].name == channels_[i].name;
      });
      if (!is_outer && !again) innermost.push_back(i);
    }
    return innermost;
  }

  // The channel whose part this is, by name.
  Set PackageOf(const PowerChannel& channel) const {
    if (channel.scope == ChannelScope::kOther) return {};
    for (auto whole = WholeOf(channel.name); !whole.empty(); whole = WholeOf(whole)) {
      const auto found = Find(whole);
      if (found && channels_[*found].scope == channel.scope) return {*found};
    }
    if (channel.scope != ChannelScope::kCore) return {};
    const std::string_view bare = BareDevice(channel.name);
    std::string package(channel.name, 0, channel.name.size() - bare.size());
    package.append("CPU").append(bare.substr(bare.find(':')));
    for (std::string_view name = package; !name.empty(); name = WholeOf(name)) {
      if (const auto found = Find(name)) return {*found};
    }
    return {};
  }

  Set BoardOf(const PowerChannel& channel, const Set& boards) const {
    if (channel.scope == ChannelScope::kGpu) return {};
    if (channel.scope != ChannelScope::kOther) return boards;
    Set own;
    std::copy_if(boards.begin(), boards.end(), std::back_inserter(own), [&](size_t board) {
      return !channel.meter.source.empty() && channels_[board].meter.source == channel.meter.source;
    });
    return own;
  }

  Set Those(std::string_view machine, ChannelScope scope) const {
    Set those;
    for (size_t i = 0; i < channels_.size(); ++i) {
      if (channels_[i].scope == scope && MachineOf(channels_[i].name) == machine) {
        those.push_back(i);
      }
    }
    return those;
  }

  // Among several with one name, prefer one that is not silent.
  std::optional<size_t> Find(std::string_view name) const {
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? std::nullopt : std::optional(found->second);
  }

  // False if it can be put into none of them.
  bool PutInto(size_t channel, Set outer) {
    std::erase_if(outer, [&](size_t i) { return i == channel || IsIn(i, channel); });
    if (outer.empty()) return false;
    Put(channel, std::move(outer));
    return true;
  }

  void Put(size_t channel, Set outer) {
    within_[channel] = std::move(outer);
    settled_[channel] = true;
  }

  bool IsIn(size_t inner, size_t outer) const {
    const Set& around = within_[inner];
    return std::any_of(around.begin(), around.end(),
                       [&](size_t i) { return i == outer || IsIn(i, outer); });
  }

  std::string Names(const Set& some) const {
    std::string text;
    for (const size_t i : some) Join(text, channels_[i].name);
    return text;
  }

  const std::vector<PowerChannel>& channels_;
  const std::vector<bool>& tells_;
  std::vector<Note>& notes_;
  std::unordered_map<std::string_view, size_t> by_name_;
  std::vector<Set> within_;
  std::vector<bool> settled_;
};

// The content of a silent meter is in whatever contains that meter.
std::vector<size_t> ThoseThatTell(const std::vector<std::vector<size_t>>& within, size_t channel,
                                  const std::vector<bool>& tells) {
  std::vector<size_t> outer;
  std::copy_if(within[channel].begin(), within[channel].end(), std::back_inserter(outer),
               [&](size_t i) { return tells[i]; });
  if (!outer.empty()) return outer;
  for (const size_t silent : within[channel]) {
    for (const size_t further : ThoseThatTell(within, silent, tells)) outer.push_back(further);
  }
  std::sort(outer.begin(), outer.end());
  outer.erase(std::unique(outer.begin(), outer.end()), outer.end());
  return outer;
}

}  // namespace

Containment::Containment(const std::vector<PowerChannel>& channels)
    : Containment(channels, AllButThoseThatStandStill(channels)) {}

Containment::Containment(const std::vector<PowerChannel>& channels, const std::vector<bool>& tells)
    : tells_(tells),
      around_(Settler(channels, tells, notes_).Run()),
      is_container_(channels.size()) {
  for (size_t i = 0; i < channels.size(); ++i) {
    names_.push_back(channels[i].name);
    scopes_.push_back(channels[i].scope);
    within_.push_back(ThoseThatTell(around_, i, tells));
  }
  for (size_t i = 0; i < channels.size(); ++i) {
    if (beryl::IsContainer(channels[i].scope)) MarkContainer(i);
  }
}

void Containment::MarkContainer(size_t channel) {
  if (is_container_[channel]) return;
  is_container_[channel] = true;
  for (const size_t outer : within_[channel]) MarkContainer(outer);
}

std::string Containment::Names(const std::vector<size_t>& some) const {
  std::string text;
  for (const size_t channel : some) Join(text, names_[channel]);
  return text;
}

bool Containment::Contains(size_t outer, size_t inner) const {
  const std::vector<size_t>& around = within_[inner];
  return std::any_of(around.begin(), around.end(),
                     [&](size_t i) { return i == outer || Contains(outer, i); });
}

std::vector<size_t> Containment::Outermost() const {
  std::vector<size_t> outermost;
  for (size_t i = 0; i < within_.size(); ++i) {
    if (tells_[i] && within_[i].empty()) outermost.push_back(i);
  }
  return outermost;
}

std::vector<size_t> Containment::SilentBeside(size_t channel) const {
  std::vector<size_t> silent;
  if (!is_container_[channel]) return silent;
  for (size_t i = 0; i < names_.size(); ++i) {
    if (!tells_[i] && scopes_[i] == scopes_[channel] && around_[i] == around_[channel] &&
        MachineOf(names_[i]) == MachineOf(names_[channel])) {
      silent.push_back(i);
    }
  }
  return silent;
}

}  // namespace beryl
