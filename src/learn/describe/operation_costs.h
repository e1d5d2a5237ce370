// Learns the costs of operations from nodes with measured energy (or time), and estimates nodes
// that were not measured.
#pragma once

#include <cstdint>
#include <vector>

#include "learn/describe/operations.h"
#include "learn/describe/shape_correction.h"
#include "types/described_model.h"

namespace beryl::learn {

struct CostRow {
  const NodeOperations* operations = nullptr;
  double measured = 0;  // above 0
};
// Precondition: at least one row.
OperationCosts FitCosts(const std::vector<CostRow>& rows, const std::vector<Primitive>& primitives);

// The cost of a node that runs by itself. Noise and doubt are standard deviations of its logarithm.
// Calibration scales noise; doubt grows with the distance from measured shapes.
struct CostEstimate {
  double value = 0;
  double noise = 0;
  double doubt = 0;
  double distance = 0;  // mean logarithmic distance from measured shapes, weighted by cost
};

// Costs with everything that is computed from them once.
struct PreparedCosts {
  explicit PreparedCosts(const OperationCosts& costs);

  const OperationCosts* costs;               // outlives this
  std::vector<CorrectionModel> corrections;  // by group
};

// Estimates nodes made of the given primitives.
class CostModel {
 public:
  // Both arguments must outlive this object.
  CostModel(const PreparedCosts& prepared, const std::vector<Primitive>& primitives);

  CostEstimate Alone(const NodeOperations& node) const;

  // --- Parts of a whole: children add up to their parent.

  struct WholeParts {
    double device = 0;
    double host = 0;
    double idle_share = 0;  // share of the host's cost during which the device is idle
  };
  WholeParts Parts(const NodeOperations& whole) const;
  // The device's part: of a primitive's kernel, or of any other `work`.
  double PrimitiveWithin(uint32_t primitive) const;
  double DeviceWithin(const DeviceWork& work) const;
  double HostWithin(const HostWork& work) const;

 private:
  struct PrimitiveEstimate {
    double within = 0;  // the device's part inside a parent
    CostEstimate alone;
  };
  PrimitiveEstimate Estimate(const Primitive& primitive) const;

  const OperationCosts& costs_;
  const std::vector<CorrectionModel>& corrections_;
  const std::vector<Primitive>& primitives_;
  std::vector<PrimitiveEstimate> estimates_;  // by primitive
};

}  // namespace beryl::learn
