#include <cmath>

#include <gmock/gmock.h>

#include "learn/energy_use_testing.h"
#include "learn/learn.h"

namespace beryl::learn {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr const char* kHeader =
    "region,price_per_kwh,currency,price_date,price_source,co2e_g_per_kwh,carbon_date,"
    "carbon_source\n";

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
  EXPECT_DOUBLE_EQ(row.kwh, 33.0 / 16 / 3.6);
  EXPECT_DOUBLE_EQ(row.price, row.kwh * 0.5);
  EXPECT_DOUBLE_EQ(row.co2e_kg, row.kwh * 0.4);
  EXPECT_TRUE(std::isnan(row.kwh_low));
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
    EXPECT_DOUBLE_EQ(b->rows[row].kwh, a->rows[row].kwh * 450);
    // What is not known of electricity is not known of its price.
    EXPECT_TRUE(std::isnan(a->rows[row].price));
    EXPECT_TRUE(std::isnan(a->rows[row].co2e_kg));
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
  EXPECT_DOUBLE_EQ(costs->rows[1].kwh, 36.0 / 16 / 3.6);
  EXPECT_DOUBLE_EQ(costs->rows[1].kwh_low, costs->rows[1].kwh / 2);
  EXPECT_DOUBLE_EQ(costs->rows[1].kwh_high, costs->rows[1].kwh * 2);
}

TEST(CostQueries, SaysWhichSizesThereAre) {
  CostOptions options;
  options.seq_len = 1;
  const auto costs = CostQueries(Data(), {}, options);
  ASSERT_FALSE(costs);
  EXPECT_THAT(costs.error().message, HasSubstr("8x32, 16x256"));
  EXPECT_FALSE(CostQueries({}, {}, {}));
}

TEST(ReadElectricity, TheBundledTableIsSound) {
  std::vector<Note> notes;
  const auto regions = ReadElectricity(BundledElectricity(), "bundled", notes);
  ASSERT_TRUE(regions);
  EXPECT_THAT(notes, IsEmpty());
  EXPECT_EQ(regions->front().region, "US");
  EXPECT_DOUBLE_EQ(regions->front().price_per_kwh, 0.1319);
  for (const Electricity& region : *regions) {
    // A figure without a date and somebody who says so is worth nothing.
    EXPECT_EQ(std::isnan(region.price_per_kwh), region.price_date.empty()) << region.region;
    EXPECT_EQ(std::isnan(region.price_per_kwh), region.price_source.empty()) << region.region;
    EXPECT_EQ(std::isnan(region.price_per_kwh), region.currency.empty()) << region.region;
    EXPECT_FALSE(std::isnan(region.co2e_g_per_kwh)) << region.region;
    EXPECT_FALSE(region.carbon_date.empty()) << region.region;
    EXPECT_FALSE(region.carbon_source.empty()) << region.region;
  }
}

TEST(ReadElectricity, BadFiguresAreFindings) {
  std::vector<Note> notes;
  const auto regions = ReadElectricity(
      std::string(kHeader) + "A,cheap,EUR,2024,me,-3,2024,me\n,1,,,,,,\nB,\"0.2\",EUR\n", "grid",
      notes);
  ASSERT_TRUE(regions);
  ASSERT_THAT(*regions, SizeIs(2));
  EXPECT_TRUE(std::isnan((*regions)[0].price_per_kwh));
  EXPECT_TRUE(std::isnan((*regions)[0].co2e_g_per_kwh));
  EXPECT_DOUBLE_EQ((*regions)[1].price_per_kwh, 0.2);
  ASSERT_THAT(notes, SizeIs(2));
  EXPECT_EQ(notes[0].count, 2u);
  EXPECT_EQ(notes[0].first, "grid:2");
  EXPECT_EQ(notes[1].first, "grid:3");
}

TEST(ReadElectricity, AMissingColumnIsAnError) {
  std::vector<Note> notes;
  const auto regions = ReadElectricity("# mine\nregion,price\nA,1\n", "grid", notes);
  ASSERT_FALSE(regions);
  EXPECT_THAT(regions.error().message, HasSubstr("grid:2"));
  EXPECT_THAT(regions.error().message, HasSubstr("price_per_kwh"));
  EXPECT_FALSE(ReadElectricity("", "grid", notes));
}

}  // namespace
}  // namespace beryl::learn
