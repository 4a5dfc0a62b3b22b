// A damper on one velocity: f = −c v.
#pragma once

#include "model/rows/row_fields.hpp"

namespace symplectree {

template <class R>
struct JointDamperOf {
  int v;
  R damping;
  int owner;

  static constexpr auto fields() {
    using Row = JointDamperOf;
    return std::tuple{Field{"owner", &Row::owner}, Field{"v", &Row::v}, Field{"damping", &Row::damping}};
  }
};
using JointDamper = JointDamperOf<double>;

}  // namespace symplectree
