// Which features of two shapes are nearer than a margin, at given poses.
//
// Each pair that is returned is a smooth gap (gap.hpp) that forbids overlap of the two features; together they forbid
// that of the shapes, near the poses where they were found. The least of their gaps there is the distance of the
// shapes, or, where these overlap slightly, minus the depth.
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
