#include "account/account.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "account/clock.h"
#include "account/feed.h"
#include "account/power_curve.h"
#include "account/sweep.h"
#include "base/compensated_sum.h"
#include "base/text.h"

namespace beryl::account {
namespace {

// Channels that feed the same devices are swept together.
struct Group {
  std::vector<uint16_t> devices;
  std::vector<size_t> channels;
  SweepResult result;
};

class Accountant {
 public:
  Accountant(const PowerTrace& power, const OpTrace& ops, const AccountOptions& options)
      : power_(power), ops_(ops), options_(options) {}

  Result<Footprint> Run() {
    const OpGlance glance = ops_.Glance();
    if (auto ok = FitClocks(glance); !ok) return ok.error();
    auto plan = PlanFeeds(power_, ops_, glance, options_);
    if (!plan) return plan.error();
    plan_ = std::move(*plan);
    footprint_.notes = plan_.notes;
    MakeCurves();
    OpenAccounts();
    SweepGroups();
    CloseAccounts();
    AddNotes();
    return std::move(footprint_);
  }

 private:
  // Machines have clocks of their own: each one's operations are laid over its own power.
  Result<bool> FitClocks(const OpGlance& glance) {
    std::map<std::string, PowerTrace> power_of;
    for (const PowerChannel& channel : power_.channels) {
      PowerChannel ends;
      ends.times = {channel.times.front(), channel.times.back()};
      power_of[std::string(MachineOf(channel.name))].channels.push_back(std::move(ends));
    }
    for (const auto& [machine, power] : power_of) {
      OpGlance::Device run;
      for (size_t i = 0; i < glance.devices.size(); ++i) {
        const OpGlance::Device& device = glance.devices[i];
        if (power_of.size() == 1 || MachineOf(ops_.devices[i]) == machine) {
          run.Include(device.start, device.end, device.count);
        }
      }
      auto clock = FitClock(SpanOf(run), SpanOf(power), ops_, options_);
      if (!clock && power_of.size() > 1) {
        return Error{clock.error().code, machine + ": " + clock.error().message};
      }
      if (!clock) return clock.error();
      const bool first = clocks_.empty();
      if (first) footprint_.clock_offset = clock->Map(run.start) - run.start;
      if (first || footprint_.clock_reason != clock->reason) {
        footprint_.clock_reason += (first ? "" : "; " + machine + ": ") + clock->reason;
      }
      clocks_[machine] = std::move(*clock);
    }
    if (clocks_.empty()) {
      auto clock = FitClock(SpanOf(glance.All()), Span(), ops_, options_);
      if (!clock) return clock.error();
      clocks_[""] = std::move(*clock);
    }
    return true;
  }

  const ClockFit& ClockOf(size_t device) const {
    const auto own = clocks_.find(std::string(MachineOf(ops_.devices[device])));
    return own == clocks_.end() ? clocks_.begin()->second : own->second;
  }

  void MakeCurves() {
    for (const PowerChannel& channel : power_.channels) {
      curves_.push_back(MakeCurve(channel, options_.policy));
      auto idle = options_.idle_power.find(channel.name);
      if (idle == options_.idle_power.end()) idle = options_.idle_power.find("all");
      has_static_.push_back(idle != options_.idle_power.end());
      static_curves_.push_back(has_static_.back() ? Below(curves_.back(), idle->second)
                                                  : PowerCurve());
    }
  }

  void OpenAccounts() {
    for (size_t i = 0; i < power_.channels.size(); ++i) {
      const PowerChannel& channel = power_.channels[i];
      const ChannelFeed& feed = plan_.channels[i];
      ChannelAccount account;
      account.channel = channel.name;
      account.policy = PolicyName(channel, options_.policy);
      account.feeds = feed.words;
      account.fed_devices = feed.devices;
      if (feed.within >= 0) account.within = power_.channels[static_cast<size_t>(feed.within)].name;
      account.readings = channel.times.size();
      account.window_start = channel.times.front();
      account.window_end = channel.times.back();
      account.measured = curves_[i].Integral();
      if (feed.container) account.contained = Contained(i);
      account.total = account.measured - account.contained;
      footprint_.channels.push_back(std::move(account));
    }
  }

  // The energy of the channels directly within this one, over this one's window.
  Joules Contained(size_t container) const {
    Joules sum;
    for (size_t i = 0; i < power_.channels.size(); ++i) {
      if (plan_.channels[i].within != static_cast<int>(container)) continue;
      sum += curves_[i].Integral(power_.channels[container].times.front(),
                                 power_.channels[container].times.back());
    }
    return sum;
  }

  void SweepGroups() {
    for (size_t i = 0; i < plan_.channels.size(); ++i) {
      const auto& devices = plan_.channels[i].devices;
      if (devices.empty()) continue;
      auto same = std::find_if(groups_.begin(), groups_.end(),
                               [&](const Group& group) { return group.devices == devices; });
      if (same == groups_.end()) same = groups_.insert(groups_.end(), Group{devices, {}, {}});
      same->channels.push_back(i);
    }
    std::vector<SweepGroup> sweeps;
    std::vector<bool> fed(ops_.devices.size(), false);
    for (const Group& group : groups_) {
      SweepGroup& sweep = sweeps.emplace_back();
      sweep.devices.assign(ops_.devices.size(), false);
      for (const uint16_t device : group.devices) sweep.devices[device] = fed[device] = true;
      // First each channel's curve, then the static parts in the same order.
      for (const size_t channel : group.channels) sweep.curves.push_back(&curves_[channel]);
      for (const size_t channel : group.channels) {
        if (has_static_[channel]) sweep.curves.push_back(&static_curves_[channel]);
      }
      sweep.clock = &ClockOf(group.devices.front());
    }
    // Operations on devices that no channel feeds are counted, with their time at work, and no
    // energy.
    std::vector<size_t> unmetered;
    for (size_t device = 0; device < ops_.devices.size(); ++device) {
      if (fed[device]) continue;
      unmetered.push_back(device);
      std::vector<bool> one(ops_.devices.size(), false);
      one[device] = true;
      sweeps.push_back({one, {}, &ClockOf(device)});
    }
    SweepResults results = Sweep(ops_, sweeps, options_.threads);
    for (size_t i = 0; i < groups_.size(); ++i) groups_[i].result = std::move(results.groups[i]);
    for (size_t i = 0; i < unmetered.size(); ++i) {
      for (const SweepCell& cell : results.groups[groups_.size() + i].cells) {
        footprint_.unmetered.push_back(
            {cell.kind, static_cast<uint16_t>(unmetered[i]), Nanos{cell.at_work_ns}, cell.count});
      }
    }
    if (results.unreadable_blocks > 0) {
      Note("{} block(s) of operations are damaged and have no part in this result",
           results.unreadable_blocks);
    }
  }

  void CloseAccounts() {
    for (size_t i = 0; i < plan_.channels.size(); ++i) {
      ChannelAccount& account = footprint_.channels[i];
      if (plan_.channels[i].devices.empty()) account.unattributed = account.total;
    }
    for (const Group& group : groups_) {
      const SweepResult& result = group.result;
      const size_t stride = result.idle_j.size();
      size_t next_static = group.channels.size();
      for (size_t c = 0; c < group.channels.size(); ++c) {
        const size_t channel = group.channels[c];
        ChannelAccount& account = footprint_.channels[channel];
        const bool has_static = has_static_[channel];
        const size_t static_curve = has_static ? next_static++ : 0;
        CompensatedSum attributed;
        CompensatedSum static_sum;
        // A container that was told to feed operations gives them what it does not contain, in
        // proportion.
        const double scale = account.measured.value != 0 ? account.total / account.measured : 1;
        for (size_t cell = 0; cell < result.cells.size(); ++cell) {
          EnergyShare share;
          share.kind = result.cells[cell].kind;
          share.step = result.cells[cell].step;
          share.count = result.cells[cell].count;
          share.channel = static_cast<uint16_t>(channel);
          share.energy = Joules{result.energy_j[cell * stride + c] * scale};
          share.busy = Nanos{result.busy_ns[cell * stride + c]};
          share.unknown = Nanos{result.cells[cell].at_work_ns} - share.busy;
          if (has_static) {
            share.static_part = Joules{result.energy_j[cell * stride + static_curve] * scale};
            static_sum.Add(share.static_part.value);
          }
          attributed.Add(share.energy.value);
          footprint_.shares.push_back(share);
        }
        account.attributed = Joules{attributed.value()};
        account.idle = Joules{result.idle_j[c] * scale};
        account.outside_trace = Joules{result.outside_j[c] * scale};
        account.uncovered = Nanos{result.uncovered_ns[c]};
        // Nothing was read, so there is nothing in proportion to which a remainder could be shared.
        if (account.measured.value == 0) account.unattributed = account.total;
        if (has_static) {
          static_sum.Add(result.idle_j[static_curve] * scale);
          account.static_part = Joules{static_sum.value()};
        }
      }
    }
  }

  void AddNotes() {
    for (size_t i = 0; i < footprint_.channels.size(); ++i) {
      const ChannelAccount& account = footprint_.channels[i];
      const PowerChannel& channel = power_.channels[i];
      if (curves_[i].empty()) {
        Note("{} has a single reading: no energy can be told from it", account.channel);
      }
      if (!curves_[i].empty() && account.measured.value == 0) {
        Note("{} reads 0 J over its whole window: a meter that never moves is not to be trusted",
             account.channel);
      }
      if (!channel.gaps.empty()) {
        Note("{}: {} interval(s) between readings are unknown, because its counter went down",
             account.channel, channel.gaps.size());
      }
      if (channel.wraps > 0)
        Note("{}: its counter wrapped {} time(s)", account.channel, channel.wraps);
      if (account.total.value < 0) {
        Note("{} reads {} less than the channels it contains: the meters disagree", account.channel,
             FormatJoules(-account.total.value));
      }
      for (size_t inner = 0; inner < footprint_.channels.size(); ++inner) {
        const ChannelAccount& part = footprint_.channels[inner];
        if (plan_.channels[inner].within != static_cast<int>(i) || !plan_.channels[i].container)
          continue;
        const Nanos missing = std::max(part.window_start - account.window_start, Nanos{}) +
                              std::max(account.window_end - part.window_end, Nanos{});
        if (missing.value * 100 > (account.window_end - account.window_start).value) {
          Note(
              "{} was not read for {} of {}'s window: what it used then counts as the rest of the "
              "box",
              part.channel, FormatSeconds(missing.seconds()), account.channel);
        }
      }
      if (account.uncovered.value > 0) {
        Note(
            "{}: {} of operation time lies where its power is not known, and has no energy in this "
            "result",
            account.channel, FormatSeconds(account.uncovered.seconds()));
      }
      if (options_.policy == Policy::kExact && channel.kind == ChannelKind::kPowerGauge) {
        Note("{} is a power gauge, not an energy counter: its last reading was held",
             account.channel);
      }
    }
    if (ops_.ops.empty() && !ops_.packed)
      footprint_.notes.emplace_back("the operation trace has no operations");
    for (const ImportReport& report : ops_.reports) {
      if (report.events == 0 || report.operations > 0) continue;
      Note("{}: none of its {} events is an operation: nothing of it is in this result",
           report.file, report.events);
    }
  }

  template <typename... Values>
  void Note(fmt::format_string<const Values&...> text, const Values&... values) {
    footprint_.notes.push_back(fmt::format(text, values...));
  }

  const PowerTrace& power_;
  const OpTrace& ops_;
  const AccountOptions& options_;
  std::map<std::string, ClockFit> clocks_;  // by machine
  FeedPlan plan_;
  std::vector<PowerCurve> curves_;
  std::vector<PowerCurve> static_curves_;
  std::vector<bool> has_static_;
  std::vector<Group> groups_;
  Footprint footprint_;
};

}  // namespace

Result<Footprint> Account(const PowerTrace& power, const OpTrace& ops,
                          const AccountOptions& options) {
  return Accountant(power, ops, options).Run();
}

}  // namespace beryl::account
