// Elements of the user's own for numbers that carry derivatives: formulas exactly, functions of Python by what they
// know of their derivatives, and beyond that by central differences, which gives first derivatives only.
#pragma once

#include <algorithm>

#include "kinematics/retract_ad.hpp"
#include "model/user_elements.hpp"

namespace symplectree {

template <class T, class R = double>
class UserElementsAD {
 public:
  explicit UserElementsAD(const ModelOf<R>& m) : m_(m) {}

  // force (nv) += factor times the generalized forces of potentials, or of forces at the velocity v. `d` (nv) are the
  // increments by which q differs from its value.
  void add_forces(UserElement::Kind kind, const T& factor, const T* q, const T* d, const T* v, T* force) {
    for (const UserElement& u : m_.users) {
      if (u.kind != kind) continue;
      const bool potential = kind == UserElement::Potential;
      const int k = u.size();
      if (!u.tapes.empty()) {
        run(u.tapes[potential ? 1 : 0], u, q, v);
        for (int i = 0; i < k; ++i) force[u.v[i]] += potential ? -factor * out_[1 + i] : factor * out_[i];
        continue;
      }
      values(q, v);
      terms_.evaluate(u, 2, q_.data(), v_.data());
      for (int i = 0; i < k; ++i) {
        T f(potential ? -terms_.first[i] : terms_.value[i]);
        for (int j = 0; j < k; ++j) {
          const T dv = v ? v[u.v[j]] - T(value_of(v[u.v[j]])) : T(0);
          f += potential ? T(-terms_.second[k * i + j]) * d[u.v[j]]
                         : T(terms_.first[k * i + j]) * d[u.v[j]] + T(terms_.second[k * i + j]) * dv;
        }
        force[u.v[i]] += factor * f;
      }
    }
  }

  // out (size × size) ← ∂f/∂v of a force at (q, v).
  void velocity_derivative(const UserElement& u, const T* q, const T* v, T* out) {
    const int k = u.size();
    if constexpr (carries_derivatives<T>) {
      if (!u.tapes.empty()) {
        run(u.tapes[2], u, q, v);
        std::copy(out_.begin() + k + k * k, out_.begin() + k + 2 * k * k, out);
        return;
      }
    }
    values(q, v);
    terms_.evaluate(u, 2, q_.data(), v_.data());
    for (int i = 0; i < k * k; ++i) out[i] = T(terms_.second[i]);
  }

  // Values of the user's rows at q, and their coefficients, which begin where coefficient_start says.
  void add_rows(const std::vector<int>& coefficient_start, const T* q, const T* d, T* value, T* coefficient) {
    for (const UserElement& u : m_.users) {
      if (u.kind != UserElement::Constraint) continue;
      const int k = u.size();
      if (!u.tapes.empty()) {
        run(u.tapes[1], u, q, nullptr);
      } else {
        by_differences(u, q, d);
      }
      for (int r = 0; r < u.rows; ++r) {
        value[u.first_row + r] = out_[r];
        for (int j = 0; j < k; ++j) coefficient[coefficient_start[u.first_row + r] + j] = out_[u.rows + k * r + j];
      }
    }
  }

  // Values of nonholonomic rows over the step from q0 to q1.
  void add_steps(const T* q0, const T* q1, T* value) {
    for (const UserElement& u : m_.users) {
      if (u.step.code.empty()) continue;
      in_.clear();
      for (int i : u.q) in_.push_back(T(0.5) * (q0[i] + q1[i]));
      for (int i : u.q) in_.push_back(q1[i] - q0[i]);
      execute(u.step);
      for (int r = 0; r < u.rows; ++r) value[u.first_row + r] = out_[r];
    }
  }

 private:
  void run(const Tape& tape, const UserElement& u, const T* q, const T* v) {
    in_.clear();
    for (int i : u.q) in_.push_back(q[i]);
    for (int i : u.v) in_.push_back(v ? v[i] : T(0));
    execute(tape);
  }

  void execute(const Tape& tape) {
    out_.resize(tape.outputs), work_.resize(tape.work_size);
    tape.run_ad(in_.data(), out_.data(), work_.data());
  }

  void values(const T* q, const T* v) {
    q_.resize(m_.nq), v_.assign(m_.nv, 0.0);
    for (int i = 0; i < m_.nq; ++i) q_[i] = value_of(q[i]);
    for (int i = 0; v && i < m_.nv; ++i) v_[i] = value_of(v[i]);
  }

  // out_ ← values of the rows, then their derivatives.
  void by_differences(const UserElement& u, const T* q, const T* d) {
    values(q, nullptr);
    const int k = u.size();
    terms_.evaluate(u, 1, q_.data(), nullptr);
    out_.assign(u.rows + u.rows * k, T(0));
    for (int r = 0; r < u.rows; ++r) {
      out_[r] = T(terms_.value[r]);
      for (int j = 0; j < k; ++j) {
        out_[r] += T(terms_.first[k * r + j]) * d[u.v[j]];
        out_[u.rows + k * r + j] = T(terms_.first[k * r + j]);
      }
    }
    const double step = 1e-5;
    std::vector<double> e(m_.nv), moved(m_.nq);
    UserTerms ahead, behind;
    for (int j = 0; j < k; ++j) {
      for (double side : {step, -step}) {
        e[u.v[j]] = side;
        retract(m_, q_.data(), e.data(), moved.data());
        (side > 0 ? ahead : behind).evaluate(u, 1, moved.data(), nullptr);
      }
      e[u.v[j]] = 0;
      for (int i = 0; i < u.rows * k; ++i)
        out_[u.rows + i] += T((ahead.first[i] - behind.first[i]) / (2 * step)) * d[u.v[j]];
    }
  }

  const ModelOf<R>& m_;
  UserTerms terms_;
  std::vector<T> in_, out_, work_;
  std::vector<double> q_, v_;
};

}  // namespace symplectree
