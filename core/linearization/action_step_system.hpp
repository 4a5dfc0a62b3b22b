// The step system of one action: its equations with rows, and the velocity that goes with p' along constraints.
#pragma once

#include "dynamics/rnea.hpp"
#include "integrators/body_action/step.hpp"
#include "integrators/end_damping.hpp"
#include "integrators/midpoint/midpoint_state.hpp"
#include "linearization/row_equations.hpp"
#include "linearization/step_equations.hpp"
#include "linearization/step_system.hpp"

namespace symplectree {

// Actions of bodies between their poses at the two ends (step.hpp).
template <class Action, class T, class R = double>
class BodyActionEquations final : public StepEquations<T> {
 public:
  explicit BodyActionEquations(const ModelOf<R>& m) : workspace_(m) {}

  const Workspace<T>& start() const override { return workspace_.first; }
  const Workspace<T>& end() const override { return workspace_.second; }

  void evaluate(const StepArguments<T>& a, T* r, T* p1) override {
    StepWorkspace<T, R>& w = workspace_;
    const StepEnds<T> step{a.h, a.q0, a.q1};
    if constexpr (carries_derivatives<R>) w.read_model();
    w.d0 = a.d0, w.d1 = a.d1;
    compute_poses(w.m, a.q0, *w.now);
    begin_step(w, a.h, a.q0, w.zero.data(), a.tau, a.inputs);
    displace<Action, true>(w, a.h, a.q1);
    if (w.m.user_forces && !w.conservative) user_impulses(w, step, false);
    int worst = 0;
    residual(w, step, worst);
    std::copy(w.r.begin(), w.r.begin() + w.m.nv, r);
    end_step<Action>(w, step, a.tau, a.inputs, p1);
  }

  void set_conservative(bool yes) override {
    workspace_.conservative = yes;
    std::fill(workspace_.user_impulse.begin(), workspace_.user_impulse.end(), T(0));
  }

 private:
  StepWorkspace<T, R> workspace_;
};

// The midpoint action (midpoint_state.hpp).
template <class T, class R = double>
class MidpointEquations final : public StepEquations<T> {
 public:
  MidpointEquations(const ModelOf<R>& m, double alpha) : middle_(m, alpha), start_(m), end_(m) {}

  const Workspace<T>& start() const override { return start_; }
  const Workspace<T>& end() const override { return end_; }

  void evaluate(const StepArguments<T>& a, T* r, T* p1) override {
    const ModelOf<R>& m = middle_.m;
    if (m.rows > 0 || m.pairs() > 0) compute_poses(m, a.q0, start_);
    compute_poses(m, a.q1, end_);
    middle_.set_forces(a.tau, a.inputs);
    middle_.template evaluate<1>(StepEnds<T>{a.h, a.q0, a.q1});
    for (int i = 1; i < m.size(); ++i)
      for (int k = 0; k < m.bodies[i].nv; ++k) {
        const int j = m.bodies[i].v + k;
        r[j] = middle_.end_force(i, k, a.h, false), p1[j] = middle_.end_force(i, k, a.h, true);
      }
  }

  void set_conservative(bool yes) override { middle_.conservative = yes; }

 private:
  MidpointState<T, R> middle_;
  Workspace<T> start_, end_;
};

template <class T, class R>
std::unique_ptr<StepEquations<T>> step_equations(const ModelOf<R>& m, Action action, double alpha) {
  switch (action) {
    case Action::Cayley: return std::make_unique<BodyActionEquations<Cayley, T, R>>(m);
    case Action::Chord: return std::make_unique<BodyActionEquations<Chord, T, R>>(m);
    case Action::Exponential: return std::make_unique<BodyActionEquations<Exponential, T, R>>(m);
    default: return std::make_unique<MidpointEquations<T, R>>(m, alpha);
  }
}

template <class T, class R>
class ActionStepSystem final : public StepSystem<T, R> {
 public:
  ActionStepSystem(const ModelOf<R>& m, const StepLayout& layout, std::unique_ptr<StepEquations<T>> equations)
      : m_(m), l_(layout), rows_(m), moving_(m), equations_(std::move(equations)) {
    for (auto* a : {&q0_, &q1_}) a->resize(m.nq);
    if (l_.damped) damping_ = std::make_unique<EndDamping<T, R>>(m);
    tau_.resize(m.nv), inputs_.resize(m.inputs), p1_.resize(m.nv);
  }

  void evaluate(const StepPoint& at, const T* dz, T* E, T* O, const T& dh) override {
    retract_ad(m_, at.q0.data(), dz + l_.q0, q0_.data());
    retract_ad(m_, at.q1.data(), dz + l_.q1, q1_.data());
    sum(at.lambda, dz + l_.lambda, lambda_);
    for (int j = 0; j < m_.nv; ++j) tau_[j] = T(at.tau[j]);
    for (int j = 0; j < m_.inputs; ++j) inputs_[j] = T(at.inputs[j]);
    for (int k = 0; k < l_.forces; ++k) (l_.inputs ? inputs_ : tau_)[k] += dz[l_.force + k];
    const StepArguments<T> a{T(at.h) + dh, q0_.data(),     q1_.data(),  dz + l_.q0,
                             dz + l_.q1,   lambda_.data(), tau_.data(), inputs_.data()};
    T* p1 = l_.projected ? p1_.data() : O;
    equations_->evaluate(a, E, p1);
    if (m_.rows > 0) {
      rows_.add_impulses(a.q0, a.d0, a.lambda, equations_->start(), E);
      rows_.values(a.q0, a.q1, a.d1, equations_->end(), E + l_.nv);
    }
    if (!l_.projected) return;
    sum(at.v, dz + l_.v, v_);
    sum(at.mu, dz + l_.mu, mu_);
    // M v + E (v − u) + Dhᵀ μ − p⁺ = 0 and Dh v = 0, at q'; E is zero unless dampers are strong
    momenta(m_, a.q1, v_.data(), O, moving_);
    T* balance = E + l_.nv + l_.rows;
    for (int j = 0; j < l_.nv; ++j) balance[j] = O[j] - p1[j];
    if (damping_) add_damping(a, balance);
    if (m_.rows == 0) return;
    rows_.add_impulses(a.q1, a.d1, mu_.data(), moving_, balance);
    rows_.rates(a.q1, a.d1, v_.data(), moving_, balance + l_.nv);
  }

 private:
  void add_damping(const StepArguments<T>& a, T* balance) {
    if constexpr (carries_derivatives<R>) damping_->read_model();
    if (damping_->measure({a.h, a.q0, a.q1}, equations_->start(), equations_->end()))
      damping_->add(v_.data(), moving_, balance);
  }

  void sum(const std::vector<double>& value, const T* d, std::vector<T>& out) {
    out.resize(value.size());
    for (std::size_t k = 0; k < value.size(); ++k) out[k] = T(value[k]) + d[k];
  }

  const ModelOf<R>& m_;
  const StepLayout& l_;
  RowEquations<T, R> rows_;
  Workspace<T> moving_;  // poses and twists at the end; of those in the equations twists stay zero
  std::unique_ptr<StepEquations<T>> equations_;
  std::unique_ptr<EndDamping<T, R>> damping_;  // where dampers may be strong
  std::vector<T> q0_, q1_, lambda_, tau_, inputs_, v_, mu_, p1_;
};

template <class T, class R>
std::unique_ptr<StepSystem<T, R>> step_system(const ModelOf<R>& m, const StepLayout& layout, Action action,
                                              double alpha) {
  return std::make_unique<ActionStepSystem<T, R>>(m, layout, step_equations<T, R>(m, action, alpha));
}

}  // namespace symplectree
