// A spring on one coordinate: V = ½ k (q − rest)².
#pragma once

#include "model/rows/row_fields.hpp"

namespace symplectree {

template <class R>
struct JointSpringOf {
  int q, v;
  R stiffness, rest;
  int owner;

  static constexpr auto fields() {
    using Row = JointSpringOf;
    return std::tuple{Field{"owner", &Row::owner}, Field{"q", &Row::q}, Field{"v", &Row::v},
                      Field{"stiffness", &Row::stiffness}, Field{"rest", &Row::rest}};
  }
};
using JointSpring = JointSpringOf<double>;

}  // namespace symplectree
