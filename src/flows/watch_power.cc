#include "flows/watch_power.h"

#include <algorithm>
#include <csignal>
#include <memory>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "account/power_looks.h"
#include "account/running_energy.h"
#include "base/this_machine.h"
#include "flows/child_process.h"
#include "flows/find_meters.h"
#include "flows/signal_inbox.h"
#include "sources/recorder.h"
#include "sources/sampler.h"

namespace beryl::flows {
namespace {

constexpr Nanos kPeriod{20'000'000};
constexpr Nanos kActivityPeriod{250'000'000};  // several in each look
constexpr Nanos kAskEvery{100'000'000};
// Tasks are remembered for as long as a sampler lives. From here on a new one costs less.
constexpr size_t kMostTasks = 50'000;

class Watcher {
 public:
  Watcher(const WatchOptions& options, FoundMeters meters)
      : options_(options), meters_(std::move(meters)) {}

  // Call again to forget all tasks.
  Status Start() {
    running_.reset();
    recorder_.reset();
    sampler_.reset();
    watched_.clear();
    tasks_ = 0;
    sources::SamplerOptions sampling;
    sampling.period = kPeriod;
    sampling.activity_period = kActivityPeriod;
    sampler_ = std::make_unique<sources::Sampler>(options_.machine, meters_.discovery, sampling);
    recorder_ = std::make_unique<sources::Recorder>(
        sources::BlankPiece(meters_.discovery, *sampler_), sources::Recorder::Options());
    running_.emplace(kPeriod);
    for (const int32_t pid : options_.pids) {
      recorder_->AddWatch(TRY(sampler_->Watch(pid)));
    }
    if (options_.pids.empty()) WatchRoots();
    return sampler_->Start();
  }

  Nanos Now() const { return sampler_->Now(); }

  bool HasEnded() const {
    return !options_.pids.empty() &&
           std::none_of(options_.pids.begin(), options_.pids.end(),
                        [&](int32_t pid) { return sources::IsRunning(options_.machine, pid); });
  }

  // Call it several times a second, so that nothing is lost.
  void Drain() { sampler_->Drain(*recorder_); }

  // Nothing: too little is known yet.
  Result<std::optional<PowerLook>> Look() {
    sampler_->ReadNow();
    Drain();
    const RecordingPiece piece = recorder_->Take();
    tasks_ += piece.recording.activity.tasks.size();
    running_->Add(piece);
    running_->Settle();
    const auto stretch = running_->TakeLast();
    std::optional<PowerLook> look;
    if (stretch && stretch->duration > Seconds{}) {
      look = looks_.Next(*stretch, Now());
      look->machine = MachineName();
      look->pids = options_.pids;
      look->notes = meters_.notes;
      look->provenance = MakeProvenance(Sources());
    }
    if (tasks_ > kMostTasks) TRY(Start());
    if (options_.pids.empty()) WatchRoots();
    return look;
  }

 private:
  // Somebody may start a program from outside of the trees that were there.
  void WatchRoots() {
    for (const int32_t pid : sources::RootProcesses(options_.machine)) {
      if (!watched_.insert(pid).second) continue;
      // It may have ended meanwhile.
      if (const auto watch = sampler_->Watch(pid)) recorder_->AddWatch(*watch);
    }
  }

  std::vector<std::string> Sources() const {
    std::vector<std::string> sources;
    for (const PowerChannel& channel : meters_.discovery.channels) {
      sources.push_back(channel.meter.source);
    }
    return sources;
  }

  const WatchOptions& options_;
  FoundMeters meters_;  // used by the sampler
  std::unique_ptr<sources::Sampler> sampler_;
  std::unique_ptr<sources::Recorder> recorder_;
  std::optional<account::RunningEnergy> running_;
  account::PowerLooks looks_;
  std::set<int32_t> watched_;
  size_t tasks_ = 0;
};

}  // namespace

Result<WatchOptions> WatchOptionsOf(const WatchRequest& request) {
  constexpr DurationRange kIntervals = {Nanos{500'000'000}, Nanos{60'000'000'000}, "500ms to 60s"};
  WatchOptions options;
  options.machine = sources::Machine::FromEnvironment();
  options.discover = TRY(DiscoverOptionsOf(request.meters));
  options.every = TRY(ParseDuration("interval", request.interval, kIntervals));
  options.pids = request.pids;
  if (request.count) options.looks = static_cast<uint64_t>(*request.count);
  if (request.once) options.looks = 1;
  return options;
}

Status WatchPower(const WatchOptions& options, const LiveView& view) {
  auto meters = TRY(FindReadableMeters(options.machine, options.discover));
  const auto signals = TRY(SignalInbox::Open());
  RaiseFileLimit();
  Watcher watcher(options, std::move(meters));
  TRY(watcher.Start());
  Nanos next = watcher.Now() + options.every;
  for (uint64_t looks = 0; !options.looks || looks < *options.looks;) {
    const Nanos left = std::clamp(next - watcher.Now(), Nanos{1'000'000}, kAskEvery);
    const auto signal = signals.Wait(left);
    if (signal && signal->ssi_signo != SIGCHLD) return {};
    if (view.wants_end && view.wants_end()) return {};
    watcher.Drain();
    if (watcher.Now() < next) continue;
    const auto look = TRY(watcher.Look());
    if (look) {
      view.show(*look);
      ++looks;
    }
    if (watcher.HasEnded()) return {};
    next = watcher.Now() + options.every;
  }
  return {};
}

struct PowerWatch::State {
  State(const WatchOptions& given, FoundMeters meters)
      : options(given), watcher(options, std::move(meters)) {}
  const WatchOptions options;
  Watcher watcher;
  Nanos next;  // when a look is due
};

PowerWatch::PowerWatch(std::unique_ptr<State> state) : state_(std::move(state)) {}
PowerWatch::~PowerWatch() = default;

Result<std::unique_ptr<PowerWatch>> PowerWatch::Start(const WatchOptions& options) {
  auto meters = TRY(FindReadableMeters(options.machine, options.discover));
  auto state = std::make_unique<State>(options, std::move(meters));
  TRY(state->watcher.Start());
  state->next = state->watcher.Now() + options.every;
  return std::unique_ptr<PowerWatch>(new PowerWatch(std::move(state)));
}

Result<std::optional<PowerLook>> PowerWatch::Next() {
  Watcher& watcher = state_->watcher;
  watcher.Drain();
  if (watcher.Now() < state_->next) return std::optional<PowerLook>();
  auto look = TRY(watcher.Look());
  state_->next = watcher.Now() + state_->options.every;
  return look;
}

}  // namespace beryl::flows
