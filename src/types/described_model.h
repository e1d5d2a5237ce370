// DescribedModel: the cost of a described model's operations on one machine, to predict energy and
// time from a description alone.
//
// A node's operations keep the device busy for D, and the host that issues them for H. The device
// runs behind the host: a node takes the larger of D and H + (1 - overlap) x D. Both are sums over
// operations, by kind: a cost for each kernel, each floating-point operation and each byte.
// Measured ML primitives also have a correction by their shape.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace beryl {

// Kinds of kernels that cost differently.
enum class DeviceKind : uint8_t {
  kMatmul,
  kBatchedMatmul,
  kNorm,
  kGather,
  kSoftmax,
  kElementwise,
  kBroadcast,  // elementwise with an operand that is smaller than the result
  kCopy,
};
inline constexpr size_t kDeviceKindCount = 8;
std::string_view DeviceKindName(DeviceKind kind);

// What the host does: issue kernels, make views, call modules.
enum class HostKind : uint8_t {
  kMatmul,
  kBatchedMatmul,
  kNorm,
  kGather,
  kSoftmax,
  kElementwise,
  kView,
  kCall,
};
inline constexpr size_t kHostKindCount = 8;
std::string_view HostKindName(HostKind kind);

// ML primitives whose corrections are learned together: the first kinds of kernels.
inline constexpr size_t kPrimitiveGroups = 6;

// Joules (or seconds) per kernel, floating-point operation and byte.
struct DeviceCost {
  double kernel = 0;
  double flop = 0;
  double byte = 0;
};

struct KindCosts {
  std::array<DeviceCost, kDeviceKindCount> device;
  std::array<double, kHostKindCount> host = {};  // per occurrence
};

// A Gaussian process over the logarithm of shapes: how much more (as a logarithm) primitives of a
// shape cost than their kind predicts. It fades to nothing away from the measured shapes.
struct ShapeCorrection {
  double length = 1;  // distance at which shapes are similar: a factor of e
  double spread = 0;  // standard deviation of the correction
  double noise = 0;   // standard deviation of one measurement
  struct Point {
    std::string type;                  // with its variant
    std::array<double, 4> sizes = {};  // batch, rows, columns, depth
    double correction = 0;             // mean of the measurements
    double variance = 0;               // of that mean
  };
  std::vector<Point> points;
};

struct OperationCosts {
  double overlap = 0.5;
  KindCosts alone;   // primitives measured by themselves
  KindCosts within;  // operations within modules and models
  std::array<double, kPrimitiveGroups> group_factors =
      {};  // cost of primitives within, relative to alone
  std::array<ShapeCorrection, kPrimitiveGroups> corrections;
  double host_jitter = 0.05;        // standard deviation of host time, relative
  double unmeasured_spread = 0.05;  // for primitives of a group that was never measured
};

struct DescribedModel {
  OperationCosts energy;                  // joules
  std::optional<OperationCosts> seconds;  // if the data has time
  // Factor on a node's noise for its interval, by level: ml, module, model. From held-out models;
  // 0: none were held out, and there are no intervals.
  std::array<double, 3> noise_factors = {};
};

}  // namespace beryl
