#include "analyze/analyze.h"
#include "base/matchers_for_test.h"

namespace beryl::analyze {
namespace {

// A step of training: forward 30 J in two layers, backward 60 J, optimizer 10 J.
DescribedPrediction Step() {
  DescribedPrediction prediction;
  Description& of = prediction.description;
  const auto add = [&](NodeId parent, const char* name, RunPhase phase, double joules) {
    const auto id = of.tree.size();
    TreeNode node;
    node.parent = parent;
    node.end = id + 1;
    node.name = name;
    of.tree.nodes.push_back(node);
    of.nodes.emplace_back().phase = phase;
    prediction.energy.total.push_back(joules);
    prediction.energy.high.push_back(1.5 * joules);
    for (NodeId above = parent; above != id; above = of.tree.nodes[above].parent) {
      of.tree.nodes[above].end = id + 1;
      if (above == 0) break;
    }
    return id;
  };
  add(0, "tiny", RunPhase::kAll, 100);
  const NodeId forward = add(0, "forward", RunPhase::kForward, 30);
  add(forward, "layer.0", RunPhase::kForward, 10);
  add(forward, "layer.1", RunPhase::kForward, 20);
  const NodeId backward = add(0, "backward", RunPhase::kBackward, 60);
  add(backward, "layer.1", RunPhase::kBackward, 40);
  add(backward, "layer.0", RunPhase::kBackward, 20);
  add(0, "optimizer", RunPhase::kOptimizer, 10);
  return prediction;
}

BudgetVerdict Check(std::string_view text) {
  auto source = ByteSource::FromMemory(text, "budget.txt");
  const auto lines = ReadBudget(source);
  EXPECT_TRUE(lines) << lines.error().message;
  return CheckBudget(*lines, Step()).front();
}

TEST(CheckPredictedBudget, PhasesAndPaths) {
  const auto joules = [](std::string_view text) { return ValueOrNan(Check(text).energy); };
  EXPECT_DOUBLE_EQ(joules("total 1 J"), 100);
  EXPECT_DOUBLE_EQ(joules("total backward 1 J"), 60);
  EXPECT_DOUBLE_EQ(joules("backward 1 J"), 60);
  EXPECT_DOUBLE_EQ(joules("layer.0 1 J"), 30) << "in all phases";
  EXPECT_DOUBLE_EQ(joules("layer.* forward 1 J"), 30);
  EXPECT_DOUBLE_EQ(joules("forward/layer.1 1 J"), 20);
  EXPECT_DOUBLE_EQ(joules("** 1 J"), 100) << "nothing counts twice";
}

TEST(CheckPredictedBudget, APhaseAlone) {
  EXPECT_TRUE(Check("optimizer 10%").passed);
  const BudgetVerdict over = Check("optimizer 9%");
  EXPECT_FALSE(over.passed);
  EXPECT_THAT(over.reason, HasSubstr("1.0% of the whole over"));
}

TEST(CheckPredictedBudget, SaysThatTheIntervalReachesBeyond) {
  EXPECT_THAT(Check("total 120 J").reason, HasSubstr("up to 150 J"));
  EXPECT_TRUE(Check("total 120 J").passed);
  EXPECT_EQ(Check("total 151 J").reason, "");
}

TEST(CheckPredictedBudget, ATypoDoesNotPass) {
  const BudgetVerdict verdict = Check("layr.0 1 kJ");
  EXPECT_FALSE(verdict.passed);
  EXPECT_FALSE(verdict.nearest.empty());
  EXPECT_FALSE(Check("layer.0 optimizer 1 kJ").passed);
}

}  // namespace
}  // namespace beryl::analyze
