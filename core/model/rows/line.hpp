// A line between two points, d = x_b − x_a of length ℓ: V = φ(ℓ) or ½ k (ℓ − length)², tension φ'(ℓ) + c ℓ̇ (JM09
// section IV-C). Where ℓ is zero, a damper does nothing, nor does a spring, unless it is slack there: then its force is
// smooth, φ'' d.
#pragma once

#include "model/rows/pair_contract.hpp"
#include "scalar/simd_pack.hpp"

namespace symplectree {

template <class R>
struct LineOf {
  PointOf<R> a, b;
  int function;  // -1: linear spring
  R stiffness, length, damping;
  int owner;

  static constexpr auto fields() {
    using Row = LineOf;
    return std::tuple{Field{"owner", &Row::owner},
                      Field{"a", &Row::a},
                      Field{"b", &Row::b},
                      Field{"function", &Row::function},
                      Field{"stiffness", &Row::stiffness},
                      Field{"length", &Row::length},
                      Field{"damping", &Row::damping}};
  }
  void place(const BodiesOf<R>& bodies) { a = placed(bodies, a), b = placed(bodies, b); }

  template <class T>
  Gauge<T> gauge(const HeldPoint<T>& end_a, const HeldPoint<T>& end_b) const {
    const Vec3<T> d = end_b.x - end_a.x;
    const auto root = []<class S>(const S& x) {
      using std::sqrt;
      return value_of(x) == 0 ? S(0.0) : sqrt(x);
    };
    const auto inverse = []<class S>(const S& x) { return value_of(x) == 0 ? S(0.0) : S(1.0) / x; };
    const T l = lane_by_lane(root, dot(d, d));
    return {l, lane_by_lane(inverse, l), {cross(d, end_a.arm), -d}, {cross(end_b.arm, d), d}};
  }
  template <class T>
  T energy(const T& l, const Functions& functions) const {
    return lane_by_lane([&](const auto& x) { return derivative(0, x, functions); }, l);
  }
  template <class T>
  T tension(const Gauge<T>& g, const Functions& functions) const {
    const auto over_length = [&]<class S>(const S& l, const S& inverse) {
      const S slope = derivative(1, l, functions);
      if (value_of(inverse) != 0) return slope * inverse;
      const S curvature = derivative(2, l, functions);
      return value_of(slope) == 0 && std::isfinite(value_of(curvature)) ? curvature : S(0.0);
    };
    return lane_by_lane(over_length, g.value, g.scale);
  }
  bool elastic() const { return function >= 0 || !vanishes(stiffness); }

 private:
  // V or its first or second derivative at the length l.
  template <class S>
  S derivative(int order, const S& l, const Functions& functions) const {
    if (function < 0) {
      const S k(stiffness), stretch = l - S(length);
      return order == 0 ? S(0.5) * k * stretch * stretch : order == 1 ? k * stretch : k;
    }
    double phi[5] = {};
    functions[function].evaluate(value_of(l), phi);
    return taylor(phi[order], phi[order + 1], phi[order + 2], l);
  }
};
using Line = LineOf<double>;

}  // namespace symplectree
