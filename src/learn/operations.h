// What a node of a description comes to for learning: operations counted by kind, and the ML
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

// Kernels, floating-point operations and bytes of each kind, one after the other.
using DeviceWork = std::array<double, 3 * kDeviceKindCount>;
using HostWork = std::array<double, kHostKindCount>;
inline constexpr auto kCallOfHost = static_cast<size_t>(HostKind::kCall);

template <typename Array>
void Add(Array& sum, const Array& work, double times = 1) {
  for (size_t i = 0; i < sum.size(); ++i) sum[i] += times * work[i];
}

// A primitive that is one kernel: what it takes to run it once, and what tells it apart.
struct Primitive {
  std::string type;  // "Linear"; with its variant where it is another kernel ("Linear, fused")
  uint8_t group = 0;
  std::array<double, 4> sizes = {};  // batch, rows, columns, depth
  DeviceWork device = {};
  HostWork host = {};

  bool operator==(const Primitive&) const = default;
};

// Everything below a node, the node with it.
struct NodeOperations {
  bool primitive = false;  // it is one itself, and nothing else
  DeviceWork own = {};     // of what is in no primitive
  HostWork host = {};      // of everything
  // Index into the list of primitives, and how often it runs; by index.
  std::vector<std::pair<uint32_t, double>> primitives;

  bool operator==(const NodeOperations&) const = default;
};

// Of all nodes of descriptions, primitives numbered across them.
class OperationCounter {
 public:
  // By node.
  std::vector<NodeOperations> Count(const Description& description);
  const std::vector<Primitive>& primitives() const { return primitives_; }

 private:
  uint32_t Intern(Primitive primitive);

  std::vector<Primitive> primitives_;
};

}  // namespace beryl::learn
