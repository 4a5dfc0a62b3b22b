// Tapes executed on numbers, and on numbers that carry derivatives up to the second.
#include "formula/tape.hpp"

#include <cmath>
#include <type_traits>

#include "scalar/jet.hpp"

namespace symplectree {
namespace {

// Value and derivatives of a function of two variables.
struct Derivatives2 {
  double f, fx, fy, fxx, fxy, fyy;
};

// f(x, y) from its value and derivatives at the values of x and y, as `taylor` of one variable.
template <class T>
T taylor_of_two(const Derivatives2& at, const T& x, const T& y) {
  const auto& [f, fx, fy, fxx, fxy, fyy] = at;
  const T a = x - T(value_of(x)), b = y - T(value_of(y));
  return T(f) + a * (T(fx) + T(0.5 * fxx) * a + T(fxy) * b) + b * (T(fy) + T(0.5 * fyy) * b);
}

template <class T>
T lifted_power(const T& x, const T& y) {
  const double a = value_of(x), b = value_of(y), f = std::pow(a, b);
  const double log = a > 0 ? std::log(a) : 0;  // a base that is not positive has a constant exponent
  const auto power = [a](double factor, double exponent) { return factor == 0 ? 0.0 : factor * std::pow(a, exponent); };
  return taylor_of_two({.f = f,
                        .fx = power(b, b - 1),
                        .fy = log * f,
                        .fxx = power(b * (b - 1), b - 2),
                        .fxy = a > 0 ? power(1 + b * log, b - 1) : 0.0,
                        .fyy = log * log * f},
                       x, y);
}

template <class T>
T lifted_atan2(const T& y, const T& x) {
  const double a = value_of(y), b = value_of(x), s = a * a + b * b, fa = b / s, fb = -a / s;
  return taylor_of_two({.f = std::atan2(a, b),
                        .fx = fa,
                        .fy = fb,
                        .fxx = -2 * fa * a / s,
                        .fxy = (a * a - b * b) / (s * s),
                        .fyy = -2 * fb * b / s},
                       y, x);
}

// One operation of a tape, on plain numbers or such that carry derivatives up to the second.
template <class T>
T operation(Op op, const T& x, const T& y) {
  constexpr bool plain = std::is_same_v<T, double>;
  const double a = value_of(x), b = value_of(y);
  const auto of = [&x](double f, double df, double ddf) { return taylor(f, df, ddf, x); };
  switch (op) {
    case Op::Add: return x + y;
    case Op::Sub: return x - y;
    case Op::Mul: return x * y;
    case Op::Div: return x / y;
    case Op::Neg: return -x;
    case Op::Sq: return x * x;
    case Op::Twice: return x + x;
    case Op::Inv: return T(1) / x;
    case Op::Sqrt: return of(std::sqrt(a), 0.5 / std::sqrt(a), -0.25 / (a * std::sqrt(a)));
    case Op::Sin: return of(std::sin(a), std::cos(a), -std::sin(a));
    case Op::Cos: return of(std::cos(a), -std::sin(a), -std::cos(a));
    case Op::Tan: {
      const double t = std::tan(a), s = 1 + t * t;
      return of(t, s, 2 * t * s);
    }
    case Op::Asin: {
      const double s = 1 / (1 - a * a), r = std::sqrt(s);
      return of(std::asin(a), r, a * r * s);
    }
    case Op::Acos: {
      const double s = 1 / (1 - a * a), r = std::sqrt(s);
      return of(std::acos(a), -r, -a * r * s);
    }
    case Op::Atan: {
      const double s = 1 / (1 + a * a);
      return of(std::atan(a), s, -2 * a * s * s);
    }
    case Op::Atan2:
      if constexpr (plain) return std::atan2(a, b);
      return lifted_atan2(x, y);
    case Op::Sinh: return of(std::sinh(a), std::cosh(a), std::sinh(a));
    case Op::Cosh: return of(std::cosh(a), std::sinh(a), std::cosh(a));
    case Op::Tanh: {
      const double t = std::tanh(a), s = 1 - t * t;
      return of(t, s, -2 * t * s);
    }
    case Op::Exp: return of(std::exp(a), std::exp(a), std::exp(a));
    case Op::Log: return of(std::log(a), 1 / a, -1 / (a * a));
    case Op::Pow:
      if constexpr (plain) return std::pow(a, b);
      return lifted_power(x, y);
    case Op::Fabs: return of(std::fabs(a), a < 0 ? -1 : 1, 0);
    case Op::Fmin:
      if constexpr (plain) return std::fmin(a, b);
      return a <= b ? x : y;
    case Op::Fmax:
      if constexpr (plain) return std::fmax(a, b);
      return a >= b ? x : y;
    case Op::IfElseZero: return a != 0 ? y : T(0);
    case Op::Assign: return x;
    case Op::Sign: return T(a > 0 ? 1 : a < 0 ? -1 : 0);
    case Op::Lt: return T(a < b);
    case Op::Le: return T(a <= b);
    case Op::Eq: return T(a == b);
    case Op::Ne: return T(a != b);
    case Op::Not: return T(a == 0);
    case Op::And: return T(a != 0 && b != 0);
    case Op::Or: return T(a != 0 || b != 0);
    default: return T(0);  // Const, Input and Output are no operations
  }
}

// The same on the numbers of a pack.
double each(Op op, double a, double b) { return operation(op, a, b); }
template <class T>
T each(Op op, const T& a, const T& b) {
  T out;
  for (int k = 0; k < T::width; ++k) out.set(k, operation(op, a[k], b[k]));
  return out;
}

}  // namespace

// At a round address: the time of this loop depends on where its branches lie, by a factor of two.
template <class T>
[[gnu::noinline, gnu::aligned(64)]] void Tape::run(const T* in, T* out, T* work) const {
  if constexpr (std::is_same_v<T, double>)
    if (native) return native(&in, &out, work);
  for (const Instruction& i : code) {
    switch (i.op) {
      case Op::Const: work[i.result] = T(i.constant); break;
      case Op::Input: work[i.result] = in[i.first]; break;
      case Op::Output: out[i.result] = work[i.first]; break;
      case Op::Add: work[i.result] = work[i.first] + work[i.second]; break;
      case Op::Sub: work[i.result] = work[i.first] - work[i.second]; break;
      case Op::Mul: work[i.result] = work[i.first] * work[i.second]; break;
      case Op::Div: work[i.result] = work[i.first] / work[i.second]; break;
      case Op::Neg: work[i.result] = -work[i.first]; break;
      case Op::Sq: work[i.result] = work[i.first] * work[i.first]; break;
      default: work[i.result] = each(i.op, work[i.first], work[i.second]);
    }
  }
}

template void Tape::run(const double*, double*, double*) const;
template void Tape::run(const Pack<2>*, Pack<2>*, Pack<2>*) const;
template void Tape::run(const Pack<4>*, Pack<4>*, Pack<4>*) const;
template void Tape::run(const Pack<8>*, Pack<8>*, Pack<8>*) const;

template <class T>
void Tape::run_ad(const T* in, T* out, T* work) const {
  for (const Instruction& i : code) {
    if (i.op == Op::Const) {
      work[i.result] = T(i.constant);
    } else if (i.op == Op::Input) {
      work[i.result] = in[i.first];
    } else if (i.op == Op::Output) {
      out[i.result] = work[i.first];
    } else {
      work[i.result] = operation(i.op, work[i.first], work[i.second]);
    }
  }
}

template void Tape::run_ad(const Jet*, Jet*, Jet*) const;
template void Tape::run_ad(const DualOf<Jet>*, DualOf<Jet>*, DualOf<Jet>*) const;

}  // namespace symplectree
