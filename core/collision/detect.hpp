// Which features of two shapes are nearer than a margin, at given poses.
//
// Each pair that is returned is a smooth gap (gap.hpp) that forbids overlap of the two features; together they forbid
// that of the shapes, near the poses where they were found. The least of their gaps there is the distance of the
// shapes, or, where these overlap slightly, minus the depth.
//
//   sphere, capsule, ellipsoid   smooth against each other, planes and boxes; capsules that are nearly parallel, or lie
//                                on a flat side, touch where the stretch that is shared ends
//   box, mesh on a plane         vertices; of a mesh at most eight, fixed in it
//   box on box                   an area: points of one box against a face of the other; or two edges
//   cylinder on a plane          lying: both rims; tilted: the lowest point of the rim; standing: four points of the
//                                rim, fixed in the cylinder, and its lowest as soon as it tilts
//   any other two                the smooth features that the nearest points belong to; areas between flat sides, in
//                                which a cap has twelve corners, of which it stands on four
//
// Corners against corners, edges and rims, rims against rims and edges, edges that are nearly parallel, and meshes have
// a point against the plane across the shortest way between them: exact to first order where it is found, without
// curvature. Of boxes and cylinders that overlap with faces at less than 6° the depth is that of the deepest corner,
// which is up to 1 % more than the shortest way apart. A capsule whose axis is in a box leaves through a face.
#pragma once

#include <array>

#include "collision/feature.hpp"
#include "collision/gap_value.hpp"
#include "collision/shape.hpp"

namespace symplectree {

struct FeaturePair {
  Feature a, b;     // in the axes of the bodies that carry the shapes
  Gap<double> gap;  // at the poses where it was found
  int id = 0;       // the same as long as the same features touch
};

struct FeaturePairs {
  static constexpr int capacity = 8;
  std::array<FeaturePair, capacity> pairs;
  int count = 0;

  const FeaturePair* begin() const { return pairs.data(); }
  const FeaturePair* end() const { return pairs.data() + count; }
};

// Replaces `out` by the pairs of features with gaps below the margin; where there are more than there is room for, the
// deepest. Nothing is allocated.
void detect(const CollisionShape& a, const BodyPose<double>& body_a, const CollisionShape& b,
            const BodyPose<double>& body_b, double margin, FeaturePairs& out);

}  // namespace symplectree
