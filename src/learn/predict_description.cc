// Energy and time of a model that was never run.
#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "learn/intervals.h"
#include "learn/learn.h"
#include "learn/memory_need.h"
#include "learn/operation_costs.h"
#include "learn/predict_datasheet.h"

namespace beryl::learn {
namespace {

// Priors of doubt about what a trained profile has never seen: relative standard deviations.
constexpr double kOtherDtype = 0.3;
constexpr double kFusedAttention = 0.3;
constexpr double kMathNoise = 0.05;   // of a single operation of those in no primitive
constexpr double kWorthSaying = 4e9;  // bytes of memory that not every GPU has
// Farther from every measured shape than a factor of two.
constexpr double kBeyond = 0.7;

size_t LevelOf(Level level) { return level == Level::kModel ? 2 : level == Level::kModule ? 1 : 0; }

// What each node takes within the whole that `root` is, so that children add up to their parents.
void AddWithin(const Description& description, const std::vector<NodeOperations>& counted,
               const CostModel& costs, NodeId root, std::vector<double>& self) {
  const auto& nodes = description.tree.nodes;
  const double idle = costs.Parts(counted[root]).idle_share;
  for (NodeId node = root; node < nodes[root].end; ++node) {
    HostWork host = {};
    double device = 0;
    if (nodes[node].level == Level::kMath) {
      host = counted[node].host;
      const NodeOperations& parent = counted[nodes[node].parent];
      const bool corrected = parent.primitive && description.nodes[node].kind != MathKind::kView &&
                             description.nodes[node].kind != MathKind::kSend &&
                             description.nodes[node].kind != MathKind::kElementwise;
      device = corrected
                   ? parent.primitives[0].second * costs.PrimitiveWithin(parent.primitives[0].first)
                   : costs.DeviceWithin(counted[node].own);
    } else {
      // The call itself: what the host does for it and for nothing below it.
      host[kCallOfHost] = counted[node].host[kCallOfHost];
      for (const NodeId child : Children(description.tree, node)) {
        host[kCallOfHost] -= counted[child].host[kCallOfHost];
      }
    }
    self[node] = device + idle * costs.HostWithin(host);
  }
}

// The passes of a description, each of which runs as a whole.
std::vector<NodeId> PassesOf(const Description& description) {
  if (description.nodes[0].phase != RunPhase::kAll) return {0};
  std::vector<NodeId> passes;
  for (const NodeId pass : Children(description.tree, 0)) passes.push_back(pass);
  return passes;
}

// What no measurement of the profile says anything about, and the doubt that it brings.
double DoubtAbout(const Description& description, std::vector<Note>& notes) {
  double doubt = 0;
  const auto add = [&](double size, Note note) {
    doubt = std::hypot(doubt, size);
    notes.push_back(std::move(note));
  };
  if (description.dtype != Dtype::kFloat32) {
    add(kOtherDtype, {NoteKind::kTrainedOnFloat32, std::string(DtypeName(description.dtype))});
  }
  if (description.attention != AttentionKind::kEager) {
    add(kFusedAttention, NoteKind::kTrainedOnEager);
  }
  return doubt;
}

// How sure a node's part of the whole is.
CostEstimate EstimateOf(const Description& description, const std::vector<NodeOperations>& counted,
                        const std::vector<Primitive>& primitives, const CostModel& costs,
                        NodeId node) {
  const auto& nodes = description.tree.nodes;
  const bool math = nodes[node].level == Level::kMath;
  const NodeOperations& of = counted[math ? nodes[node].parent : node];
  // Within a whole, elementwise primitives are operations like all others that are in no primitive.
  const bool elementwise = of.primitive && primitives[of.primitives[0].first].group ==
                                               static_cast<uint8_t>(DeviceKind::kElementwise);
  if (!elementwise && (of.primitive || !math)) return costs.Alone(of);
  CostEstimate estimate;
  estimate.noise = kMathNoise;
  return estimate;
}

void PredictByCosts(const DescribedModel& described, const PreparedCosts& energy,
                    const PreparedCosts* seconds, const Description& description,
                    DescribedPrediction& out) {
  OperationCounter counter;
  const std::vector<NodeOperations> counted = counter.Count(description);
  const CostModel costs(energy, counter.primitives());
  const auto& nodes = description.tree.nodes;
  const std::vector<NodeId> passes = PassesOf(description);
  out.energy.self.assign(nodes.size(), 0);
  for (const NodeId pass : passes) AddWithin(description, counted, costs, pass, out.energy.self);
  out.energy.total = RollUp(description.tree, out.energy.self);
  if (seconds != nullptr) {
    const CostModel times(*seconds, counter.primitives());
    out.seconds.assign(nodes.size(), 0);
    for (const NodeId pass : passes) AddWithin(description, counted, times, pass, out.seconds);
    out.seconds = RollUp(description.tree, std::move(out.seconds));
  }
  const double doubt = DoubtAbout(description, out.notes);
  out.energy.marked.assign(nodes.size(), false);
  out.energy.marked_because = "beyond what the profile was trained on: its interval is wide";
  double beyond_j = 0;
  for (NodeId node = 0; node < nodes.size(); ++node) {
    const CostEstimate estimate =
        EstimateOf(description, counted, counter.primitives(), costs, node);
    const Spread spread{estimate.noise, std::hypot(estimate.doubt, doubt)};
    const Interval interval = IntervalOf(out.energy.total[node], spread,
                                         described.noise_factors[LevelOf(nodes[node].level)]);
    // What takes nothing takes nothing for sure.
    const bool nothing = out.energy.total[node] == 0;
    out.energy.low.push_back(nothing ? 0 : interval.low);
    out.energy.high.push_back(nothing ? 0 : interval.high);
    // Nothing below ML primitives was ever timed.
    if (nodes[node].level == Level::kMath && !out.seconds.empty()) out.seconds[node] = kUnknown;
    out.energy.marked[node] = doubt > 0 || estimate.distance > kBeyond;
    if (counted[node].primitive && out.energy.marked[node]) beyond_j += out.energy.total[node];
  }
  if (passes.front() != 0) {
    // The phases err together: they are by the same profile.
    out.energy.low[0] = out.energy.high[0] = 0;
    for (const NodeId pass : passes) {
      out.energy.low[0] += out.energy.low[pass];
      out.energy.high[0] += out.energy.high[pass];
    }
  }
  const MemoryNeed need = MemoryNeedOf(description);
  if (need.Total() > kWorthSaying) {
    out.notes.push_back(
        {NoteKind::kMemoryNeeded, "", {need.weights, need.cache > 0 ? need.cache : kUnknown}});
  }
  const double share = out.energy.total[0] > 0 ? beyond_j / out.energy.total[0] : 0;
  if (doubt == 0 && share > 0.005) {
    out.notes.push_back({NoteKind::kBeyondTraining, "", {share}});
  }
}

}  // namespace

struct DescriptionPredictor::Prepared {
  explicit Prepared(const EnergyModel& of) : model(&of) {
    if (of.described) energy.emplace(of.described->energy);
    if (of.described && of.described->seconds) seconds.emplace(*of.described->seconds);
  }

  const EnergyModel* model;
  std::optional<PreparedCosts> energy;
  std::optional<PreparedCosts> seconds;
};

DescriptionPredictor::DescriptionPredictor(const EnergyModel& model)
    : prepared_(std::make_unique<Prepared>(model)) {}
DescriptionPredictor::~DescriptionPredictor() = default;

Result<DescribedPrediction> DescriptionPredictor::Predict(Description description) const {
  const EnergyModel& model = *prepared_->model;
  DescribedPrediction prediction;
  prediction.profile = model.name;
  prediction.machine = model.trained_on.machine;
  prediction.nominal = model.nominal;
  if (model.datasheet) {
    PredictByDatasheet(*model.datasheet, description, prediction);
  } else if (model.described && description.input.gpus > 1) {
    return InvalidError(fmt::format(
        "{}: trained on one GPU, it knows nothing of {} that work together; take the datasheet of "
        "such GPUs (--profile), or leave --gpus out",
        model.name, description.input.gpus));
  } else if (model.described) {
    prediction.energy = PredictedColumn(Origin::kPredicted, model.name);
    PredictByCosts(*model.described, *prepared_->energy,
                   prepared_->seconds ? &*prepared_->seconds : nullptr, description, prediction);
  } else {
    return InvalidError(
        fmt::format("{}: a profile of method {} that knows nothing of descriptions; train it with "
                    "`beryl train` "
                    "on data of models that are in the catalog, or give --data",
                    model.name, MethodName(model.method)));
  }
  prediction.description = std::move(description);
  return prediction;
}

}  // namespace beryl::learn
