#include "flows/analyse_data.h"

#include "base/matchers_for_test.h"
#include "types/note_testing.h"

namespace beryl::flows {
namespace {

const DataRequest kData = {.path = "tests/data/two-models"};

TEST(BreakDown, HasAModelWithItsOriginAndNotes) {
  std::vector<Note> notes;
  const auto found = BreakDown({.path = "tests/data/two-models",
                                .model = "tiny-gpt",
                                .profile = "tests/data/learn/law.json"},
                               notes);
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_THAT(found->models, SizeIs(1));
  EXPECT_EQ(found->models[0].model, "tiny-gpt");
  EXPECT_GT(found->models[0].predicted_runs, 0U);
  EXPECT_TRUE(found->origin.measured);
  EXPECT_EQ(found->origin.predicted_by, "tests/data/learn/law.json");
  EXPECT_THAT(found->origin.provenance.sources, ElementsAre("tests/data/two-models"));
  EXPECT_EQ(found->origin.notes.size(), notes.size());
}

TEST(BreakDown, AnUnknownModelIsAMisuse) {
  std::vector<Note> notes;
  const auto found = BreakDown({.path = kData.path, .model = "tiny-bart"}, notes);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::kMisuse);
  EXPECT_THAT(found.error().message, HasSubstr("did you mean 'tiny-bert'"));
}

TEST(CostQueries, NamesTheTableOfElectricityAndItsProblems) {
  std::vector<Note> notes;
  const std::string grid = "tests/golden/cost-own-grid/grid.csv";
  const auto costs = CostQueries(kData, {.region = "home", .grid = grid}, {}, notes);
  ASSERT_TRUE(costs) << costs.error().message;
  EXPECT_EQ(costs->electricity.region, "home");
  EXPECT_THAT(costs->origin.provenance.sources, ElementsAre(kData.path, grid));
  EXPECT_THAT(costs->origin.notes, SizeIs(1));
}

TEST(CostQueries, NotesOfTheDataSurviveAFailure) {
  std::vector<Note> notes;
  analyze::CostOptions options;
  options.batch_size = 4711;
  const std::string grid = "tests/golden/cost-own-grid/grid.csv";
  const auto costs = CostQueries(kData, {.region = "home", .grid = grid}, options, notes);
  ASSERT_FALSE(costs);
  EXPECT_THAT(costs.error().message, HasSubstr("no run of this batch size"));
  EXPECT_THAT(notes, SizeIs(1));
}

TEST(TradeOff, ChoosesWithinABudget) {
  std::vector<Note> notes;
  analyze::TradeoffOptions options;
  options.budget = Joules{1};
  const std::string accuracies = "tests/golden/tradeoff-table/accuracy.csv";
  const auto tradeoff = TradeOff(kData, accuracies, options, notes);
  ASSERT_TRUE(tradeoff) << tradeoff.error().message;
  ASSERT_THAT(tradeoff->choices, SizeIs(1));
  ASSERT_TRUE(tradeoff->choices[0].within_budget);
  EXPECT_EQ(tradeoff->points[*tradeoff->choices[0].within_budget].model, "tiny-bert");
  EXPECT_EQ(tradeoff->accuracy_file, accuracies);
  EXPECT_THAT(tradeoff->origin.provenance.sources, ElementsAre(kData.path, accuracies));
}

}  // namespace
}  // namespace beryl::flows
