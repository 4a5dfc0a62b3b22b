#include "integrators/impulse_slope.hpp"

#include <algorithm>
#include <cmath>

#include "dense/sum_of_products.hpp"

namespace symplectree {
namespace {

constexpr double kTold = 1e-11;  // changes of gaps and displacements that say something of the slope [m or rad]

}  // namespace

void ImpulseSlope::keep_for(double h, const std::vector<Unilateral>& parts) {
  const auto same = [](const Unilateral& u, const Key& known) { return key(u) == known; };
  if (h != h_ || !std::equal(parts.begin(), parts.end(), parts_.begin(), parts_.end(), same)) forget();
}

void ImpulseSlope::find(double h, const std::vector<Unilateral>& parts, const ContactSystem& system, Run& run) {
  const RowGroups& groups = system.groups;
  const std::size_t n = groups.rows();
  const int nv = n > 0 ? static_cast<int>(system.J.size() / n) : 0;
  numbers_.assign(n * n, 0.0), column_.resize(nv);
  h_ = h, parts_.clear();
  for (const Unilateral& u : parts) parts_.push_back(key(u));
  int g = 0;
  for (std::size_t i = 0; i < n; ++i) {
    while (groups.first[g + 1] <= static_cast<int>(i)) ++g;
    if (!run.end_by_momentum(&system.J[i * nv], column_.data()))
      return groups.copy(system.W.data(), h, numbers_.data());
    groups.for_columns(g, [&](int k, int end) {
      for (; k < end; ++k)
        numbers_[n * k + i] = sum_of_products(&system.J[static_cast<std::size_t>(k) * nv], column_.data(), nv);
    });
  }
}

void ImpulseSlope::learn(const RowGroups& groups, const std::vector<double>& dx, const std::vector<double>& dy) {
  const std::size_t n = groups.rows();
  off_.resize(n);
  for (int g = 0; g < groups.size(); ++g) {
    double square = 0, largest = 0, farthest = 0;
    groups.for_columns(g, [&](int j, int end) {
      for (; j < end; ++j) square += dx[j] * dx[j];
    });
    for (int i = groups.first[g]; i < groups.first[g + 1]; ++i) {
      double expected = 0;
      groups.for_columns(g, [&](int j, int end) {
        for (; j < end; ++j) expected += numbers_[n * i + j] * dx[j];
      });
      off_[i] = dy[i] - expected;
      largest = std::max(largest, std::fabs(expected)), farthest = std::max(farthest, std::fabs(off_[i]));
    }
    if (!(largest > kTold) || !(farthest < largest)) continue;  // rounding, or a step that went elsewhere, says nothing
    for (int i = groups.first[g]; i < groups.first[g + 1]; ++i)
      groups.for_columns(g, [&](int j, int end) {
        for (; j < end; ++j) numbers_[n * i + j] += off_[i] / square * dx[j];
      });
  }
}

}  // namespace symplectree
