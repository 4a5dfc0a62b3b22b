// Choices between lanes of packs. A set of lanes is a number whose bit k says whether lane k is in it.
#pragma once

#include <utility>

#include "scalar/simd_pack.hpp"
#include "spatial/vec3.hpp"

namespace symplectree {

template <int W>
using LaneMask = decltype(typename PackLanes<W>::type{} < typename PackLanes<W>::type{});

using LaneSet = unsigned;

template <int W>
LaneSet lanes_where(const LaneMask<W>& mask) {
  LaneSet out = 0;
  for (int k = 0; k < W; ++k) out |= (mask[k] != 0 ? 1u : 0u) << k;
  return out;
}
// Lanes in which a < b, or a ≤ b; never where one is not a number.
template <int W>
LaneSet below(const Pack<W>& a, const Pack<W>& b) {
  return lanes_where<W>(a.lanes < b.lanes);
}
template <int W>
LaneSet at_most(const Pack<W>& a, const Pack<W>& b) {
  return lanes_where<W>(a.lanes <= b.lanes);
}

template <int W>
LaneMask<W> mask_of(LaneSet set) {
  LaneMask<W> mask{};
  for (int k = 0; k < W; ++k) mask[k] = (set >> k & 1) ? -1 : 0;
  return mask;
}

// a in the lanes of the mask, b in the others.
template <int W>
Pack<W> select(const LaneMask<W>& mask, const Pack<W>& a, const Pack<W>& b) {
  return Pack<W>(mask ? a.lanes : b.lanes);
}

template <int W>
Pack<W> size_of(const Pack<W>& a) {
  return Pack<W>(a.lanes < 0 ? -a.lanes : a.lanes);
}
// The larger one; b where either is not a number.
template <int W>
Pack<W> largest_of(const Pack<W>& a, const Pack<W>& b) {
  return Pack<W>(a.lanes >= b.lanes ? a.lanes : b.lanes);
}

template <int W>
Pack<W> norm1(const Vec3<Pack<W>>& v) {
  return size_of(v.x) + size_of(v.y) + size_of(v.z);
}

// Lanes k + S of `a` and k of `b` change places, for every k without bit S; K... are all lanes.
template <int S, int W, int... K>
void exchange(Pack<W>& a, Pack<W>& b, std::integer_sequence<int, K...>) {
  const auto low = shuffled<(K & S ? W + K - S : K)...>(a.lanes, b.lanes);
  b.lanes = shuffled<(K & S ? W + K : K + S)...>(a.lanes, b.lanes);
  a.lanes = low;
}
// Lane k of x[i] and lane i of x[k] change places, of W packs.
template <int W, int S = 1>
void transpose(Pack<W>* x) {
  if constexpr (S < W) {
    for (int i = 0; i < W; ++i)
      if (!(i & S)) exchange<S>(x[i], x[i + S], std::make_integer_sequence<int, W>());
    transpose<W, 2 * S>(x);
  }
}

// f(lane) of each lane in the set.
template <class F>
void for_lanes(LaneSet set, F&& f) {
  for (int k = 0; set >> k; ++k)
    if (set >> k & 1) f(k);
}

}  // namespace symplectree
