// Joules, Watts and Nanos are types that do not mix: adding a power to an energy does not compile.
// Multiplying a power by a time gives an energy, and so on.
#pragma once

#include <compare>
#include <cstdint>

namespace beryl {

// A time or a duration in nanoseconds. As a time it is counted from the origin of a named clock
// (see types/op_trace.h); int64 reaches 292 years.
struct Nanos {
  int64_t value = 0;

  constexpr double seconds() const { return static_cast<double>(value) * 1e-9; }
  constexpr auto operator<=>(const Nanos&) const = default;
  constexpr Nanos operator+(Nanos other) const { return {value + other.value}; }
  constexpr Nanos operator-(Nanos other) const { return {value - other.value}; }
};

template <typename Unit>
struct Quantity {
  double value = 0;

  constexpr auto operator<=>(const Quantity&) const = default;
  constexpr Quantity operator+(Quantity other) const { return {value + other.value}; }
  constexpr Quantity operator-(Quantity other) const { return {value - other.value}; }
  constexpr Quantity operator-() const { return {-value}; }
  constexpr Quantity operator*(double factor) const { return {value * factor}; }
  constexpr Quantity operator/(double divisor) const { return {value / divisor}; }
  constexpr double operator/(Quantity other) const { return value / other.value; }
  constexpr Quantity& operator+=(Quantity other) {
    value += other.value;
    return *this;
  }
};

using Joules = Quantity<struct JouleUnit>;
using Watts = Quantity<struct WattUnit>;

constexpr Joules operator*(Watts power, Nanos time) { return {power.value * time.seconds()}; }
constexpr Watts operator/(Joules energy, Nanos time) { return {energy.value / time.seconds()}; }

}  // namespace beryl
