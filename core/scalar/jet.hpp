// Jets: a value and its derivatives in eight directions at once.
#pragma once

#include "scalar/dual.hpp"
#include "scalar/simd_pack.hpp"

namespace symplectree {

struct Jet {
  static constexpr int width = 8;
  double value = 0;
  Pack<width> slope;

  Jet() = default;
  Jet(double v) : value(v) {}
  Jet(double v, const Pack<width>& d) : value(v), slope(d) {}

  Jet& operator+=(const Jet& b) {
    value += b.value, slope += b.slope;
    return *this;
  }
  Jet& operator-=(const Jet& b) {
    value -= b.value, slope -= b.slope;
    return *this;
  }
  friend Jet operator-(const Jet& a) { return {-a.value, -a.slope}; }
  friend Jet operator+(const Jet& a, const Jet& b) { return {a.value + b.value, a.slope + b.slope}; }
  friend Jet operator-(const Jet& a, const Jet& b) { return {a.value - b.value, a.slope - b.slope}; }
  friend Jet operator*(const Jet& a, const Jet& b) {
    return {a.value * b.value, Pack<width>(a.value) * b.slope + Pack<width>(b.value) * a.slope};
  }
  friend Jet operator/(const Jet& a, const Jet& b) {
    const double inverse = 1 / b.value, q = a.value * inverse;
    return {q, Pack<width>(inverse) * (a.slope - Pack<width>(q) * b.slope)};
  }
  friend Jet sqrt(const Jet& a) {
    const double r = std::sqrt(a.value);
    return {r, Pack<width>(0.5 / r) * a.slope};
  }
  friend Jet sin(const Jet& a) { return {std::sin(a.value), Pack<width>(std::cos(a.value)) * a.slope}; }
  friend Jet cos(const Jet& a) { return {std::cos(a.value), Pack<width>(-std::sin(a.value)) * a.slope}; }
  friend Jet atan2(const Jet& y, const Jet& x) {
    const double scale = 1 / (x.value * x.value + y.value * y.value);
    return {std::atan2(y.value, x.value),
            Pack<width>(scale * x.value) * y.slope - Pack<width>(scale * y.value) * x.slope};
  }
  friend Jet round(const Jet& a) { return Jet(std::round(a.value)); }
};

template <>
inline constexpr bool carries_derivatives<Jet> = true;

inline double value_of(const Jet& x) { return x.value; }
inline bool vanishes(const Jet& x) {
  bool zero = x.value == 0;
  for (int k = 0; k < Jet::width; ++k) zero &= x.slope[k] == 0;
  return zero;
}

// Duals of jets: these are large, and nothing is copied that need not be.
template <>
struct DualOf<Jet> {
  using D = DualOf;
  Jet value, slope;

  DualOf() = default;
  DualOf(double v) : value(v) {}
  DualOf(const Jet& v, const Jet& d) : value(v), slope(d) {}

  D& operator+=(const D& b) {
    value += b.value, slope += b.slope;
    return *this;
  }
  D& operator-=(const D& b) {
    value -= b.value, slope -= b.slope;
    return *this;
  }
  friend D operator-(const D& a) { return {-a.value, -a.slope}; }
  friend D operator+(const D& a, const D& b) { return {a.value + b.value, a.slope + b.slope}; }
  friend D operator-(const D& a, const D& b) { return {a.value - b.value, a.slope - b.slope}; }
  friend D operator*(const D& a, const D& b) { return {a.value * b.value, a.slope * b.value + a.value * b.slope}; }
  friend D operator/(const D& a, const D& b) {
    const Jet inverse = Jet(1) / b.value, q = a.value * inverse;
    return {q, (a.slope - q * b.slope) * inverse};
  }
  friend D sqrt(const D& a) {
    const Jet r = sqrt(a.value);
    return {r, a.slope / (r + r)};
  }
  friend D sin(const D& a) { return {sin(a.value), cos(a.value) * a.slope}; }
  friend D cos(const D& a) { return {cos(a.value), -(sin(a.value) * a.slope)}; }
  friend D atan2(const D& y, const D& x) {
    return {atan2(y.value, x.value), (x.value * y.slope - y.value * x.slope) / (x.value * x.value + y.value * y.value)};
  }
  friend D round(const D& a) { return {round(a.value), Jet()}; }
};

}  // namespace symplectree
