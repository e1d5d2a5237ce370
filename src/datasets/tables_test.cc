#include "base/matchers_for_test.h"
#include "datasets/datasets.h"

namespace beryl::datasets {
namespace {

constexpr const char* kHeader =
    "region,price_per_kwh,currency,price_date,price_source,co2e_g_per_kwh,carbon_date,"
    "carbon_source\n";

TEST(ReadElectricity, TheBundledTableIsSound) {
  std::vector<Note> notes;
  const auto regions = ReadElectricity(BundledElectricity(), "bundled", notes);
  ASSERT_TRUE(regions);
  EXPECT_THAT(notes, IsEmpty());
  EXPECT_EQ(regions->front().region, "US");
  EXPECT_EQ(regions->front().price_per_kwh, 0.1319);
  for (const Electricity& region : *regions) {
    // A figure without a date and somebody who says so is worth nothing.
    EXPECT_EQ(!region.price_per_kwh, region.price_date.empty()) << region.region;
    EXPECT_EQ(!region.price_per_kwh, region.price_source.empty()) << region.region;
    EXPECT_EQ(!region.price_per_kwh, region.currency.empty()) << region.region;
    EXPECT_TRUE(region.co2e_g_per_kwh) << region.region;
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
  EXPECT_FALSE((*regions)[0].price_per_kwh);
  EXPECT_FALSE((*regions)[0].co2e_g_per_kwh);
  EXPECT_EQ((*regions)[1].price_per_kwh, 0.2);
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

TEST(ReadAccuracies, LeavesOutWhatItCannotRead) {
  std::vector<Note> notes;
  const auto read = ReadAccuracies(
      "accuracy,label,model\n0.9,\"Big, and \"\"good\"\"\",a\nhigh,,b\n0.8,,c\n0.7,,a\n,,\n",
      "acc.csv", notes);
  ASSERT_TRUE(read);
  ASSERT_THAT(*read, SizeIs(2));
  EXPECT_EQ((*read)[0].label, "Big, and \"good\"");
  EXPECT_EQ((*read)[1].label, "c");
  ASSERT_THAT(notes, SizeIs(2));
  EXPECT_EQ(notes[0].first, "acc.csv:3");
  EXPECT_EQ(notes[0].count, 2u);
  EXPECT_EQ(notes[1].first, "acc.csv:5");
}

TEST(ReadAccuracies, TwoScalesAreSaid) {
  std::vector<Note> notes;
  ASSERT_TRUE(ReadAccuracies("model,accuracy\na,0.9\nb,88\n", "acc.csv", notes));
  EXPECT_THAT(notes, SizeIs(1));
}

TEST(ReadAccuracies, NothingInItIsAnError) {
  std::vector<Note> notes;
  EXPECT_FALSE(ReadAccuracies("", "a", notes));
  EXPECT_FALSE(ReadAccuracies("model\nx\n", "a", notes));
  EXPECT_FALSE(ReadAccuracies("model,accuracy\n", "a", notes));
  EXPECT_THAT(notes, IsEmpty());
}

}  // namespace
}  // namespace beryl::datasets
