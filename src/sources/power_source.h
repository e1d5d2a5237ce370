// A *channel* is one number of one meter. A *source* is a way to read some channels: one file each
// in this folder.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "types/power_trace.h"
#include "types/recording.h"

namespace beryl::sources {

enum class ReadState : uint8_t {
  kOk,
  kRetry,  // nothing this time: the file was being written, the call was interrupted
  kGone,   // it cannot be read any more; it may come back
};

struct MeterReading {
  ReadState state = ReadState::kRetry;
  uint64_t count = 0;  // in the channel's unit; a counter's raw value, with wraps
};

// One way to read some channels. Not thread-safe. Read does not allocate or block.
class PowerSource {
 public:
  virtual ~PowerSource() = default;
  // Without readings; the same ones, in the same order, for the life of the source.
  virtual const std::vector<PowerChannel>& channels() const = 0;
  // `out` has one element per channel.
  virtual void Read(std::span<MeterReading> out) = 0;
  // The time on CLOCK_MONOTONIC that the next reading will be said to be of, where it is known
  // before. Matters to those that compute their energy from the time.
  virtual void SetTime(int64_t /*monotonic_ns*/) {}
};

// The PCI bus id of a channel's GPU ("00000000:01:00.0"); empty if it has none or it is unknown.
std::string GpuBusId(const PowerChannel& channel);

// One way to read some resource features (see FeatureTrace). Like PowerSource.
class FeatureSource {
 public:
  virtual ~FeatureSource() = default;
  virtual const std::vector<FeatureColumn>& columns() const = 0;  // without values
  // `watched` are the process ids that count as ours. NaN for unknown values.
  virtual void Read(std::span<const int32_t> watched, std::span<double> out) = 0;
};

}  // namespace beryl::sources
