#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "account/account.h"
#include "account/clock.h"
#include "account/measure_parts.h"
#include "base/text.h"

namespace beryl::account {
namespace {

// Operations that stay packed, without those that are left out.
class KeptOps : public PackedOps {
 public:
  using Keeps = std::function<bool(const Op&)>;

  KeptOps(std::shared_ptr<const PackedOps> all, Keeps keeps, size_t devices)
      : all_(std::move(all)), keeps_(std::move(keeps)) {
    glance_.devices.resize(devices);
    std::vector<Op> ops;
    for (size_t block = 0; block < all_->blocks(); ++block) {
      Unpack(block, ops);
      for (const Op& op : ops) glance_.devices[op.device].Include(op.start, op.end, 1);
    }
  }

  const OpGlance& glance() const override { return glance_; }
  size_t blocks() const override { return all_->blocks(); }
  bool Unpack(size_t block, std::vector<Op>& ops) const override {
    const bool is_whole = all_->Unpack(block, ops);
    std::erase_if(ops, [&](const Op& op) { return !keeps_(op); });
    return is_whole;
  }

 private:
  const std::shared_ptr<const PackedOps> all_;
  const Keeps keeps_;
  OpGlance glance_;
};

Error NothingLeft(const WindowChoice& choice, Span run, Nanos start) {
  const auto text = [&](const std::optional<Nanos>& time, const char* otherwise) {
    return time ? fmt::format("{:.9g} s", (*time - start).seconds()) : std::string(otherwise);
  };
  return MisuseError(
      fmt::format("from {} to {}: there is nothing of the run then; it goes from {:.9g} s to "
                  "{:.9g} s, and starts at {}",
                  text(choice.from, "its start"), text(choice.to, "its end"),
                  (run.from - start).seconds(), (run.to - start).seconds(), FormatTime(start)),
      {"from"});
}

}  // namespace

Nanos StartOfRun(const PowerTrace& power, const Recording& recording) {
  return SpanOf(power, recording).from;
}

Result<TimeWindow> FindWindow(const PowerTrace& power, const OpTrace& ops,
                              const Recording& recording, const AccountOptions& options,
                              const WindowChoice& choice) {
  const OpGlance glance = ops.Glance();
  const OpGlance::Device all = glance.All();
  Span run = SpanOf(power, recording);
  TimeWindow window;
  window.run_start = run.from;
  Span wanted = kAlways;
  if (all.count > 0 && !power.channels.empty()) {
    const MachineClocks clocks = TRY(FitClocks(power, ops, glance, options));
    const ClockFit& clock = clocks.of_machine.begin()->second;
    run.from = std::min(run.from, clock.Map(all.start));
    run.to = std::max(run.to, clock.Map(all.end));
    if (choice.steps) {
      const auto& [first, last] = *choice.steps;
      window.steps = first == last ? std::to_string(first) : fmt::format("{}-{}", first, last);
      wanted = {clock.Map(ops.steps[first].start), clock.Map(ops.steps[first].end)};
      for (size_t step = first + 1; step <= last; ++step) {
        wanted.from = std::min(wanted.from, clock.Map(ops.steps[step].start));
        wanted.to = std::max(wanted.to, clock.Map(ops.steps[step].end));
      }
    }
  }
  if (choice.from) wanted.from = std::max(wanted.from, *choice.from);
  if (choice.to) wanted.to = std::min(wanted.to, *choice.to);
  window.from = std::max(run.from, wanted.from);
  window.to = std::min(run.to, wanted.to);
  if (window.to <= window.from) return NothingLeft(choice, run, window.run_start);
  return window;
}

void LeaveOutside(const PowerTrace& power, const AccountOptions& options, OpTrace& ops) {
  if (!options.window) return;
  const auto clocks = FitClocks(power, ops, ops.Glance(), options);
  if (!clocks) return;  // what cannot be accounted is not asked for
  std::vector<ClockFit> of_device;
  for (const std::string& device : ops.devices) of_device.push_back(clocks->Of(device));
  const auto keeps = [window = *options.window, of_device](const Op& op) {
    const ClockFit& clock = of_device[op.device];
    const Nanos start = clock.Map(op.start);
    if (op.end <= op.start) return window.from <= start && start < window.to;
    return start < window.to && clock.Map(op.end) > window.from;
  };
  std::erase_if(ops.ops, [&](const Op& op) { return !keeps(op); });
  if (ops.packed) ops.packed = std::make_shared<KeptOps>(ops.packed, keeps, ops.devices.size());
}

}  // namespace beryl::account
