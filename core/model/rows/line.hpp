// A line between two points at distance ℓ: V = φ(ℓ) or ½ k (ℓ − length)², tension φ'(ℓ) + c ℓ̇.
#pragma once

#include "model/rows/row_fields.hpp"

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
};
using Line = LineOf<double>;

}  // namespace symplectree
