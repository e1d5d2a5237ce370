#include "flows/irene_tree.h"

#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "datasets/datasets.h"
#include "types/dataset.h"

namespace beryl::flows {
namespace {

std::optional<double> IfKnown(int64_t size) {
  if (size <= 0) return std::nullopt;
  return static_cast<double>(size);
}

FeatureRow FeaturesOf(const DescribedPrediction& prediction, NodeId node, double seq_len) {
  const DescribedNode& described = prediction.description.nodes[node];
  FeatureRow row = UnknownFeatures();
  const auto set = [&](Feature feature, double value) {
    row[static_cast<size_t>(feature)] = value;
  };
  set(Feature::kParameters, static_cast<double>(described.parameters));
  set(Feature::kBatchSize, IfKnown(prediction.description.input.batch).value_or(kUnknown));
  set(Feature::kSeqLen, seq_len);
  set(Feature::kFlops, described.work.flops);
  set(Feature::kMemBytes, described.work.Bytes());
  set(Feature::kSeconds, At(prediction.seconds, node));
  return row;
}

}  // namespace

std::string WriteIreneTree(const DescribedPrediction& prediction) {
  const Description& description = prediction.description;
  const ModelInput& input = description.input;
  ModelRun run;
  run.model = description.model;
  run.batch_size = IfKnown(input.batch);
  run.seq_len = IfKnown(input.seq > 0 ? input.seq : input.prompt);
  Column energy;
  // The operations of the framework are below IrEne's leaves.
  std::vector<NodeId> new_id(description.tree.size(), kNoNode);
  for (NodeId node = 0; node < description.tree.size(); ++node) {
    const TreeNode& described = description.tree[node];
    if (described.level > Level::kMl) continue;
    const NodeId id = run.tree.size();
    new_id[node] = id;
    TreeNode& kept = run.tree.nodes.emplace_back(described);
    kept.parent = new_id[described.parent];
    kept.end = id + 1;
    for (NodeId above = id; above != 0;) {
      above = run.tree.nodes[above].parent;
      run.tree.nodes[above].end = id + 1;
    }
    run.features.push_back(FeaturesOf(prediction, node, run.seq_len.value_or(kUnknown)));
    run.measured.push_back(kUnknown);
    energy.total.push_back(At(prediction.energy.total, node));
  }
  Dataset data;
  data.runs.push_back(std::move(run));
  return datasets::WriteTrees(data, {energy});
}

}  // namespace beryl::flows
