// Elements between two bodies: a scalar s of their poses, the gauge (a distance, an angle), a potential V(s) of it and
// a damper, whose tension is c ṡ.
//
// A kind of such elements is one header in this folder, a struct with
//   fields()                 as every kind of row has (row_fields.hpp), "owner" and "damping" first
//   a, b                     what it holds on to in either body: a Point, an Axis
//   damping                  c
//   gauge(pose_a, pose_b)    s and its derivative
//   energy(s), slope(s)      V and V'
//   change(s0, s1)           s1 − s0 over a step; may be left out where it is just that (an angle takes the shorter
//   way)
// of which the functions are templated on the scalar, and a line in SYMPLECTREE_PAIR_KINDS (kinds.hpp). Second
// derivatives come from running these functions on dual numbers (elements/pair_elements.hpp). s must stay what it is
// when both bodies move as one: momentum is conserved then.
#pragma once

#include "model/rows/row_fields.hpp"

namespace symplectree {

// s, and its derivative as wrenches on the two bodies about their centres: ṡ = on_a·V_a + on_b·V_b.
template <class T>
struct Gauge {
  T value;
  Spatial<T> on_a, on_b;
};

}  // namespace symplectree
