// The distance of two convex shapes, or how deep they overlap, from their support functions alone.
#pragma once

#include "collision/gap_value.hpp"
#include "collision/shape.hpp"

namespace symplectree {

// The farthest point of a shape along a direction, both in its axes, and without its `rounding`.
Vec3<double> farthest(const CollisionShape& shape, const Vec3<double>& direction);

// A sphere is a point and a capsule a segment, both rounded by a radius.
inline double rounding(const CollisionShape& shape) {
  return shape.kind == ShapeKind::Sphere || shape.kind == ShapeKind::Capsule ? shape.radius() : 0;
}

struct ConvexSearch {
  double size;          // of the shapes, roughly
  double beyond;        // shapes that are farther apart are of no interest: then g is anything above that
  double accuracy = 0;  // relative to the size; 0: as good as can be
};

// The gap at the poses of the shapes, by the algorithms of Gilbert, Johnson and Keerthi (1988), and for shapes that
// overlap of van den Bergen (2001, expanding polytope). Exact for shapes with corners; of curved ones the surfaces are
// reached in steps, at best to about 1e-10 of their size apart and 1e-4 inside.
Gap<double> convex_gap(const CollisionShape& a, const BodyPose<double>& pose_a, const CollisionShape& b,
                       const BodyPose<double>& pose_b, const ConvexSearch& search);

}  // namespace symplectree
