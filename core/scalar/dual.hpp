// Dual numbers: value and one exact derivative, d(f(x)) = f'(x) dx. As scalar of a kernel they differentiate it; duals
// of numbers that carry derivatives themselves give second derivatives.
#pragma once

#include <cmath>

namespace symplectree {

template <class T>
struct DualOf {
  T value{}, slope{};

  DualOf() = default;
  DualOf(double v) : value(v), slope(0.0) {}
  DualOf(T v, T d) : value(v), slope(d) {}

  DualOf& operator+=(const DualOf& b) { return *this = DualOf(value + b.value, slope + b.slope); }
  DualOf& operator-=(const DualOf& b) { return *this = DualOf(value - b.value, slope - b.slope); }
  DualOf& operator*=(const DualOf& b) { return *this = DualOf(value * b.value, slope * b.value + value * b.slope); }

  friend DualOf operator-(const DualOf& a) { return {-a.value, -a.slope}; }
  friend DualOf operator+(DualOf a, const DualOf& b) { return a += b; }
  friend DualOf operator-(DualOf a, const DualOf& b) { return a -= b; }
  friend DualOf operator*(DualOf a, const DualOf& b) { return a *= b; }
  friend DualOf operator/(const DualOf& a, const DualOf& b) {
    const T q = a.value / b.value;
    return {q, (a.slope - q * b.slope) / b.value};
  }
  friend DualOf sqrt(const DualOf& a) {
    using std::sqrt;
    const T r = sqrt(a.value);
    return {r, a.slope / (r + r)};
  }
  friend DualOf sin(const DualOf& a) {
    using std::cos, std::sin;
    return {sin(a.value), cos(a.value) * a.slope};
  }
  friend DualOf cos(const DualOf& a) {
    using std::cos, std::sin;
    return {cos(a.value), -(sin(a.value) * a.slope)};
  }
  friend DualOf atan2(const DualOf& y, const DualOf& x) {
    using std::atan2;
    return {atan2(y.value, x.value), (x.value * y.slope - y.value * x.slope) / (x.value * x.value + y.value * y.value)};
  }
  friend DualOf round(const DualOf& a) {  // a step: no slope
    using std::round;
    return {round(a.value), T(0.0)};
  }
};

using Dual = DualOf<double>;

// Does a number carry derivatives with it?
template <class T>
inline constexpr bool carries_derivatives = false;
template <class T>
inline constexpr bool carries_derivatives<DualOf<T>> = true;

inline double value_of(double x) { return x; }
template <class T>
double value_of(const DualOf<T>& x) {
  return value_of(x.value);
}

// Is a number zero, and all derivatives that it carries?
inline bool vanishes(double x) { return x == 0; }

// f(x) as a scalar of x's type, from f and its first two derivatives at the value of x: exact for scalars that carry
// derivatives up to the second.
inline double taylor(double f, double, double, double) { return f; }
template <class T>
T taylor(double f, double df, double ddf, const T& x) {
  const T d = x - T(value_of(x));
  return T(f) + d * (T(df) + T(0.5 * ddf) * d);
}

}  // namespace symplectree
