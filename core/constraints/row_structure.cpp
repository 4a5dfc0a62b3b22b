// Where rows of constraints hold on to bodies and coordinates.
#include "constraints/row_structure.hpp"

#include "model/rows/all_rows.hpp"
#include "model/user_elements.hpp"

#include "elements/pair_elements.hpp"
#include "scalar/jet.hpp"

namespace symplectree {
namespace {

void flatten(const std::vector<std::vector<int>>& lists, std::vector<int>& start, std::vector<int>& all) {
  start.assign(1, 0);
  for (const auto& list : lists) {
    all.insert(all.end(), list.begin(), list.end());
    start.push_back(static_cast<int>(all.size()));
  }
}

}  // namespace

template <class R>
RowIndices::RowIndices(const ModelOf<R>& m, bool with_dampers) {
  std::size_t rows = m.rows;
  if (with_dampers) {
    for_damped_pairs(m, [&](const auto&) { ++damped_pairs, ++rows; });
    for (std::size_t u = 0; u < m.users.size(); ++u)
      if (m.users[u].kind == UserElement::Force) user_forces.push_back(static_cast<int>(u)), rows += m.users[u].size();
  }
  std::vector<std::vector<int>> bodies(rows), velocities(rows);
  std::size_t row = m.rows;
  if (with_dampers) for_damped_pairs(m, [&](const auto& pair) { bodies[row++] = {pair.a.body, pair.b.body}; });
  for (int u : user_forces)
    for (int k = 0; k < m.users[u].size(); ++k) velocities[row++] = m.users[u].v;
  for (const UserElement& u : m.users)
    for (int k = 0; k < u.rows; ++k) velocities[u.first_row + k] = u.v;
  for (const PointRowOf<R>& r : m.point_rows) bodies[r.row] = {r.a.body, r.b.body, r.n.body};
  for (const AngleRowOf<R>& r : m.angle_rows) bodies[r.row] = {r.u.body, r.w.body};
  for (const DistanceRowOf<R>& r : m.distance_rows) {
    bodies[r.row] = {r.a.body, r.b.body};
    if (r.v >= 0) velocities[r.row] = {r.v};
  }
  for (const CoordinateRowOf<R>& r : m.coordinate_rows) velocities[r.row] = {r.v1, r.v2};
  flatten(bodies, pull_start, pull_body);
  flatten(velocities, coefficient_start, coefficient_v);
}

template RowIndices::RowIndices(const Model&, bool);
template RowIndices::RowIndices(const ModelOf<Jet>&, bool);

}  // namespace symplectree
