#include "server/machine_meters.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <ctime>

#include "server/recorded_book.h"
#include "views/views.h"

namespace beryl::server {
namespace {

// Published clients look at stretches of 100 ms and want some samples in each; jiffies step by 10
// ms.
constexpr Nanos kActivityPeriod{20'000'000};

constexpr Nanos kPatience{300'000'000};

std::string HostName() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return "unknown";
  return name.data();
}

}  // namespace

Result<std::unique_ptr<MachineMeters>> MachineMeters::Find(const MonitorOptions& options) {
  std::unique_ptr<MachineMeters> meters(new MachineMeters(options));
  auto found = sources::Discover(options.machine, options.discover);
  if (!found) return found.error();
  meters->discovery_ = std::move(*found);
  const SourceReport report =
      sources::Probe(options.machine, options.discover, meters->discovery_, kPatience);
  meters->machine_ = HostName();
  meters->report_ = views::Write(report, views::Format::kJson, {});
  const bool estimated = std::any_of(
      report.found.begin(), report.found.end(),
      [](const PowerChannel& channel) { return channel.meter.origin == Origin::kEstimated; });
  if (estimated) {
    meters->notes_.emplace_back(NoteKind::kCpusEstimated);
  }
  return meters;
}

Result<bool> MachineMeters::Start(Nanos period, Nanos longest_activity) {
  sources::SamplerOptions sampling;
  sampling.period = period;
  sampling.activity_period = kActivityPeriod;
  sampling.longest_activity = longest_activity;
  sampler_ = std::make_unique<sources::Sampler>(options_.machine, discovery_, sampling);
  return sampler_->Start();
}

void MachineMeters::Stop() {
  if (sampler_) sampler_->Stop();
}

void MachineMeters::ReadNow() { sampler_->ReadNow(); }

void MachineMeters::SetPeriod(Nanos period) { sampler_->SetPeriod(period); }

Result<sources::WatchId> MachineMeters::Watch(int32_t pid) { return sampler_->Watch(pid); }

void MachineMeters::Unwatch(sources::WatchId watch) { sampler_->Unwatch(watch); }

size_t MachineMeters::Drain(sources::SampleSink& sink) { return sampler_->Drain(sink); }

Result<std::unique_ptr<SessionBook>> MachineMeters::NewBook(const BookOptions& options) {
  auto book =
      RecordedBook::Start({discovery_, *sampler_, machine_, notes_, options_.folder}, options);
  if (!book) return book.error();
  return std::unique_ptr<SessionBook>(std::move(*book));
}

std::unique_ptr<SessionBook> MachineMeters::NewGauge() {
  return RecordedBook::Gauge({discovery_, *sampler_, machine_, {}, ""});
}

SamplerCost MachineMeters::cost() const { return sampler_ ? sampler_->cost() : SamplerCost(); }

Nanos MachineMeters::Now() const {
  if (sampler_) return sampler_->Now();
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return {int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec};
}

}  // namespace beryl::server
