// The equations and outputs of a step of any action together, in the order of StepLayout.
#pragma once

#include "integrators/method_options.hpp"
#include "linearization/step_equations.hpp"
#include "linearization/step_layout.hpp"

namespace symplectree {

// E and O of a step in numbers T, of a model in numbers R.
template <class T, class R = double>
class StepSystem {
 public:
  StepSystem(const ModelOf<R>& m, const StepLayout& layout, Action action, double alpha)
      : m_(m), l_(layout), rows_(m), moving_(m) {
    switch (action) {
      case Action::Cayley:
        cayley_ = std::make_unique<TreeEquations<Cayley, T, R>>(m);
        break;
      case Action::Chord:
        chord_ = std::make_unique<TreeEquations<Chord, T, R>>(m);
        break;
      case Action::Exponential:
        exponential_ = std::make_unique<TreeEquations<Exponential, T, R>>(m);
        break;
      default:
        middle_ = std::make_unique<MiddleEquations<T, R>>(m, alpha);
    }
    for (auto* a : {&q0_, &q1_}) a->resize(m.nq);
    tau_.resize(m.nv), inputs_.resize(m.inputs), p1_.resize(m.nv);
  }

  // z and h differ by `dz` and `dh` (whose values are zero) from the point.
  void evaluate(const StepPoint& at, const T* dz, T* E, T* O, const T& dh = T(0)) {
    retract_lifted(m_, at.q0.data(), dz + l_.q0, q0_.data());
    retract_lifted(m_, at.q1.data(), dz + l_.q1, q1_.data());
    sum(at.lambda, dz + l_.lambda, lambda_);
    for (int j = 0; j < m_.nv; ++j) tau_[j] = T(at.tau[j]);
    for (int j = 0; j < m_.inputs; ++j) inputs_[j] = T(at.inputs[j]);
    for (int k = 0; k < l_.forces; ++k) (l_.inputs ? inputs_ : tau_)[k] += dz[l_.force + k];
    const StepArguments<T> a{T(at.h) + dh, q0_.data(),     q1_.data(),  dz + l_.q0,
                             dz + l_.q1,   lambda_.data(), tau_.data(), inputs_.data()};
    T* p1 = l_.projected ? p1_.data() : O;
    if (cayley_) step(*cayley_, at, a, dz, E, p1, O);
    if (chord_) step(*chord_, at, a, dz, E, p1, O);
    if (exponential_) step(*exponential_, at, a, dz, E, p1, O);
    if (middle_) step(*middle_, at, a, dz, E, p1, O);
  }

 private:
  template <class Equations>
  void step(Equations& eq, const StepPoint& at, const StepArguments<T>& a, const T* dz, T* E, T* p1, T* O) {
    eq.evaluate(a, E, p1);
    if (m_.rows > 0) {
      rows_.add_impulses(a.q0, a.d0, a.lambda, eq.start, E);
      rows_.values(a.q0, a.q1, a.d1, eq.end, E + l_.nv);
    }
    if (!l_.projected) return;
    sum(at.v, dz + l_.v, v_);
    sum(at.mu, dz + l_.mu, mu_);
    // M v + Dhᵀ μ − p' = 0 and Dh v = 0, at q'
    momenta(m_, a.q1, v_.data(), O, moving_);
    T* balance = E + l_.nv + l_.rows;
    for (int j = 0; j < l_.nv; ++j) balance[j] = O[j] - p1[j];
    if (m_.rows == 0) return;
    rows_.add_impulses(a.q1, a.d1, mu_.data(), moving_, balance);
    rows_.rates(a.q1, a.d1, v_.data(), moving_, balance + l_.nv);
  }

  void sum(const std::vector<double>& value, const T* d, std::vector<T>& out) {
    out.resize(value.size());
    for (std::size_t k = 0; k < value.size(); ++k) out[k] = T(value[k]) + d[k];
  }

  const ModelOf<R>& m_;
  const StepLayout& l_;
  RowEquations<T, R> rows_;
  Workspace<T> moving_;  // poses and twists at the end; of those in the equations twists stay zero
  std::unique_ptr<TreeEquations<Cayley, T, R>> cayley_;
  std::unique_ptr<TreeEquations<Chord, T, R>> chord_;
  std::unique_ptr<TreeEquations<Exponential, T, R>> exponential_;
  std::unique_ptr<MiddleEquations<T, R>> middle_;
  std::vector<T> q0_, q1_, lambda_, tau_, inputs_, v_, mu_, p1_;
};

}  // namespace symplectree
