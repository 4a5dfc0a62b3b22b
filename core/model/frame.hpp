// A frame fixed in a body.
#pragma once

#include "model/body.hpp"

namespace symplectree {

struct Frame {
  Point point;
  Mat3<double> axes;  // the frame's axes in the core's axes of its body
};

// Pose of a frame fixed in a body: axes and origin in the world.
template <class T>
struct FramePose {
  int body;
  Mat3<T> R;
  Vec3<T> x;
};

}  // namespace symplectree
