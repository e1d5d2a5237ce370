// Predicts the energy and time of a model that was never run.
#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "learn/describe/note_memory.h"
#include "learn/describe/operation_costs.h"
#include "learn/describe/predict_datasheet.h"
#include "learn/fit/intervals.h"
#include "learn/predict.h"

namespace beryl::learn {
namespace {

// Prior doubts about inputs unlike anything the profile was trained on: relative standard
// deviations.
constexpr double kOtherDtype = 0.3;
constexpr double kOtherAttention = 0.3;
constexpr double kOtherPass = 0.4;
constexpr double kMathNoise = 0.05;   // of a single operation outside every primitive
constexpr double kWorthSaying = 4e9;  // bytes of memory that not every GPU has
// Further than a factor of two from every measured shape.
constexpr double kBeyond = 0.7;

size_t LevelOf(Level level) { return level == Level::kModel ? 2 : level == Level::kModule ? 1 : 0; }

// Adds the cost of each node as a part of the whole `root`, so that children add up to their
// parents.
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
      // The call itself: work of the host for this node and not for its descendants.
      host[kCallOfHost] = counted[node].host[kCallOfHost];
      for (const NodeId child : Children(description.tree, node)) {
        host[kCallOfHost] -= counted[child].host[kCallOfHost];
      }
    }
    self[node] = device + idle * costs.HostWithin(host);
  }
}

// The passes of a description. Each runs as a whole.
std::vector<NodeId> PassesOf(const Description& description) {
  if (description.nodes[0].phase != RunPhase::kAll) return {0};
  std::vector<NodeId> passes;
  for (const NodeId pass : Children(description.tree, 0)) passes.push_back(pass);
  return passes;
}

// Notes what the profile's measurements do not cover, and returns the doubt that this adds.
double DoubtAbout(const Description& description, const EnergyModel::TrainedOn& trained_on,
                  std::vector<Note>& notes) {
  double doubt = 0;
  const auto add = [&](double size, Note note) {
    doubt = std::hypot(doubt, size);
    notes.push_back(std::move(note));
  };
  if (description.dtype != trained_on.dtype) {
    add(kOtherDtype, {NoteKind::kTrainedOnOtherDtype,
                      std::string(DtypeName(description.dtype)),
                      {DtypeName(trained_on.dtype)}});
  }
  if (description.attention != trained_on.attention) {
    add(kOtherAttention, {NoteKind::kTrainedOnOtherAttention,
                          std::string(AttentionName(description.attention)),
                          {AttentionName(trained_on.attention)}});
  }
  if (description.training) add(kOtherPass, NoteKind::kTrainedOnForward);
  return doubt;
}

// The uncertainty of a node as a part of the whole.
CostEstimate EstimateOf(const Description& description, const std::vector<NodeOperations>& counted,
                        const std::vector<Primitive>& primitives, const CostModel& costs,
                        NodeId node) {
  const auto& nodes = description.tree.nodes;
  const bool math = nodes[node].level == Level::kMath;
  const NodeOperations& of = counted[math ? nodes[node].parent : node];
  // As a part of a whole, an elementwise primitive is like any operation outside all primitives.
  const bool elementwise = of.primitive && primitives[of.primitives[0].first].group ==
                                               static_cast<uint8_t>(DeviceKind::kElementwise);
  if (!elementwise && (of.primitive || !math)) return costs.Alone(of);
  CostEstimate estimate;
  estimate.noise = kMathNoise;
  return estimate;
}

// Notes the memory where it matters.
void NoteNeed(double memory, const Description& description, std::vector<Note>& notes) {
  const MemoryNeed& need = description.memory;
  if (need.Total() <= kWorthSaying && !description.training) return;
  if (!std::isnan(memory)) return NoteMemory(memory, false, description, notes);
  Note note(NoteKind::kMemoryNeeded, "", {need.weights});
  for (const double part : {need.cache, need.activations, need.gradients, need.optimizer}) {
    note.values.emplace_back(part > 0 ? part : kUnknown);
  }
  notes.push_back(std::move(note));
}

void PredictByCosts(const EnergyModel& model, const PreparedCosts& energy,
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
  const double doubt = DoubtAbout(description, model.trained_on, out.notes);
  out.energy.marked.assign(nodes.size(), false);
  out.energy.marked_because = "outside what the profile was trained on: its interval is wide";
  double beyond_j = 0;
  for (NodeId node = 0; node < nodes.size(); ++node) {
    const CostEstimate estimate =
        EstimateOf(description, counted, counter.primitives(), costs, node);
    const Uncertainty spread{estimate.noise, std::hypot(estimate.doubt, doubt)};
    const Interval interval =
        IntervalOf(out.energy.total[node], spread,
                   model.described()->noise_factors[LevelOf(nodes[node].level)]);
    // A cost of zero is certain.
    const bool nothing = out.energy.total[node] == 0;
    out.energy.low.push_back(nothing ? 0 : interval.low);
    out.energy.high.push_back(nothing ? 0 : interval.high);
    // Nothing below ML primitives was ever timed.
    if (nodes[node].level == Level::kMath && !out.seconds.empty()) out.seconds[node] = kUnknown;
    out.energy.marked[node] = doubt > 0 || estimate.distance > kBeyond;
    if (counted[node].primitive && out.energy.marked[node]) beyond_j += out.energy.total[node];
  }
  if (passes.front() != 0) {
    // The errors of the phases are correlated, because they use the same profile.
    out.energy.low[0] = out.energy.high[0] = 0;
    for (const NodeId pass : passes) {
      out.energy.low[0] += out.energy.low[pass];
      out.energy.high[0] += out.energy.high[pass];
    }
  }
  NoteNeed(model.trained_on.memory, description, out.notes);
  const double share = out.energy.total[0] > 0 ? beyond_j / out.energy.total[0] : 0;
  if (doubt == 0 && share > 0.005) {
    out.notes.push_back({NoteKind::kBeyondTraining, "", {share}});
  }
}

}  // namespace

struct DescriptionPredictor::Prepared {
  explicit Prepared(const EnergyModel& of) : model(&of) {
    const DescribedModel* described = of.described();
    if (described == nullptr) return;
    energy.emplace(described->energy);
    if (described->seconds) seconds.emplace(*described->seconds);
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
  if (const Datasheet* sheet = model.datasheet()) {
    PredictByDatasheet(*sheet, description, prediction);
  } else if (model.described() != nullptr && description.input.gpus > 1) {
    return InvalidError(
        fmt::format("{}: it was trained on one GPU and cannot predict {} GPUs; use the datasheet "
                    "of such GPUs as the profile, or one GPU",
                    model.name, description.input.gpus),
        {"profile", "gpus"});
  } else if (model.described() != nullptr) {
    prediction.calibrated = !description.training;
    prediction.energy = PredictedColumn(
        prediction.calibrated ? Origin::kPredicted : Origin::kUncalibrated, model.name);
    PredictByCosts(model, *prepared_->energy, prepared_->seconds ? &*prepared_->seconds : nullptr,
                   description, prediction);
  } else {
    return InvalidError(
        fmt::format("{}: a profile of method {} cannot predict from a description; train it with "
                    "`beryl train` on data of models in the catalog, or give data to predict",
                    model.name, MethodName(model.method)),
        {"data"});
  }
  const double memory =
      model.trained_on.memory * static_cast<double>(std::max<int64_t>(1, description.input.gpus));
  if (!std::isnan(memory)) prediction.fits = description.memory.Total() <= memory;
  prediction.description = std::move(description);
  return prediction;
}

}  // namespace beryl::learn
