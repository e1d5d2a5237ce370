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
struct Scalar {
  double value = 0;

  constexpr auto operator<=>(const Scalar&) const = default;
  constexpr Scalar operator+(Scalar other) const { return {value + other.value}; }
  constexpr Scalar operator-(Scalar other) const { return {value - other.value}; }
  constexpr Scalar operator-() const { return {-value}; }
  constexpr Scalar operator*(double factor) const { return {value * factor}; }
  constexpr Scalar operator/(double divisor) const { return {value / divisor}; }
  constexpr double operator/(Scalar other) const { return value / other.value; }
  constexpr Scalar& operator+=(Scalar other) {
    value += other.value;
    return *this;
  }
};

using Joules = Scalar<struct JouleUnit>;
using Watts = Scalar<struct WattUnit>;

constexpr Joules operator*(Watts power, Nanos time) { return {power.value * time.seconds()}; }
constexpr Watts operator/(Joules energy, Nanos time) { return {energy.value / time.seconds()}; }

}  // namespace beryl
