// A constraint u · w = 0 on directions fixed in two bodies.
#pragma once

#include "model/rows/row_fields.hpp"

namespace symplectree {

struct AngleRow {
  Axis u, w;
  int row, owner;

  static constexpr auto fields() {
    using Row = AngleRow;
    return std::tuple{Field{"owner", &Row::owner}, Field{"row", &Row::row}, Field{"u", &Row::u}, Field{"w", &Row::w}};
  }
  template <class R>
  void place(const BodiesOf<R>& bodies) {
    u = placed(bodies, u), w = placed(bodies, w);
  }
};
template <class R>
using AngleRowOf = AngleRow;  // directions are plain always

}  // namespace symplectree
