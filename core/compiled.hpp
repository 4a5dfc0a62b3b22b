// Steps of the action "cayley" by code that was compiled for one mechanism (symplectree/symbolic/step.py): Newton's
// direction, and residual with the momentum at the end. Whatever else a run asks for, the general kernel answers.
#pragma once

#include <utility>

#include "solvers.hpp"

namespace symplectree {

// in: sines of the coordinates at both ends and of half their differences (nq each), cosines likewise, q at both ends,
// b (nv), stiffness (nv) and (h, 1/h, h²/2). out: `direction` δ (nv); `check` the residual, the size of its terms, and
// p' without joint loads, rotors and dampers (nv each). `work` numbers of scratch.
struct StepCode {
  using Function = void (*)(const double* const* in, double* const* out, double* work);
  Function direction = nullptr, check = nullptr;
  int work = 0;
};

class CompiledScheme {
 public:
  static constexpr bool several_roots = true;

  CompiledScheme(const Model& m, StepCode code)
      : m_(m),
        code_(code),
        general_(m, Solver::Newton),
        loads_(m),
        angles_((2 * m.nq + 7) / 8 * 8),  // whole vectors
        work_(code.work),
        zero_(m.nv),
        damping_(m.nv),
        b_(m.nv),
        stiff_(m.nv),
        r_(m.nv),
        scale_(m.nv),
        momentum_(m.nv),
        joint_load_(m.nv),
        p_(m.nv),
        tau_(m.nv),
        inputs_(m.inputs + 1) {
    for (Trigonometry* end : {now_, next_}) end->sine.resize(angles_.size()), end->cosine.resize(angles_.size());
    for (const JointDamper& d : m.joint_dampers) damping_[d.v] += d.damping;
    for (int i = 1; i < m.size(); ++i) {
      const Body& body = m.bodies[i];
      for (int k = 0; body.flat() && k < body.nv; ++k)
        if (m.armature[body.v + k] != 0 || damping_[body.v + k] != 0) rotors_.emplace_back(body.q + k, body.v + k);
    }
    joint_elements_ = !(m.joint_springs.empty() && m.joint_forces.empty() && m.users.empty());
  }

  void place(const double* q) { turn(q, q, *now_); }
  void drive(const std::vector<char>& driven) { general_.drive(driven); }

  void begin(double h, const double* q, const double* p, const double* tau, const double* inputs) {
    std::copy(p, p + m_.nv, p_.begin());
    std::copy(tau, tau + m_.nv, tau_.begin());
    std::copy(inputs, inputs + m_.inputs, inputs_.begin());
    collect_loads(q, tau, inputs);
    for (int j = 0; j < m_.nv; ++j) b_[j] = p[j] + 0.5 * h * joint_load_[j];
    for (const auto& [_, v] : rotors_) stiff_[v] = m_.armature[v] / h + 0.5 * damping_[v];
    begun_ = general_last_ = false;
  }

  bool quick_direction(double h, const double* q0, const double* q1, double* delta) {
    call(code_.direction, h, q0, q1, &delta);
    return true;
  }

  template <bool WithDerivative>
  double evaluate(double h, const double* q0, const double* q1, int& worst) {
    if constexpr (WithDerivative) {
      begin_general(h, q0);
      general_last_ = true;
      return general_.evaluate<true>(h, q0, q1, worst);
    }
    double* out[] = {r_.data(), scale_.data(), momentum_.data()};
    call(code_.check, h, q0, q1, out);
    general_last_ = false;
    double largest = 0;
    for (int j = 0; j < m_.nv; ++j) {
      const double ratio = std::fabs(r_[j]) / scale_[j];
      if (!(ratio <= largest)) largest = ratio, worst = j;
    }
    return largest;
  }

  bool at_floor(double h, const double* q0, const double* q1, double factor) {
    int worst = 0;
    begin_general(h, q0);
    if (!general_last_) general_.evaluate<false>(h, q0, q1, worst);
    general_last_ = true;
    return general_.at_floor(h, q0, q1, factor);
  }

  void direction(double h, const double* q0, const double* q1, double* delta) { general_.direction(h, q0, q1, delta); }
  void learn(double, const double*, const double*) {}
  void set_multipliers(const double*) {}

  void finish(double h, const double* q0, const double* q1, const double* tau, const double* inputs, double* p) {
    if (general_last_) return general_.finish(h, q0, q1, tau, inputs, p);
    collect_loads(q1, tau, inputs);
    for (int j = 0; j < m_.nv; ++j) p[j] = momentum_[j] + 0.5 * h * joint_load_[j];
    for (const auto& [q, v] : rotors_) p[v] += (m_.armature[v] / h - 0.5 * damping_[v]) * (q1[q] - q0[q]);
  }

  void flip() {
    std::swap(now_, next_);
    general_.flip();
  }

  const std::vector<double>& residual() const { return general_last_ ? general_.residual() : r_; }
  const std::vector<double>& reaction() const { return general_.reaction(); }
  const std::vector<double>& scale() const { return general_last_ ? general_.scale() : scale_; }

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
    joint_element_forces(m_, q, zero_.data(), inputs, loads_, false);
    for (int j = 0; j < m_.nv; ++j) joint_load_[j] += loads_.joint_force[j];
  }

  // The general kernel at the beginning of this step.
  void begin_general(double h, const double* q0) {
    if (begun_) return;
    general_.place(q0);
    general_.begin(h, q0, p_.data(), tau_.data(), inputs_.data());
    begun_ = true;
  }

  const Model& m_;
  StepCode code_;
  TreeScheme<Cayley> general_;
  Workspace<double> loads_;
  Trigonometry first_, second_, *now_ = &first_, *next_ = &second_;
  std::vector<double> angles_;
  std::vector<double> work_, zero_, damping_, b_, stiff_, r_, scale_, momentum_, joint_load_;
  std::vector<double> p_, tau_, inputs_;     // of the step that has begun
  std::vector<std::pair<int, int>> rotors_;  // coordinate and velocity of joints with rotor inertia or damping
  bool joint_elements_ = false;              // springs, forces or potentials on joints?
  bool begun_ = false;                       // has the general kernel begun this step?
  bool general_last_ = false;                // was the last evaluation the general kernel's?
};

}  // namespace symplectree
