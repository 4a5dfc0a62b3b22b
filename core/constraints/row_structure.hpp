// Which bodies and coordinates the rows of constraints hold on to; this never changes.
#pragma once

#include "elements/pair_elements.hpp"
#include "model/model.hpp"

namespace symplectree {

// Where the rows of a model hold on to it. Entries of row k are [start[k], start[k + 1]). After the constraints may
// follow rows whose multipliers are what dampers add to Newton's matrix: the gauges of damped pairs, and one for each
// coordinate of each of the user's forces.
struct RowIndices {
  std::vector<int> pull_start, pull_body, coefficient_start, coefficient_v;
  std::vector<int> user_forces;
  int damped_pairs = 0;  // how many

  template <class R>
  explicit RowIndices(const ModelOf<R>& m, bool with_dampers = false) {
    std::size_t rows = m.rows;
    if (with_dampers) {
      for_damped_pairs(m, [&](const auto&) { ++damped_pairs, ++rows; });
      for (std::size_t u = 0; u < m.users.size(); ++u)
        if (m.users[u].kind == UserElement::Force)
          user_forces.push_back(static_cast<int>(u)), rows += m.users[u].size();
    }
    std::vector<std::vector<int>> bodies(rows), velocities(rows);
    std::size_t row = m.rows;
    if (with_dampers) for_damped_pairs(m, [&](const auto& pair) { bodies[row++] = {pair.a.body, pair.b.body}; });
    for (int u : user_forces)
      for (int k = 0; k < m.users[u].size(); ++k) velocities[row++] = m.users[u].v;
    for (const UserElement& u : m.users)
      for (int k = 0; k < u.rows; ++k) velocities[u.first_row + k] = u.v;
    for (const PointRowOf<R>& r : m.point_rows) bodies[r.row] = {r.a.body, r.b.body, r.n.body};
    for (const AngleRow& r : m.angle_rows) bodies[r.row] = {r.u.body, r.w.body};
    for (const DistanceRowOf<R>& r : m.distance_rows) {
      bodies[r.row] = {r.a.body, r.b.body};
      if (r.v >= 0) velocities[r.row] = {r.v};
    }
    for (const CoordinateRowOf<R>& r : m.coordinate_rows) velocities[r.row] = {r.v1, r.v2};
    flatten(bodies, pull_start, pull_body);
    flatten(velocities, coefficient_start, coefficient_v);
  }

  int rows() const { return static_cast<int>(pull_start.size()) - 1; }
  // Constraints and damped pairs: the row at which the user's forces begin.
  template <class R>
  std::size_t first_user_force(const ModelOf<R>& m) const {
    return m.rows + damped_pairs;
  }

 private:
  static void flatten(const std::vector<std::vector<int>>& lists, std::vector<int>& start, std::vector<int>& all) {
    start.assign(1, 0);
    for (const auto& list : lists) {
      all.insert(all.end(), list.begin(), list.end());
      start.push_back(static_cast<int>(all.size()));
    }
  }
};

// The same, and which rows nothing that the mechanism can do changes, as out of the plane of a planar loop.
struct RowStructure : RowIndices {
  std::vector<char> idle;

  explicit RowStructure(const Model& m, bool with_dampers = false)
      : RowIndices(m, with_dampers), idle(static_cast<std::size_t>(rows())) {
    find_idle_rows(m);
  }

  void find_idle_rows(const Model& m);  // row_evaluation.hpp
};

}  // namespace symplectree
