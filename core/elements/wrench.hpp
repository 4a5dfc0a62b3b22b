// A torque and a force on a frame, in its axes or in those of the world.
#pragma once

#include "model/rows/wrench.hpp"
#include "model/workspace.hpp"
#include "scalar/clamped.hpp"

namespace symplectree {

// A wrench row in world axes: torque and force.
template <class R, class T, class U>
Spatial<T> world_wrench(const WrenchOf<R>& row, const U* inputs, const Workspace<T>& w) {
  T c[6];
  for (int k = 0; k < 6; ++k)
    c[k] = T(row.value[k]) +
           (row.input[k] >= 0 ? T(row.gain[k]) * clamped(T(inputs[row.input[k]]), row.control_range) : T(0));
  const Spatial<T> given{{c[0], c[1], c[2]}, {c[3], c[4], c[5]}};
  if (row.world_axes) return given;
  const Mat3<T> axes = w.pose[row.point.body].R * cast<T>(row.axes);
  return {axes * given.angular, axes * given.linear};
}

}  // namespace symplectree
