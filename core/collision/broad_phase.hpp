// Which pairs of many shapes may be nearer than a margin: sweep and prune.
//
// The bounds of all shapes are kept sorted along the axis along which these are spread most; from step to step hardly
// any change places, so that sorting takes linear time. Planes are compared with every shape.
#pragma once

#include <span>
#include <vector>

#include "collision/bounds.hpp"

namespace symplectree {

struct ShapePair {
  int a, b;
};

class BroadPhase {
 public:
  // The shapes, the body of each, and the pairs that may touch.
  BroadPhase(std::vector<CollisionShape> shapes, std::vector<int> bodies, std::span<const ShapePair> allowed);

  // Which of the allowed pairs have bounds that are nearer than the margin at the poses of the bodies: their numbers,
  // in ascending order. Nothing is allocated unless there are more than ever before.
  const std::vector<int>& near(const BodyPose<double>* poses, double margin);

  const std::vector<CollisionShape>& shapes() const { return shapes_; }

 private:
  struct Allowed {
    int low, high, number;  // shapes, low < high, and which of the allowed pairs it is
  };

  std::vector<CollisionShape> shapes_;
  std::vector<int> bodies_;
  std::vector<Bounds> mesh_boxes_, bounds_;
  std::vector<Allowed> allowed_;  // sorted by shapes
  std::vector<int> first_;        // of each shape as the lower one, where its pairs begin in allowed_
  std::vector<int> order_;        // shapes other than planes, by their lower ends along axis_
  std::vector<int> planes_;
  std::vector<double> low_;  // lower end of each shape along axis_
  std::vector<int> near_;
  int axis_ = 0;

  void add_allowed(int a, int b);
  void choose_axis();
  void sort_ends();
};

}  // namespace symplectree
