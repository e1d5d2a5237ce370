#include "learn/methods/law.h"

#include <cmath>
#include <numeric>

#include "base/matchers_for_test.h"
#include "learn/learn_testing.h"
#include "learn/train.h"

namespace beryl::learn {
namespace {

EnergyLaw LawOf(const Dataset& data) {
  const Measurements all = Gather(data);
  std::vector<uint32_t> rows(all.rows.size());
  std::iota(rows.begin(), rows.end(), 0);
  return FitLaw(all, rows, TermsOf(KnownFeatures(data)));
}

TEST(Law, FindsTheMachineItWasMeasuredOn) {
  TestMachine machine;
  machine.noise = 0;
  const EnergyLaw law = LawOf(MakeDataset(machine, 3));
  ASSERT_TRUE(law.gpu_energy.has_value());
  EXPECT_NEAR(law.gpu_energy->value, 1.05, 0.001);
  EXPECT_NEAR(law.rest_w.value, 98, 0.3);
  EXPECT_TRUE(law.gpu_energy->measured);
}

TEST(Law, OutliersDoNotMoveIt) {
  TestMachine machine;
  Dataset data = MakeDataset(machine, 4);
  size_t at = 0;
  for (ModelRun& run : data.runs) {
    for (double& joules : run.measured) {
      if (++at % 20 == 0) joules *= 3;
    }
  }
  const EnergyLaw law = LawOf(data);
  EXPECT_NEAR(law.gpu_energy->value, 1.05, 0.02);
  EXPECT_NEAR(law.rest_w.value, 98, 2);
}

// A reading that is far too low must not outweigh all others: it is divided by its energy.
TEST(Law, ReadingsThatAreFarTooLowDoNotMoveIt) {
  for (const double factor : {0.1, 1e-3, 1e-9, 1e-300}) {
    Dataset data = MakeDataset(TestMachine{}, 4);
    size_t at = 0;
    for (ModelRun& run : data.runs) {
      for (double& joules : run.measured) {
        if (++at % 20 == 0) joules *= factor;
      }
    }
    const EnergyLaw law = LawOf(data);
    EXPECT_NEAR(law.gpu_energy->value, 1.05, 0.02) << factor;
    EXPECT_NEAR(law.rest_w.value, 98, 2) << factor;
  }
}

// Energies in other units: what multiplies energy stays, what multiplies time goes along.
TEST(Law, ScalesWithItsUnits) {
  const Dataset data = MakeDataset(TestMachine{}, 3);
  Dataset doubled = data;
  for (ModelRun& run : doubled.runs) {
    for (double& joules : run.measured) joules *= 2;
    for (FeatureRow& row : run.features) {
      Set(row, Feature::kGpuEnergy, 2 * At(row, Feature::kGpuEnergy));
    }
  }
  const Measurements all = Gather(data);
  std::vector<uint32_t> rows(all.rows.size());
  std::iota(rows.begin(), rows.end(), 0);
  const LawTerms terms{.gpu_energy = true, .cpu_energy = false, .busy = false};
  const EnergyLaw one = FitLaw(all, rows, terms);
  const EnergyLaw two = FitLaw(Gather(doubled), rows, terms);
  EXPECT_NEAR(two.gpu_energy->value, one.gpu_energy->value, 1e-6);
  EXPECT_NEAR(two.rest_w.value, 2 * one.rest_w.value, 1e-3);
}

TEST(Law, AnIdleCpuLeavesTheBusyTermToThePrior) {
  const EnergyLaw law = LawOf(MakeDataset(TestMachine{}, 3));
  ASSERT_TRUE(law.busy_w.has_value());
  EXPECT_FALSE(law.busy_w->measured);
  EXPECT_NEAR(law.busy_w->value, 1.5, 0.2);
  EXPECT_THAT(LawSentence(law), HasSubstr("(assumed)"));
}

// The case that a law of two terms gets wrong: trained where the CPU idled, asked where it does
// not.
TEST(Law, ABusyCpuIsNotFarOff) {
  TestMachine idle;
  TestMachine busy = idle;
  busy.cpu_low = 50;
  busy.cpu_high = 60;
  busy.busy_w = 1.2;  // not the prior's
  const EnergyLaw law = LawOf(MakeDataset(idle, 3));
  for (const ModelRun& run : MakeDataset(busy, 1, 7).runs) {
    for (size_t node = 0; node < run.measured.size(); ++node) {
      const double predicted = Apply(law, run.features[node]);
      const double doubt = Doubt(law, run.features[node]);
      EXPECT_NEAR(predicted, run.measured[node], 0.1 * run.measured[node]);
      EXPECT_NEAR(predicted, run.measured[node], 2 * doubt + 0.02 * run.measured[node]);
    }
  }
}

TEST(Law, ACpuThatVariesIsMeasured) {
  TestMachine machine;
  machine.cpu_low = 5;
  machine.cpu_high = 70;
  machine.busy_w = 2.6;
  const EnergyLaw law = LawOf(MakeDataset(machine, 4));
  EXPECT_TRUE(law.busy_w->measured);
  EXPECT_NEAR(law.busy_w->value, 2.6, 0.1);
}

TEST(Law, TakesTheCpusOwnCounterWhereThereIsNoGpu) {
  Dataset data = MakeDataset(TestMachine{}, 3);
  for (ModelRun& run : data.runs) {
    for (FeatureRow& row : run.features) {
      Set(row, Feature::kCpuEnergy, At(row, Feature::kGpuEnergy));
      Set(row, Feature::kGpuEnergy, kUnknown);
    }
  }
  const EnergyLaw law = LawOf(data);
  EXPECT_FALSE(law.gpu_energy.has_value());
  EXPECT_FALSE(law.busy_w.has_value());
  ASSERT_TRUE(law.cpu_energy.has_value());
  EXPECT_NEAR(law.cpu_energy->value, 1.05, 0.01);
  EXPECT_THAT(LawSentence(law), HasSubstr("x CPU energy"));
}

TEST(Law, FewAndLikeRowsLeanOnThePrior) {
  Dataset data;
  RunMaker maker("one", 8, 32);
  for (int i = 0; i < 3; ++i) {
    FeatureRow row = UnknownFeatures();
    Set(row, Feature::kCpu, 8.5);
    Set(row, Feature::kSeconds, 0.01 + 0.001 * i);
    Set(row, Feature::kGpuEnergy, 200 * At(row, Feature::kSeconds));
    maker.Add(0, Level::kMl, std::to_string(i), "Linear", row, 310 * At(row, Feature::kSeconds));
  }
  data.runs.push_back(maker.Take());
  // The same power always: which part is whose cannot be told, but the sum can.
  const EnergyLaw law = LawOf(data);
  EXPECT_NEAR(law.gpu_energy->value, 1.06, 0.05);
  EXPECT_FALSE(law.gpu_energy->measured);
  EXPECT_NEAR(Apply(law, data.runs[0].features[0]), data.runs[0].measured[0], 1e-3);
}

TEST(Law, TheRestOfABoxGivesNoEnergyBack) {
  TestMachine machine;
  machine.gpu = 1;
  machine.rest_w = -5;
  machine.busy_w = 0;
  const EnergyLaw law = LawOf(MakeDataset(machine, 3));
  EXPECT_EQ(law.rest_w.value, 0);
  EXPECT_FALSE(law.rest_w.measured);
  EXPECT_LT(law.gpu_energy->value, 1);
}

TEST(Law, UnknownFeaturesGiveUnknownEnergy) {
  const EnergyLaw law = LawOf(MakeDataset(TestMachine{}, 2));
  EXPECT_TRUE(std::isnan(Apply(law, UnknownFeatures())));
}

}  // namespace
}  // namespace beryl::learn
