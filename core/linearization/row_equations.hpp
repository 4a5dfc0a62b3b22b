// Rows of constraints at the two ends of a step, for numbers T of the state and R of the model that carry derivatives.
#pragma once

#include "constraints/constraint_rows.hpp"
#include "constraints/row_structure.hpp"
#include "elements/user_elements_ad.hpp"

namespace symplectree {

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

}  // namespace symplectree
