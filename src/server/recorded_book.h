// A session as a run file without a name, written while it goes on.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "server/meters.h"
#include "server/running_energy.h"
#include "server/spool_file.h"
#include "sources/sources.h"
#include "store/store.h"

namespace beryl::server {

class RecordedBook final : public SessionBook {
 public:
  struct Context {
    const sources::Discovery& discovery;
    const sources::Sampler& sampler;
    std::string machine;
    std::vector<Note> notes;
    std::string folder;
  };
  static Result<std::unique_ptr<RecordedBook>> Start(const Context& context,
                                                     const BookOptions& options);
  // Without a file.
  static std::unique_ptr<RecordedBook> Gauge(const Context& context);

  void OnPower(Nanos time, std::span<const sources::MeterReading> readings) override;
  void OnTaskBirth(const sources::TaskBirth& birth) override;
  void OnActivity(Nanos time, std::span<const sources::CpuJiffies> cpus,
                  std::span<const sources::TaskSample> tasks) override;
  void OnFeatures(Nanos time, std::span<const double> values) override;
  void OnMissed(Nanos time, uint64_t ticks) override;

  void KeepLast() override;
  Result<PowerTrace> Write() override;
  void OpenWindow(uint64_t window, Nanos start) override { running_.OpenWindow(window, start); }
  void EndWindow(uint64_t window, Nanos end) override { running_.EndWindow(window, end); }
  std::vector<LiveDevice> CloseWindow(uint64_t window) override {
    return running_.CloseWindow(window);
  }
  Result<bool> AddWindow(const RunWindow& window) override;
  Result<bool> Finish(Nanos end, const std::string& why) override;
  std::vector<LiveChannel> channels() const override;
  std::vector<LiveDevice> devices() const override { return running_.devices(); }
  uint64_t bytes() const override { return file_ ? file_->size() : 0; }
  uint64_t file_bytes() const override { return file_ ? file_->size_on_disk() : 0; }
  Result<size_t> ReadFile(uint64_t offset, std::span<char> buffer) const override;
  Result<std::string> Measure() const override;

 private:
  RecordedBook(const Context& context, const BookOptions& options);
  Result<bool> Append(const sources::Recorder::Piece& piece);

  const sources::Sampler* sampler_;  // until the end of the session
  const Nanos period_;
  std::vector<PowerChannel> channels_;
  sources::Recorder recorder_;
  // A reading that came sooner than the period: it counts if it is the last.
  std::optional<Nanos> last_power_;
  Nanos held_time_;
  std::vector<sources::MeterReading> held_;
  RunningEnergy running_;
  std::unique_ptr<SpoolFile> file_;
  std::optional<store::RecordingWriter> writer_;
  Recording head_;
  SamplerCost cost_at_start_;
};

}  // namespace beryl::server
