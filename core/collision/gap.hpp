// Gaps between features: smooth functions of the poses of two bodies.
//
//   g    distance, negative: depth
//   n    unit normal in world axes from b to a: g grows when a moves along n
//   x_a  the point of a, x_b that of b, between which g is measured: x_a − x_b = g n
//
// For twists of the two bodies dg = n·(v_a(x_a) − v_b(x_b)), exactly: to first order the witness points move along
// their surfaces. Run on numbers that carry derivatives, all of these have them.
//
// Where a direction is not defined (centres that coincide, parallel lines, a rim parallel to a plane) a fixed one is
// taken, without its derivative; each function says which.
#pragma once

#include "collision/ellipsoid_gap.hpp"
#include "collision/feature.hpp"
#include "collision/gap_value.hpp"

namespace symplectree {

// Along the line of centres; where these coincide, along z.
template <class T>
Gap<T> sphere_sphere(const FeatureOf<T>& a, const FeatureOf<T>& b) {
  const Direction<T> d = direction_or(a.at - b.at, {T(0), T(0), T(1)});
  return {d.length - a.radius() - b.radius(), d.unit, a.at - a.radius() * d.unit, b.at + b.radius() * d.unit};
}

template <class T>
Gap<T> sphere_plane(const FeatureOf<T>& a, const FeatureOf<T>& b) {
  const Vec3<T>& n = b.direction();
  const T height = dot(n, a.at - b.at);
  return {height - a.radius(), n, a.at - a.radius() * n, a.at - height * n};
}

// Perpendicular to the line; from its very middle, in any direction across.
template <class T>
Gap<T> sphere_line(const FeatureOf<T>& a, const FeatureOf<T>& b) {
  const Vec3<T> r = a.at - b.at;
  const T along = dot(r, b.direction());
  const Direction<T> d = direction_or(r - along * b.direction(), across(b.direction()));
  return {d.length - a.radius() - b.radius(), d.unit, a.at - a.radius() * d.unit,
          a.at - (d.length - b.radius()) * d.unit};
}

// To the nearest point of the rim; from its axis, to where axes.a meets it.
template <class T>
Gap<T> sphere_circle(const FeatureOf<T>& a, const FeatureOf<T>& b) {
  const Vec3<T> r = a.at - b.at;
  const Direction<T> d = direction_or(r - dot(r, b.axes.c) * b.axes.c, b.axes.a);
  FeatureOf<T> rim;
  rim.at = b.at + b.radius() * d.unit;
  return sphere_sphere(a, rim);
}

// The lowest point of the rim; where the plane is parallel to it, that where axes.a meets it.
template <class T>
Gap<T> circle_plane(const FeatureOf<T>& a, const FeatureOf<T>& b) {
  const Vec3<T>& n = b.direction();
  const Direction<T> down = direction_or(dot(n, a.axes.c) * a.axes.c - n, a.axes.a);
  FeatureOf<T> rim;
  rim.at = a.at + a.radius() * down.unit;
  return sphere_plane(rim, b);
}

// Along n = d_a × d_b, so that the gap has a sign also where both radii are 0, as of edges: who chooses the pair turns
// the directions so that n points from b to a. Parallel lines: from the point `at` of a.
template <class T>
Gap<T> line_line(const FeatureOf<T>& a, const FeatureOf<T>& b) {
  const Vec3<T> r = a.at - b.at;
  const Vec3<T> m = cross(a.direction(), b.direction());
  const T sine2 = dot(m, m);
  if (!(value_of(sine2) > 1e-24)) {
    FeatureOf<T> end = a;
    end.kind = FeatureKind::Sphere;
    return sphere_line(end, b);
  }
  using std::sqrt;
  const Vec3<T> n = (T(1) / sqrt(sine2)) * m;
  const T height = dot(n, r);
  // Both feet of the common perpendicular.
  const Vec3<T> foot_a = a.at - (dot(cross(r, b.direction()), m) / sine2) * a.direction();
  const Vec3<T> foot_b = foot_a - height * n;
  return {height - a.radius() - b.radius(), n, foot_a - a.radius() * n, foot_b + b.radius() * n};
}

// Is there a gap function for two kinds, in either order? All but planes against planes and lines.
constexpr bool has_gap(FeatureKind a, FeatureKind b) {
  using enum FeatureKind;
  const auto flat = [](FeatureKind kind) { return kind == Plane || kind == Line; };
  return !(a == Plane && flat(b)) && !(b == Plane && flat(a));
}

// The gap of two features in the world. They must be of kinds that have one.
template <class T>
Gap<T> gap(const FeatureOf<T>& a, const FeatureOf<T>& b) {
  using enum FeatureKind;
  if (a.kind > b.kind) return swapped(gap(b, a));
  switch (a.kind) {
    case Sphere:
      switch (b.kind) {
        case Sphere: return sphere_sphere(a, b);
        case Plane: return sphere_plane(a, b);
        case Line: return sphere_line(a, b);
        case Circle: return sphere_circle(a, b);
        default: return swapped(ellipsoid_sphere(b, a));
      }
    case Plane: return swapped(b.kind == Circle ? circle_plane(b, a) : ellipsoid_plane(b, a));
    case Line: return b.kind == Line ? line_line(a, b) : swapped(ellipsoid_line(b, a));
    default: return ellipsoid_ellipsoid(a, b);
  }
}

// The gap of two features, each fixed in a body, at the poses of these (axes R, origin x).
template <class T, class R, template <class> class Pose>
Gap<T> gap(const FeatureOf<R>& a, const Pose<T>& pose_a, const FeatureOf<R>& b, const Pose<T>& pose_b) {
  return gap(placed(a, pose_a), placed(b, pose_b));
}

}  // namespace symplectree
