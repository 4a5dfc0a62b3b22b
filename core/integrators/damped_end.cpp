#include "integrators/damped_end.hpp"

#include "dynamics/rnea.hpp"
#include "integrators/end_damping.hpp"
#include "kinematics/poses_twists.hpp"

namespace symplectree {

DampedEnd::DampedEnd(const Model& m)
    : m_(m), damping_(std::make_unique<EndDamping<double>>(m)), structure_(m, true), left_(structure_),
      right_(structure_), loops_(m, structure_, 1e-9),  // as for velocities under constraints
      start_(m), end_(m), prescribed_(m.nv), inertia_(m.size()), force_(m.size()), bound_(m.size()), block_(m.size()),
      stiff_(m.nv), rhs_(m.nv), compliance_(structure_.rows(), 1.0), e_(structure_.rows()), lambda_(structure_.rows()),
      v_(m.nv), momentum_(m.nv), of_rows_(m.nv), size_(m.nv) {
  std::fill(compliance_.begin(), compliance_.begin() + m.rows, 0.0);
}

DampedEnd::~DampedEnd() = default;

bool DampedEnd::is_strong(double h, const double* q, const double* v) {
  return damping_->is_strong(h) || (!damping_->forces().empty() && damping_->is_strong(h, q, v));
}

void DampedEnd::settle(const StepEnds<double>& step, const double* rates, double* p) {
  if (damping_->forces().empty() && !damping_->is_strong(step.h)) return;
  if (structure_.damped_pairs > 0) compute_poses(m_, step.q0, start_);
  compute_poses(m_, step.q1, end_);
  if (!damping_->measure(step, start_, end_)) return;
  place(step.q1, rates, p);
  solve(rates);
  // p' = M v' − Dhᵀμ, which is rounded less than p⁺ + E (u − v'); of prescribed velocities only that says what it is
  momenta(m_, step.q1, v_.data(), momentum_.data(), end_);
  transposed_rows(m_, structure_, {left_, end_}, lambda_.data(), {force_, bound_}, {of_rows_.data(), size_.data()});
  std::fill(rhs_.begin(), rhs_.end(), 0.0);
  damping_->add(v_.data(), end_, rhs_.data());
  for (int j = 0; j < m_.nv; ++j) p[j] = prescribed_[j] ? p[j] - rhs_[j] : momentum_[j] - of_rows_[j];
}

void DampedEnd::guess(double h, const double* q, const double* p, const double* rates, double* v) {
  compute_poses(m_, q, end_);
  damping_->take_all(h, q);
  place(q, rates, p);
  solve(rates);
  std::copy(v_.begin(), v_.end(), v);
}

void DampedEnd::solve(const double* rates) {
  LoopSystem system;
  system.left = system.right = &end_;
  system.A = inertia_.data(), system.force = force_.data(), system.stiff = stiff_.data();
  system.block = block_.data(), system.prescribed = prescribed_.data(), system.rhs = rhs_.data();
  system.rows_left = &left_, system.rows_right = &right_;
  system.compliance = compliance_.data(), system.e = e_.data();
  loops_.solve(system, v_.data(), lambda_.data());
  for (int j = 0; j < m_.nv; ++j)
    if (prescribed_[j]) v_[j] = rates[j];
}

void DampedEnd::place(const double* q, const double* rates, const double* p) {
  for (int i = 1; i < m_.size(); ++i) {
    const Body& body = m_.bodies[i];
    const double m = body.mass;
    inertia_[i] = {rotated_columns(end_.pose[i].R, body.inertia), {}, {}, {{m, 0, 0}, {0, m, 0}, {0, 0, m}}};
    end_.V[i] = shift_motion(end_.V[body.parent], end_.pose[i].r);
    for (int j = body.v; j < body.v + body.nv; ++j) {
      if (prescribed_[j]) end_.V[i] += rates[j] * end_.S[j];
      stiff_[j] = block_[i][(body.nv + 1) * (j - body.v)] = m_.armature[j] + damping_->of_joint[j];
      rhs_[j] = p[j] + damping_->of_joint[j] * damping_->rate[j];
    }
    force_[i] = inertia_[i] * end_.V[i];
  }
  evaluate_rows<true>(m_, structure_, q, end_, left_);
  evaluate_dampers(m_, structure_, end_, left_);
  right_ = left_;
  place_pairs();
  place_users();
  for (int k = 0; k < structure_.rows(); ++k) e_[k] -= rate(k, rates);
}

// Rows Ds v + λ/E = ṡ of the step; without a share λ = 0.
void DampedEnd::place_pairs() {
  std::fill(e_.begin(), e_.end(), 0.0);
  for (int k = 0; k < structure_.damped_pairs; ++k) {
    const int row = m_.rows + k;
    const double E = damping_->of_pair[k];
    compliance_[row] = E > 0 ? 1 / E : 1;
    if (E > 0) e_[row] = damping_->pair_rate[k];
    for (int x = structure_.pull_start[row]; E <= 0 && x < structure_.pull_start[row + 1]; ++x) right_.pull[x] = {};
  }
}

// Rows E v + λ = E u.
void DampedEnd::place_users() {
  std::size_t row = structure_.first_user_force(m_);
  for (std::size_t u = 0; u < damping_->forces().size(); ++u) {
    const std::vector<int>& own = damping_->forces()[u]->v;
    const std::vector<double>& E = damping_->of_user[u];
    for (std::size_t r = 0; r < own.size(); ++r, ++row)
      for (std::size_t c = 0; c < own.size(); ++c) {
        const int at = structure_.coefficient_start[row] + static_cast<int>(c);
        const double share = E.empty() ? 0 : E[own.size() * r + c];
        left_.coefficient[at] = r == c ? 1 : 0, right_.coefficient[at] = share;
        e_[row] += share * damping_->rate[own[c]];
      }
  }
}

double DampedEnd::rate(int k, const double* rates) const {
  double sum = 0;
  for (int e = structure_.pull_start[k]; e < structure_.pull_start[k + 1]; ++e)
    sum += dot(right_.pull[e], end_.V[structure_.pull_body[e]]);
  for (int e = structure_.coefficient_start[k]; e < structure_.coefficient_start[k + 1]; ++e)
    if (const int j = structure_.coefficient_v[e]; prescribed_[j]) sum += right_.coefficient[e] * rates[j];
  return sum;
}

}  // namespace symplectree
