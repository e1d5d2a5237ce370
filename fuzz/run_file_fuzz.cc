// Run files: whatever the bytes, loading ends, and what it gives can be measured and accounted.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "account/account.h"
#include "analyze/analyze.h"
#include "base/deflate.h"
#include "store/blocks.h"
#include "store/encoding.h"
#include "store/store.h"
#include "tree/tree.h"

namespace {

// Checksums keep a fuzzer out: each block's is put right first.
std::string WithChecksums(std::string bytes) {
  for (size_t at = 16; at + 16 <= bytes.size();) {
    uint32_t stored = 0;
    std::memcpy(&stored, bytes.data() + at + 8, sizeof(stored));
    if (stored > bytes.size() - at - 16) break;
    const std::string_view all(bytes);
    const uint32_t sum =
        beryl::Checksum(all.substr(at + 16, stored), beryl::Checksum(all.substr(at, 12)));
    std::memcpy(bytes.data() + at + 12, &sum, sizeof(sum));
    at += 16 + stored;
  }
  return bytes;
}

// For every device: ours + others + recorder + idle = energy, of what is known.
void CheckMeasurement(const beryl::Measurement& measured) {
  for (const beryl::DeviceEnergy& device : measured.devices) {
    const beryl::EnergySplit& split = device.split;
    if (!split.ours || !std::isfinite(ValueOrNan(device.energy))) continue;
    double sum = 0;
    for (const auto& part : {split.ours, split.others, split.recorder, split.idle}) {
      if (part) sum += part->value;
    }
    // Meters that count backwards are nobody's law.
    bool forward = true;
    for (const double watts : device.slices_w) forward = forward && !(watts < 0);
    if (forward && sum < device.energy->value * (1 - 1e-6)) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string bytes = WithChecksums(std::string(reinterpret_cast<const char*>(data), size));
  auto source = beryl::ByteSource::FromMemory(bytes, "fuzz.beryl");
  beryl::store::StoredRun run;
  if (!beryl::store::Load(source, {}, run)) return 0;
  for (const beryl::PowerChannel& channel : run.power.channels) {
    if (channel.times.size() != channel.values.size()) std::abort();
    if (channel.times.empty() && !run.recording) std::abort();
    const bool gauge = channel.kind == beryl::ChannelKind::kPowerGauge;
    for (const double value : channel.values) {
      if (std::abs(value) > (gauge ? beryl::kMostPower.value : 1e18)) std::abort();
    }
  }
  if (run.recording) {
    CheckMeasurement(beryl::account::Measure(run.power, *run.recording, {}));
    std::vector<beryl::Note> notes;
    beryl::account::Virtualize(run.power, *run.recording, beryl::account::SplitRule::kCapacity,
                               notes);
  }
  std::erase_if(run.power.channels,
                [](const beryl::PowerChannel& channel) { return channel.times.empty(); });
  if (run.power.channels.empty()) return 0;
  const auto footprint = beryl::account::Account(run.power, run.ops, {});
  if (!footprint) return 0;
  const auto built = beryl::tree::Build(run.ops);
  beryl::tree::Columns(run.ops, *footprint, beryl::Fold(built));
  beryl::analyze::Operations(run.ops, *footprint, built);
  return 0;
}
