// A frame fixed in a body.
#pragma once

#include "model/body.hpp"

namespace symplectree {

struct Frame {
  Point point;
  Mat3<double> axes;  // the frame's axes in the core's axes of its body
};

}  // namespace symplectree
