// Dual numbers: value and one exact derivative, d(f(x)) = f'(x) dx. As scalar of a kernel they differentiate it.
#pragma once

#include <cmath>

namespace symplectree {

struct Dual {
  double value = 0, slope = 0;

  Dual() = default;
  Dual(double v, double d = 0) : value(v), slope(d) {}

  Dual& operator+=(const Dual& b) { return *this = Dual(value + b.value, slope + b.slope); }
  Dual& operator-=(const Dual& b) { return *this = Dual(value - b.value, slope - b.slope); }
  Dual& operator*=(const Dual& b) { return *this = Dual(value * b.value, slope * b.value + value * b.slope); }
};

inline Dual operator-(const Dual& a) { return {-a.value, -a.slope}; }
inline Dual operator+(Dual a, const Dual& b) { return a += b; }
inline Dual operator-(Dual a, const Dual& b) { return a -= b; }
inline Dual operator*(Dual a, const Dual& b) { return a *= b; }
inline Dual operator/(const Dual& a, const Dual& b) {
  const double q = a.value / b.value;
  return {q, (a.slope - q * b.slope) / b.value};
}

inline Dual sqrt(const Dual& a) {
  const double r = std::sqrt(a.value);
  return {r, a.slope / (2 * r)};
}
inline Dual sin(const Dual& a) { return {std::sin(a.value), std::cos(a.value) * a.slope}; }
inline Dual cos(const Dual& a) { return {std::cos(a.value), -std::sin(a.value) * a.slope}; }

// f(x) as a scalar of x's type, from its value and derivative.
inline double chain(double f, double, double) { return f; }
inline Dual chain(double f, double df, const Dual& x) { return {f, df * x.slope}; }

inline double value_of(double x) { return x; }
inline double value_of(const Dual& x) { return x.value; }

}  // namespace symplectree
