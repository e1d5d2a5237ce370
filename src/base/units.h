// Joules, Watts, Seconds and Nanos are types that do not mix: adding a power to an energy does not
// compile. Multiplying a power by a time gives an energy, and so on.
//
// A single value that may be unknown is an optional of these. Columns of values are plain doubles,
// with the unit in the column's name and NaN for unknown.
#pragma once

#include <cmath>
#include <compare>
#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>

namespace beryl {

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
  constexpr Scalar& operator+=(Scalar other) { return *this = *this + other; }
  constexpr Scalar& operator-=(Scalar other) { return *this = *this - other; }
  constexpr Scalar& operator*=(double factor) { return *this = *this * factor; }
  constexpr Scalar& operator/=(double divisor) { return *this = *this / divisor; }
};

template <typename Unit>
constexpr Scalar<Unit> operator*(double factor, Scalar<Unit> quantity) {
  return quantity * factor;
}

using Joules = Scalar<struct JouleUnit>;
using Watts = Scalar<struct WattUnit>;
// A calculated duration. Times, and durations between them, are Nanos.
using Seconds = Scalar<struct SecondUnit>;

// A time or a duration in nanoseconds. As a time it is counted from the origin of a named clock
// (see types/op_trace.h); int64 reaches 292 years.
struct Nanos {
  int64_t value = 0;

  constexpr double seconds() const { return static_cast<double>(value) * 1e-9; }
  constexpr auto operator<=>(const Nanos&) const = default;
  constexpr Nanos operator+(Nanos other) const { return {value + other.value}; }
  constexpr Nanos operator-(Nanos other) const { return {value - other.value}; }
};

constexpr Seconds ToSeconds(Nanos time) { return {time.seconds()}; }
// To the nearest nanosecond. Precondition: |time| is below 292 years.
inline Nanos ToNanos(Seconds time) { return {std::llround(time.value * 1e9)}; }

constexpr Joules operator*(Watts power, Seconds time) { return {power.value * time.value}; }
constexpr Watts operator/(Joules energy, Seconds time) { return {energy.value / time.value}; }
constexpr Seconds operator/(Joules energy, Watts power) { return {energy.value / power.value}; }
constexpr Joules operator*(Watts power, Nanos time) { return power * ToSeconds(time); }
constexpr Watts operator/(Joules energy, Nanos time) { return energy / ToSeconds(time); }

// Converts between a number of a column and a single value: NaN becomes nothing.
template <typename Quantity>
std::optional<Quantity> IfKnown(double value) {
  return std::isnan(value) ? std::nullopt : std::optional(Quantity{value});
}
template <typename Unit>
constexpr double ValueOrNan(const std::optional<Scalar<Unit>>& quantity) {
  return quantity ? quantity->value : std::numeric_limits<double>::quiet_NaN();
}

// Adds known values; unknown until the first known one.
template <typename Unit>
constexpr void AddKnown(std::optional<Scalar<Unit>>& sum,
                        const std::type_identity_t<std::optional<Scalar<Unit>>>& more) {
  if (more) sum = sum ? *sum + *more : *more;
}

}  // namespace beryl
