// Through the front door: what the operations of modules made anew are named.
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "importers/pytorch_for_test.h"

namespace beryl::importers {
namespace {

constexpr double kStep = 1000;

// What a step runs at an offset, as `{i}` for its number.
struct Part {
  std::string module;
  double at;
  double takes;
  std::string op = {};
};

// Of the operations, each once.
std::set<std::string> Distinct(const Imported& imported) {
  const auto names = imported.Names();
  return {names.begin(), names.end()};
}

std::vector<std::string> Steps(int steps, const std::vector<Part>& parts, bool marked = true) {
  std::vector<std::string> events;
  for (int i = 0; i < steps; ++i) {
    const double start = 10 + i * kStep;
    if (marked) {
      events.push_back(
          Event("user_annotation", fmt::format("ProfilerStep#{}", i), start, kStep - 1));
    }
    for (const Part& part : parts) {
      const std::string name = fmt::format(fmt::runtime(part.module), i, 2 * i, 2 * i + 1);
      events.push_back(Module(name, start + part.at, part.takes));
      if (!part.op.empty()) events.push_back(CpuOp(part.op, start + part.at + 1, 2));
    }
  }
  return events;
}

const std::vector<Part> kTraining = {{"Net_0", 10, 400},
                                     {"Linear_0", 20, 50, "aten::addmm"},
                                     {"CrossEntropyLoss_{0}", 100, 50, "aten::nll_loss"}};

TEST(FreshModulesTest, ALossMadeInEveryStepIsOneModule) {
  const Imported imported = ImportKineto(Steps(6, kTraining));
  EXPECT_THAT(Distinct(imported), UnorderedElementsAre("Net_0/Linear_0/aten::addmm",
                                                       "Net_0/CrossEntropyLoss_0/aten::nll_loss"));
  EXPECT_THAT(imported.trace.kinds, SizeIs(2));
  EXPECT_THAT(imported.trace.CountKinds(), ElementsAre(6, 6));
}

TEST(FreshModulesTest, CallsOfAModelAreStepsWhereNoneAreMarked) {
  const Imported imported = ImportKineto(Steps(3, kTraining, false));
  EXPECT_THAT(imported.trace.kinds, SizeIs(2));
  // Outside of the model too.
  const Imported outside = ImportKineto(Steps(
      3, {{"Net_0", 10, 80, "aten::add"}, {"CrossEntropyLoss_{0}", 100, 50, "aten::nll_loss"}},
      false));
  EXPECT_THAT(Distinct(outside),
              UnorderedElementsAre("Net_0/aten::add", "CrossEntropyLoss_0/aten::nll_loss"));
}

TEST(FreshModulesTest, SeveralInAStepKeepTheirOrderAndWhatIsInside) {
  const Imported imported = ImportKineto(Steps(3, {{"Net_0", 10, 400},
                                                   {"Criterion_{0}", 20, 300, "aten::mean"},
                                                   {"MSELoss_{1}", 30, 50, "aten::mse_loss"},
                                                   {"MSELoss_{2}", 90, 50, "aten::sub"}}));
  EXPECT_THAT(Distinct(imported), UnorderedElementsAre("Net_0/Criterion_0/aten::mean",
                                                       "Net_0/Criterion_0/MSELoss_0/aten::mse_loss",
                                                       "Net_0/Criterion_0/MSELoss_1/aten::sub"));
}

TEST(FreshModulesTest, AStepMayHaveNone) {
  std::vector<std::string> events = Steps(4, kTraining);
  std::erase_if(events, [](const std::string& event) {
    return event.find("CrossEntropyLoss_2") != std::string::npos;
  });
  EXPECT_THAT(ImportKineto(events).trace.kinds, SizeIs(3)) << "and one that is outside";
}

// As Python does it: a loss that is freed leaves its place to the next one, which gets its number.
TEST(FreshModulesTest, ANumberThatIsUsedAgainIsStillMadeAnew) {
  for (const bool marked : {true, false}) {
    std::vector<std::string> events = Steps(6, {{"Net_0", 10, 80, "aten::add"}}, marked);
    const int numbers[] = {0, 1, 2, 1, 2, 2};
    for (int step = 0; step < 6; ++step) {
      const double start = 10 + step * kStep + 100;
      events.push_back(Module(fmt::format("MSELoss_{}", numbers[step]), start, 50));
      events.push_back(CpuOp("aten::mse_loss", start + 1, 2));
    }
    const Imported imported = ImportKineto(events);
    EXPECT_THAT(Distinct(imported),
                UnorderedElementsAre("Net_0/aten::add", "MSELoss_0/aten::mse_loss"));
    EXPECT_THAT(imported.trace.CountKinds(), ElementsAre(6, 6));
  }
}

TEST(FreshModulesTest, TwoThatChangeNumbersKeepTheirPlacesInTheStep) {
  std::vector<std::string> events = Steps(4, {{"Net_0", 10, 400}});
  const int numbers[][2] = {{0, 1}, {2, 0}, {0, 2}, {1, 2}};
  for (int step = 0; step < 4; ++step) {
    const double start = 10 + step * kStep + 20;
    for (int i = 0; i < 2; ++i) {
      events.push_back(Module(fmt::format("MSELoss_{}", numbers[step][i]), start + 100 * i, 50));
      events.push_back(CpuOp(i == 0 ? "aten::first" : "aten::second", start + 100 * i + 1, 2));
    }
  }
  EXPECT_THAT(Distinct(ImportKineto(events)),
              UnorderedElementsAre("Net_0/MSELoss_0/aten::first", "Net_0/MSELoss_1/aten::second"));
}

TEST(FreshModulesTest, PartsThatRunByTurnsAreNotTheSame) {
  std::vector<std::string> events = Steps(4, {{"Net_0", 10, 400}});
  const int numbers[] = {0, 1, 0, 1};
  for (int step = 0; step < 4; ++step) {
    const double start = 10 + step * kStep + 20;
    events.push_back(Module(fmt::format("Branch_{}", numbers[step]), start, 200));
    events.push_back(Module(fmt::format("Tanh_{}", numbers[step]), start + 5, 100));
    events.push_back(CpuOp("aten::tanh", start + 10, 20));
  }
  EXPECT_THAT(
      Distinct(ImportKineto(events)),
      UnorderedElementsAre("Net_0/Branch_0/Tanh_0/aten::tanh", "Net_0/Branch_1/Tanh_1/aten::tanh"));
}

TEST(FreshModulesTest, ModulesWithWeightsAreNotTheSame) {
  // Another expert in every step.
  const Imported imported = ImportKineto(Steps(
      3, {{"Net_0", 10, 400}, {"Expert_{0}", 20, 50}, {"Linear_{0}", 22, 40, "aten::addmm"}}));
  EXPECT_THAT(Distinct(imported), UnorderedElementsAre("Net_0/Expert_0/Linear_0/aten::addmm",
                                                       "Net_0/Expert_1/Linear_1/aten::addmm",
                                                       "Net_0/Expert_2/Linear_2/aten::addmm"));
}

TEST(FreshModulesTest, CopiesThatDoTheSameAreOneModule) {
  const auto replicas = [](int steps, bool same) {
    std::vector<std::string> events =
        Steps(steps, {{"DataParallel_0", 10, 400}, {"Net_{0}", 20, 200}, {"Linear_{0}", 30, 50}});
    for (int i = 0; i < steps; ++i) {
      const int size = same || i == 0 ? 8 : 4;
      events.push_back(CpuOp("aten::linear", 10 + i * kStep + 35, 20,
                             fmt::format(R"("Input Dims":[[{},4],[4,4]])", size)));
    }
    return ImportKineto(events);
  };
  EXPECT_THAT(Distinct(replicas(3, true)),
              ElementsAre("DataParallel_0/Net_0/Linear_0/aten::linear"));
  EXPECT_THAT(replicas(2, true).trace.kinds, SizeIs(2)) << "two steps may have two experts";
  EXPECT_THAT(replicas(3, false).trace.kinds, SizeIs(3));
}

TEST(FreshModulesTest, ModulesThatRunInSeveralStepsAreNotTheSame) {
  std::vector<std::string> events =
      Steps(3, {{"Net_0", 10, 400}, {"Tanh_{0}", 20, 50, "aten::tanh"}});
  events.push_back(Module("Tanh_0", 10 + 2 * kStep + 200, 50));
  events.push_back(CpuOp("aten::tanh", 10 + 2 * kStep + 210, 5));
  EXPECT_THAT(ImportKineto(events).trace.kinds, SizeIs(3));
}

TEST(FreshModulesTest, OneStepSaysNothing) {
  const Imported imported = ImportKineto(Steps(
      1, {{"Net_0", 10, 400}, {"ReLU_0", 20, 50, "aten::relu"}, {"ReLU_1", 90, 50, "aten::relu"}}));
  EXPECT_THAT(imported.trace.kinds, SizeIs(2));
}

TEST(FreshModulesTest, AnotherNumberInEveryStepSaysNothing) {
  std::vector<std::string> events = Steps(3, kTraining);
  events.push_back(Module("CrossEntropyLoss_9", 10 + 200, 50));
  events.push_back(CpuOp("aten::nll_loss", 10 + 210, 5));
  EXPECT_THAT(ImportKineto(events).trace.kinds, SizeIs(5));
}

}  // namespace
}  // namespace beryl::importers
