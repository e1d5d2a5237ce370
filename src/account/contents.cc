#include "account/contents.h"

#include <algorithm>
#include <map>

namespace beryl::account {
namespace {

bool Has(const std::vector<size_t>& channels, size_t channel) {
  return std::find(channels.begin(), channels.end(), channel) != channels.end();
}

// The channel and those beside it.
std::vector<size_t> Together(const std::vector<Contents>& contents, size_t channel) {
  std::vector<size_t> together = {channel};
  for (const Contents& one : contents) {
    if (Has(one.containers, channel)) together = one.containers;
  }
  return together;
}

}  // namespace

std::vector<Contents> FindContents(const PowerTrace& power, const Containment& containment) {
  std::map<std::vector<size_t>, std::vector<size_t>> parts;
  for (size_t i = 0; i < power.channels.size(); ++i) {
    const std::vector<size_t>& within = containment.Within(i);
    if (within.empty() || !containment.IsContainer(within.front())) continue;
    parts[within].push_back(i);
  }
  std::vector<Contents> contents;
  for (const auto& [containers, inside] : parts) {
    const std::vector<Nanos>& times = power.channels[containers.front()].times;
    Contents one{containers, inside, times.front(), times.back()};
    for (const size_t container : containers) {
      one.from = std::min(one.from, power.channels[container].times.front());
      one.to = std::max(one.to, power.channels[container].times.back());
    }
    contents.push_back(std::move(one));
  }
  std::stable_sort(contents.begin(), contents.end(), [](const Contents& a, const Contents& b) {
    return a.containers.size() < b.containers.size();
  });
  return contents;
}

std::vector<Joules> ContainedEnergy(const std::vector<Contents>& contents,
                                    const std::vector<PowerCurve>& curves) {
  std::vector<Joules> contained(curves.size());
  const auto left = [&](size_t container) {
    return std::max((curves[container].Integral() - contained[container]).value, 0.0);
  };
  for (const Contents& one : contents) {
    Joules sum;
    for (const size_t part : one.parts) sum += curves[part].Integral(one.from, one.to);
    std::vector<double> weights;
    double all = 0;
    for (const size_t container : one.containers) {
      weights.push_back(left(container));
      all += weights.back();
    }
    const double each = 1 / static_cast<double>(weights.size());
    for (size_t i = 0; i < weights.size(); ++i) {
      contained[one.containers[i]] += sum * (all > 0 ? weights[i] / all : each);
    }
  }
  return contained;
}

std::vector<Note> NotesOnContents(const std::vector<Contents>& contents,
                                  const Containment& containment,
                                  const std::vector<ChannelAccount>& accounts, size_t channel) {
  std::vector<Note> notes;
  const std::vector<size_t> together = Together(contents, channel);
  Joules total;
  for (const size_t container : together) total += accounts[container].total;
  if (together.front() == channel && total.value < 0) {
    notes.push_back({NoteKind::kMetersDisagree, containment.Names(together), {-total.value}});
  }
  for (const Contents& one : contents) {
    if (one.containers.front() != channel) continue;
    for (const size_t inner : one.parts) {
      const ChannelAccount& part = accounts[inner];
      const Nanos missing = std::max(part.window_start - one.from, Nanos{}) +
                            std::max(one.to - part.window_end, Nanos{});
      if (missing.value * 100 <= (one.to - one.from).value) continue;
      notes.push_back({NoteKind::kPartNotRead,
                       part.channel,
                       {missing.seconds(), containment.Names(one.containers)}});
    }
  }
  return notes;
}

}  // namespace beryl::account
