#include "server/machine_meters.h"

#include <string>
#include <utility>

#include "base/this_machine.h"
#include "sources/recorder.h"
#include "views/views.h"

namespace beryl::server {
namespace {

// Published clients look at stretches of 100 ms and need several samples in each; jiffies advance
// by 10 ms.
constexpr Nanos kActivityPeriod{20'000'000};

}  // namespace

Result<std::unique_ptr<MachineMeters>> MachineMeters::Find(const sources::Machine& machine,
                                                           const sources::DiscoverOptions& options,
                                                           const sources::TaskLimits& limits) {
  auto found = TRY(flows::FindMeters(machine, options));
  return std::unique_ptr<MachineMeters>(new MachineMeters(machine, std::move(found), limits));
}

MachineMeters::MachineMeters(const sources::Machine& machine, flows::FoundMeters found,
                             const sources::TaskLimits& limits)
    : Meters({}, views::Write(found.report, views::Format::kJson, {})),
      machine_(machine),
      found_(std::move(found)),
      limits_(limits),
      sampler_(std::make_unique<sources::Sampler>(machine_, found_.discovery,
                                                  sources::SamplerOptions())) {
  blank_ = sources::BlankPiece(found_.discovery, *sampler_);
  blank_.recording.machine = MachineName();
  blank_.recording.notes = found_.notes;
}

Status MachineMeters::Start(Nanos period, Nanos longest_activity) {
  sources::SamplerOptions sampling;
  sampling.period = period;
  sampling.activity_period = kActivityPeriod;
  sampling.longest_activity = longest_activity;
  sampling.limits = limits_;
  sampler_ = std::make_unique<sources::Sampler>(machine_, found_.discovery, sampling);
  blank_.recording.activity.cpu_package = sampler_->cpu_packages();
  return sampler_->Start();
}

}  // namespace beryl::server
