#include "integrators/contact_forces.hpp"

#include <cmath>

#include "kinematics/configurations.hpp"
#include "kinematics/poses_twists.hpp"
#include "model/rows/all_rows.hpp"

namespace symplectree {
namespace {

constexpr double kInstant = 1e-5;   // τ [s]
constexpr double kSliding = 1e-8;   // m/s or rad/s
constexpr double kTouching = 1e-9;  // gaps that count as closed [m or rad]

}  // namespace

ContactForces::ContactForces(const Model& m)
    : joint(m.nv), m_(m), unilateral_(m), dynamics_(m), at_(m), next_(m), a_(m.nv), d_(m.nv), q1_(m.nq), none_(m.nv),
      column_(m.nv) {}

bool ContactForces::find(const double* q, const double* v, const double* tau, const double* inputs, const double* a) {
  const std::size_t nv = m_.nv;
  all.clear();
  std::fill(joint.begin(), joint.end(), 0.0);
  compute_poses(m_, q, at_);
  std::vector<Unilateral> parts;
  unilateral_.add_frictions(parts);
  unilateral_.find(q, at_, kTouching, parts);
  if (parts.empty()) return true;
  std::copy(a, a + nv, a_.begin());
  dynamics_.acceleration(q, v, tau, inputs, a_.data());
  for (std::size_t j = 0; j < nv; ++j) d_[j] = kInstant * v[j];
  retract(m_, q, d_.data(), q1_.data());
  compute_poses(m_, q1_.data(), next_);
  std::vector<ConeProblem::Part> cone;
  for (const Unilateral& u : parts) cone.push_back(unilateral_.part(u, 2 * kInstant));
  problem_.begin(cone);
  const std::size_t n = problem_.rows();
  J_.resize(n * nv);
  std::size_t at = 0;
  for (const Unilateral& u : parts) {
    Unilateral later = u;
    unilateral_.hold(later, q1_.data(), next_);
    unilateral_.jacobian(later, next_, &J_[at * nv]);
    for (std::size_t i = at; i < at + unilateral_.rows(u); ++i) {
      problem_.y0[i] = 0;
      for (std::size_t j = 0; j < nv; ++j) problem_.y0[i] += J_[i * nv + j] * (v[j] + kInstant * a_[j]);
    }
    unilateral_.jacobian(u, at_, &J_[at * nv]);
    at += unilateral_.rows(u);
  }
  for (std::size_t i = 0; i < n; ++i) {
    dynamics_.velocity(q, &J_[i * nv], none_.data(), column_.data());
    for (std::size_t k = 0; k < n; ++k) {
      double sum = 0;
      for (std::size_t j = 0; j < nv; ++j) sum += J_[k * nv + j] * column_[j];
      problem_.W[n * k + i] = sum;
    }
  }
  const bool solved = problem_.solve();
  std::vector<double> rate = problem_.y0;  // at the end of the instant
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) rate[i] += problem_.W[n * i + j] * problem_.x[j];
  at = 0;
  for (const Unilateral& u : parts) {
    const double* x = &problem_.x[at];
    const int rows = unilateral_.rows(u);
    ContactForce force{u.source, u.index, u.gap, u.point, u.n, {}, false};
    if (u.source == Unilateral::Source::Contact) {
      force.force = (x[0] / kInstant) * u.n;
      if (rows == 3) {
        force.force += (x[1] / kInstant) * u.t1 + (x[2] / kInstant) * u.t2;
        force.slides = std::hypot(rate[at + 1], rate[at + 2]) > kSliding;
      } else {
        force.slides = true;
      }
    } else {
      const double sign = u.source == Unilateral::Source::Limit ? m_.joint_limits[u.index].side : 1;
      force.force = {sign * x[0] / kInstant, 0, 0};
      force.slides = u.source == Unilateral::Source::Friction && std::fabs(rate[at]) > kSliding;
    }
    for (int k = 0; k < rows; ++k)
      for (std::size_t j = 0; j < nv; ++j) joint[j] += x[k] / kInstant * J_[(at + k) * nv + j];
    at += rows;
    all.push_back(force);
  }
  return solved;
}

}  // namespace symplectree
