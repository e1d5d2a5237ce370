#include "tree/derived_columns.h"

namespace beryl::tree {

// Measured over predicted energy of a pass; marked if the measured value is outside the
// prediction's interval.
std::optional<Column> MeasuredToPredictedColumn(const TreeColumns& tree) {
  auto ratio =
      DivideColumns(tree, {"pass", "predicted", "ratio", "ratio", "ratio", Quantity::kRatio});
  if (!ratio) return ratio;
  const std::vector<double>& measured = tree.Find("pass")->total;
  const Column& predicted = *tree.Find("predicted");
  ratio->marked.assign(measured.size(), false);
  for (NodeId node = 0; node < measured.size(); ++node) {
    // Also where nothing was predicted to be used, so that there is no ratio; never where a value
    // is unknown.
    const bool outside =
        measured[node] < At(predicted.low, node) || measured[node] > At(predicted.high, node);
    ratio->marked[node] = outside;
  }
  ratio->marked_because = "measured outside of what was predicted";
  ratio->mark = '!';
  return ratio;
}

}  // namespace beryl::tree
