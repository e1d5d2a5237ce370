#include "analyze/analyze.h"
#include "analyze/energy_use_testing.h"
#include "base/matchers_for_test.h"

namespace beryl::analyze {
namespace {

Dataset Data() {
  Dataset data;
  data.name = "data";
  data.runs = {MakeRun("a", 16, 256, 1), MakeRun("b", 8, 32, 2)};
  return data;
}

TEST(CostQueries, AQueryIsAnItemOfABatch) {
  CostOptions options;
  options.electricity.price_per_kwh = 0.5;
  options.electricity.co2e_g_per_kwh = 400;
  options.batch_size = 16;
  const auto costs = CostQueries(Data(), {}, options);
  ASSERT_TRUE(costs);
  ASSERT_THAT(costs->rows, SizeIs(1));
  const QueryCosts::Row& row = costs->rows[0];
  EXPECT_DOUBLE_EQ(ValueOrNan(row.batch_energy), 33);
  EXPECT_DOUBLE_EQ(ValueOrNan(row.query_energy), 33.0 / 16);
  EXPECT_DOUBLE_EQ(*row.cost.kwh, 33.0 / 16 / 3.6);
  EXPECT_DOUBLE_EQ(*row.cost.price, *row.cost.kwh * 0.5);
  EXPECT_DOUBLE_EQ(*row.cost.co2e_kg, *row.cost.kwh * 0.4);
  EXPECT_FALSE(row.cost.kwh_low);
}

TEST(CostQueries, GrowsWithQueriesAndPassages) {
  CostOptions once;
  CostOptions more;
  more.queries = 3e6;
  more.passages = 150;
  const auto a = CostQueries(Data(), {}, once);
  const auto b = CostQueries(Data(), {}, more);
  ASSERT_TRUE(a && b);
  for (size_t row = 0; row < a->rows.size(); ++row) {
    EXPECT_DOUBLE_EQ(*b->rows[row].cost.kwh, *a->rows[row].cost.kwh * 450);
    // What is not known of electricity is not known of its price.
    EXPECT_FALSE(a->rows[row].cost.price);
    EXPECT_FALSE(a->rows[row].cost.co2e_kg);
  }
}

TEST(CostQueries, PredictedRowsHaveTheirInterval) {
  std::vector<Column> predicted(2);
  predicted[0].total = {36};
  predicted[0].low = {18};
  predicted[0].high = {72};
  const auto costs = CostQueries(Data(), predicted, {});
  ASSERT_TRUE(costs);
  ASSERT_THAT(costs->rows, SizeIs(3));
  EXPECT_TRUE(costs->rows[1].predicted);
  EXPECT_DOUBLE_EQ(*costs->rows[1].cost.kwh, 36.0 / 16 / 3.6);
  EXPECT_DOUBLE_EQ(*costs->rows[1].cost.kwh_low, *costs->rows[1].cost.kwh / 2);
  EXPECT_DOUBLE_EQ(*costs->rows[1].cost.kwh_high, *costs->rows[1].cost.kwh * 2);
}

TEST(CostQueries, SaysWhichSizesThereAre) {
  CostOptions options;
  options.seq_len = 1;
  const auto costs = CostQueries(Data(), {}, options);
  ASSERT_FALSE(costs);
  EXPECT_THAT(costs.error().message, HasSubstr("8x32, 16x256"));
  EXPECT_FALSE(CostQueries({}, {}, {}));
}

}  // namespace
}  // namespace beryl::analyze
