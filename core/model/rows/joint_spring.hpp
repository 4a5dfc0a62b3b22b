// A spring on one coordinate: V = ½ k (q − rest)². That of a servo is not `stored`: it takes its energy from a supply,
// and gives it back there, so that it is no part of the mechanism's energy.
#pragma once

#include "model/rows/row_fields.hpp"

namespace symplectree {

template <class R>
struct JointSpringOf {
  int q, v;
  R stiffness, rest;
  int owner;
  bool stored;

  static constexpr auto fields() {
    using Row = JointSpringOf;
    return std::tuple{Field{"owner", &Row::owner},         Field{"q", &Row::q},       Field{"v", &Row::v},
                      Field{"stiffness", &Row::stiffness}, Field{"rest", &Row::rest}, Field{"stored", &Row::stored}};
  }
};
using JointSpring = JointSpringOf<double>;

}  // namespace symplectree
