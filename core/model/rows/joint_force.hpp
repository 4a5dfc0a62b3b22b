// A force on one velocity: a value, and `gain` times an input added to it.
#pragma once

#include "model/rows/row_fields.hpp"

namespace symplectree {

template <class R>
struct JointForceOf {
  int v;
  R value;
  int input, owner;  // input -1: none
  R gain;

  static constexpr auto fields() {
    using Row = JointForceOf;
    return std::tuple{Field{"owner", &Row::owner}, Field{"v", &Row::v}, Field{"value", &Row::value},
                      Field{"input", &Row::input}, Field{"gain", &Row::gain}};
  }
};
using JointForce = JointForceOf<double>;

}  // namespace symplectree
