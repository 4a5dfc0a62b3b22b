// How the wrenches of an element between two bodies (elements/pair_elements.hpp) change when these move: a sum of terms
// E Tᵀ, E of wrenches and T of motions, with the names of midpoint_newton.cpp.
//
// A pair exerts a vector f on b and −f on a: a force at a point of each or, where it holds on to axes, a torque.
//   A force changes with the difference of the points' ways, and else stays what it is in the world (add_turning).
//   A torque changes with the turn of b against a; when both turn as one, so does the torque, and nothing changes for
//   the bodies.
// To the three terms of this, one for each component, a damper adds one, that of ṡ. The force of a damper alone has no
// more than three components: these are its terms.
#pragma once

#include "elements/pair_elements.hpp"
#include "scalar/jet.hpp"
#include "spatial/block_matrix.hpp"

namespace symplectree {

// One such term, of the bodies a and b.
struct Coupling {
  int body[2];
  int rows[2], columns[2];  // from where to where E and T have blocks that are not zero
  BlockVector<6> E[2];
  BlockVector<4> T[2];
};
inline constexpr int kMostCouplings = 4;  // of a pair

template <class Row>
inline constexpr bool kAtPoints = requires(Row row) { row.a.at; };
template <class Row>
inline constexpr bool kOfOneSort = kAtPoints<Row> == requires(Row row) { row.b.at; };

template <class Row>
bool is_lone_damper(const Row& row) {
  return kAtPoints<Row> && !row.elastic();
}
template <class Row>
int coupling_count(const Row& row) {
  return row.damping == 0 ? 3 * row.elastic() : is_lone_damper(row) ? 3 : 4;
}

struct PairChange {
  int body[2];
  Vec3<double> arm[2], velocity[2];           // of points, from the bodies' centres
  Vec3<double> spring, damper;                // f of either
  Mat3<double> spring_change, damper_change;  // of unit motions of b
  Spatial<double> Ds[2];
};

// x that changes by `rates` in the first three of eight directions.
inline Vec3<Jet> moving(const Vec3<double>& x, const Mat3<double>& rates) {
  Vec3<Jet> out(x);
  for (int k = 0; k < 3; ++k) {
    const Vec3<double> rate = rates.column(k);
    out.x.slope.set(k, rate.x), out.y.slope.set(k, rate.y), out.z.slope.set(k, rate.z);
  }
  return out;
}
inline Vec3<Jet> turning(const Vec3<double>& x) {
  const Mat3<double> one = Mat3<double>::identity();
  return moving(x, {cross(one.a, x), cross(one.b, x), cross(one.c, x)});
}
inline Spatial<Jet> turning(const Spatial<double>& V) { return {turning(V.angular), turning(V.linear)}; }
inline Spatial<Jet> resting(const Spatial<double>& V) { return {Vec3<Jet>(V.angular), Vec3<Jet>(V.linear)}; }

// What b is held by while it moves, and a by while it rests.
inline HeldPoint<Jet> moving(const HeldPoint<double>& b) {
  return {Vec3<Jet>(b.arm), moving(b.x, Mat3<double>::identity())};
}
inline HeldPoint<Jet> resting(const HeldPoint<double>& a) { return {Vec3<Jet>(a.arm), Vec3<Jet>(a.x)}; }
inline BodyPose<Jet> moving(const BodyPose<double>& b) {
  return {{turning(b.R.a), turning(b.R.b), turning(b.R.c)}, Vec3<Jet>(b.x), {}};
}
inline BodyPose<Jet> resting(const BodyPose<double>& a) { return {cast<Jet>(a.R), Vec3<Jet>(a.x), {}}; }

template <class Row>
PairChange pair_change(const Model& m, const Row& row, const Workspace<double>& at) {
  const Spatial<double>&V_a = at.V[row.a.body], &V_b = at.V[row.b.body];
  static_assert(kOfOneSort<Row>, "a gauge of a point and an axis: say here how its force turns with both");
  const auto a = held(row.a, at.pose[row.a.body]), b = held(row.b, at.pose[row.b.body]);
  PairChange out{{row.a.body, row.b.body}, {}, {}, {}, {}, {}, {}, {}};
  if constexpr (kAtPoints<Row>) {
    out.arm[0] = a.arm, out.velocity[0] = V_a.linear + cross(V_a.angular, a.arm);
    out.arm[1] = b.arm, out.velocity[1] = V_b.linear + cross(V_b.angular, b.arm);
  }
  const Gauge<Jet> g = row.gauge(resting(a), moving(b));
  const auto value = [](const Vec3<Jet>& x) { return Vec3<double>{x.x.value, x.y.value, x.z.value}; };
  const auto read = [&](const Vec3<Jet>& f, Vec3<double>& to, Mat3<double>& change) {
    const auto column = [&f](int k) { return Vec3<double>{f.x.slope[k], f.y.slope[k], f.z.slope[k]}; };
    to = value(f), change = {column(0), column(1), column(2)};
  };
  const Vec3<Jet>& along = kAtPoints<Row> ? g.b.linear : g.b.angular;
  if (row.elastic()) read(-row.tension(g, m.potentials) * along, out.spring, out.spring_change);
  if (row.damping == 0) return out;
  const Jet rate = g.rate(resting(V_a), kAtPoints<Row> ? resting(V_b) : turning(V_b));
  read((Jet(-row.damping) * rate * g.scale) * along, out.damper, out.damper_change);
  out.Ds[0] = g.scale.value * Spatial<double>{value(g.a.angular), value(g.a.linear)};
  out.Ds[1] = g.scale.value * Spatial<double>{value(g.b.angular), value(g.b.linear)};
  return out;
}

// Writes the couplings of a pair from `out` on; returns where they end.
template <class Row>
Coupling* couple(const Row& row, const PairChange& p, Coupling* out) {
  const auto wrench = [&p](int end, const Vec3<double>& on_b) {
    const Vec3<double> f = end == 0 ? -on_b : on_b;
    return kAtPoints<Row> ? Spatial<double>{cross(p.arm[end], f), f} : Spatial<double>{f, {}};
  };
  const auto add_rate = [&p](int end, double size, BlockVector<4>& T) {
    T.add(0, size, p.Ds[end]), T.at[2] += size * cross(p.velocity[end], p.Ds[end].linear);
  };
  const bool damped = row.damping != 0;
  for (int k = 0; k < coupling_count(row); ++k, ++out) {
    const Vec3<double> axis = Mat3<double>::identity().column(k);
    *out = {{p.body[0], p.body[1]}, {2, damped ? 6 : 4}, {2, 4}, {}, {}};
    if (k == 3) out->rows[0] = 4, out->columns[0] = 0, out->columns[1] = 3;
    if (is_lone_damper(row)) out->rows[0] = 4, out->columns[0] = 0;
    for (int end = 0; end < 2; ++end) {
      BlockVector<6>& E = out->E[end];
      BlockVector<4>& T = out->T[end];
      const bool turns = !kAtPoints<Row> && end == 1;  // relative to a torque that turns with b
      const auto change = [&](const Mat3<double>& by, const Vec3<double>& f) {
        return wrench(end, turns ? by.column(k) - cross(axis, f) : by.column(k));
      };
      if (k == 3) {
        E.add(4, -row.damping, p.Ds[end]), add_rate(end, 1, T);
      } else if (is_lone_damper(row)) {
        E.add(4, 1, wrench(end, axis));
        T.add(2, 1, wrench(end, transposed(p.damper_change).column(k)));
        add_rate(end, -row.damping * dot(axis, p.Ds[1].linear), T);
      } else {
        E.add(2, 1, change(p.spring_change, p.spring)), T.add(2, 1, wrench(end, axis));
        if (damped) E.add(4, 1, change(p.damper_change, p.damper));
      }
    }
  }
  return out;
}

}  // namespace symplectree
