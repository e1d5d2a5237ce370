#include "learn/fit/child_weights.h"

#include <cmath>
#include <random>

#include "base/matchers_for_test.h"
#include "learn/fit/primitives.h"
#include "learn/learn_testing.h"

namespace beryl::learn {
namespace {

const std::vector<Feature> kThree = {Feature::kFlops, Feature::kGpu, Feature::kSeconds};

TEST(ChildWeights, PolynomialHasAllProductsInOrder) {
  EXPECT_EQ(CubicTerms(14), 680U);  // as in the released code
  Standard standard;
  standard.mean = {0, 1};
  standard.scale = {1, 2};
  std::vector<float> terms(CubicTerms(2));
  ASSERT_EQ(terms.size(), 10U);
  Expand(standard, {2, 7}, terms.data());  // a = 2, b = 3
  EXPECT_THAT(terms, ElementsAre(1, 2, 3, 4, 6, 9, 8, 12, 18, 27));
}

// Equations 3 and 4 written down plainly, node by node, in double precision, with numbers for
// slopes that come from differences: slow, and sharing nothing with what is tested but the start.
class PlainTrainer {
 public:
  PlainTrainer(const Measurements& all, const std::vector<uint32_t>& trees,
               const std::vector<double>& leaf_joules, Method method)
      : all_(all), leaf_joules_(leaf_joules), method_(method) {
    std::vector<uint32_t> rows;
    for (uint32_t row = 0; row < all.rows.size(); ++row) rows.push_back(row);
    const Standard standard = StandardOf(all, rows, kThree);
    for (const MeasuredRow& row : all.rows) {
      std::vector<float> terms(CubicTerms(kThree.size()));
      Expand(standard, Pick(row.features, kThree), terms.data());
      terms_.emplace_back(terms.begin(), terms.end());
      terms_.back().push_back(1);  // for the bias
    }
    const size_t size = terms_[0].size();
    std::mt19937_64 random(5);
    const double bound = 1 / std::sqrt(static_cast<double>(size - 1));
    for (size_t i = 0; i < size; ++i) {
      weights_.push_back((2 * (static_cast<double>(random() >> 11) * 0x1p-53) - 1) * bound);
    }
    std::vector<double> mean(size, 0);
    std::vector<double> square(size, 0);
    int step = 0;
    for (const uint32_t tree : trees) {
      ++step;
      std::vector<double> slope(size);
      for (size_t i = 0; i < size; ++i) {
        constexpr double kNudge = 1e-6;
        const double before = weights_[i];
        weights_[i] = before + kNudge;
        const double above = Loss(all.trees[tree]);
        weights_[i] = before - kNudge;
        slope[i] = (above - Loss(all.trees[tree])) / (2 * kNudge);
        weights_[i] = before;
      }
      for (size_t i = 0; i < size; ++i) {
        mean[i] = 0.9 * mean[i] + 0.1 * slope[i];
        square[i] = 0.999 * square[i] + 0.001 * slope[i] * slope[i];
        weights_[i] -= 1e-3 * mean[i] / (1 - std::pow(0.9, step)) /
                       (std::sqrt(square[i] / (1 - std::pow(0.999, step))) + 1e-8);
      }
    }
  }

  const std::vector<double>& weights() const { return weights_; }

 private:
  double Score(uint32_t row) const {
    double score = 0;
    for (size_t i = 0; i < weights_.size(); ++i) score += weights_[i] * terms_[row][i];
    return score;
  }
  double Loss(const MeasuredTree& tree) const {
    double loss = 0;
    Joules(tree, tree.begin, loss);
    return loss;
  }
  double Joules(const MeasuredTree& tree, uint32_t at, double& loss) const {
    const MeasuredNode& node = all_.nodes[at];
    if (node.leaf) return leaf_joules_[node.row];
    double joules = 0;
    for (uint32_t child = at + 1; child < tree.end; ++child) {
      if (all_.nodes[child].parent != at) continue;
      const double below = Joules(tree, child, loss);
      const double counted =
          method_ == Method::kStepwise ? all_.rows[all_.nodes[child].row].measured : below;
      joules += (1 + std::tanh(Score(all_.nodes[child].row)) / 10) * counted;
    }
    if (method_ == Method::kUnstructured) joules = Score(node.row);
    const double measured = all_.rows[node.row].measured;
    loss += (joules - measured) * (joules - measured) / (measured * measured);
    return joules;
  }

  const Measurements& all_;
  const std::vector<double>& leaf_joules_;
  Method method_;
  std::vector<std::vector<double>> terms_;
  std::vector<double> weights_;
};

class Training : public ::testing::TestWithParam<Method> {};

TEST_P(Training, IsWhatTheEquationsSay) {
  const Dataset data = MakeDataset(TestMachine{}, 1);
  const Measurements all = Gather(data);
  std::vector<uint32_t> trees;
  for (uint32_t i = 0; i < all.trees.size(); ++i) trees.push_back(i);
  std::vector<double> leaf_joules;
  for (const MeasuredRow& row : all.rows) leaf_joules.push_back(0.9 * row.measured);
  const PlainTrainer plain(all, trees, leaf_joules, GetParam());
  const ChildWeighting learned =
      TrainChildWeights(all, trees, kThree, leaf_joules, {GetParam(), 5, 1});
  ASSERT_EQ(learned.weights.size() + 1, plain.weights().size());
  for (size_t i = 0; i < learned.weights.size(); ++i) {
    EXPECT_NEAR(learned.weights[i], plain.weights()[i], 2e-5) << i;
  }
  EXPECT_NEAR(learned.bias, plain.weights().back(), 2e-5);
}

INSTANTIATE_TEST_SUITE_P(ChildWeights, Training,
                         ::testing::Values(Method::kEnd2End, Method::kStepwise,
                                           Method::kUnstructured));

TEST(ChildWeights, TheSameSeedGivesTheSameWeights) {
  const Measurements all = Gather(MakeDataset(TestMachine{}, 1));
  const std::vector<double> leaf_joules(all.rows.size(), 0.1);
  auto train = [&](uint64_t seed) {
    return TrainChildWeights(all, {0, 1}, kThree, leaf_joules, {Method::kEnd2End, seed, 2}).weights;
  };
  EXPECT_EQ(train(1), train(1));
  EXPECT_NE(train(1), train(2));
}

}  // namespace
}  // namespace beryl::learn
