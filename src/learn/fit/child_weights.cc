#include "learn/fit/child_weights.h"

#include <Eigen/Dense>
#include <cmath>
#include <random>

#include "learn/fit/primitives.h"

namespace beryl::learn {
namespace {

using Floats = Eigen::VectorXf;
// One row of polynomial terms for each measurement. Row-major, because rows are read as a whole.
using Terms = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// Adam (Kingma and Ba), with the settings of the released code.
class Adam {
 public:
  explicit Adam(Eigen::Index size) : mean_(Floats::Zero(size)), square_(Floats::Zero(size)) {}

  void Step(const Floats& gradient, Floats& weights) {
    mean_power_ *= kMeanDecay;
    square_power_ *= kSquareDecay;
    mean_ = kMeanDecay * mean_ + (1 - kMeanDecay) * gradient;
    square_ = kSquareDecay * square_ + (1 - kSquareDecay) * gradient.cwiseAbs2();
    const float rate = kRate / (1 - mean_power_);
    const float root = std::sqrt(1 - square_power_);
    weights.array() -= rate * mean_.array() / (square_.array().sqrt() / root + kSmallest);
  }

 private:
  static constexpr float kRate = 1e-3F;
  static constexpr float kMeanDecay = 0.9F;
  static constexpr float kSquareDecay = 0.999F;
  static constexpr float kSmallest = 1e-8F;
  float mean_power_ = 1;
  float square_power_ = 1;
  Floats mean_;
  Floats square_;
};

// One tree with its nodes in pre-order. Each node refers to one of the tree's few distinct
// measurements.
struct TrainingTree {
  std::vector<uint32_t> rows;  // rows of `terms`
  struct Node {
    uint32_t row = 0;     // index into `rows`
    uint32_t parent = 0;  // index into `nodes`
    bool leaf = true;
    double measured = 0;
    double leaf_joules = 0;
  };
  std::vector<Node> nodes;
};

class WeightTrainer {
 public:
  WeightTrainer(const Terms& terms, const WeightTraining& training)
      : terms_(terms),
        training_(training),
        weights_(Start(terms.cols(), training.seed)),
        gradient_(Floats::Zero(terms.cols() + 1)),
        adam_(terms.cols() + 1) {}

  void Learn(const TrainingTree& tree) {
    const size_t rows = tree.rows.size();
    const Eigen::Index last = terms_.cols();
    score_.resize(rows);
    score_gradient_.assign(rows, 0);
    const float bias = weights_[last];
    for (size_t row = 0; row < rows; ++row) {
      score_[row] = static_cast<double>(terms_.row(tree.rows[row]).dot(weights_.head(last)) + bias);
    }
    if (training_.method == Method::kUnstructured) {
      AddUnstructuredGradient(tree);
    } else {
      AddTreeGradient(tree);
    }
    gradient_.setZero();
    for (size_t row = 0; row < rows; ++row) {
      const auto slope = static_cast<float>(score_gradient_[row]);
      if (slope == 0) continue;
      gradient_.head(last) += slope * terms_.row(tree.rows[row]).transpose();
      gradient_[last] += slope;
    }
    adam_.Step(gradient_, weights_);
  }

  const Floats& weights() const { return weights_; }

 private:
  // The initial weights that PyTorch gives a linear layer.
  static Floats Start(Eigen::Index terms, uint64_t seed) {
    std::mt19937_64 random(seed);
    const double bound = 1 / std::sqrt(static_cast<double>(terms));
    Floats weights(terms + 1);
    for (float& weight : weights) {
      const double zero_to_one = static_cast<double>(random() >> 11) * 0x1p-53;
      weight = static_cast<float>((2 * zero_to_one - 1) * bound);
    }
    return weights;
  }

  static double LossSlope(double joules, double measured) {
    return 2 * (joules - measured) / (measured * measured);
  }

  void AddUnstructuredGradient(const TrainingTree& tree) {
    for (const TrainingTree::Node& node : tree.nodes) {
      if (!node.leaf) score_gradient_[node.row] += LossSlope(score_[node.row], node.measured);
    }
  }

  // Sums bottom-up, then propagates the gradient of the loss top-down. In pre-order, going
  // backwards visits every child before its parent.
  void AddTreeGradient(const TrainingTree& tree) {
    const bool stepwise = training_.method == Method::kStepwise;
    const size_t count = tree.nodes.size();
    weight_.resize(score_.size());
    for (size_t row = 0; row < score_.size(); ++row) {
      score_[row] = std::tanh(score_[row]);
      weight_[row] = 1 + score_[row] / kTau;
    }
    joules_.assign(count, 0);
    slope_.assign(count, 0);
    for (size_t i = count; i-- > 1;) {
      const TrainingTree::Node& node = tree.nodes[i];
      if (node.leaf) joules_[i] = node.leaf_joules;
      joules_[node.parent] += weight_[node.row] * (stepwise ? node.measured : joules_[i]);
    }
    for (size_t i = 0; i < count; ++i) {
      const TrainingTree::Node& node = tree.nodes[i];
      if (i > 0) {
        const double above = slope_[node.parent];
        score_gradient_[node.row] += above * (stepwise ? node.measured : joules_[i]);
        if (!stepwise) slope_[i] = above * weight_[node.row];
      }
      if (!node.leaf) slope_[i] += LossSlope(joules_[i], node.measured);
    }
    for (size_t row = 0; row < score_.size(); ++row) {
      score_gradient_[row] *= (1 - score_[row] * score_[row]) / kTau;
    }
  }

  static constexpr double kTau = 10;
  const Terms& terms_;
  WeightTraining training_;
  Floats weights_;  // the last one is the bias
  Floats gradient_;
  Adam adam_;
  std::vector<double> score_;           // by row of the tree; later replaced by its tanh
  std::vector<double> weight_;          // by row of the tree
  std::vector<double> score_gradient_;  // gradient of the loss with respect to the score
  std::vector<double> joules_;          // by node
  std::vector<double> slope_;           // gradient of the loss with respect to `joules_`
};

std::vector<TrainingTree> MakeTrainingTrees(const Measurements& all,
                                            const std::vector<uint32_t>& trees,
                                            const std::vector<double>& leaf_joules,
                                            std::vector<uint32_t>& used_rows) {
  constexpr uint32_t kNone = ~uint32_t{0};
  std::vector<uint32_t> place(all.rows.size(), kNone);  // index of a row in the matrix of terms
  std::vector<uint32_t> local(all.rows.size(), kNone);  // index of a row in the tree
  std::vector<TrainingTree> training_trees;
  training_trees.reserve(trees.size());
  for (const uint32_t index : trees) {
    const MeasuredTree& tree = all.trees[index];
    TrainingTree out;
    out.nodes.reserve(tree.end - tree.begin);
    for (uint32_t i = tree.begin; i < tree.end; ++i) {
      const MeasuredNode& node = all.nodes[i];
      if (place[node.row] == kNone) {
        place[node.row] = static_cast<uint32_t>(used_rows.size());
        used_rows.push_back(node.row);
      }
      if (local[node.row] == kNone) {
        local[node.row] = static_cast<uint32_t>(out.rows.size());
        out.rows.push_back(place[node.row]);
      }
      out.nodes.push_back({local[node.row], node.parent - tree.begin, node.leaf,
                           all.rows[node.row].measured, leaf_joules[node.row]});
    }
    for (uint32_t i = tree.begin; i < tree.end; ++i) local[all.nodes[i].row] = kNone;
    training_trees.push_back(std::move(out));
  }
  return training_trees;
}

Terms ExpandRows(const Standard& standard, const Measurements& all,
                 const std::vector<uint32_t>& rows, const std::vector<Feature>& features) {
  Terms terms(static_cast<Eigen::Index>(rows.size()),
              static_cast<Eigen::Index>(CubicTerms(features.size())));
  for (size_t row = 0; row < rows.size(); ++row) {
    Expand(standard, Pick(all.rows[rows[row]].features, features),
           terms.row(static_cast<Eigen::Index>(row)).data());
  }
  return terms;
}

}  // namespace

void Expand(const Standard& standard, const std::vector<double>& features, float* terms) {
  const size_t count = features.size();
  std::vector<double> x(count);
  for (size_t i = 0; i < count; ++i) x[i] = (features[i] - standard.mean[i]) / standard.scale[i];
  *terms++ = 1;
  for (size_t i = 0; i < count; ++i) *terms++ = static_cast<float>(x[i]);
  for (size_t i = 0; i < count; ++i) {
    for (size_t j = i; j < count; ++j) *terms++ = static_cast<float>(x[i] * x[j]);
  }
  for (size_t i = 0; i < count; ++i) {
    for (size_t j = i; j < count; ++j) {
      const double product = x[i] * x[j];
      for (size_t k = j; k < count; ++k) *terms++ = static_cast<float>(product * x[k]);
    }
  }
}

ChildWeighting TrainChildWeights(const Measurements& all, const std::vector<uint32_t>& trees,
                                 const std::vector<Feature>& features,
                                 const std::vector<double>& leaf_joules,
                                 const WeightTraining& training) {
  std::vector<uint32_t> rows;
  const std::vector<TrainingTree> training_trees = MakeTrainingTrees(all, trees, leaf_joules, rows);
  ChildWeighting weighting;
  weighting.standard = StandardOf(all, rows, features);
  const Terms terms = ExpandRows(weighting.standard, all, rows, features);
  WeightTrainer trainer(terms, training);
  for (int epoch = 0; epoch < training.epochs; ++epoch) {
    if (training.watch != nullptr && training.watch->is_stopped()) break;
    for (const TrainingTree& tree : training_trees) trainer.Learn(tree);
  }
  const Floats& learned = trainer.weights();
  weighting.weights.assign(learned.begin(), learned.end() - 1);
  weighting.bias = static_cast<double>(learned[learned.size() - 1]);
  return weighting;
}

std::vector<double> Score(const ChildWeighting& weighting, const Measurements& all,
                          const std::vector<uint32_t>& rows, const std::vector<Feature>& features) {
  const Floats weights =
      Eigen::Map<const Eigen::VectorXd>(weighting.weights.data(),
                                        static_cast<Eigen::Index>(weighting.weights.size()))
          .cast<float>();
  const Terms terms = ExpandRows(weighting.standard, all, rows, features);
  const Floats found = terms * weights;
  std::vector<double> scores;
  for (const float score : found) scores.push_back(static_cast<double>(score) + weighting.bias);
  return scores;
}

}  // namespace beryl::learn
