// Turns nodes of a description into input for learning: operations counted by kind, and the ML
// primitives that have a shape of their own.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "types/described_model.h"
#include "types/description.h"

namespace beryl::learn {

// Kernels, floating-point operations and bytes of each kind, in this order.
using DeviceWork = std::array<double, 3 * kDeviceKindCount>;
using HostWork = std::array<double, kHostKindCount>;
inline constexpr auto kCallOfHost = static_cast<size_t>(HostKind::kCall);

template <typename Array>
void Add(Array& sum, const Array& work, double times = 1) {
  for (size_t i = 0; i < sum.size(); ++i) sum[i] += times * work[i];
}

// A primitive that is a single kernel: the work of one execution, and what distinguishes it.
struct Primitive {
  std::string type;  // with its variant if that is another kernel: "Linear, fused"
  uint8_t group = 0;
  std::array<double, 4> sizes = {};  // batch, rows, columns, depth
  DeviceWork device = {};
  HostWork host = {};

  bool operator==(const Primitive&) const = default;
};

// All work of a node and its descendants.
struct NodeOperations {
  bool primitive = false;  // the node itself is a primitive
  DeviceWork own = {};     // outside all primitives
  HostWork host = {};      // of the node and all descendants
  // Index into the list of primitives, and how often it runs. Sorted by index.
  std::vector<std::pair<uint32_t, double>> primitives;

  bool operator==(const NodeOperations&) const = default;
};

// Counts the operations of descriptions. All descriptions share one numbering of primitives.
class OperationCounter {
 public:
  // Indexed by node.
  std::vector<NodeOperations> Count(const Description& description);
  const std::vector<Primitive>& primitives() const { return primitives_; }

 private:
  uint32_t Intern(Primitive primitive);

  std::vector<Primitive> primitives_;
};

}  // namespace beryl::learn
