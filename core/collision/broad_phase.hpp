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
  int a, b;  // a < b

  friend bool operator==(const ShapePair&, const ShapePair&) = default;
};

class BroadPhase {
 public:
  // The shapes, the body of each, and the pairs that may touch, in any order.
  BroadPhase(std::vector<CollisionShape> shapes, std::vector<int> bodies, std::span<const ShapePair> allowed);

  // The allowed pairs whose bounds are nearer than the margin, in order, at the poses of the bodies. Nothing is
  // allocated unless there are more pairs than ever before.
  const std::vector<ShapePair>& near(const BodyPose<double>* poses, double margin);

  const std::vector<CollisionShape>& shapes() const { return shapes_; }
  int body(int shape) const { return bodies_[shape]; }

 private:
  std::vector<CollisionShape> shapes_;
  std::vector<int> bodies_;
  std::vector<Bounds> mesh_boxes_, bounds_;
  std::vector<bool> allowed_;  // of the pair (a, b) at b (b − 1)/2 + a
  std::vector<int> order_;     // shapes other than planes, by their lower ends along axis_
  std::vector<int> planes_;
  std::vector<double> low_;  // lower end of each shape along axis_
  std::vector<ShapePair> near_;
  int axis_ = 0;

  bool may_touch(int a, int b) const {
    return a < b ? allowed_[std::size_t(b) * (b - 1) / 2 + a] : allowed_[std::size_t(a) * (a - 1) / 2 + b];
  }
  void choose_axis();
  void sort_ends();
};

}  // namespace symplectree
