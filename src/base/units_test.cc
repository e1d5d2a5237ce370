#include "base/units.h"

#include "base/matchers_for_test.h"

namespace beryl {
namespace {

template <typename A, typename B>
concept Adds = requires(A a, B b) {
  a + b;
};

TEST(Units, DoNotMix) {
  static_assert(Adds<Joules, Joules>);
  static_assert(!Adds<Joules, Watts>);
  static_assert(!Adds<Seconds, Nanos>);
  static_assert(!std::is_convertible_v<double, Joules>);
  static_assert(!std::is_convertible_v<Joules, double>);
}

TEST(Units, ProductsAndQuotientsAreOfTheirUnit) {
  const Joules energy = Watts{20} * Seconds{3};
  EXPECT_EQ(energy, Joules{60});
  EXPECT_EQ(energy / Seconds{3}, Watts{20});
  EXPECT_EQ(energy / Watts{20}, Seconds{3});
  EXPECT_EQ(energy / Joules{30}, 2.0);
  EXPECT_EQ(Watts{20} * Nanos{3'000'000'000}, energy);
  EXPECT_EQ(energy / Nanos{3'000'000'000}, Watts{20});
}

TEST(Units, AddSubtractAndScaleInPlace) {
  Joules energy{10};
  energy += Joules{2};
  energy -= Joules{4};
  energy *= 3;
  energy /= 2;
  EXPECT_EQ(energy, Joules{12});
  EXPECT_EQ(0.5 * energy, -Joules{-6});
}

TEST(Units, SecondsAndNanosConvertToTheNearest) {
  EXPECT_EQ(ToSeconds(Nanos{1'500'000'000}), Seconds{1.5});
  EXPECT_EQ(ToNanos(Seconds{1.5}), Nanos{1'500'000'000});
  EXPECT_EQ(ToNanos(Seconds{-1.6e-9}), Nanos{-2});
}

TEST(Units, NotANumberIsNothing) {
  EXPECT_EQ(IfKnown<Joules>(std::nan("")), std::nullopt);
  EXPECT_THAT(IfKnown<Joules>(0), Optional(Eq(Joules{0}))) << "nothing taken is known";
  EXPECT_THAT(ValueOrNan(std::optional<Watts>()), IsNan());
  EXPECT_EQ(ValueOrNan(std::optional(Watts{7})), 7);
}

TEST(Units, ASumIsKnownAsSoonAsAPartIs) {
  std::optional<Joules> sum;
  AddKnown(sum, std::nullopt);
  EXPECT_EQ(sum, std::nullopt);
  AddKnown(sum, Joules{2});
  AddKnown(sum, std::nullopt);
  AddKnown(sum, Joules{3});
  EXPECT_EQ(sum, Joules{5});
}

}  // namespace
}  // namespace beryl
