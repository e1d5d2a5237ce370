#include "types/described_prediction.h"

namespace beryl {

std::optional<Watts> PowerOf(const DescribedPrediction& prediction, NodeId node) {
  if (node >= prediction.seconds.size() || !(prediction.seconds[node] > 0)) return std::nullopt;
  return IfKnown<Watts>(prediction.energy.total[node] / prediction.seconds[node]);
}

std::optional<Joules> EnergyPerToken(const DescribedPrediction& prediction, NodeId node) {
  const Description& description = prediction.description;
  const double tokens = TokensMeant(description.input, description.nodes[node].phase);
  return tokens > 0 ? IfKnown<Joules>(prediction.energy.total[node] / tokens) : std::nullopt;
}

}  // namespace beryl
