#include "collision/broad_phase.hpp"

#include <algorithm>
#include <tuple>

namespace symplectree {

BroadPhase::BroadPhase(std::vector<CollisionShape> shapes, std::vector<int> bodies, std::span<const ShapePair> allowed)
    : shapes_(std::move(shapes)), bodies_(std::move(bodies)) {
  const std::size_t n = shapes_.size();
  bounds_.resize(n), mesh_boxes_.resize(n), low_.resize(n), first_.resize(n + 1);
  for (const auto& [a, b] : allowed) allowed_.push_back({std::min(a, b), std::max(a, b), int(allowed_.size())});
  std::sort(allowed_.begin(), allowed_.end(), [](const Allowed& p, const Allowed& q) {
    return std::tie(p.low, p.high, p.number) < std::tie(q.low, q.high, q.number);
  });
  for (const Allowed& pair : allowed_) ++first_[pair.low + 1];
  for (std::size_t k = 0; k < n; ++k) {
    first_[k + 1] += first_[k];
    (shapes_[k].kind == ShapeKind::Plane ? planes_ : order_).push_back(int(k));
    if (shapes_[k].kind == ShapeKind::Mesh) mesh_boxes_[k] = mesh_bounds(*shapes_[k].mesh);
  }
  near_.reserve(std::min(allowed.size(), 16 * n));
}

// All allowed pairs of two shapes, which may be several.
void BroadPhase::add_allowed(int a, int b) {
  const int low = std::min(a, b), high = std::max(a, b);
  const auto end = allowed_.begin() + first_[low + 1];
  auto at = std::lower_bound(allowed_.begin() + first_[low], end, high,
                             [](const Allowed& pair, int shape) { return pair.high < shape; });
  for (; at != end && at->high == high; ++at) near_.push_back(at->number);
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

const std::vector<int>& BroadPhase::near(const BodyPose<double>* poses, double margin) {
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
      add_allowed(p, q);
    }
  }
  for (const int p : planes_) {
    const BodyPose<double> at = shape_pose(shapes_[p], poses[bodies_[p]]);
    const Vec3<double> n = at.R.c, size = absolute(n);
    for (const int q : order_) {
      if (dot(n, bounds_[q].middle - at.x) - dot(size, bounds_[q].half) > margin) continue;
      add_allowed(p, q);
    }
  }
  std::sort(near_.begin(), near_.end());
  return near_;
}

}  // namespace symplectree
