#include "flows/electricity.h"

#include "base/matchers_for_test.h"

namespace beryl::flows {
namespace {

TEST(ChooseElectricity, TakesTheRegionAndWhatIsGivenInItsPlace) {
  std::vector<Note> notes;
  const auto table = ChooseElectricity({.region = "US"}, notes);
  ASSERT_TRUE(table);
  EXPECT_EQ(table->region, "US");
  EXPECT_FALSE(table->price_date.empty());
  const auto own = ChooseElectricity({.region = "US", .price = 0.5, .carbon = 30}, notes);
  ASSERT_TRUE(own);
  EXPECT_EQ(own->price_per_kwh, 0.5);
  EXPECT_EQ(own->co2e_g_per_kwh, 30);
  EXPECT_EQ(own->price_date, "");
  EXPECT_EQ(own->price_source, "given");
}

TEST(ChooseElectricity, SaysWhichRegionWasMeant) {
  std::vector<Note> notes;
  const auto found = ChooseElectricity({.region = "UX"}, notes);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::kMisuse);
  EXPECT_THAT(found.error().message, HasSubstr("'US'"));
}

}  // namespace
}  // namespace beryl::flows
