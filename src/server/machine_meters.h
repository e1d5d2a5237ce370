// The machine's own meters.
#pragma once

#include <memory>

#include "base/result.h"
#include "flows/find_meters.h"
#include "server/meters.h"
#include "sources/discover.h"
#include "sources/machine.h"
#include "sources/processes.h"
#include "sources/sampler.h"

namespace beryl::server {

class MachineMeters final : public Meters {
 public:
  // The arguments of flows::FindMeters, and what watching may take.
  static Result<std::unique_ptr<MachineMeters>> Find(const sources::Machine& machine,
                                                     const sources::DiscoverOptions& options,
                                                     const sources::TaskLimits& limits);

  Status Start(Nanos period, Nanos longest_activity) override;
  void Stop() override { sampler_->Stop(); }
  void ReadNow() override { sampler_->ReadNow(); }
  void SetPeriod(Nanos period) override { sampler_->SetPeriod(period); }
  Result<sources::WatchId> Watch(int32_t pid, const sources::Watcher& watcher) override {
    return sampler_->Watch(pid, watcher);
  }
  void Unwatch(sources::WatchId watch) override { sampler_->Unwatch(watch); }
  size_t Drain(sources::SampleSink& sink) override { return sampler_->Drain(sink); }
  std::map<uint32_t, size_t> tasks_of_users() const override { return sampler_->tasks_of_users(); }
  SamplerCost cost() const override { return sampler_->cost(); }
  Nanos Now() const override { return sampler_->Now(); }

 private:
  MachineMeters(const sources::Machine& machine, flows::FoundMeters found,
                const sources::TaskLimits& limits);

  sources::Machine machine_;
  flows::FoundMeters found_;
  const sources::TaskLimits limits_;
  std::unique_ptr<sources::Sampler> sampler_;
};

}  // namespace beryl::server
