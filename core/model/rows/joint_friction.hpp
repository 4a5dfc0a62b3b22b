// Dry friction of one velocity: a force |f| ≤ `force` that keeps it at rest, or is the largest against its motion.
#pragma once

#include "model/rows/row_fields.hpp"

namespace symplectree {

template <class R>
struct JointFrictionOf {
  int owner, v;
  R force;

  static constexpr auto fields() {
    using Row = JointFrictionOf;
    return std::tuple{Field{"owner", &Row::owner}, Field{"v", &Row::v}, Field{"force", &Row::force}};
  }
};
using JointFriction = JointFrictionOf<double>;

}  // namespace symplectree
