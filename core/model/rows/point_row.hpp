// A constraint n · (x_b − x_a) = 0 on two points, n fixed in a third body.
#pragma once

#include "model/rows/row_fields.hpp"

namespace symplectree {

template <class R>
struct PointRowOf {
  PointOf<R> a, b;
  Axis n;
  int row, owner;

  static constexpr auto fields() {
    using Row = PointRowOf;
    return std::tuple{Field{"owner", &Row::owner}, Field{"row", &Row::row}, Field{"a", &Row::a}, Field{"b", &Row::b},
                      Field{"n", &Row::n}};
  }
  void place(const BodiesOf<R>& bodies) { a = placed(bodies, a), b = placed(bodies, b), n = placed(bodies, n); }
};
using PointRow = PointRowOf<double>;

}  // namespace symplectree
