// Velocities, accelerations and multipliers under constraints.
#include "constraints/constrained_dynamics.hpp"

#include "dynamics/outward_sweep.hpp"
#include "dynamics/rnea.hpp"
#include "elements/element_forces.hpp"
#include "kinematics/poses_twists.hpp"

namespace symplectree {
namespace {

// Pivots of rows that depend on others, relative to their natural size: where loops have come apart a little, dependent
// rows are still found; and least ones, where masses are so unlike that others are as small.
constexpr double kDependent = 1e-9, kFinest = 1e-14;
constexpr double kMet = 1e-6;    // what a row may leave of its terms, and be one that depends on others
constexpr int kRefinements = 3;  // of solutions with small pivots

}  // namespace

Constrained::Constrained(const Model& m)
    : prescribed(m.nv), multipliers(m.rows), m_(m), structure_(m), rows_(structure_), loops_(m, structure_, kDependent),
      w_(m), inertia_(m.size()), force_(m.size()), bound_(m.size()), block_(m.size()), rhs_(m.nv), e_(m.rows),
      given_(m.nv) {
  for (int i = 1; i < m.size(); ++i)
    for (int k = 0; k < m.bodies[i].nv; ++k) block_[i][(m.bodies[i].nv + 1) * k] = m.armature[m.bodies[i].v + k];
}

void Constrained::velocity(const double* q, const double* p, double* v) {
  compute_poses(m_, q, w_);
  start(q);
  for (int i = 1; i < m_.size(); ++i) {
    const Body& body = m_.bodies[i];
    w_.V[i] = shift_motion(w_.V[body.parent], w_.pose[i].r);
    for (int j = body.v; j < body.v + body.nv; ++j) {
      if (prescribed[j]) w_.V[i] += v[j] * w_.S[j];
      rhs_[j] = p[j];
    }
    force_[i] = inertia_[i] * w_.V[i];
  }
  for (int k = 0; k < m_.rows; ++k) e_[k] = -rate(k, v, w_.V);
  finish(v);
}

void Constrained::acceleration(const double* q, const double* v, const double* tau, const double* inputs, double* a) {
  sines_and_cosines(q, m_.nq, w_.sine.data(), w_.cosine.data());
  for (int i = 1; i < m_.size(); ++i) {
    const Body& body = m_.bodies[i];
    place_body<1>(body, q, w_.pose[i], w_);
    move_body(body, i, v, w_);
    w_.acceleration[i] = shift_motion(w_.acceleration[body.parent], w_.pose[i].r) + w_.bias[i];
    for (int j = body.v; j < body.v + body.nv; ++j) {
      if (!prescribed[j]) a[j] = 0;
      w_.acceleration[i] += a[j] * w_.S[j];
    }
  }
  start(q);
  joint_element_forces(m_, q, v, inputs, w_);
  for (int i = 1; i < m_.size(); ++i) {
    const Body& body = m_.bodies[i];
    w_.force[i] = velocity_wrench(body, inertia_[i].A, w_.V[i], m_.gravity) + inertia_[i] * w_.acceleration[i];
    for (int j = body.v; j < body.v + body.nv; ++j) rhs_[j] = tau[j] + w_.joint_force[j] - rotor_force(m_, body, j, v);
  }
  if (m_.acts_on_bodies()) subtract_element_wrenches(m_, inputs, w_);
  std::copy(w_.force.begin(), w_.force.end(), force_.begin());
  row_accelerations(m_, q, v, a, w_, e_.data());
  for (double& e : e_) e = -e;
  finish(a);
}

void Constrained::reaction(const double* q, const double* v, const double* a, const double* tau, const double* inputs,
                           double* out) {
  transposed_rows(m_, structure_, {rows_, w_}, multipliers.data(), {force_, bound_}, {rhs_.data(), given_.data()});
  inverse_dynamics(m_, {q, v}, a, inputs, out, w_);
  for (int j = 0; j < m_.nv; ++j) out[j] -= tau[j] + rhs_[j];
}

void Constrained::rows(const double* q, double* values, double* derivatives) {
  compute_poses(m_, q, w_);
  evaluate_rows<true>(m_, structure_, q, w_, rows_);
  std::copy(rows_.value.begin(), rows_.value.end(), values);
  if (derivatives) dense_rows(m_, structure_, rows_, w_, derivatives);
}

void Constrained::start(const double* q) {
  for (int i = 1; i < m_.size(); ++i) {
    const Body& body = m_.bodies[i];
    const double m = body.mass;
    inertia_[i] = {rotated_columns(w_.pose[i].R, body.inertia), {}, {}, {{m, 0, 0}, {0, m, 0}, {0, 0, m}}};
  }
  evaluate_rows<true>(m_, structure_, q, w_, rows_);
}

double Constrained::rate(int k, const double* v, const std::vector<Spatial<double>>& V) const {
  double sum = 0;
  for (int e = structure_.pull_start[k]; e < structure_.pull_start[k + 1]; ++e)
    sum += dot(rows_.pull[e], V[structure_.pull_body[e]]);
  for (int e = structure_.coefficient_start[k]; e < structure_.coefficient_start[k + 1]; ++e) {
    const int j = structure_.coefficient_v[e];
    if (prescribed[j]) sum += rows_.coefficient[e] * v[j];
  }
  return sum;
}

void Constrained::finish(double* x) {
  LoopSystem system;
  system.left = system.right = &w_;
  system.A = inertia_.data(), system.force = force_.data(), system.stiff = m_.armature.data();
  system.block = block_.data(), system.prescribed = prescribed.data(), system.rhs = rhs_.data();
  system.rows_left = system.rows_right = &rows_, system.e = e_.data();
  std::copy(x, x + m_.nv, given_.begin());
  loops_.solve(system, x, multipliers.data());
  if (m_.rows > 0 && unmet(x, loops_, e_) > kMet) solve_finely(system, x);
  for (int j = 0; j < m_.nv; ++j)
    if (prescribed[j]) x[j] = given_[j];
}

double Constrained::unmet(const double* x, const LoopSolver& loops, const std::vector<double>& e) {
  const std::vector<Spatial<double>>& eta = loops.motions();
  double largest = 0;
  left_.resize(m_.rows);
  for (int k = 0; k < m_.rows; ++k) {
    double sum = -e[k], size = std::fabs(e[k]);
    const auto add = [&](double term) { sum += term, size += std::fabs(term); };
    for (int i = structure_.pull_start[k]; i < structure_.pull_start[k + 1]; ++i)
      add(dot(rows_.pull[i].angular, eta[structure_.pull_body[i]].angular)),
          add(dot(rows_.pull[i].linear, eta[structure_.pull_body[i]].linear));
    for (int i = structure_.coefficient_start[k]; i < structure_.coefficient_start[k + 1]; ++i)
      if (!prescribed[structure_.coefficient_v[i]]) add(rows_.coefficient[i] * x[structure_.coefficient_v[i]]);
    left_[k] = -sum;
    if (size > 0) largest = std::max(largest, std::fabs(sum) / size);
  }
  return largest;
}

void Constrained::solve_finely(LoopSystem system, double* x) {
  if (!fine_) fine_ = std::make_unique<LoopSolver>(m_, structure_, kFinest);
  std::vector<double> y(m_.nv), more(m_.nv), lambda(m_.rows), mu(m_.rows), nothing(m_.nv), left;
  const double before = unmet(x, loops_, e_);
  fine_->solve(system, y.data(), lambda.data());
  double now = unmet(y.data(), *fine_, e_);
  system.force = nullptr, system.rhs = nothing.data();
  for (int k = 0; k < kRefinements && now > 0; ++k) {
    left = left_, system.e = left.data();
    fine_->solve(system, more.data(), mu.data());
    for (int j = 0; j < m_.nv; ++j) y[j] += more[j];
    for (int l = 0; l < m_.rows; ++l) lambda[l] += mu[l];
    now = unmet(more.data(), *fine_, left) * now;
  }
  double changed = 0, largest = 0;  // multipliers that stay say that what a row leaves is rounding
  for (int l = 0; l < m_.rows; ++l) {
    changed = std::max(changed, std::fabs(lambda[l] - multipliers[l]));
    largest = std::max(largest, std::fabs(lambda[l]));
  }
  if (!(now < before) || changed <= kMet * largest) return;
  std::copy(y.begin(), y.end(), x);
  multipliers = lambda;
}

}  // namespace symplectree
