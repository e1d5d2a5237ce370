// Replays a power file as if its meters were read now. Starts with its first reading and loops:
// after the last reading it starts again, with counters continuing.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "base/file.h"
#include "sources/power_file.h"
#include "sources/search.h"

namespace beryl::sources {
namespace {

constexpr const char* kSource = "replay";
constexpr double kMicro = 1e-6;

class Replay final : public PowerSource {
 public:
  Replay(PowerTrace trace, const std::string& file) : traces_(std::move(trace.channels)) {
    first_ = traces_.front().times.front();
    Nanos last = first_;
    for (const PowerChannel& trace_channel : traces_) {
      first_ = std::min(first_, trace_channel.times.front());
      last = std::max(last, trace_channel.times.back());
    }
    length_ = last - first_;
    channels_.reserve(traces_.size());
    for (const PowerChannel& played : traces_) {
      PowerChannel channel;
      channel.name = played.name;
      channel.scope = played.scope;
      channel.kind = played.kind;
      channel.meter.source = kSource;
      channel.meter.reads = fmt::format("{}, {:.3g} s repeated", file, length_.seconds());
      channel.meter.unit = played.kind == ChannelKind::kEnergyCounter ? "uJ" : "uW";
      channel.meter.per_count = kMicro;
      channels_.push_back(std::move(channel));
    }
  }

  const std::vector<PowerChannel>& channels() const override { return channels_; }

  void Read(std::span<MeterReading> out) override {
    const Nanos passed{std::chrono::duration_cast<std::chrono::nanoseconds>(
                           std::chrono::steady_clock::now() - start_)
                           .count()};
    const int64_t length = std::max<int64_t>(1, length_.value);
    const int64_t rounds = passed.value / length;
    const Nanos at = first_ + Nanos{passed.value % length};
    for (size_t i = 0; i < traces_.size(); ++i) out[i] = ReadAt(traces_[i], at, rounds);
  }

 private:
  // The reading that was current at that time.
  static MeterReading ReadAt(const PowerChannel& trace, Nanos at, int64_t rounds) {
    const auto next = std::upper_bound(trace.times.begin(), trace.times.end(), at);
    const bool is_counter = trace.kind == ChannelKind::kEnergyCounter;
    double value = 0;
    if (next != trace.times.begin()) {
      value = trace.values[static_cast<size_t>(next - trace.times.begin()) - 1];
    } else if (!is_counter) {
      if (rounds == 0) return {ReadState::kRetry, 0};
      value = trace.values.back();
    }
    if (is_counter) value += static_cast<double>(rounds) * trace.values.back();
    return {ReadState::kOk, static_cast<uint64_t>(std::llround(value / kMicro))};
  }

  std::vector<PowerChannel> traces_;
  std::vector<PowerChannel> channels_;
  Nanos first_;
  Nanos length_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace

Result<FoundSource> FindReplay(const Search& search) {
  FoundSource found;
  found.power = search.TakeOpen(kSource);
  if (found.power) return found;
  const std::string& file = search.options.replay;
  auto source = TRY(ByteSource::Open(file));
  auto trace = TRY(ReadPowerFile(source, {}));
  found.power = std::make_unique<Replay>(std::move(trace), file);
  return found;
}

}  // namespace beryl::sources
