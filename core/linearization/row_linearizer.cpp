#include "linearization/row_linearizer.hpp"

namespace symplectree {
namespace {

template <class BodyAction>
std::unique_ptr<LinearizerInterface> made(const Model& m, Action action) {
  if (!RowLinearizer<BodyAction>::covers(m)) return nullptr;
  return std::make_unique<RowLinearizer<BodyAction>>(m, action);
}

}  // namespace

bool has_affine_rows(const Model& m) {
  if (m.rows == 0 || static_cast<int>(m.coordinate_rows.size()) != m.rows) return false;
  RowMatrix G = RowMatrix::Zero(m.rows, m.nv);
  for (const CoordinateRow& r : m.coordinate_rows) {
    if (r.function >= 0) return false;
    G(r.row, r.v1) += r.c1, G(r.row, r.v2) += r.c2;
  }
  return Eigen::FullPivLU<RowMatrix>(G).rank() == m.rows;
}

std::unique_ptr<LinearizerInterface> row_linearizer(const Model& m, Action action) {
  switch (action) {
    case Action::Cayley:
      return made<Cayley>(m, action);
    case Action::Chord:
      return made<Chord>(m, action);
    case Action::Exponential:
      return made<Exponential>(m, action);
    default:
      return nullptr;
  }
}

}  // namespace symplectree
