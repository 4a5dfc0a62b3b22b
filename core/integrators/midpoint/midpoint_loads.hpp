// Lines, wrenches and pairs in Newton's matrix of the midpoint action, with the names of midpoint_newton.hpp.
//
// With lines and wrenches, ξ is needed in full, and y has a third twist ζ̄ that forces without energy work on, half at
// each end. A wrench Q fixed in the world gives K its turning with the body and c the part −ad_Sᵀ Q. How a line's
// tension changes with its two ends is local to a body when the other end is the world, and else of rank three (six
// with a damper), solved for by one more sweep for each. Pairs are treated likewise: their wrenches change with the six
// components of one body's motion against the other's, and by a damper with ṡ.
#pragma once

#include "integrators/midpoint/line_tension.hpp"
#include "integrators/midpoint/midpoint_state.hpp"
#include "integrators/midpoint/pair_change.hpp"
#include "spatial/block_matrix.hpp"

namespace symplectree {

class MidpointLoads {
 public:
  // A component of a line's tension between two moving bodies: that of its spring (row 2, ξ̄) or damper (row 4, ζ̄). Of
  // a pair, a component of the motion of one body against the other, or, the seventh, of ṡ.
  struct Coupling {
    int line, row;
    Vec3<double> axis;
    int pair = -1, component = 0;
  };

  explicit MidpointLoads(const Model& m)
      : m_(m), couplings_(couplings_of(m)), lines_(m.lines.size()), pairs_(m.pairs()) {}

  static std::vector<Coupling> couplings_of(const Model& m) {
    std::vector<Coupling> out;
    const Mat3<double> axes = Mat3<double>::identity();
    for (int l = 0; l < static_cast<int>(m.lines.size()); ++l) {
      const Line& line = m.lines[l];
      if (is_local(line)) continue;
      for (int row : {2, 4})
        for (int k = 0; k < 3; ++k)
          if (row == 2 ? line.function >= 0 || line.stiffness != 0 : line.damping != 0)
            out.push_back({l, row, axes.column(k)});
    }
    int index = 0;
    m.for_pairs([&](const auto& pair) {
      const int count = is_local(pair) ? 0 : pair.damping != 0 ? 7 : 6;
      for (int k = 0; k < count; ++k) out.push_back({-1, 0, {}, index, k});
      ++index;
    });
    return out;
  }

  const std::vector<Coupling>& couplings() const { return couplings_; }

  // Adds to K, matrix(i) of body i, what lines and wrenches add.
  template <class Matrices>
  void add_to(const MidpointState<double>& mid, Matrices&& matrix) {
    const Workspace<double>& at = mid.at;
    for (std::size_t l = 0; l < m_.lines.size(); ++l) {
      const Line& line = m_.lines[l];
      lines_[l] = line_change(m_, line, at);
      const LineState<double> s = line_state(line, m_.potentials, position(line.b, at) - position(line.a, at));
      const double drag = line.damping * dot(s.u, lines_[l].velocity[1] - lines_[l].velocity[0]);
      for (int end = 0; end < 2; ++end) {
        const double sign = end == 0 ? 1 : -1;
        add_turning(matrix, 2, lines_[l].body[end], lines_[l].arm[end], (sign * s.slope_over_length) * s.d);
        add_turning(matrix, 4, lines_[l].body[end], lines_[l].arm[end], (sign * drag) * s.u);
      }
      if (is_local(line)) add_local(matrix, lines_[l]);
    }
    for (const Wrench& row : m_.wrenches) {
      if (!row.world_axes) continue;  // one that turns with the body stays what it is for the body
      const Spatial<double> f = world_wrench(row, mid.inputs.data(), at);
      const int i = row.point.body;
      add_turning(matrix, 4, i, position(row.point, at) - at.pose[i].x, f.linear);
      if (i > 0) matrix(i).at[4][2] += hat_times(f.angular, Mat3<double>::identity());
    }
    PairChange* pair = pairs_.data();
    m_.for_pairs([&](const auto& row) {
      *pair = pair_change(row, at);
      if (pair->is_local()) add_local(matrix, *pair);
      ++pair;
    });
  }

  // Unit forces of a coupling on the line's ends, times `size`, added to g.
  void pull(const Coupling& c, double size, std::vector<BlockVector<6>>& g) const {
    if (c.pair >= 0) return pull(pairs_[c.pair], c.component, size, g);
    const LineChange& l = lines_[c.line];
    for (int end = 0; end < 2; ++end) {
      const Vec3<double> f = (end == 0 ? -size : size) * c.axis;
      g[l.body[end]].add(c.row, 1, {cross(l.arm[end], f), f});
    }
  }

  // The change of a line's force that motions x of the bodies cause.
  double tension(const Coupling& c, const std::vector<BlockVector<4>>& motions) const {
    if (c.pair >= 0) return motion(pairs_[c.pair], c.component, motions);
    const LineChange& l = lines_[c.line];
    Vec3<double> way, speed;
    for (int end = 0; end < 2; ++end) {
      const auto& x = motions[l.body[end]].at;
      const double sign = end == 0 ? -1 : 1;
      way += sign * (x[3] + cross(x[2], l.arm[end]));
      speed += sign * (x[1] + cross(x[0], l.arm[end]) + cross(x[2], l.velocity[end]));
    }
    return -dot(c.axis, c.row == 2 ? l.stiffness * way : l.turning * way + l.damping * speed);
  }

 private:
  // Does the change of a line's tension, or of a pair's, concern one body only?
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

  // The tension's change of a line of which at most one body moves.
  template <class Matrices>
  static void add_local(Matrices&& matrix, const LineChange& c) {
    for (int a = 0; a < 2; ++a)
      for (int b = 0; b < 2; ++b) {
        const int i = c.body[a];
        if (i == 0 || c.body[b] == 0) continue;
        const double sign = a == b ? -1 : 1;
        couple(matrix(i), 2, 2, c.arm[a], c.arm[b], scaled(sign, c.stiffness));
        couple(matrix(i), 4, 2, c.arm[a], c.arm[b], scaled(sign, c.turning));
        couple(matrix(i), 4, 0, c.arm[a], c.arm[b], scaled(sign, c.damping));
        const Mat3<double> M = times_hat(scaled(-sign, c.damping), c.velocity[b]);
        matrix(i).at[5][2] += M;
        matrix(i).at[4][2] += hat_times(c.arm[a], M);
      }
  }

  // The changes of wrench of a pair of which one body is the world.
  template <class Matrices>
  static void add_local(Matrices&& matrix, const PairChange& c) {
    BlockMatrix<6, 4>& A = matrix(c.body[c.mover]);
    const Spatial<double>& on = c.gauge[c.mover];
    const auto columns = [&](const std::array<WrenchPair, 6>& of, int first, Vec3<double> Spatial<double>::* part) {
      return Mat3<double>{of[first][c.mover].*part, of[first + 1][c.mover].*part, of[first + 2][c.mover].*part};
    };
    for (int block = 0; block < 2; ++block) {
      const auto part = block == 0 ? &Spatial<double>::angular : &Spatial<double>::linear;
      for (int column = 0; column < 2; ++column) {
        A.at[2 + block][2 + column] += columns(c.spring, 3 * column, part);
        A.at[4 + block][2 + column] += columns(c.damper, 3 * column, part);
        A.at[4 + block][column] += outer((-c.damping) * (on.*part), column == 0 ? on.angular : on.linear);
      }
    }
  }

  // Wrenches of a unit of a component of a pair's motion, times `size`, added to g.
  static void pull(const PairChange& c, int component, double size, std::vector<BlockVector<6>>& g) {
    for (int end = 0; end < 2; ++end) {
      BlockVector<6>& to = g[c.body[end]];
      if (component == 6) {
        to.add(4, -size * c.damping, c.gauge[end]);
      } else {
        to.add(2, size, c.spring[component][end]), to.add(4, size, c.damper[component][end]);
      }
    }
  }

  // That component of the bodies' motions x: of the mover's against the other's, at the mover's centre; or of ṡ.
  double motion(const PairChange& c, int component, const std::vector<BlockVector<4>>& motions) const {
    const auto &mover = motions[c.body[c.mover]].at, &other = motions[c.body[c.other()]].at;
    if (component == 6) {
      const Spatial<double>&on = c.gauge[c.mover], &against = c.gauge[c.other()];
      return dot(on.angular, mover[0]) + dot(on.linear, mover[1]) + dot(against.angular, other[0]) +
             dot(against.linear, other[1]);
    }
    const Vec3<double> axis = Mat3<double>::identity().column(component % 3);
    if (component < 3) return dot(axis, mover[2] - other[2]);
    return dot(axis, mover[3] - other[3] - cross(other[2], c.arm));
  }

  // A += (way of point p by the twist in y's blocks row, row + 1)ᵀ M (way of point q by that in x's).
  static void couple(BlockMatrix<6, 4>& A, int row, int column, const Vec3<double>& p, const Vec3<double>& q,
                     const Mat3<double>& M) {
    const Mat3<double> T = times_hat(scaled(-1.0, M), q);
    A.at[row + 1][column] += T, A.at[row + 1][column + 1] += M;
    A.at[row][column] += hat_times(p, T), A.at[row][column + 1] += hat_times(p, M);
  }

  const Model& m_;
  std::vector<Coupling> couplings_;
  std::vector<LineChange> lines_;
  std::vector<PairChange> pairs_;
};

}  // namespace symplectree
