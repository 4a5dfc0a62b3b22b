// Pairs and wrenches in Newton's matrix of the midpoint action, with the names of midpoint_newton.cpp.
//
// With these, ξ is needed in full, and y has a third twist ζ̄ that forces without energy work on, half at each end. A
// wrench Q fixed in the world gives K its turning with the body and c the part −ad_Sᵀ Q. How a pair's wrenches change
// is a sum of a few terms E Tᵀ (pair_change.hpp): local to a body when the other one is the world, and else solved for
// by one more sweep for each.
#pragma once

#include "elements/wrench.hpp"
#include "integrators/midpoint/midpoint_state.hpp"
#include "integrators/midpoint/pair_change.hpp"
#include "spatial/block_matrix.hpp"

namespace symplectree {

class MidpointLoads {
 public:
  explicit MidpointLoads(const Model& m) : m_(m) {
    std::size_t count = 0;
    m.for_pairs([&](const auto& row) { count += is_local(row) ? 0 : coupling_count(row); });
    couplings_.resize(count);
  }

  // How many springs and dampers there are between moving bodies.
  static int springs_and_dampers(const Model& m) {
    int count = 0;
    m.for_pairs([&](const auto& row) { count += is_local(row) ? 0 : row.elastic() + (row.damping != 0); });
    return count;
  }

  const std::vector<Coupling>& couplings() const { return couplings_; }

  // Adds to K, matrix(i) of body i, what pairs and wrenches add.
  template <class Matrices>
  void add_to(const MidpointState<double>& mid, Matrices&& matrix) {
    const Workspace<double>& at = mid.at;
    for (const Wrench& row : m_.wrenches) {
      if (!row.world_axes) continue;  // one that turns with the body stays what it is for the body
      const Spatial<double> f = world_wrench(row, mid.inputs.data(), at);
      const int i = row.point.body;
      add_turning(matrix, 4, i, position(row.point, at) - at.pose[i].x, f.linear);
      if (i > 0) matrix(i).at[4][2] += hat_times(f.angular, Mat3<double>::identity());
    }
    Coupling own[kMostCouplings], *next = couplings_.data();
    m_.for_pairs([&](const auto& row) {
      const PairChange change = pair_change(m_, row, at);
      for (int end = 0; kAtPoints<std::decay_t<decltype(row)>> && end < 2; ++end) {
        const double sign = end == 0 ? -1 : 1;
        add_turning(matrix, 2, change.body[end], change.arm[end], sign * change.spring);
        if (row.damping != 0) add_turning(matrix, 4, change.body[end], change.arm[end], sign * change.damper);
      }
      if (!is_local(row)) {
        next = couple(row, change, next);
        return;
      }
      const Coupling* end = couple(row, change, own);
      for (const Coupling* c = own; c != end; ++c) add_local(matrix, *c);
    });
  }

  // The wrenches E of a coupling, times `size`, added to g.
  static void pull(const Coupling& c, double size, std::vector<BlockVector<6>>& g) {
    for (int end = 0; end < 2; ++end) g[c.body[end]].add(size, c.E[end]);
  }

  // Tᵀ x of a coupling.
  static double motion(const Coupling& c, const std::vector<BlockVector<4>>& x) {
    return dot(c.T[0], x[c.body[0]]) + dot(c.T[1], x[c.body[1]]);
  }

 private:
  // Does the change of a pair's wrenches concern one body only?
  template <class Row>
  static bool is_local(const Row& row) {
    return row.a.body == 0 || row.b.body == 0 || row.a.body == row.b.body;
  }

  // A force fixed in the world at a point of body i: the virtual way of the point, times f × ξ's rotation.
  template <class Matrices>
  static void add_turning(Matrices&& matrix, int row, int i, const Vec3<double>& arm, const Vec3<double>& f) {
    if (i == 0) return;
    const Mat3<double> M = hat_times(f, Mat3<double>::identity());
    matrix(i).at[row + 1][2] += M;
    matrix(i).at[row][2] += hat_times(arm, M);
  }

  // A coupling of which at most one body moves.
  template <class Matrices>
  static void add_local(Matrices&& matrix, const Coupling& c) {
    for (int a = 0; a < 2; ++a)
      for (int b = 0; b < 2; ++b)
        for (int i = c.rows[0]; c.body[a] > 0 && c.body[b] > 0 && i < c.rows[1]; ++i)
          for (int j = c.columns[0]; j < c.columns[1]; ++j)
            matrix(c.body[a]).at[i][j] += outer(c.E[a].at[i], c.T[b].at[j]);
  }

  const Model& m_;
  std::vector<Coupling> couplings_;
};

}  // namespace symplectree
