#include "collision/broad_phase.hpp"

#include <algorithm>

namespace symplectree {

BroadPhase::BroadPhase(std::vector<CollisionShape> shapes, std::vector<int> bodies, std::span<const ShapePair> allowed)
    : shapes_(std::move(shapes)), bodies_(std::move(bodies)) {
  const std::size_t n = shapes_.size();
  bounds_.resize(n), mesh_boxes_.resize(n), low_.resize(n);
  allowed_.resize(n * (n ? n - 1 : 0) / 2);
  for (const auto& [a, b] : allowed)
    if (a != b) allowed_[std::size_t(std::max(a, b)) * (std::max(a, b) - 1) / 2 + std::min(a, b)] = true;
  for (std::size_t k = 0; k < n; ++k) {
    (shapes_[k].kind == ShapeKind::Plane ? planes_ : order_).push_back(int(k));
    if (shapes_[k].kind == ShapeKind::Mesh) mesh_boxes_[k] = mesh_bounds(*shapes_[k].mesh);
  }
  near_.reserve(std::min(allowed.size(), 16 * n));
}

// That of the largest variance of middles; another only when it is much better, since all has to be sorted anew.
void BroadPhase::choose_axis() {
  Vec3<double> sum, squares;
  for (const int k : order_) {
    const Vec3<double>& x = bounds_[k].middle;
    sum += x, squares += Vec3<double>(x.lanes * x.lanes);
  }
  const double n = double(std::max<std::size_t>(order_.size(), 1));
  const Lanes variance = squares.lanes / n - (sum.lanes / n) * (sum.lanes / n);
  for (int k = 0; k < 3; ++k)
    if (variance[k] > 2 * variance[axis_]) axis_ = k;
}

void BroadPhase::sort_ends() {
  for (const int k : order_) low_[k] = bounds_[k].middle.lanes[axis_] - bounds_[k].half.lanes[axis_];
  std::size_t moves = 0;
  const std::size_t many = 8 * order_.size();
  for (std::size_t i = 1; i < order_.size(); ++i) {
    const int shape = order_[i];
    std::size_t j = i;
    for (; j > 0 && low_[order_[j - 1]] > low_[shape]; --j, ++moves) order_[j] = order_[j - 1];
    order_[j] = shape;
    if (moves > many) {  // not nearly sorted, as at the start or along another axis
      std::sort(order_.begin(), order_.end(), [this](int p, int q) { return low_[p] < low_[q]; });
      return;
    }
  }
}

const std::vector<ShapePair>& BroadPhase::near(const BodyPose<double>* poses, double margin) {
  near_.clear();
  for (const int k : order_) bounds_[k] = bounds(shapes_[k], mesh_boxes_[k], poses[bodies_[k]]);
  choose_axis();
  sort_ends();
  for (std::size_t i = 0; i < order_.size(); ++i) {
    const int p = order_[i];
    const Bounds& box = bounds_[p];
    const double end = low_[p] + 2 * box.half.lanes[axis_] + margin;
    for (std::size_t j = i + 1; j < order_.size() && low_[order_[j]] <= end; ++j) {
      const int q = order_[j];
      const Vec3<double> way = absolute(box.middle - bounds_[q].middle), reach = box.half + bounds_[q].half;
      if (way.x - reach.x > margin || way.y - reach.y > margin || way.z - reach.z > margin) continue;
      if (may_touch(p, q)) near_.push_back({std::min(p, q), std::max(p, q)});
    }
  }
  for (const int p : planes_) {
    const BodyPose<double> at = shape_pose(shapes_[p], poses[bodies_[p]]);
    const Vec3<double> n = at.R.c, size = absolute(n);
    for (const int q : order_) {
      if (dot(n, bounds_[q].middle - at.x) - dot(size, bounds_[q].half) > margin) continue;
      if (may_touch(p, q)) near_.push_back({std::min(p, q), std::max(p, q)});
    }
  }
  std::sort(near_.begin(), near_.end(),
            [](const ShapePair& s, const ShapePair& t) { return s.a != t.a ? s.a < t.a : s.b < t.b; });
  return near_;
}

}  // namespace symplectree
