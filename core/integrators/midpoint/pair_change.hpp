// How the wrenches of an element between two bodies (elements/pair_elements.hpp) change when one of these, the mover,
// moves against the other. When both move as one, so do the wrenches, and nothing changes for the bodies: so this is
// all that Newton's matrix needs.
#pragma once

#include <array>

#include "elements/pair_elements.hpp"
#include "scalar/jet.hpp"

namespace symplectree {

// Wrenches on the two bodies, a and b, about their centres.
using WrenchPair = std::array<Spatial<double>, 2>;

struct PairChange {
  std::array<int, 2> body;  // a, b
  int mover;                // which of the two: b, or a where b is the world
  Vec3<double> arm;         // from the other's centre to the mover's
  WrenchPair gauge;         // Ds
  double damping;
  // Of unit twists of the mover at its centre, its velocity carried along: of the spring, and of the damper. That of
  // the mover is relative to one that moves with it.
  std::array<WrenchPair, 6> spring, damper;

  int other() const { return 1 - mover; }
  // Does it concern one body only?
  bool is_local() const { return body[other()] == 0; }
};

// Six unit twists at once.
inline Vec3<Jet> in_unit_twists(const Vec3<double>& x, const Vec3<double>* rates, int first) {
  Vec3<Jet> out(x);
  for (int k = 0; k < 3; ++k)
    out.x.slope.set(first + k, rates[k].x), out.y.slope.set(first + k, rates[k].y),
        out.z.slope.set(first + k, rates[k].z);
  return out;
}

// A vector that the angular ones turn, or a point that the linear ones shift.
inline Vec3<Jet> turned(const Vec3<double>& x) {
  const Mat3<double> axes = Mat3<double>::identity();
  const Vec3<double> rates[3] = {cross(axes.a, x), cross(axes.b, x), cross(axes.c, x)};
  return in_unit_twists(x, rates, 0);
}
inline Vec3<Jet> shifted(const Vec3<double>& x) {
  const Mat3<double> axes = Mat3<double>::identity();
  const Vec3<double> rates[3] = {axes.a, axes.b, axes.c};
  return in_unit_twists(x, rates, 3);
}

template <class Row>
PairChange pair_change(const Row& row, const Workspace<double>& at) {
  PairChange out{};
  out.body = {row.a.body, row.b.body};
  out.mover = row.b.body == 0 ? 0 : 1;
  out.damping = row.damping;
  out.arm = at.pose[out.body[out.mover]].x - at.pose[out.body[out.other()]].x;
  BodyPose<Jet> pose[2];
  Spatial<Jet> V[2];
  for (int end = 0; end < 2; ++end) {
    const BodyPose<double>& p = at.pose[out.body[end]];
    const Spatial<double>& v = at.V[out.body[end]];
    if (end == out.mover) {
      pose[end] = {{turned(p.R.a), turned(p.R.b), turned(p.R.c)}, shifted(p.x), {}};
      V[end] = {turned(v.angular), turned(v.linear)};
    } else {
      pose[end] = {cast<Jet>(p.R), Vec3<Jet>(p.x), {}};
      V[end] = {Vec3<Jet>(v.angular), Vec3<Jet>(v.linear)};
    }
  }
  const Gauge<Jet> g = row.gauge(pose[0], pose[1]);
  const Jet tension = row.slope(g.value), drag = Jet(row.damping) * (dot(g.on_a, V[0]) + dot(g.on_b, V[1]));
  for (int end = 0; end < 2; ++end) {
    const Spatial<Jet>& on = end == 0 ? g.on_a : g.on_b;
    const auto values = [](const Vec3<Jet>& x) { return Vec3<double>{x.x.value, x.y.value, x.z.value}; };
    out.gauge[end] = {values(on.angular), values(on.linear)};
    const auto changes = [&](const Spatial<Jet>& wrench, std::array<WrenchPair, 6>& to) {
      const Mat3<double> axes = Mat3<double>::identity();
      for (int k = 0; k < 6; ++k) {
        const auto change = [&](const Vec3<Jet>& x) {
          const Vec3<double> rate{x.x.slope[k], x.y.slope[k], x.z.slope[k]};
          return k < 3 && end == out.mover ? rate - cross(axes.column(k), values(x)) : rate;
        };
        to[k][end] = {change(wrench.angular), change(wrench.linear)};
      }
    };
    changes(-tension * on, out.spring), changes(-drag * on, out.damper);
  }
  return out;
}

}  // namespace symplectree
