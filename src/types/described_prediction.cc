#include "types/described_prediction.h"

namespace beryl {

double WattsOf(const DescribedPrediction& prediction, NodeId node) {
  if (node >= prediction.seconds.size() || !(prediction.seconds[node] > 0)) return kUnknown;
  return prediction.energy.total[node] / prediction.seconds[node];
}

double JoulesPerToken(const DescribedPrediction& prediction, NodeId node) {
  const Description& description = prediction.description;
  const double tokens = TokensOf(description.input, description.nodes[node].phase);
  return tokens > 0 ? prediction.energy.total[node] / tokens : kUnknown;
}

}  // namespace beryl
