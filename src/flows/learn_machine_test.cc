#include "flows/learn_machine.h"

#include "base/file.h"
#include "base/matchers_for_test.h"
#include "flows/find_model.h"
#include "flows/read_data.h"

namespace beryl::flows {
namespace {

constexpr const char* kThreeModels = "tests/data/three-models";
constexpr const char* kMeasured = "tests/data/learn/measured_slice.csv.gz";

TEST(TrainMachine, TheLawBringsTheCostsOfOperationsIfTheModelsAreKnown) {
  std::vector<Note> notes;
  const auto known = TrainMachine({kMeasured}, {}, "a test bench", notes);
  ASSERT_TRUE(known) << known.error().message;
  EXPECT_EQ(known->method, Method::kLaw);
  EXPECT_TRUE(known->beside);
  EXPECT_EQ(known->trained_on.machine, "a test bench");
  EXPECT_THAT(known->provenance.sources, ElementsAre(kMeasured));
  const auto unknown = TrainMachine({kThreeModels}, {}, "", notes);
  ASSERT_TRUE(unknown) << unknown.error().message;
  EXPECT_FALSE(unknown->beside);
}

TEST(TrainMachine, WhatItWroteCanBeRead) {
  std::vector<Note> notes;
  const auto model = TrainMachine({kThreeModels}, {}, "", notes);
  ASSERT_TRUE(model);
  const std::string path = testing::TempDir() + "learn_machine_test.json";
  auto file = OutputFile::Open(path);
  ASSERT_TRUE(file && file->Commit(WriteProfile(*model)));
  const auto report = PredictData({kThreeModels, path});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->predicted.size(), report->data.runs.size());
  EXPECT_THAT(WriteTrees(*report), HasSubstr("predicted_energy"));
  ::remove(path.c_str());
}

TEST(EvaluateMethod, LeavesOutModelsOrTestsOnOthers) {
  const auto held_out = EvaluateMethod(kThreeModels, "", {}, 1);
  ASSERT_TRUE(held_out) << held_out.error().message;
  EXPECT_THAT(held_out->provenance.sources, Contains(kThreeModels));
  const auto tested = EvaluateMethod(kThreeModels, "tests/data/two-models", {}, 1);
  ASSERT_TRUE(tested) << tested.error().message;
  EXPECT_THAT(tested->provenance.sources, Contains("tests/data/two-models"));
  EXPECT_NE(held_out->levels[0].mape_models, tested->levels[0].mape_models);
}

TEST(EvaluateMethod, LeavesOutFamiliesThatItKnows) {
  const auto known = EvaluateMethod(kMeasured, "", {}, 1, FoldBy::kFamily);
  ASSERT_TRUE(known) << known.error().message;
  EXPECT_THAT(known->folds, ElementsAre("BERT", "GPT"));
  const auto unknown = EvaluateMethod(kThreeModels, "", {}, 1, FoldBy::kFamily);
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().message, HasSubstr("beryl models"));
}

TEST(AblateMethods, EvaluatesSeveralMethods) {
  const auto ablation = AblateMethods(kThreeModels, {}, 1);
  ASSERT_TRUE(ablation) << ablation.error().message;
  EXPECT_THAT(ablation->evaluations, SizeIs(Gt(3U)));
  EXPECT_THAT(ablation->provenance.sources, ElementsAre(kThreeModels));
}

TEST(CalibrateMachine, FitsTheLawToAsManyRowsAsThePlanSays) {
  const auto calibration = CalibrateMachine({kThreeModels}, {.rows = 8, .seed = 1, .draws = 3});
  ASSERT_TRUE(calibration) << calibration.error().message;
  EXPECT_THAT(calibration->chosen, SizeIs(8));
  EXPECT_EQ(calibration->draws, 3U);
  EXPECT_EQ(calibration->model.provenance.sources, calibration->provenance.sources);
}

}  // namespace
}  // namespace beryl::flows
