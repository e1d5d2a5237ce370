// Learning what operations cost from nodes whose energy (or time) was measured, and telling it for
// nodes that were not.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "learn/operations.h"
#include "learn/shape_correction.h"
#include "types/described_model.h"

namespace beryl::learn {

struct CostRow {
  const NodeOperations* operations = nullptr;
  double measured = 0;  // above 0
};
// Precondition: at least one row.
OperationCosts FitCosts(const std::vector<CostRow>& rows, const std::vector<Primitive>& primitives);

// What a node takes when it runs by itself. Noise and doubt are standard deviations of its
// logarithm: noise is what calibration scales, doubt is how far it is from what was measured.
struct CostEstimate {
  double value = 0;
  double noise = 0;
  double doubt = 0;
  double distance = 0;  // from measured shapes, the mean over what it takes: logarithms
};

// Costs, and what has to be worked out of them only once.
struct PreparedCosts {
  explicit PreparedCosts(const OperationCosts& costs);

  const OperationCosts* costs;               // outlives this
  std::vector<CorrectionModel> corrections;  // by group
};

// Costs, ready to be asked about nodes with these primitives.
class CostModel {
 public:
  // Both outlive this.
  CostModel(const PreparedCosts& prepared, const std::vector<Primitive>& primitives);

  CostEstimate Alone(const NodeOperations& node) const;

  // --- Within a whole: what is below adds up to it.

  struct WholeParts {
    double device = 0;
    double host = 0;
    double idle_share = 0;  // of the host's cost that the device waits for
  };
  WholeParts Parts(const NodeOperations& whole) const;
  // A primitive's kernel; of anything else the device's part of `work`.
  double PrimitiveWithin(uint32_t primitive) const;
  double DeviceWithin(const DeviceWork& work) const;
  double HostWithin(const HostWork& work) const;

 private:
  struct PrimitiveEstimate {
    double within = 0;  // the device's part, in a parent
    CostEstimate alone;
  };
  PrimitiveEstimate Estimate(const Primitive& primitive) const;

  const OperationCosts& costs_;
  const std::vector<CorrectionModel>& corrections_;
  const std::vector<Primitive>& primitives_;
  std::vector<PrimitiveEstimate> estimates_;  // by primitive
};

}  // namespace beryl::learn
