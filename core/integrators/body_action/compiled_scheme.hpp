// Steps of the action "cayley" by code that was compiled for one mechanism (symplectree/symbolic/variational_step.py):
// Newton's direction, and residual with the momentum at the end.
#pragma once

#include <utility>

#include "elements/element_forces.hpp"
#include "integrators/body_action/step_code.hpp"
#include "integrators/body_action/step_rounding.hpp"
#include "integrators/run_memory.hpp"

namespace symplectree {

// A scheme for NewtonRun.
class CompiledScheme {
 public:
  static constexpr bool implicit_potentials = false;

  CompiledScheme(const Model& m, StepCode code)
      : m_(m), code_(code), scratch_(m), ends_(m), angles_((2 * m.nq + 7) / 8 * 8),  // whole vectors
        work_(code.work), zero_(m.nv), damping_(joint_damping(m)), b_(m.nv), stiff_(m.nv), r_(m.nv), scale_(m.nv),
        momentum_(m.nv), joint_load_(m.nv), noise_(m.size()) {
    for (Trigonometry* end : {now_, next_}) end->sine.resize(angles_.size()), end->cosine.resize(angles_.size());
    for (int i = 1; i < m.size(); ++i) {
      const Body& body = m.bodies[i];
      noise_[i].centre = norm1(body.centre);
      for (int k = 0; body.flat() && k < body.nv; ++k)
        if (m.armature[body.v + k] != 0 || damping_[body.v + k] != 0) rotors_.emplace_back(body.q + k, body.v + k);
    }
    joint_elements_ = !(m.joint_springs.empty() && m.joint_forces.empty() && m.users.empty());
  }

  void place(const double* q) { turn(q, q, *now_); }
  void set_prescribed(const std::vector<char>&) {}  // prescribed coordinates take the general step

  void begin(double h, const double* q, const double* p, const double* tau, const double* inputs) {
    collect_loads(q, tau, inputs);
    for (int j = 0; j < m_.nv; ++j) b_[j] = p[j] + 0.5 * h * joint_load_[j];
    for (const auto& [_, v] : rotors_) stiff_[v] = m_.armature[v] / h + 0.5 * damping_[v];
  }

  bool quick_direction(double h, const double* q0, const double* q1, double* delta) {
    call(code_.direction, h, q0, q1, &delta);
    return true;
  }

  template <bool>
  double evaluate(double h, const double* q0, const double* q1, int& worst) {
    double* out[] = {r_.data(), scale_.data(), momentum_.data()};
    call(code_.check, h, q0, q1, out);
    double largest = 0;
    for (int j = 0; j < m_.nv; ++j) {
      const double ratio = std::fabs(r_[j]) / scale_[j];
      if (exceeds(ratio, largest)) largest = ratio, worst = j;
    }
    return largest;
  }

  // Is the residual what rounding makes of it (as estimate_noise), with lengths along the tree for distances?
  bool at_floor(double h, const double*, const double* q1, double factor) {
    double turn = 1;
    for (int k = 0; k < m_.nq; ++k) turn = std::max(turn, std::fabs(q1[k]));
    const double noise = factor * 2.2e-16 * turn / std::fabs(h);
    measure(q1);
    for (int i = 1; i < m_.size(); ++i) {
      const Body& body = m_.bodies[i];
      Noise& n = noise_[i];
      n.force = noise * body.mass * (1e-3 + n.reach);
      n.torque = noise * (body.inertia.xx + body.inertia.yy + body.inertia.zz);
    }
    for (int i = m_.size() - 1; i > 0; --i) {
      const Body& body = m_.bodies[i];
      const Noise& n = noise_[i];
      const double floor = n.torque + (n.centre + 1) * n.force;
      for (int j = body.v; j < body.v + body.nv; ++j) {
        const double own = noise * (m_.armature[j] + 0.5 * std::fabs(h * damping_[j]));
        if (!(std::fabs(r_[j]) <= floor + own + factor * 2.2e-16 * std::fabs(b_[j]))) return false;
      }
      if (body.parent == 0) continue;
      noise_[body.parent].torque += n.torque + n.arm * n.force;
      noise_[body.parent].force += n.force;
    }
    return true;
  }

  void next_direction(double h, const double* q0, const double* q1, double* delta) {
    quick_direction(h, q0, q1, delta);
  }
  void direction(double h, const double* q0, const double* q1, double* delta) { quick_direction(h, q0, q1, delta); }
  void learn(double, const double*, const double*) {}
  void set_multipliers(const double*) {}

  void finish(double h, const double* q0, const double* q1, const double* tau, const double* inputs, double* p) {
    collect_loads(q1, tau, inputs);
    for (int j = 0; j < m_.nv; ++j) p[j] = momentum_[j] + 0.5 * h * joint_load_[j];
    for (const auto& [q, v] : rotors_) p[v] += (m_.armature[v] / h - 0.5 * damping_[v]) * (q1[q] - q0[q]);
  }

  void flip() { std::swap(now_, next_); }
  bool end_by_momentum(const double*, double*) { return false; }
  void carry(RunMemory& memory) { memory(farthest_, unseen_); }
  // Poses are not at hand here: they are made when coordinates of formulas go farther in a step than before, and now
  // and then.
  double turned(const double* q0, const double* q1) {
    double moved = 0;
    for (int i : m_.formula_bodies)
      for (int k = m_.bodies[i].q; k < m_.bodies[i].q + m_.bodies[i].nv; ++k)
        moved = std::max(moved, std::fabs(q1[k] - q0[k]));
    if (moved <= 1.1 * farthest_ && ++unseen_ < 64) return 0;
    farthest_ = std::max(farthest_, moved), unseen_ = 0;
    compute_poses(m_, q0, scratch_);
    compute_poses(m_, q1, ends_);
    return formula_turn(m_, scratch_, ends_);
  }

  const std::vector<double>& residual() const { return r_; }
  const std::vector<double>& reaction() const { return zero_; }
  const std::vector<double>& scale() const { return scale_; }

 private:
  struct Trigonometry {
    std::vector<double> sine, cosine;
  };

  // Sines and cosines of the coordinates at an end of the step and of half of what they gained, in one go.
  void turn(const double* q, const double* before, Trigonometry& out) {
    for (int k = 0; k < m_.nq; ++k) angles_[k] = q[k], angles_[m_.nq + k] = 0.5 * (q[k] - before[k]);
    sines_and_cosines(angles_.data(), static_cast<int>(angles_.size()), out.sine.data(), out.cosine.data());
  }

  void call(StepCode::Function function, double h, const double* q0, const double* q1, double* const* out) {
    turn(q1, q0, *next_);
    const double *s0 = now_->sine.data(), *s1 = next_->sine.data(), *c0 = now_->cosine.data();
    const double *c1 = next_->cosine.data(), time[] = {h, 1 / h, 0.5 * h * h};
    const double* in[] = {s0, s1, s1 + m_.nq, c0, c1, c1 + m_.nq, q0, q1, b_.data(), stiff_.data(), time};
    function(in, out, work_.data());
  }

  // joint_load_ ← the forces on each velocity that depend on position only.
  void collect_loads(const double* q, const double* tau, const double* inputs) {
    std::copy(tau, tau + m_.nv, joint_load_.begin());
    if (!joint_elements_) return;
    joint_element_forces(m_, q, zero_.data(), inputs, scratch_, false);
    for (int j = 0; j < m_.nv; ++j) joint_load_[j] += scratch_.joint_force[j];
  }

  // Of a body: length from the joint to its centre; from the parent's centre to its own, and from the world's origin to
  // it, along the tree; and what rounding makes of force and torque.
  struct Noise {
    double centre = 0, arm = 0, reach = 0, force = 0, torque = 0;
  };

  // Lengths of the tree at q; of formulas only their poses tell.
  void measure(const double* q) {
    if (!m_.formula_bodies.empty()) compute_poses(m_, q, scratch_);
    for (int i = 1; i < m_.size(); ++i) {
      const Body& body = m_.bodies[i];
      Noise& n = noise_[i];
      if (!m_.formula_bodies.empty()) {
        n.arm = norm1(scratch_.pose[i].r), n.reach = norm1(scratch_.pose[i].x);
        continue;
      }
      const double* x = q + body.q;
      double shift = 0;
      if (body.kind == Kind::Prismatic) shift = std::fabs(x[0]);
      if (body.kind == Kind::Screw) shift = std::fabs(body.pitch * x[0]);
      if (body.kind == Kind::Free) shift = std::fabs(x[0]) + std::fabs(x[1]) + std::fabs(x[2]);
      n.arm = norm1(body.base_point) + shift + n.centre;
      n.reach = noise_[body.parent].reach + n.arm;
    }
  }

  const Model& m_;
  StepCode code_;
  Workspace<double> scratch_, ends_;
  Trigonometry first_, second_, *now_ = &first_, *next_ = &second_;
  std::vector<double> angles_;
  std::vector<double> work_, zero_, damping_, b_, stiff_, r_, scale_, momentum_, joint_load_;
  std::vector<std::pair<int, int>> rotors_;  // coordinate and velocity of joints with rotor inertia or damping
  std::vector<Noise> noise_;
  double farthest_ = 0;          // that a coordinate of a formula went in a step when poses were made,
  int unseen_ = 0;               // and the steps since
  bool joint_elements_ = false;  // springs, forces or potentials on joints?
};

}  // namespace symplectree
