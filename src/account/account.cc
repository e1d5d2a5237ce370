#include "account/account.h"

#include <algorithm>
#include <map>

#include "account/attribution.h"
#include "account/clock.h"
#include "account/contents.h"
#include "account/feed.h"
#include "account/power_curve.h"
#include "account/thin.h"
#include "base/compensated_sum.h"

namespace beryl::account {
namespace {

// Channels that feed the same devices, attributed together.
struct Group {
  std::vector<uint16_t> devices;
  std::vector<size_t> channels;
  AttributionResult result;
};

// The same meters, with all readings or fewer, and the results for operations.
struct Readings {
  const PowerTrace* power = nullptr;
  std::vector<PowerCurve> curves;  // within the window
  std::vector<PowerCurve> static_curves;
  std::vector<bool> moves;  // by channel, whether it read any energy at all
  Footprint footprint;
};

// Accounts the same operations under several sets of readings in one pass. The first set determines
// clocks and feeds.
class Accountant {
 public:
  Accountant(const std::vector<const PowerTrace*>& powers, const OpTrace& ops,
             const AccountOptions& options, bool by_step)
      : power_(*powers.front()), ops_(ops), options_(options), by_step_(by_step) {
    if (options.window) span_ = {options.window->from, options.window->to};
    for (const PowerTrace* power : powers) {
      readings_.emplace_back();
      readings_.back().power = power;
    }
  }

  Result<std::vector<Footprint>> Run() {
    const OpGlance glance = ops_.Glance();
    auto clocks = TRY(FitClocks(power_, ops_, glance, options_));
    clocks_ = std::move(clocks);
    FindWholeSteps();
    auto plan = TRY(PlanFeeds(power_, ops_, glance, options_));
    plan_ = std::move(plan);
    contents_ = FindContents(power_, plan_.containment);
    for (Contents& one : contents_) {
      one.from = std::clamp(one.from, span_.from, span_.to);
      one.to = std::clamp(one.to, span_.from, span_.to);
    }
    for (const PowerChannel& channel : power_.channels) {
      has_static_.push_back(IdlePower(channel.name) != options_.idle_power.end());
    }
    for (Readings& readings : readings_) {
      readings.footprint.window = options_.window;
      readings.footprint.whole_steps =
          static_cast<size_t>(std::count(whole_steps_.begin(), whole_steps_.end(), true));
      readings.footprint.clock_offset = clocks_.offset;
      readings.footprint.clock_reason = clocks_.reason;
      readings.footprint.notes = plan_.notes;
      MakeCurves(readings);
      OpenAccounts(readings);
    }
    AttributeGroups();
    std::vector<Footprint> footprints;
    for (size_t which = 0; which < readings_.size(); ++which) {
      CloseAccounts(which);
      AddNotes(readings_[which]);
      footprints.push_back(std::move(readings_[which].footprint));
    }
    return footprints;
  }

 private:
  std::map<std::string, Watts>::const_iterator IdlePower(const std::string& channel) const {
    const auto own = options_.idle_power.find(channel);
    return own != options_.idle_power.end() ? own : options_.idle_power.find("all");
  }

  void MakeCurves(Readings& readings) const {
    for (size_t i = 0; i < readings.power->channels.size(); ++i) {
      const PowerChannel& channel = readings.power->channels[i];
      PowerCurve curve = MakeCurve(channel, options_.policy);
      readings.moves.push_back(curve.Integral().value != 0);
      readings.curves.push_back(options_.window ? Within(curve, span_) : std::move(curve));
      readings.static_curves.push_back(
          has_static_[i] ? Below(readings.curves.back(), IdlePower(channel.name)->second)
                         : PowerCurve());
    }
  }

  // A step that the window cuts is none to compare with others.
  void FindWholeSteps() {
    const ClockFit& clock = clocks_.of_machine.begin()->second;
    for (const RunStep& step : ops_.steps) {
      whole_steps_.push_back(clock.Map(step.start) >= span_.from &&
                             clock.Map(step.end) <= span_.to);
    }
  }

  void OpenAccounts(Readings& readings) const {
    const std::vector<Joules> contained = ContainedEnergy(contents_, readings.curves);
    for (size_t i = 0; i < readings.power->channels.size(); ++i) {
      const PowerChannel& channel = readings.power->channels[i];
      const ChannelFeed& feed = plan_.channels[i];
      ChannelAccount account;
      account.channel = channel.name;
      account.origin = power_.channels[i].meter.origin;
      account.policy = PolicyName(channel, options_.policy);
      account.feeds = feed.words;
      account.fed_devices = feed.devices;
      account.within = plan_.containment.WithinText(i);
      account.readings = ReadingsIn(channel, span_);
      account.window_start = std::clamp(channel.times.front(), span_.from, span_.to);
      account.window_end = std::clamp(channel.times.back(), span_.from, span_.to);
      account.measured = readings.curves[i].Integral();
      account.contained = contained[i];
      account.total = account.measured - account.contained;
      readings.footprint.channels.push_back(std::move(account));
    }
  }

  void AttributeGroups() {
    for (size_t i = 0; i < plan_.channels.size(); ++i) {
      const auto& devices = plan_.channels[i].devices;
      if (devices.empty()) continue;
      auto same = std::find_if(groups_.begin(), groups_.end(),
                               [&](const Group& group) { return group.devices == devices; });
      if (same == groups_.end()) same = groups_.insert(groups_.end(), Group{devices, {}, {}});
      same->channels.push_back(i);
    }
    std::vector<AttributionGroup> requests;
    std::vector<bool> fed(ops_.devices.size(), false);
    for (const Group& group : groups_) {
      AttributionGroup& request = requests.emplace_back();
      request.devices.assign(ops_.devices.size(), false);
      for (const uint16_t device : group.devices) request.devices[device] = fed[device] = true;
      // For each set of readings, first each channel's curve, then the static parts in the same
      // order.
      for (const Readings& readings : readings_) {
        for (const size_t channel : group.channels) {
          request.curves.push_back(&readings.curves[channel]);
        }
        for (const size_t channel : group.channels) {
          if (has_static_[channel]) request.curves.push_back(&readings.static_curves[channel]);
        }
      }
      request.by_step = by_step_;
      request.clock = &clocks_.Of(ops_.devices[group.devices.front()]);
      request.window = span_;
      request.whole_steps = &whole_steps_;
    }
    // Operations on devices without a channel are counted with their time at work, without energy.
    std::vector<size_t> unmetered;
    for (size_t device = 0; device < ops_.devices.size(); ++device) {
      if (fed[device]) continue;
      unmetered.push_back(device);
      std::vector<bool> one(ops_.devices.size(), false);
      one[device] = true;
      requests.push_back(
          {one, {}, &clocks_.Of(ops_.devices[device]), by_step_, span_, &whole_steps_});
    }
    AttributionResults results = AttributeEnergy(ops_, requests, options_.threads);
    for (size_t i = 0; i < groups_.size(); ++i) groups_[i].result = std::move(results.groups[i]);
    for (Readings& readings : readings_) {
      for (size_t i = 0; i < unmetered.size(); ++i) {
        for (const AttributionCell& cell : results.groups[groups_.size() + i].cells) {
          readings.footprint.unmetered.push_back(
              {cell.kind, static_cast<uint16_t>(unmetered[i]), Nanos{cell.at_work_ns}, cell.count});
        }
      }
      if (results.unreadable_blocks > 0) {
        readings.footprint.notes.push_back(
            {NoteKind::kBlocksDamaged, "", {results.unreadable_blocks}});
      }
    }
  }

  void CloseAccounts(size_t which) {
    Footprint& footprint = readings_[which].footprint;
    for (size_t i = 0; i < plan_.channels.size(); ++i) {
      ChannelAccount& account = footprint.channels[i];
      if (plan_.channels[i].devices.empty()) account.unattributed = account.total;
    }
    for (const Group& group : groups_) {
      const AttributionResult& result = group.result;
      const size_t stride = result.idle_j.size();
      const size_t first = which * (stride / readings_.size());
      size_t next_static = first + group.channels.size();
      for (size_t c = first; c < first + group.channels.size(); ++c) {
        const size_t channel = group.channels[c - first];
        ChannelAccount& account = footprint.channels[channel];
        const bool has_static = has_static_[channel];
        const size_t static_curve = has_static ? next_static++ : 0;
        CompensatedSum attributed;
        CompensatedSum static_sum;
        // A container that was told to feed operations gives them its remainder, in proportion.
        const double scale = account.measured.value != 0 ? account.total / account.measured : 1;
        footprint.shares.reserve(footprint.shares.size() + result.cells.size());
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
          footprint.shares.push_back(share);
        }
        account.attributed = Joules{attributed.value()};
        account.idle = Joules{result.idle_j[c] * scale};
        account.outside_trace = Joules{result.outside_j[c] * scale};
        account.uncovered = Nanos{result.uncovered_ns[c]};
        // Nothing was read, so a remainder cannot be divided in proportion to anything.
        if (account.measured.value == 0) account.unattributed = account.total;
        if (has_static) {
          static_sum.Add(result.idle_j[static_curve] * scale);
          account.static_part = Joules{static_sum.value()};
        }
      }
    }
  }

  void AddNotes(Readings& readings) const {
    Footprint& footprint = readings.footprint;
    std::vector<Note>& notes = footprint.notes;
    for (size_t i = 0; i < footprint.channels.size(); ++i) {
      const ChannelAccount& account = footprint.channels[i];
      const std::string& name = account.channel;
      const PowerChannel& channel = readings.power->channels[i];
      if (channel.times.size() < 2) notes.push_back({NoteKind::kSingleReading, name});
      if (channel.times.size() > 1 && !readings.moves[i]) {
        notes.push_back({NoteKind::kMeterNeverMoved, name});
      }
      std::map<GapReason, size_t> gaps;
      for (const PowerGap& gap : channel.gaps) {
        const Nanos from = channel.times[gap.reading - 1];
        if (from < span_.to && channel.times[gap.reading] > span_.from) ++gaps[gap.why];
      }
      for (const auto& [why, count] : gaps) {
        notes.push_back({NoteKind::kGapsBetweenReadings, name, {count, why}});
      }
      if (channel.wraps > 0) notes.push_back({NoteKind::kCounterWrapped, name, {channel.wraps}});
      AppendNotes(notes, NotesOnContents(contents_, plan_.containment, footprint.channels, i));
      if (account.uncovered.value > 0) {
        notes.push_back(
            {NoteKind::kOperationTimeWithoutPower, name, {account.uncovered.seconds()}});
      }
      if (options_.policy == Policy::kExact && channel.kind == ChannelKind::kPowerGauge) {
        notes.push_back({NoteKind::kGaugeHeld, name});
      }
    }
    if (ops_.ops.empty() && !ops_.packed) notes.emplace_back(NoteKind::kNoOperations);
    for (const ImportReport& report : ops_.reports) {
      if (report.events == 0 && report.format != "beryl-run") {
        notes.push_back({NoteKind::kNoEvents, report.file});
      }
      if (report.events == 0 || report.operations > 0) continue;
      notes.push_back({NoteKind::kNoEventIsOperation, report.file, {report.events}});
    }
  }

  const PowerTrace& power_;
  const OpTrace& ops_;
  const AccountOptions& options_;
  bool by_step_;
  Span span_ = kAlways;  // of the window
  MachineClocks clocks_;
  std::vector<bool> whole_steps_;
  FeedPlan plan_;
  std::vector<Contents> contents_;
  std::vector<Readings> readings_;
  std::vector<bool> has_static_;  // by channel
  std::vector<Group> groups_;
};

}  // namespace

Result<Footprint> Account(const PowerTrace& power, const OpTrace& ops,
                          const AccountOptions& options) {
  auto footprints = TRY(Accountant({&power}, ops, options, true).Run());
  return std::move(footprints.front());
}

Result<std::vector<Footprint>> AccountThinned(const PowerTrace& power, const OpTrace& ops,
                                              const AccountOptions& options,
                                              const std::vector<uint32_t>& every) {
  std::vector<PowerTrace> thinned;
  thinned.reserve(every.size());
  std::vector<const PowerTrace*> powers = {&power};
  for (size_t i = 1; i < every.size(); ++i) {
    thinned.push_back(Thin(power, every[i]));
    powers.push_back(&thinned.back());
  }
  return Accountant(powers, ops, options, false).Run();
}

}  // namespace beryl::account
