// A constraint u · w = 0 on directions fixed in two bodies.
#pragma once

#include "model/rows/row_fields.hpp"

namespace symplectree {

template <class R>
struct AngleRowOf {
  Axis u, w;
  int row, owner;

  static constexpr auto fields() {
    using Row = AngleRowOf;
    return std::tuple{Field{"owner", &Row::owner}, Field{"row", &Row::row}, Field{"u", &Row::u}, Field{"w", &Row::w}};
  }
  void place(const BodiesOf<R>& bodies) { u = placed(bodies, u), w = placed(bodies, w); }
};
using AngleRow = AngleRowOf<double>;

}  // namespace symplectree
