#include "integrators/local_error.hpp"

#include "elements/actuator.hpp"
#include "elements/element_forces.hpp"
#include "elements/pair_elements.hpp"
#include "kinematics/configurations.hpp"
#include "kinematics/poses_twists.hpp"
#include "model/potential.hpp"
#include "model/rows/joint_spring.hpp"

namespace symplectree {
namespace {

constexpr double kHeld = 1e-6;  // accelerations that count as rest, relative to those without contact

}  // namespace

LocalError::LocalError(const Model& m, bool turning)
    : m_(m), turning_(turning), dissipative_(has_damping(m) || !m.actuators.empty() || m.has_unilateral()),
      limited_(has_limited_actuators(m)), weight_(weight_energy()), dynamics_(m), w_(m), v_(m.nv), a_(m.nv),
      free_(m.nv), tau_(m.nv), middle_(m.nq) {
  if (m.has_unilateral()) contact_ = std::make_unique<ContactForces>(m);
  m.for_pairs([&](const auto& row) { pair_springs_ |= row.elastic(); });
}

void LocalError::set_prescribed(const std::vector<char>& velocities) {
  dynamics_.set_prescribed(velocities);
  if (contact_) contact_->set_prescribed(velocities);
}

double LocalError::weight_energy() const {
  const double g = std::sqrt(dot(m_.gravity, m_.gravity));
  std::vector<double> reach(m_.size());  // from the ground to each body's centre, along the joints
  double energy = 0;
  const auto length = [](const Vec3<double>& x) { return std::sqrt(dot(x, x)); };
  for (int i = 1; i < m_.size(); ++i) {
    const Body& b = m_.bodies[i];
    const bool first = b.parent == 0;
    // Where things may lie on others, they have a size of their own.
    const double turning = b.inertia.xx + b.inertia.yy + b.inertia.zz;
    const double size = m_.has_unilateral() && b.mass > 0 ? std::sqrt(0.5 * turning / b.mass) : 0;
    reach[i] = (first ? 0 : reach[b.parent] + length(b.base_point)) + std::max(length(b.centre), size);
    energy += b.mass * g * reach[i];
  }
  return energy;
}

bool LocalError::is_conservative(const ForceSource& forces) const {
  if (dissipative_ || forces.varies() || dynamics_.has_prescribed()) return false;
  const auto zero = [](double f) { return f == 0; };
  return std::all_of(forces.tau, forces.tau + m_.nv, zero) &&
         std::all_of(forces.inputs, forces.inputs + m_.inputs, zero) && m_.wrenches.empty() && m_.joint_forces.empty();
}

LocalError::Bend LocalError::spring_bend(const double* q0, const double* q1) {
  const auto energy = [&](const double* q) {
    compute_poses(m_, q, w_);
    double sum = 0;
    add_pair_energy(m_, w_, sum);
    return sum;
  };
  increments(m_, q0, q1, v_.data());
  for (double& d : v_) d *= 0.5;
  retract(m_, q0, v_.data(), middle_.data());
  const double V0 = energy(q0), V = energy(middle_.data()), V1 = energy(q1);
  const double largest = std::max({std::fabs(V0), std::fabs(V), std::fabs(V1)});
  return {(V0 - 2 * V + V1) / 3, largest, weight_ + largest};
}

// Σ |V̈| of the springs while bodies keep their twists.
double LocalError::spring_rates(const double* v) const {
  double sum = 0;
  for (const JointSpring& e : m_.joint_springs) sum += std::fabs(e.stiffness) * v[e.v] * v[e.v];
  m_.for_pairs([&](const auto& row) {
    if (!row.elastic()) return;
    const Spatial<double>&V_a = w_.V[row.a.body], &V_b = w_.V[row.b.body];
    const Gauge<DualOf<double>> g = moving_gauge(row, w_, V_a, V_b);
    const auto along = [](const Spatial<DualOf<double>>& f, const Spatial<double>& V) {
      return DualOf<double>{dot(value_parts<double>(f), V), dot(slope_parts<double>(f), V)};
    };
    sum += std::fabs((row.tension(g, m_.potentials) * (along(g.a, V_a) + along(g.b, V_b))).slope);
  });
  return sum;
}

bool LocalError::accelerate(const double* q, const ForceSource& forces) {
  const double* v = v_.data();
  free_ = a_;
  dynamics_.acceleration(q, v, forces.tau, forces.inputs, a_.data());
  if (!contact_ || !contact_->find(q, v, forces.tau, forces.inputs, free_.data()) || contact_->all.empty())
    return false;
  std::swap(a_, free_);
  for (int j = 0; j < m_.nv; ++j) tau_[j] = forces.tau[j] + contact_->joint[j];
  dynamics_.acceleration(q, v, tau_.data(), forces.inputs, a_.data());
  for (int j = 0; j < m_.nv; ++j)
    if (std::fabs(a_[j]) < kHeld * std::fabs(free_[j])) a_[j] = 0;
  return true;
}

ShadowEnergy LocalError::in_state(const RunState& state, double t, const ForceSource& forces,
                                  const double* accelerations) {
  const double *q = state.q.data(), *v = v_.data();
  dynamics_.velocity(q, state.x.data(), state.rates.data(), v_.data());
  if (forces.varies()) forces.update(t, q, v);
  if (accelerations) {
    std::copy(accelerations, accelerations + m_.nv, a_.begin());
  } else {
    std::fill(a_.begin(), a_.end(), 0.0);
  }
  const bool touches = accelerate(q, forces);
  double kinetic = 0, falling = 0, accelerating = 0, turning = 0;
  sines_and_cosines(q, m_.nq, w_.sine.data(), w_.cosine.data());
  for (int i = 1; i < m_.size(); ++i) {
    const Body& b = m_.bodies[i];
    place_body<1>(b, q, w_.pose[i], w_);
    move_body(b, i, v, w_);
    Spatial<double>& A = w_.acceleration[i];
    A = shift_motion(w_.acceleration[b.parent], w_.pose[i].r) + w_.bias[i];
    for (int j = b.v; j < b.v + b.nv; ++j) A += a_[j] * w_.S[j];
    const Spatial<double>& V = w_.V[i];
    const auto twice = [&](const Spatial<double>& x) {
      const Vec3<double> local = transposed_times(w_.pose[i].R, x.angular);
      return dot(local, b.inertia * local);
    };
    const double spin = twice(V);
    kinetic += spin + b.mass * dot(V.linear, V.linear);
    falling += b.mass * dot(m_.gravity, w_.pose[i].x);
    accelerating += twice(A) + b.mass * dot(A.linear, A.linear);
    turning += spin * dot(V.angular, V.angular);
  }
  for (int j = 0; j < m_.nv; ++j)
    kinetic += m_.armature[j] * v[j] * v[j], accelerating += m_.armature[j] * a_[j] * a_[j];
  const double springs = spring_energy(m_, q, w_);
  ShadowEnergy out{0.5 * kinetic - falling + springs,
                   weight_ + 0.5 * kinetic + std::fabs(springs),
                   accelerating / 24 + (turning_ || touches ? turning / 12 : 0) + spring_rates(v) / 12,
                   touches,
                   {}};
  if (limited_) out.excess = excess_powers(m_, {q, v}, forces.inputs);
  return out;
}

}  // namespace symplectree
