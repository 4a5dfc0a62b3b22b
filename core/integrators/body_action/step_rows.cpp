// Newton's equations of a step with rows.
#include "integrators/body_action/step_rows.hpp"

#include "dense/dense_solvers.hpp"
#include "elements/pair_elements.hpp"

namespace symplectree {

StepRows::StepRows(const Model& model)
    : m(model), structure(m, true), now(structure), next(structure), loops(m, structure, 1e-13),
      compliance(structure.rows()), e(structure.rows()), solution(structure.rows()), force(m.size()), bound(m.size()) {
  auto next_compliance = compliance.begin() + m.rows;
  for_damped_pairs(m, [&](const auto& row) { *next_compliance++ = 2 / row.damping; });
  std::fill(next_compliance, compliance.end(), 1.0);
}

void StepRows::evaluate_user_forces(const double* q, const double* v) {
  std::size_t row = structure.first_user_force(m);
  for (int i : structure.user_forces) {
    const UserElement& u = m.users[i];
    const int k = u.size();
    user_.evaluate(u, 2, q, v);
    for (int r = 0; r < k; ++r, ++row)
      for (int c = 0; c < k; ++c) {
        const int at = structure.coefficient_start[row] + c;
        now.coefficient[at] = r == c ? 1.0 : 0.0;
        next.coefficient[at] = -0.5 * user_.second[k * r + c];
      }
  }
}

void StepRows::solve(LoopSystem& system, const double* r, const RowValues& right, double* delta) {
  for (int k = 0; k < m.rows; ++k) e[k] = r[m.nv + k];
  system.rhs = r, system.rows_left = &now, system.rows_right = &right;
  system.compliance = compliance.data(), system.e = e.data();
  loops.solve(system, delta, solution.data());
  std::copy(solution.begin(), solution.begin() + m.rows, delta + m.nv);
}

void StepRows::solve_dense(const double* N, const std::vector<char>& prescribed, const Workspace<double>& start,
                           const Workspace<double>& end, const double* r, double* delta) {
  std::vector<double> left(static_cast<std::size_t>(m.rows) * m.nv), right(left);
  dense_rows(m, structure, now, start, left.data());
  dense_rows(m, structure, next, end, right.data());
  solve_bordered({m.nv, m.rows, N, left.data(), right.data(), r, prescribed}, delta);
}

void StepRows::roll(const UserElement& u, const double* q0, const double* q1) {
  user_.evaluate_step(u, q0, q1);
  const int k = u.size();
  for (int r = 0; r < u.rows; ++r) {
    const int row = u.first_row + r;
    next.value[row] = user_.value[r];
    double size = 1e-3;
    for (int j = 0; j < k; ++j) {
      next.coefficient[structure.coefficient_start[row] + j] = user_.first[k * r + j];
      size += std::fabs(user_.first[k * r + j]) * (1e-3 + std::fabs(user_.q[j]));
    }
    next.size[row] = next.noise[row] = size;
  }
}

}  // namespace symplectree
