// What detection shares: two shapes in the world, and the list that pairs of their features are added to.
#pragma once

#include <cmath>

#include "collision/detect.hpp"
#include "collision/gap.hpp"

namespace symplectree {

using Vector = Vec3<double>;

inline double component(const Vector& v, int k) { return v.lanes[k]; }
inline Vector along_axis(int k, double length) {
  return {k == 0 ? length : 0, k == 1 ? length : 0, k == 2 ? length : 0};
}

class PairCollector {
 public:
  const CollisionShape &a, &b;
  const BodyPose<double> pose_a, pose_b;  // of the shapes
  const double margin;

  PairCollector(const CollisionShape& a_, const BodyPose<double>& body_a, const CollisionShape& b_,
                const BodyPose<double>& body_b, double margin_, FeaturePairs& out)
      : a(a_), b(b_), pose_a(shape_pose(a_, body_a)), pose_b(shape_pose(b_, body_b)), margin(margin_), out_(out) {
    out_.count = 0;
  }

  // A point of the world in the axes of a or b, and a direction likewise.
  Vector in_a(const Vector& x) const { return transposed_times(pose_a.R, x - pose_a.x); }
  Vector in_b(const Vector& x) const { return transposed_times(pose_b.R, x - pose_b.x); }
  // From the axes of a to those of b, and back.
  Vector a_in_b(const Vector& x) const { return in_b(pose_a.x + pose_a.R * x); }
  Vector b_in_a(const Vector& x) const { return in_a(pose_b.x + pose_b.R * x); }

  Gap<double> gap_of(const Feature& f_a, const Feature& f_b) const { return gap(f_a, pose_a, f_b, pose_b); }

  // Features in the axes of their shapes; returns the gap. One whose id is there already is left out.
  double add(const Feature& f_a, const Feature& f_b, int id) {
    const Gap<double> at = gap_of(f_a, f_b);
    add(f_a, f_b, id, at);
    return at.g;
  }
  void add(const Feature& f_a, const Feature& f_b, int id, const Gap<double>& at) {
    if (!(at.g < margin)) return;
    int place = out_.count, largest = 0;
    for (int k = 0; k < out_.count; ++k) {
      if (out_.pairs[k].id == id) return;
      if (out_.pairs[k].gap.g > out_.pairs[largest].gap.g) largest = k;
    }
    if (place == FeaturePairs::capacity) {
      if (out_.pairs[largest].gap.g <= at.g) return;
      place = largest;
    } else {
      ++out_.count;
    }
    out_.pairs[place] = {carried(a, f_a), carried(b, f_b), at, id};
  }

  // A pair by the points where the shapes are nearest and the normal there (world): a's point against the plane through
  // b's. Exact where it is found, to first order; the curvatures are left out.
  double add_tangent(const Vector& x_a, const Vector& x_b, const Vector& n, int id) {
    return add(sphere_feature(in_a(x_a)), plane_feature(in_b(x_b), transposed_times(pose_b.R, n)), id);
  }

  double least() const {
    double least = HUGE_VAL;
    for (const FeaturePair& pair : out_) least = std::fmin(least, pair.gap.g);
    return least;
  }

 private:
  FeaturePairs& out_;

  static Feature carried(const CollisionShape& shape, const Feature& f) {
    return placed(f, BodyPose<double>{shape.axes, shape.at, {}});
  }
};

// Parameters (from 0 to 1) of the nearest points of two segments p + s u and q + t w.
struct SegmentPoints {
  double s, t;
};
inline SegmentPoints nearest_on_segments(const Vector& p, const Vector& u, const Vector& q, const Vector& w) {
  const auto clamp = [](double x) { return x < 0 ? 0 : x > 1 ? 1 : x; };
  const Vector r = p - q;
  const double uu = dot(u, u), ww = dot(w, w), uw = dot(u, w), ur = dot(u, r), wr = dot(w, r);
  if (!(uu > 0)) return {0, ww > 0 ? clamp(wr / ww) : 0};
  if (!(ww > 0)) return {clamp(-ur / uu), 0};
  const Vector m = cross(u, w);
  const double mm = dot(m, m);
  double s = mm > 1e-20 * uu * ww ? clamp(dot(cross(w, r), m) / mm) : 0;
  const double t = (uw * s + wr) / ww;
  if (t >= 0 && t <= 1) return {s, t};
  s = clamp((clamp(t) * uw - ur) / uu);
  return {s, clamp(t)};
}

void detect_on_plane(PairCollector& out);         // any shape a, Plane b
void detect_sphere_capsule(PairCollector& out);   // Sphere a, Capsule b
void detect_sphere_cylinder(PairCollector& out);  // Sphere a, Cylinder b
void detect_sphere_box(PairCollector& out);       // Sphere a, Box b
void detect_capsule_capsule(PairCollector& out);
void detect_capsule_box(PairCollector& out);        // Capsule a, Box b
void detect_capsule_ellipsoid(PairCollector& out);  // Capsule a, Ellipsoid b
void detect_box_box(PairCollector& out);
void detect_convex(PairCollector& out);  // any two but planes

}  // namespace symplectree
