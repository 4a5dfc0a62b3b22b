// The equations of a variational step, for numbers that carry derivatives:
//
//   r(q, q', λ, f) + p = 0,   h(q') = 0,   p' = g(q, q', f),
//
// those that runs solve (step.hpp, midpoint_state.hpp). And those of the velocity that goes with p' along constraints,
// M(q') v + Dh(q')ᵀ μ = p', Dh(q') v = 0.
//
// T are the numbers of the state, R those of the model.
#pragma once

#include "constraints/row_evaluation.hpp"
#include "integrators/body_action/step.hpp"
#include "integrators/midpoint/midpoint_state.hpp"

namespace symplectree {

// What a step is made of; `d0`, `d1` (nv) are the increments by which q0 and q1 differ from their values, `lambda` are
// impulses.
template <class T>
struct StepArguments {
  T h;
  const T *q0, *q1, *d0, *d1, *lambda, *tau, *inputs;
};

// Rows of constraints at the two ends.
template <class T, class R = double>
class RowEquations {
 public:
  explicit RowEquations(const ModelOf<R>& m)
      : m_(m), structure_(m), terms_(structure_.rows(), structure_.pull_body.size(), structure_.coefficient_v.size()),
        force_(m.size()), users_(m) {}

  bool users = true;  // are the user's own rows among these? Without them these have no value and no derivative

  // Of row k where rows were evaluated last.
  const T& value(int k) const { return terms_.value[k]; }

  // out (nv) += Dh(q)ᵀ λ; poses in `at` are those of q.
  void add_impulses(const T* q, const T* d, const T* lambda, const Workspace<T>& at, T* out) {
    place(q, d, at);
    for (auto& f : force_) f = {};
    for (int k = 0; k < m_.rows; ++k) {
      for (int e = structure_.pull_start[k]; e < structure_.pull_start[k + 1]; ++e)
        force_[structure_.pull_body[e]] += lambda[k] * terms_.pull[e];
      for (int e = structure_.coefficient_start[k]; e < structure_.coefficient_start[k + 1]; ++e)
        out[structure_.coefficient_v[e]] += lambda[k] * terms_.coefficient[e];
    }
    for (int i = m_.size() - 1; i > 0; --i) {
      const BodyOf<R>& b = m_.bodies[i];
      for (int j = b.v; j < b.v + b.nv; ++j) out[j] += dot(at.S[j], force_[i]);
      force_[b.parent] += shift_force(force_[i], at.pose[i].r);
    }
  }

  // value (rows) ← h(q1), or what nonholonomic rows say of the step.
  void values(const T* q0, const T* q1, const T* d1, const Workspace<T>& end, T* value) {
    place(q1, d1, end);
    for (int k = 0; k < m_.rows; ++k) value[k] = terms_.value[k];
    if (users) users_.add_steps(q0, q1, value);
  }

  // rate (rows) ← Dh(q) v, with twists of bodies in `at`.
  void rates(const T* q, const T* d, const T* v, const Workspace<T>& at, T* rate) {
    place(q, d, at);
    for (int k = 0; k < m_.rows; ++k) {
      rate[k] = T(0);
      for (int e = structure_.pull_start[k]; e < structure_.pull_start[k + 1]; ++e)
        rate[k] += dot(terms_.pull[e], at.V[structure_.pull_body[e]]);
      for (int e = structure_.coefficient_start[k]; e < structure_.coefficient_start[k + 1]; ++e)
        rate[k] += terms_.coefficient[e] * v[structure_.coefficient_v[e]];
    }
  }

 private:
  void place(const T* q, const T* d, const Workspace<T>& at) {
    evaluate_row_terms<true>(m_, structure_.pull_start, structure_.coefficient_start, q, at, terms_);
    if (users) users_.add_rows(structure_.coefficient_start, q, d, terms_.value.data(), terms_.coefficient.data());
  }

  const ModelOf<R>& m_;
  RowIndices structure_;
  RowTerms<T> terms_;
  std::vector<Spatial<T>> force_;
  UserElementsAD<T, R> users_;
};

// Actions of bodies between their poses at the two ends (step.hpp).
template <class Action, class T, class R = double>
class BodyActionEquations {
 public:
  static constexpr bool at_middle = false;  // are forces those at the middle of the step?

  explicit BodyActionEquations(const ModelOf<R>& m) : workspace(m) {}

  StepWorkspace<T, R> workspace;
  const Workspace<T>&start = workspace.first, &end = workspace.second;  // poses at the two ends, after `evaluate`

  // r and g.
  void evaluate(const StepArguments<T>& a, T* r, T* p1) {
    StepWorkspace<T, R>& w = workspace;
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

  // Leave out all forces that come from no energy: loads, dampers, rotors.
  void set_conservative(bool yes) {
    workspace.conservative = yes;
    std::fill(workspace.user_impulse.begin(), workspace.user_impulse.end(), T(0));
  }
};

// The midpoint action (midpoint_state.hpp).
template <class T, class R = double>
class MidpointEquations {
 public:
  static constexpr bool at_middle = true;

  MidpointEquations(const ModelOf<R>& m, double alpha) : middle(m, alpha), start(m), end(m) {}

  MidpointState<T, R> middle;
  Workspace<T> start, end;  // poses at the two ends, after `evaluate`; at the start only with constraints or pairs

  void evaluate(const StepArguments<T>& a, T* r, T* p1) {
    const ModelOf<R>& m = middle.m;
    if (m.rows > 0 || m.pairs() > 0) compute_poses(m, a.q0, start);
    compute_poses(m, a.q1, end);
    middle.set_forces(a.tau, a.inputs);
    middle.template evaluate<1>(StepEnds<T>{a.h, a.q0, a.q1});
    for (int i = 1; i < m.size(); ++i)
      for (int k = 0; k < m.bodies[i].nv; ++k) {
        const int j = m.bodies[i].v + k;
        r[j] = middle.end_force(i, k, a.h, false), p1[j] = middle.end_force(i, k, a.h, true);
      }
  }

  void set_conservative(bool yes) { middle.conservative = yes; }
};

}  // namespace symplectree
