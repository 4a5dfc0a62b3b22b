#include "integrators/contact_forces.hpp"

#include <cmath>

#include "kinematics/configurations.hpp"
#include "kinematics/poses_twists.hpp"
#include "model/rows/all_rows.hpp"

namespace symplectree {
namespace {

constexpr double kInstant = 1e-5;  // τ [s]
constexpr double kSliding = 1e-8;  // m/s or rad/s
constexpr double kNear = 1e-9;     // gaps that count as closed in states that may come from files [m or rad]

}  // namespace

ContactForces::ContactForces(const Model& m)
    : joint(m.nv), m_(m), unilateral_(m), dynamics_(m), system_(m, unilateral_, dynamics_), at_(m), next_(m), a_(m.nv),
      d_(m.nv), q1_(m.nq) {}

bool ContactForces::find(const double* q, const double* v, const double* tau, const double* inputs, const double* a) {
  const std::size_t nv = m_.nv;
  all.clear();
  std::fill(joint.begin(), joint.end(), 0.0);
  compute_poses(m_, q, at_);
  std::vector<Unilateral> parts;
  unilateral_.add_frictions(parts);
  unilateral_.find(q, at_, kNear, parts);
  if (parts.empty()) return true;
  std::copy(a, a + nv, a_.begin());
  dynamics_.acceleration(q, v, tau, inputs, a_.data());
  for (std::size_t j = 0; j < nv; ++j) d_[j] = kInstant * v[j];
  retract(m_, q, d_.data(), q1_.data());
  compute_poses(m_, q1_.data(), next_);
  // Rates at the end of the instant, where rows have turned with the motion; impulses act along those of its beginning.
  std::vector<Unilateral> later = parts;
  for (Unilateral& u : later) unilateral_.hold(u, q1_.data(), next_);
  for (std::size_t j = 0; j < nv; ++j) d_[j] = v[j] + kInstant * a_[j];
  std::vector<double> rate;
  system_.build(later, q1_.data(), next_);
  system_.rates(d_, rate);
  system_.build(parts, q, at_);
  system_.begin(parts, 2 * kInstant, problem_);
  problem_.y0 = rate;
  const bool solved = problem_.solve();
  system_.groups.multiply(system_.W.data(), problem_.x.data(), problem_.y0.data(), rate.data());
  system_.impulse(problem_.x, joint);
  for (double& f : joint) f /= kInstant;
  std::size_t at = 0;
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
    at += rows;
    all.push_back(force);
  }
  return solved;
}

}  // namespace symplectree
