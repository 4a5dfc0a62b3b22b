// Spheres, capsules, cylinders' sides and ellipsoids against each other.
#include "collision/pair_collector.hpp"

namespace symplectree {
namespace {

Feature side(const CollisionShape& shape) { return line_feature({0, 0, 0}, {0, 0, 1}, shape.radius()); }
Feature cap(const CollisionShape& shape, int k) { return sphere_feature(shape.end(k), shape.radius()); }

// Capsules that are nearer to parallel than this (sine) touch in up to three points, and below the second the crossing
// is a point fixed in a, since the common perpendicular is not well defined.
constexpr double kNearlyParallel = 0.2, kParallel = 0.1;

// The end k of a against b, as the end of b or its side; ids as of detect_capsule_capsule.
void add_end_of_a(PairCollector& out, int k) {
  const double z = out.a_in_b(out.a.end(k)).z, half = out.b.half_length();
  if (std::fabs(z) < half)
    out.add(cap(out.a, k), side(out.b), 1 + k);
  else
    out.add(cap(out.a, k), cap(out.b, z > 0), 5 + 2 * k + (z > 0));
}
void add_end_of_b(PairCollector& out, int k) {
  const double z = out.b_in_a(out.b.end(k)).z, half = out.a.half_length();
  if (std::fabs(z) < half)
    out.add(side(out.a), cap(out.b, k), 3 + k);
  else
    out.add(cap(out.a, z > 0), cap(out.b, k), 5 + 2 * (z > 0) + k);
}

}  // namespace

void detect_sphere_capsule(PairCollector& out) {
  const double z = out.a_in_b({0, 0, 0}).z;
  const Feature ball = sphere_feature({0, 0, 0}, out.a.radius());
  if (std::fabs(z) < out.b.half_length())
    out.add(ball, side(out.b), 0);
  else
    out.add(ball, cap(out.b, z > 0), 1 + (z > 0));
}

// On the side, on a cap, or on a rim; from inside, the nearest of side and caps. A point (radius 0) has no sign against
// a rim: against that it has the plane across the shortest way.
void detect_sphere_cylinder(PairCollector& out) {
  const Vector c = out.a_in_b({0, 0, 0});
  const double radius = out.b.radius(), half = out.b.half_length(), rho = std::hypot(c.x, c.y);
  const Feature ball = sphere_feature({0, 0, 0}, out.a.radius());
  const bool top = c.z > 0;
  const double over = std::fabs(c.z) - half, beside = rho - radius;
  if (over > 0 && beside > 0) {
    const Feature rim = circle_feature(out.b.end(top), Mat3<double>::identity(), radius);
    const Gap<double> at = out.gap_of(ball, rim);
    if (out.a.radius() > 0)
      out.add(ball, rim, 3 + top, at);
    else
      out.add_tangent(at.x_a, at.x_b, at.n, 3 + top);
  } else if (over > beside) {
    out.add(ball, plane_feature(out.b.end(top), {0, 0, top ? 1.0 : -1.0}), 1 + top);
  } else {
    out.add(ball, side(out.b), 0);
  }
}

// The crossing (id 0), an end of a on the side of b (1, 2), an end of b on the side of a (3, 4), two ends (5 to 8).
// Capsules that are nearly parallel also touch where the stretch that they share ends.
void detect_capsule_capsule(PairCollector& out) {
  const Vector d_a = out.pose_a.R.c, d_b = out.pose_b.R.c;
  const double half_a = out.a.half_length(), half_b = out.b.half_length();
  const Vector p = out.pose_a.x - half_a * d_a, q = out.pose_b.x - half_b * d_b;
  const SegmentPoints at = nearest_on_segments(p, (2 * half_a) * d_a, q, (2 * half_b) * d_b);
  const bool inner_a = at.s > 0 && at.s < 1, inner_b = at.t > 0 && at.t < 1;
  const Vector m = cross(d_a, d_b);
  const double sine = std::sqrt(dot(m, m));
  if (inner_a && inner_b) {
    const double z = (2 * at.s - 1) * half_a;
    const Vector from_b = p + (2 * half_a * at.s) * d_a - q - (2 * half_b * at.t) * d_b;
    const double turn = dot(m, from_b) < 0 ? -1 : 1;
    if (sine > kParallel)
      out.add(side(out.a), line_feature({0, 0, 0}, {0, 0, turn}, out.b.radius()), 0);
    else
      out.add(sphere_feature({0, 0, z}, out.a.radius()), side(out.b), 0);
  } else if (inner_b) {
    add_end_of_a(out, at.s > 0.5);
  } else if (inner_a) {
    add_end_of_b(out, at.t > 0.5);
  } else {
    const int i = at.s > 0.5, j = at.t > 0.5;
    out.add(cap(out.a, i), cap(out.b, j), 5 + 2 * i + j);
  }
  if (sine > kNearlyParallel) return;
  // The ends of the shared stretch, along a; of two ends that coincide, that of a.
  const double middle = dot(d_a, out.pose_b.x - out.pose_a.x), reach = half_b * std::fabs(dot(d_a, d_b));
  if (middle + reach <= -half_a || middle - reach >= half_a) return;
  for (int k = 0; k < 2; ++k) {
    const double end_b = k ? middle + reach : middle - reach;
    const bool of_a = k ? half_a <= end_b : -half_a >= end_b;
    const bool first_of_b = (dot(d_a, d_b) > 0) == (k == 0);
    if (of_a)
      add_end_of_a(out, k);
    else
      add_end_of_b(out, !first_of_b);
  }
}

// The distance to an endless line, or that to the end beyond which its nearest point lies.
void detect_capsule_ellipsoid(PairCollector& out) {
  const Feature ellipsoid = ellipsoid_feature({0, 0, 0}, Mat3<double>::identity(), out.b.size);
  const Gap<double> at = out.gap_of(side(out.a), ellipsoid);
  const double z = out.in_a(at.x_a).z;
  if (std::fabs(z) < out.a.half_length())
    out.add(side(out.a), ellipsoid, 0, at);
  else
    out.add(cap(out.a, z > 0), ellipsoid, 1 + (z > 0));
}

}  // namespace symplectree
