#include "server/own_energy.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "account/running_energy.h"
#include "flows/find_meters.h"
#include "sources/recorder.h"
#include "sources/sampler.h"
#include "types/measurement.h"

namespace beryl::server {
namespace {

constexpr Nanos kPeriod{1'000'000'000};
// What was read has to be taken before there is no room for more.
constexpr std::chrono::seconds kBetweenReads{10};

sources::SamplerOptions Sampling() {
  sources::SamplerOptions sampling;
  sampling.period = kPeriod;
  sampling.activity_period = kPeriod;
  sampling.longest_activity = kPeriod;
  return sampling;
}

}  // namespace

class OwnEnergy::Watch {
 public:
  Watch(const sources::Machine& machine, flows::FoundMeters meters)
      : meters_(std::move(meters)),
        sampler_(machine, meters_.discovery, Sampling()),
        recorder_(sources::BlankPiece(meters_.discovery, sampler_), {}),
        running_(kPeriod) {}

  Status Start() { return sampler_.Start(); }
  void ReadNow() {
    sampler_.ReadNow();
    Read();
  }
  void Read() {
    sampler_.Drain(recorder_);
    running_.Add(recorder_.Take());
    running_.Settle();
    if (const auto stretch = running_.TakeLast()) AddUp(*stretch);
  }
  const std::vector<LiveDevice>& devices() const { return devices_; }

 private:
  // A recording counts the program that reads the meters apart from those it watches.
  void AddUp(const Measurement& stretch) {
    for (size_t i = 0; i < stretch.devices.size(); ++i) {
      const DeviceEnergy& part = stretch.devices[i];
      auto at = std::find_if(devices_.begin(), devices_.end(),
                             [&](const LiveDevice& known) { return known.device == part.device; });
      if (at == devices_.end())
        at = devices_.insert(at, {part.device, part.origin, part.source, {}, {}});
      AddKnown(at->energy, part.energy);
      for (const ProcessEnergy& process : stretch.processes) {
        if (process.owner != TaskOwner::kRecorder || std::isnan(process.energy_j[i])) continue;
        AddKnown(at->ours, Joules{process.energy_j[i]});
      }
    }
  }

  flows::FoundMeters meters_;  // used by the sampler
  sources::Sampler sampler_;
  sources::Recorder recorder_;
  account::RunningEnergy running_;
  std::vector<LiveDevice> devices_;
};

OwnEnergy::OwnEnergy(const sources::Machine& machine)
    : machine_(machine), reading_([this] { Run(); }) {}

OwnEnergy::~OwnEnergy() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
  }
  ending_.notify_all();
  reading_.join();
}

std::vector<LiveDevice> OwnEnergy::devices() {
  const std::lock_guard lock(mutex_);
  if (!watch_) return {};
  watch_->ReadNow();
  return watch_->devices();
}

void OwnEnergy::Run() {
  auto meters = flows::FindReadableMeters(machine_, {});
  if (!meters) return;
  meters->discovery.features.clear();
  auto watch = std::make_unique<Watch>(machine_, *std::move(meters));
  if (!watch->Start()) return;
  std::unique_lock lock(mutex_);
  watch_ = std::move(watch);
  while (!ending_.wait_for(lock, kBetweenReads, [&] { return is_ending_; })) watch_->Read();
}

}  // namespace beryl::server
