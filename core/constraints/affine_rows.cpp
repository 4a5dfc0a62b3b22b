#include "constraints/affine_rows.hpp"

#include <algorithm>

#include "dense/dense_solvers.hpp"
#include "dense/row_matrix.hpp"
#include "dynamics/aba.hpp"
#include "model/rows/coordinate_row.hpp"

namespace symplectree {

bool AffineRows::cover(const Model& m) {
  if (m.rows == 0 || static_cast<int>(m.coordinate_rows.size()) != m.rows) return false;
  RowMatrix G = RowMatrix::Zero(m.rows, m.nv);
  for (const CoordinateRow& r : m.coordinate_rows) {
    if (r.function >= 0) return false;
    G(r.row, r.v1) += r.c1, G(r.row, r.v2) += r.c2;
  }
  return rank(G) == m.rows;
}

AffineRows::AffineRows(const Model& m)
    : multipliers(m.rows), W(static_cast<std::size_t>(m.rows) * m.nv), m_(m), mass_(m), w_(m), matrix_(m.rows * m.rows),
      row_(m.nv) {
  for (const CoordinateRow& r : m.coordinate_rows)
    entries.push_back({r.row, r.v1, r.c1}), entries.push_back({r.row, r.v2, r.c2});
}

void AffineRows::velocity(const double* q, const double* p, double* v) {
  place(q);
  solve_mass(m_, p, v, mass_);
  project(v);
}

void AffineRows::acceleration(const double* q, const double* v, const double* tau, const double* inputs, double* a) {
  place(q);
  forward_dynamics(m_, {q, v}, {tau, inputs}, a, w_);
  project(a);
}

void AffineRows::solve(double* B, int columns) const {
  scratch_ = matrix_;
  solve_in_place(scratch_.data(), m_.rows, B, columns);
}

void AffineRows::place(const double* q) {
  if (std::equal(q_.begin(), q_.end(), q, q + m_.nq)) return;
  q_.assign(q, q + m_.nq);
  factorize_mass(m_, q, mass_);
  for (int k = 0; k < m_.rows; ++k) {
    std::fill(row_.begin(), row_.end(), 0.0);
    for (const Entry& e : entries)
      if (e.row == k) row_[e.v] += e.factor;
    solve_mass(m_, row_.data(), &W[k * m_.nv], mass_);
  }
  std::fill(matrix_.begin(), matrix_.end(), 0.0);
  for (const Entry& e : entries)
    for (int k = 0; k < m_.rows; ++k) matrix_[k * m_.rows + e.row] += e.factor * W[k * m_.nv + e.v];
}

void AffineRows::project(double* x) {
  std::fill(multipliers.begin(), multipliers.end(), 0.0);
  for (const Entry& e : entries) multipliers[e.row] -= e.factor * x[e.v];
  solve(multipliers.data(), 1);
  for (int k = 0; k < m_.rows; ++k)
    for (int j = 0; j < m_.nv; ++j) x[j] += multipliers[k] * W[k * m_.nv + j];
}

}  // namespace symplectree
