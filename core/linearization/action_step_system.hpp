// The step system of one action: its equations with rows, and the velocity that goes with p' along constraints.
#pragma once

#include "integrators/end_damping.hpp"
#include "linearization/step_equations.hpp"
#include "linearization/step_system.hpp"

namespace symplectree {

// Equations: BodyActionEquations or MidpointEquations.
template <class Equations, class T, class R>
class ActionStepSystem final : public StepSystem<T, R> {
 public:
  template <class... A>
  ActionStepSystem(const ModelOf<R>& m, const StepLayout& layout, A... equations)
      : m_(m), l_(layout), rows_(m), moving_(m), equations_(m, equations...) {
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
    equations_.evaluate(a, E, p1);
    if (m_.rows > 0) {
      rows_.add_impulses(a.q0, a.d0, a.lambda, equations_.start, E);
      rows_.values(a.q0, a.q1, a.d1, equations_.end, E + l_.nv);
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
    if (damping_->measure({a.h, a.q0, a.q1}, equations_.start, equations_.end))
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
  Equations equations_;
  std::unique_ptr<EndDamping<T, R>> damping_;  // where dampers may be strong
  std::vector<T> q0_, q1_, lambda_, tau_, inputs_, v_, mu_, p1_;
};

template <class T, class R>
std::unique_ptr<StepSystem<T, R>> step_system(const ModelOf<R>& m, const StepLayout& layout, Action action,
                                              double alpha) {
  switch (action) {
    case Action::Cayley:
      return std::make_unique<ActionStepSystem<BodyActionEquations<Cayley, T, R>, T, R>>(m, layout);
    case Action::Chord:
      return std::make_unique<ActionStepSystem<BodyActionEquations<Chord, T, R>, T, R>>(m, layout);
    case Action::Exponential:
      return std::make_unique<ActionStepSystem<BodyActionEquations<Exponential, T, R>, T, R>>(m, layout);
    default:
      return std::make_unique<ActionStepSystem<MidpointEquations<T, R>, T, R>>(m, layout, alpha);
  }
}

}  // namespace symplectree
