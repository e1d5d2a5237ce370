// DescribedModel: what the operations of a described model cost on one machine, so that energy and
// time can be told from a description alone.
//
// A node's operations keep the device busy for D and the host that issues them for H. The device
// runs behind the host: what a node takes is the larger of D and H + (1 - overlap) x D. Both are
// sums over operations, by kind: so much for each kernel, each floating-point operation, each byte.
// ML primitives that were measured have a correction by their shape beside that.
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

// Joules (or seconds) for each kernel, floating-point operation and byte.
struct DeviceCost {
  double kernel = 0;
  double flop = 0;
  double byte = 0;
};

struct KindCosts {
  std::array<DeviceCost, kDeviceKindCount> device;
  std::array<double, kHostKindCount> host = {};  // for each time
};

// A Gaussian process over the logarithm of shapes: by how much (as a logarithm) primitives of a
// shape cost other than their kind says. It fades to nothing away from what was measured.
struct ShapeCorrection {
  double length = 1;  // within which shapes are alike: a factor of e
  double spread = 0;  // standard deviation of the correction
  double noise = 0;   // of one measurement
  struct Point {
    std::string type;                  // with its variant
    std::array<double, 4> sizes = {};  // batch, rows, columns, depth
    double correction = 0;             // mean of what was measured
    double variance = 0;               // of that mean
  };
  std::vector<Point> points;
};

struct OperationCosts {
  double overlap = 0.5;
  KindCosts alone;   // of primitives measured by themselves
  KindCosts within;  // of operations within modules and models
  std::array<double, kPrimitiveGroups> group_factors = {};  // what primitives cost within, of alone
  std::array<ShapeCorrection, kPrimitiveGroups> corrections;
  double host_jitter = 0.05;        // standard deviation of what the host takes, relative
  double unmeasured_spread = 0.05;  // doubt about primitives of a group that was never measured
};

struct DescribedModel {
  OperationCosts energy;                  // joules
  std::optional<OperationCosts> seconds;  // where the data has time
  // By which a node's noise is multiplied for its interval, by level: ml, module, model. From
  // models that were held out; 0: none was, there are no intervals.
  std::array<double, 3> noise_factors = {};
};

}  // namespace beryl
