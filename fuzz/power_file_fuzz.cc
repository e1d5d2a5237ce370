#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "require.h"
#include "sources/power_file.h"

using beryl::fuzz::Require;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  auto source = beryl::ByteSource::FromMemory({reinterpret_cast<const char*>(bytes), size}, "fuzz");
  auto trace = beryl::sources::ReadPowerFile(source, {});
  if (!trace) {
    Require(!trace.error().message.empty(), "an error says what went wrong");
    return 0;
  }
  uint64_t readings = 0;
  for (const beryl::PowerChannel& channel : trace->channels) {
    Require(!channel.name.empty(), "a channel has a name");
    Require(channel.times.size() == channel.values.size(), "as many values as times");
    Require(std::is_sorted(channel.times.begin(), channel.times.end(), std::less_equal<>()),
            "times strictly increase");
    for (size_t i = 0; i < channel.values.size(); ++i) {
      Require(std::isfinite(channel.values[i]) && channel.values[i] >= 0, "values are usable");
      Require(channel.kind != beryl::ChannelKind::kEnergyCounter || i == 0 ||
                  channel.values[i] >= channel.values[i - 1],
              "energy never goes down");
      Require(channel.kind != beryl::ChannelKind::kPowerGauge ||
                  channel.values[i] <= beryl::kMostPower.value,
              "no power is beyond physics");
    }
    for (const beryl::PowerGap& gap : channel.gaps) {
      Require(gap.reading > 0 && gap.reading < channel.times.size(),
              "a gap lies between two readings");
    }
    Require(std::is_sorted(channel.gaps.begin(), channel.gaps.end(),
                           [](const auto& a, const auto& b) { return a.reading <= b.reading; }),
            "gaps are in order, each once");
    readings += channel.times.size();
  }
  Require(readings == trace->report.operations, "the report counts every reading");
  Require(readings <= trace->report.events, "no reading out of nothing");
  return 0;
}
