// The memory that a described model needs at once.
#include <algorithm>
#include <string_view>
#include <vector>

#include "types/description.h"

namespace beryl {
namespace {

const Shape* ShapeAt(const Description& description, uint32_t at) {
  return at < description.shapes.size() ? &description.shapes[at] : nullptr;
}

// Parameters of matrix products, the only ones stored in a narrow type. In a generation, the first
// phase contains all of them.
double MatmulParameters(const Description& description, RunPhase phase) {
  double parameters = 0;
  for (size_t i = 0; i < description.nodes.size(); ++i) {
    if (description.nodes[i].phase != phase) continue;
    if (description.nodes[i].kind != MathKind::kMatmul) continue;
    parameters +=
        static_cast<double>(description.nodes[description.tree.nodes[i].parent].parameters);
  }
  return parameters;
}

bool IsKeyOrValue(std::string_view scope) {
  const std::string_view name = scope.substr(scope.rfind('.') + 1);
  return name == "k_proj" || name == "v_proj";
}

// The outputs of the key and value projections are what the cache keeps of a token.
double CacheByProjections(const Description& description, RunPhase phase, double tokens) {
  double width = 0;
  for (size_t i = 0; i < description.nodes.size(); ++i) {
    const DescribedNode& node = description.nodes[i];
    if (node.phase != phase || description.tree.nodes[i].level != Level::kMl) continue;
    if (!IsKeyOrValue(node.scope) || node.output_count == 0) continue;
    const Shape* output = ShapeAt(description, node.first_shape + node.input_count);
    if (output == nullptr || output->rank == 0) continue;
    width += output->Last();
  }
  return width * tokens;
}

// For models whose projections have no known names: the bytes of earlier tokens that attention
// reads for the last token.
double CacheByAttention(const Description& description, RunPhase phase) {
  double elements = 0;
  for (const DescribedNode& node : description.nodes) {
    if (node.phase != phase || !node.kind) continue;
    const uint8_t last = *node.kind == MathKind::kBatchedMatmul ? 1
                         : *node.kind == MathKind::kAttention   ? 2
                                                                : 0;
    for (uint8_t i = 1; i <= last && i < node.input_count; ++i) {
      if (const Shape* shape = ShapeAt(description, node.first_shape + i)) {
        elements += shape->Elements();
      }
    }
  }
  return elements;
}

// The largest sum of results that exist at the same time: each from the operation that makes it to
// the last one that reads it.
double ActivationsOf(const Description& description) {
  const size_t count = description.nodes.size();
  std::vector<NodeId> last(count, kNoNode);  // reader of each result
  for (const Flow& flow : description.flows) {
    if (last[flow.from] == kNoNode || last[flow.from] < flow.to) last[flow.from] = flow.to;
  }
  std::vector<double> change(count + 1);
  for (NodeId node = 0; node < count; ++node) {
    const DescribedNode& made = description.nodes[node];
    if (!made.kind || *made.kind == MathKind::kView || !(made.runs > 0)) continue;
    const bool read = last[node] != kNoNode;
    // What nothing reads there is a gradient, or changed in place.
    const bool trains = made.phase == RunPhase::kBackward || made.phase == RunPhase::kOptimizer;
    if (trains && !read) continue;
    const NodeId end = read ? last[node] : node;
    // Later phases read the results of all runs of a shared layer.
    const bool kept = description.nodes[end].phase != made.phase;
    const double bytes = made.work.bytes_written / (kept ? 1 : made.runs);
    change[node] += bytes;
    change[end + size_t{1}] -= bytes;
  }
  double now = 0;
  double most = 0;
  for (const double bytes : change) most = std::max(most, now += bytes);
  return most;
}

// Numbers that the optimizer remembers.
double RememberedBy(OptimizerKind optimizer, const Description& description) {
  double numbers = 0;
  for (const Shape& weight : description.weights) {
    switch (optimizer) {
      case OptimizerKind::kSgd:
        break;
      case OptimizerKind::kAdam:
      case OptimizerKind::kAdamw:
        numbers += 2 * weight.Elements();
        break;
      case OptimizerKind::kAdafactor:
        // A mean for each row and for each column instead of each weight.
        numbers += weight.rank < 2
                       ? weight.Elements()
                       : weight.Elements() / weight.Last() +
                             weight.Elements() / static_cast<double>(weight.dims[weight.rank - 2U]);
        break;
    }
  }
  return numbers;
}

}  // namespace

MemoryNeed MemoryNeedOf(const Description& description) {
  MemoryNeed need;
  if (description.nodes.empty()) return need;
  const ModelInput& input = description.input;
  const bool generation = input.prompt > 0;
  const RunPhase root = description.nodes[0].phase;
  const RunPhase first = root != RunPhase::kAll ? root
                         : generation           ? RunPhase::kPrefill
                                                : RunPhase::kForward;
  const double wide = ActivationWidth(description.dtype);
  const double saved = wide - WeightWidth(description.dtype);
  const auto parameters = static_cast<double>(description.nodes[0].parameters);
  need.weights =
      parameters * wide - std::min(parameters, MatmulParameters(description, first)) * saved;
  need.activations = ActivationsOf(description);
  if (description.training) {
    need.gradients = need.weights;
    need.optimizer = RememberedBy(description.training->optimizer, description) * wide;
    return need;
  }
  if (!generation && input.context == 0) return need;
  const RunPhase last = root == RunPhase::kAll && input.generate > 0 ? RunPhase::kDecode : first;
  const double tokens =
      static_cast<double>(input.batch) *
      static_cast<double>(input.context + input.seq + input.prompt + input.generate);
  const double kept = CacheByProjections(description, last, tokens);
  need.cache = (kept > 0 ? kept : CacheByAttention(description, last)) * wide;
  return need;
}

}  // namespace beryl
