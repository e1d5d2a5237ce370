// The machine's own meters.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "server/meters.h"
#include "server/server.h"
#include "sources/sources.h"
#include "types/source_report.h"

namespace beryl::server {

class MachineMeters final : public Meters {
 public:
  // Finds them and looks whether they can be believed, which takes a fraction of a second.
  static Result<std::unique_ptr<MachineMeters>> Find(const MonitorOptions& options);

  Result<bool> Start(Nanos period, Nanos longest_activity) override;
  void Stop() override;
  void ReadNow() override;
  void SetPeriod(Nanos period) override;
  Result<sources::WatchId> Watch(int32_t pid) override;
  void Unwatch(sources::WatchId watch) override;
  size_t Drain(sources::SampleSink& sink) override;
  Result<std::unique_ptr<SessionBook>> NewBook(const BookOptions& options) override;
  std::unique_ptr<SessionBook> NewGauge() override;
  SamplerCost cost() const override;
  Nanos Now() const override;
  const std::vector<PowerChannel>& channels() const override { return discovery_.channels; }
  const std::string& report() const override { return report_; }
  const std::string& machine() const override { return machine_; }

 private:
  explicit MachineMeters(const MonitorOptions& options) : options_(options) {}

  MonitorOptions options_;
  sources::Discovery discovery_;
  std::vector<Note> notes_;
  std::string report_;
  std::string machine_;
  std::unique_ptr<sources::Sampler> sampler_;
};

}  // namespace beryl::server
