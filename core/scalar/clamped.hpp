// Numbers within a range; derivatives are zero outside.
#pragma once

#include <type_traits>

#include "scalar/dual.hpp"
#include "scalar/simd_pack.hpp"

namespace symplectree {

template <class T>
T clamped(const T& x, const double (&range)[2]) {
  return lane_by_lane(
      [&](const auto& y) {
        using Y = std::decay_t<decltype(y)>;
        return value_of(y) < range[0] ? Y(range[0]) : value_of(y) > range[1] ? Y(range[1]) : y;
      },
      x);
}

}  // namespace symplectree
