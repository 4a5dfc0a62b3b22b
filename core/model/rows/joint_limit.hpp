// An end stop of one coordinate: 0 ≤ λ ⟂ g ≥ 0 with the gap g = side · (q − bound); side 1 for a lower end, −1 for an
// upper one.
#pragma once

#include "model/rows/row_fields.hpp"

namespace symplectree {

template <class R>
struct JointLimitOf {
  int owner, q, v;
  double side;
  R bound;
  double restitution;  // how much of the speed a stop gives back

  static constexpr auto fields() {
    using Row = JointLimitOf;
    return std::tuple{Field{"owner", &Row::owner}, Field{"q", &Row::q},
                      Field{"v", &Row::v},         Field{"side", &Row::side},
                      Field{"bound", &Row::bound}, Field{"restitution", &Row::restitution}};
  }
};
using JointLimit = JointLimitOf<double>;

}  // namespace symplectree
