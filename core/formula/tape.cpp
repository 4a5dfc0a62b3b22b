// Tapes executed on numbers.
#include "formula/tape.hpp"

#include <cmath>
#include <type_traits>

#include "scalar/simd_pack.hpp"

namespace symplectree {
namespace {

double apply(Op op, double a, double b) {
  switch (op) {
    case Op::Twice:
      return 2 * a;
    case Op::Inv:
      return 1 / a;
    case Op::Sqrt:
      return std::sqrt(a);
    case Op::Sin:
      return std::sin(a);
    case Op::Cos:
      return std::cos(a);
    case Op::Tan:
      return std::tan(a);
    case Op::Asin:
      return std::asin(a);
    case Op::Acos:
      return std::acos(a);
    case Op::Atan:
      return std::atan(a);
    case Op::Atan2:
      return std::atan2(a, b);
    case Op::Sinh:
      return std::sinh(a);
    case Op::Cosh:
      return std::cosh(a);
    case Op::Tanh:
      return std::tanh(a);
    case Op::Exp:
      return std::exp(a);
    case Op::Log:
      return std::log(a);
    case Op::Pow:
      return std::pow(a, b);
    case Op::Fabs:
      return std::fabs(a);
    case Op::Sign:
      return a > 0 ? 1 : a < 0 ? -1 : 0;
    case Op::Fmin:
      return std::fmin(a, b);
    case Op::Fmax:
      return std::fmax(a, b);
    case Op::Lt:
      return a < b;
    case Op::Le:
      return a <= b;
    case Op::Eq:
      return a == b;
    case Op::Ne:
      return a != b;
    case Op::Not:
      return a == 0;
    case Op::And:
      return a != 0 && b != 0;
    case Op::Or:
      return a != 0 || b != 0;
    case Op::IfElseZero:
      return a != 0 ? b : 0;
    default:
      return a;  // Assign
  }
}

double apply_all(Op op, double a, double b) { return apply(op, a, b); }
template <class T>
T apply_all(Op op, const T& a, const T& b) {
  T out;
  for (int k = 0; k < T::width; ++k) out.set(k, apply(op, a[k], b[k]));
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
      case Op::Const:
        work[i.result] = T(i.constant);
        break;
      case Op::Input:
        work[i.result] = in[i.first];
        break;
      case Op::Output:
        out[i.result] = work[i.first];
        break;
      case Op::Add:
        work[i.result] = work[i.first] + work[i.second];
        break;
      case Op::Sub:
        work[i.result] = work[i.first] - work[i.second];
        break;
      case Op::Mul:
        work[i.result] = work[i.first] * work[i.second];
        break;
      case Op::Div:
        work[i.result] = work[i.first] / work[i.second];
        break;
      case Op::Neg:
        work[i.result] = -work[i.first];
        break;
      case Op::Sq:
        work[i.result] = work[i.first] * work[i.first];
        break;
      default:
        work[i.result] = apply_all(i.op, work[i.first], work[i.second]);
    }
  }
}

template void Tape::run(const double*, double*, double*) const;
template void Tape::run(const Pack<2>*, Pack<2>*, Pack<2>*) const;
template void Tape::run(const Pack<4>*, Pack<4>*, Pack<4>*) const;

}  // namespace symplectree
