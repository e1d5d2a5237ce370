#include "learn/describe/operation_costs.h"

#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "learn/describe/bottleneck_fit.h"
#include "learn/describe/described_testing.h"

namespace beryl::learn {
namespace {

TEST(FitBottleneck, FindsBothSidesOfTheBottleneck) {
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> uniform(0.1, 10);
  const Eigen::Index count = 200;
  BottleneckRows rows{Eigen::MatrixXd(count, 2), Eigen::MatrixXd(count, 1), Eigen::VectorXd(count)};
  const double overlap = 0.5;
  for (Eigen::Index i = 0; i < count; ++i) {
    rows.device.row(i) << uniform(random), uniform(random);
    rows.host(i, 0) = uniform(random);
    const double device = 2 * rows.device(i, 0) + 0.5 * rows.device(i, 1);
    const double host = 3 * rows.host(i, 0);
    rows.measured[i] = std::max(device, host + (1 - overlap) * device);
  }
  const BottleneckFit fit = FitBottleneck(rows, overlap, std::nullopt);
  EXPECT_NEAR(fit.costs[0], 2, 0.02);
  EXPECT_NEAR(fit.costs[1], 0.5, 0.02);
  EXPECT_NEAR(fit.costs[2], 3, 0.03);
  EXPECT_LT(fit.error, 0.005);
}

TEST(FitBottleneck, StaysAtThePriorWhereTheDataSaysNothing) {
  BottleneckRows rows{Eigen::MatrixXd::Zero(20, 2), Eigen::MatrixXd::Zero(20, 1),
                      Eigen::VectorXd::Ones(20)};
  rows.device.col(0).setOnes();
  BottleneckPrior prior{Eigen::Vector3d(0.5, 7, 4), Eigen::Vector3d(1, 1, 1), 1e-6};
  const BottleneckFit fit = FitBottleneck(rows, 0.5, prior);
  EXPECT_NEAR(fit.costs[0], 1, 1e-3);
  EXPECT_NEAR(fit.costs[1], 7, 1e-6);
  EXPECT_NEAR(fit.costs[2], 4, 1e-6);
}

TEST(OperationCounter, CountsWhatIsInNoPrimitiveAndSharesLikeOnes) {
  const Description description = TinyDescription(8, 64);
  OperationCounter counter;
  const auto counted = counter.Count(description);
  const NodeOperations& root = counted[0];
  EXPECT_FALSE(root.primitive);
  ASSERT_EQ(counter.primitives().size(), 2u) << "two layers have the same Linear and LayerNorm";
  double linears = 0;
  for (const auto& [index, times] : root.primitives) {
    if (counter.primitives()[index].type == "Linear") linears += times;
  }
  EXPECT_EQ(linears, 2);
  const size_t elementwise = 3 * static_cast<size_t>(DeviceKind::kElementwise);
  EXPECT_EQ(root.own[elementwise], 2) << "an add in each layer";
}

// Data that the form describes exactly: it has to be found again, also for sizes never seen.
TEST(FitCosts, FindsTheCostsThatDataWasMadeOf) {
  OperationCounter counter;
  std::vector<NodeOperations> nodes;
  for (const int64_t rows : {8, 16, 32, 64, 128, 256, 512, 1024}) {
    for (const int64_t width : {64, 128, 256, 512}) {
      for (NodeOperations& node : counter.Count(TinyDescription(rows, width))) {
        nodes.push_back(std::move(node));
      }
    }
  }
  const auto joules = [](const NodeOperations& node, const std::vector<Primitive>& primitives) {
    DeviceWork work = node.own;
    for (const auto& [index, times] : node.primitives) {
      for (size_t i = 0; i < work.size(); ++i) work[i] += times * primitives[index].device[i];
    }
    double device = 0;
    for (size_t i = 0; i < work.size(); i += 3) {
      device += 1e-6 * work[i] + 4e-11 * work[i + 1] + 1e-9 * work[i + 2];
    }
    double host = 0;
    for (const double count : node.host) host += 2e-3 * count;
    return std::max(device, host + 0.5 * device);
  };
  std::vector<CostRow> rows;
  for (const NodeOperations& node : nodes) {
    const double value = joules(node, counter.primitives());
    if (value > 0 && (node.primitive || node.primitives.size() > 1)) rows.push_back({&node, value});
  }
  const OperationCosts costs = FitCosts(rows, counter.primitives());
  const PreparedCosts prepared(costs);
  const CostModel model(prepared, counter.primitives());
  double worst = 0;
  for (const CostRow& row : rows) {
    worst = std::max(worst, std::abs(model.Alone(*row.operations).value / row.measured - 1));
  }
  EXPECT_LT(worst, 0.05);

  OperationCounter others;
  const auto unseen = others.Count(TinyDescription(4096, 1024));
  const CostModel beyond(prepared, others.primitives());
  const CostEstimate estimate = beyond.Alone(unseen[0]);
  EXPECT_NEAR(estimate.value / joules(unseen[0], others.primitives()), 1, 0.1);
  EXPECT_GT(estimate.doubt, model.Alone(nodes[0]).doubt) << "doubt grows outside of the data";
}

}  // namespace
}  // namespace beryl::learn
