// Elements between two bodies: a scalar s of their poses, the gauge (a distance, an angle), a potential V(s) of it and
// a damper, whose tension is c ṡ.
//
// A kind of such elements is one header in this folder, a struct with
//   fields()                 as every kind of row has (row_fields.hpp)
//   a, b                     what it holds on to in either body: a Point each, or an Axis
//   damping                  c
//   gauge(a, b)              s and its derivative, of Points where they are (HeldPoint), of Axes the bodies' poses
//   energy(s, functions)     V; the functions are those of the model
//   tension(g, functions)    V'(s) times the gauge's scale
//   elastic()                is there any potential?
//   change(s0, s1)           s1 − s0 over a step; may be left out where it is just that (an angle takes the shorter
//   way)
// of which the functions are templated on the scalar, and a line in SYMPLECTREE_PAIR_KINDS (kinds.hpp). Second
// derivatives come from running these functions on dual numbers (elements/pair_elements.hpp). s must stay what it is
// when both bodies move as one: momentum is conserved then. Of Points it depends on nothing but where these are, of
// Axes on nothing but the bodies' rotations.
#pragma once

#include "model/potential.hpp"
#include "model/rows/row_fields.hpp"
#include "spatial/twist_wrench.hpp"

namespace symplectree {

using Functions = std::vector<Potential>;

// s, and its derivative Ds = scale (a, b) as wrenches on the two bodies about their centres: ṡ = Ds·(V_a, V_b). Where s
// has no derivative, as a length that is zero, the scale is zero; (a, b) is smooth everywhere.
template <class T>
struct Gauge {
  T value, scale;
  Spatial<T> a, b;

  Spatial<T> on_a() const { return scale * a; }
  Spatial<T> on_b() const { return scale * b; }
  T rate(const Spatial<T>& V_a, const Spatial<T>& V_b) const { return scale * (dot(a, V_a) + dot(b, V_b)); }
};

// A point fixed in a body: from the body's centre, in world axes, and where it is.
template <class T>
struct HeldPoint {
  Vec3<T> arm, x;
};

// What a gauge is a function of, at a body's pose.
template <class R, class T>
HeldPoint<T> held(const PointOf<R>& p, const BodyPose<T>& pose) {
  const Vec3<T> arm = pose.R * Vec3<T>(p.at);
  return {arm, pose.x + arm};
}
template <class T>
const BodyPose<T>& held(const Axis&, const BodyPose<T>& pose) {
  return pose;
}

}  // namespace symplectree
