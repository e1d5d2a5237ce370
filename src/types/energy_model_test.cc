#include "types/energy_model.h"

#include <gtest/gtest.h>

namespace beryl {
namespace {

TEST(EnergyModel, NamesOfMethodsAreReadBack) {
  for (const MethodLook& look : Methods()) {
    EXPECT_EQ(ParseMethod(look.name), look.method);
    EXPECT_EQ(MethodName(look.method), look.name);
  }
  EXPECT_EQ(ParseMethod("Law"), std::nullopt);
  EXPECT_EQ(ParseMethod(""), std::nullopt);
}

TEST(EnergyModel, NamesOfFeatureSetsAreReadBack) {
  for (const FeatureSet set : {FeatureSet::kAll, FeatureSet::kResource, FeatureSet::kModel}) {
    EXPECT_EQ(ParseFeatureSet(FeatureSetName(set)), set);
  }
  EXPECT_EQ(ParseFeatureSet("everything"), std::nullopt);
}

TEST(EnergyModel, OnlyWhatStartsFromRandomNumbersIsSeeded) {
  EXPECT_TRUE(IsSeeded(Method::kEnd2End));
  EXPECT_TRUE(IsSeeded(Method::kStepwise));
  EXPECT_TRUE(IsSeeded(Method::kUnstructured));
  EXPECT_FALSE(IsSeeded(Method::kLaw));
  EXPECT_FALSE(IsSeeded(Method::kSum));
  EXPECT_FALSE(IsSeeded(Method::kBaseline));
  EXPECT_FALSE(IsSeeded(Method::kDatasheet));
}

TEST(LawSentence, SaysTheTermsThatThereAre) {
  EnergyLaw law;
  law.gpu_energy = LawTerm{1.0512, 0.01, true};
  law.rest_w = {98.2, 0.3, true};
  EXPECT_EQ(LawSentence(law), "1.05 x GPU energy + 98 W x time");

  law.busy_w = LawTerm{1.5, 0.5, false};
  law.busy_reference = 8.5;
  EXPECT_EQ(LawSentence(law),
            "1.05 x GPU energy + 98 W x time, and 1.5 W for each % of CPU above 8.5 % (assumed)");
  law.busy_w->measured = true;
  EXPECT_EQ(LawSentence(law),
            "1.05 x GPU energy + 98 W x time, and 1.5 W for each % of CPU above 8.5 %");
}

TEST(LawSentence, OfAMachineWithoutGpu) {
  EnergyLaw law;
  law.cpu_energy = LawTerm{1.1, 0.01, true};
  law.rest_w = {40, 1, true};
  EXPECT_EQ(LawSentence(law), "1.10 x CPU energy + 40 W x time");
  law.gpu_energy = LawTerm{1.04, 0.01, false};
  EXPECT_EQ(LawSentence(law), "1.04 x GPU energy (assumed) + 1.10 x CPU energy + 40 W x time");
}

}  // namespace
}  // namespace beryl
