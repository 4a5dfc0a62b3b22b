// A constraint |x_b − x_a| − length − q = 0 on two points and, unless their distance is fixed, a coordinate.
#pragma once

#include "model/rows/row_fields.hpp"

namespace symplectree {

template <class R>
struct DistanceRowOf {
  PointOf<R> a, b;
  R length;
  int q, v;  // -1: no coordinate
  int row, owner;

  static constexpr auto fields() {
    using Row = DistanceRowOf;
    return std::tuple{Field{"owner", &Row::owner},   Field{"row", &Row::row}, Field{"a", &Row::a}, Field{"b", &Row::b},
                      Field{"length", &Row::length}, Field{"q", &Row::q},     Field{"v", &Row::v}};
  }
  void place(const BodiesOf<R>& bodies) { a = placed(bodies, a), b = placed(bodies, b); }
};
using DistanceRow = DistanceRowOf<double>;

}  // namespace symplectree
