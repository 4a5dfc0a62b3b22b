// A torque and a force on a frame, in its axes or in those of the world: values, and gains times inputs added
// to them.
#pragma once

#include "model/rows/row_fields.hpp"

namespace symplectree {

template <class R>
struct WrenchOf {
  PointOf<R> point;
  Mat3<double> axes;  // the frame's axes in the body's
  bool world_axes;
  R value[6];    // torque and force
  int input[6];  // -1: none
  R gain[6];
  double control_range[2];
  int owner;

  static constexpr auto fields() {
    using Row = WrenchOf;
    return std::tuple{Field{"owner", &Row::owner}, Field{"point", &Row::point},
                      Field{"axes", &Row::axes},   Field{"world_axes", &Row::world_axes},
                      Field{"value", &Row::value}, Field{"input", &Row::input},
                      Field{"gain", &Row::gain},   Field{"control_range", &Row::control_range}};
  }
  void place(const BodiesOf<R>& bodies) {
    axes = placed(bodies, point.body, axes);
    point = placed(bodies, point);
  }
};
using Wrench = WrenchOf<double>;

}  // namespace symplectree
