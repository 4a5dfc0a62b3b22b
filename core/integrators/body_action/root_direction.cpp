// Newton's direction and its slower relatives.
#include "integrators/body_action/root_direction.hpp"

#include "dense/dense_solvers.hpp"
#include "dynamics/aba.hpp"

namespace symplectree {

// D_j s of a pair at the poses in `at`, (nv).
template <class Row>
static std::vector<double> gauge_gradient(const Model& m, const Row& row, const Workspace<double>& at) {
  std::vector<double> g(m.nv);
  const Gauge<double> gauge = gauge_of(row, at);
  const auto add = [&](int i, Spatial<double> f) {
    for (; i > 0; f = shift_force(f, at.pose[i].r), i = m.bodies[i].parent)
      for (int j = m.bodies[i].v; j < m.bodies[i].v + m.bodies[i].nv; ++j) g[j] += dot(at.S[j], f);
  };
  add(row.a.body, gauge.on_a()), add(row.b.body, gauge.on_b());
  return g;
}

void Direction::begin(Solver solver, NewtonWorkspace& w, double h, const double* q0) {
  solver_ = solver;
  pairs_ = 0;
  if (solver != Solver::Riqn && solver != Solver::Broyden) return;
  if (!coupled_) return factorize_mass(w.m, q0, *w.now);
  for (int i = 1; i < w.m.size(); ++i) {
    const Body& body = w.m.bodies[i];
    const double d = body.mass / h;
    const Mat3<double> J = rotated_columns(w.now->pose[i].R, body.inertia);
    mass_[i] = {{(1 / h) * J.a, (1 / h) * J.b, (1 / h) * J.c}, {}, {}, {{d, 0, 0}, {0, d, 0}, {0, 0, d}}};
    for (int k = 0; k < body.nv; ++k) block_[i][(body.nv + 1) * k] = stiff_[body.v + k] = w.m.armature[body.v + k] / h;
  }
}

void Direction::compute(NewtonWorkspace& w, double h, const double* q0, const double* q1, double* delta) {
  switch (solver_) {
    case Solver::Newton: newton(w, h, q0, q1, delta); break;
    case Solver::Riqn: impulse(w, h, w.r.data(), delta); break;
    case Solver::Broyden: broyden(w, h, w.r.data(), delta); break;
    case Solver::Dense: dense(w, h, q0, q1, delta); break;
  }
}

void Direction::learn(NewtonWorkspace& w, double h, const double* s, const double* before) {
  if (solver_ != Solver::Broyden) return;
  std::vector<double> y(size_), Hy(size_);
  for (int j = 0; j < size_; ++j) y[j] = before[j] - w.r[j];
  broyden(w, h, y.data(), Hy.data());
  double scale = 0;
  for (int j = 0; j < size_; ++j) scale += s[j] * Hy[j];
  if (!(std::fabs(scale) > 1e-300)) return;
  if (a_.size() <= pairs_) a_.emplace_back(size_), s_.emplace_back(size_);
  for (int j = 0; j < size_; ++j) a_[pairs_][j] = (s[j] - Hy[j]) / scale, s_[pairs_][j] = s[j];
  ++pairs_;
}

void Direction::newton(NewtonWorkspace& w, double h, const double* q0, const double* q1, double* delta) {
  if (!coupled_) {
    factorize(w, {h, q0, q1});
    return solve_tree(w, w.r.data(), delta);
  }
  for (int i = 1; i < w.m.size(); ++i) {
    if (w.m.bodies[i].nv == 1) continue;
    double t[6];
    block_[i].fill(0);
    if (w.has_block_terms[i])
      joint_block_terms(w.joint_numbers(), w.m.bodies[i], StepEnds<double>{h, q0, q1}, false, t, block_[i].data());
  }
  evaluate_dampers(w.m, rows.structure, *w.next, rows.next);
  rows.evaluate_user_forces(q0, w.displacement.data());
  LoopSystem system = loop_system(w, *w.next, w.A.data(), w.stiff.data());
  rows.solve(system, w.r.data(), rows.next, delta);
}

LoopSystem Direction::loop_system(const NewtonWorkspace& w, const Workspace<double>& right, const Matrix6<double>* A,
                                  const double* stiff) const {
  LoopSystem system;
  system.left = w.now, system.right = &right;
  system.A = A, system.stiff = stiff, system.block = block_.data(), system.prescribed = w.prescribed.data();
  return system;
}

void Direction::impulse(NewtonWorkspace& w, double h, const double* r, double* delta) {
  if (coupled_) {
    LoopSystem system = loop_system(w, *w.now, mass_.data(), stiff_.data());
    return rows.solve(system, r, rows.now, delta);
  }
  solve_mass(w.m, r, delta, *w.now);
  for (int j = 0; j < w.m.nv; ++j) delta[j] *= h;
}

void Direction::broyden(NewtonWorkspace& w, double h, const double* r, double* delta) {
  impulse(w, h, r, delta);
  for (std::size_t i = 0; i < pairs_; ++i) {
    double c = 0;
    for (int j = 0; j < size_; ++j) c += s_[i][j] * delta[j];
    for (int j = 0; j < size_; ++j) delta[j] += c * a_[i][j];
  }
}

void Direction::dense(NewtonWorkspace& w, double h, const double* q0, const double* q1, double* delta) {
  const Model& m = w.m;
  std::vector<double> columns(static_cast<std::size_t>(m.nv) * m.nv);
  const auto full = [&](int i, int j) -> double& { return columns[static_cast<std::size_t>(m.nv) * j + i]; };
  std::vector<Spatial<double>> g(m.size());
  for (int c = 0; c < m.nv; ++c) {
    for (int i = 1; i < m.size(); ++i) {
      w.eta[i] = shift_motion(w.eta[m.bodies[i].parent], w.next->pose[i].r);
      if (m.body_of[c] == i) w.eta[i] += w.next->S[c];
      g[i] = w.A[i] * w.eta[i];
    }
    for (int i = m.size() - 1; i > 0; --i) {
      const Body& body = m.bodies[i];
      for (int j = body.v; j < body.v + body.nv; ++j) full(j, c) = dot(w.now->S[j], g[i]);
      if (body.parent > 0) g[body.parent] += shift_force(g[i], w.now->pose[i].r);
    }
  }
  for (int i = 1; i < m.size(); ++i) {
    const Body& body = m.bodies[i];
    if (body.nv == 1) full(body.v, body.v) += w.stiff[body.v];
    if (body.nv == 1 || !w.has_block_terms[i]) continue;
    double t[6], N[36] = {};
    joint_block_terms(w.joint_numbers(), body, StepEnds<double>{h, q0, q1}, false, t, N);
    for (int k = 0; k < body.nv; ++k)
      for (int l = 0; l < body.nv; ++l) full(body.v + k, body.v + l) += N[body.nv * k + l];
  }
  for_damped_pairs(m, [&](const auto& row) {
    const std::vector<double> now = gauge_gradient(m, row, *w.now), next = gauge_gradient(m, row, *w.next);
    for (int j = 0; j < m.nv; ++j)
      for (int i = 0; i < m.nv; ++i) full(i, j) += 0.5 * row.damping * now[i] * next[j];
  });
  UserTerms t;
  for (int i : rows.structure.user_forces) {
    const UserElement& u = m.users[i];
    t.evaluate(u, 2, q0, w.displacement.data());
    for (int k = 0; k < u.size(); ++k)
      for (int l = 0; l < u.size(); ++l) full(u.v[k], u.v[l]) -= 0.5 * t.second[u.size() * k + l];
  }
  if (coupled_) return rows.solve_dense(columns.data(), w.prescribed, *w.now, *w.next, w.r.data(), delta);
  solve_lu(columns.data(), m.nv, w.r.data(), delta);
}

}  // namespace symplectree
