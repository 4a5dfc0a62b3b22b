// Elements of the user's own at (q, v): their coordinates gathered, their functions called, results handed on.
#pragma once

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "formula/tape.hpp"
#include "model/model.hpp"

namespace symplectree {

// An element of the user's own: functions of Python, or formulas. `evaluate`, or the tape of that order, which has the
// same results in a row, gives value and derivatives up to `order`:
// potential: V, gradient (k), Hessian (k × k); force: f (k), ∂f/∂q and ∂f/∂v (k × k); constraint: h (rows), Dh, and of
// formulas D²h(v, v) (rows). A formula's tapes take (q, v).
// A nonholonomic constraint P(q) v = 0 has h = 0, Dh = P, and d(P)/dt v in place of D²h(v, v). Of a step from q to q'
// it asks that P(q_m) (q' − q) = 0 with q_m half-way; `step` takes (q_m, q' − q) and gives that and its derivative in
// q'.
struct UserElement {
  enum Kind { Potential, Force, Constraint } kind;
  std::vector<int> q, v;  // places of its coordinates
  int first_row, rows, owner;
  std::vector<Tape> tapes;  // of orders 0, 1, 2; none of functions of Python
  Tape step;                // of nonholonomic constraints only
  std::function<void(int order, const double* q, const double* v, double* value, double* first, double* second)>
      evaluate;
  int size() const { return static_cast<int>(v.size()); }
};

// Results of one call.
struct UserTerms {
  std::vector<double> q, v, value, first, second;

  void evaluate(const UserElement& u, int order, const double* all_q, const double* all_v) {
    const std::size_t k = u.v.size(), values = u.kind == UserElement::Constraint ? u.rows : k;
    q.resize(u.q.size()), v.resize(k), value.resize(values), first.resize(values * k), second.resize(k * k);
    for (std::size_t i = 0; i < u.q.size(); ++i) q[i] = all_q[u.q[i]];
    for (std::size_t i = 0; i < k; ++i) v[i] = all_v ? all_v[u.v[i]] : 0.0;
    if (u.tapes.empty()) {
      u.evaluate(order, q.data(), v.data(), value.data(), first.data(), second.data());
    } else {
      run(u, u.tapes[order]);
    }
  }

  // Value and first derivative of a nonholonomic constraint over the step from q0 to q1.
  void evaluate_step(const UserElement& u, const double* q0, const double* q1) {
    const std::size_t k = u.v.size();
    q.resize(k), v.resize(k), value.resize(u.rows), first.resize(u.rows * k), second.clear();
    for (std::size_t i = 0; i < k; ++i) q[i] = 0.5 * (q0[u.q[i]] + q1[u.q[i]]), v[i] = q1[u.q[i]] - q0[u.q[i]];
    run(u, u.step);
  }

 private:
  // All results of a tape, in as many of value, first and second as it has.
  void run(const UserElement& u, const Tape& tape) {
    in_.resize(q.size() + v.size()), out_.resize(tape.outputs), work_.resize(tape.work_size);
    std::copy(q.begin(), q.end(), in_.begin());
    std::copy(v.begin(), v.end(), in_.begin() + static_cast<long>(q.size()));
    tape.run(in_.data(), out_.data(), work_.data());
    const std::size_t values = u.kind == UserElement::Potential ? 1 : value.size();
    const std::size_t firsts = u.kind == UserElement::Potential ? v.size() : first.size();
    std::size_t at = 0;
    for (auto [part, size] : {std::pair{&value, values}, {&first, firsts}, {&second, second.size()}})
      for (std::size_t i = 0; i < size && at < out_.size(); ++i) (*part)[i] = out_[at++];
  }

  std::vector<double> in_, out_, work_;
};

// Energy of the user's potentials.
inline double user_energy(const Model& m, const double* q) {
  double energy = 0;
  UserTerms t;
  for (const UserElement& u : m.users) {
    if (u.kind != UserElement::Potential) continue;
    t.evaluate(u, 0, q, nullptr);
    energy += t.value[0];
  }
  return energy;
}

// force (nv) += generalized forces of the user's potentials and, with velocities, of the user's forces.
inline void add_user_forces(const Model& m, const double* q, const double* v, double* force) {
  UserTerms t;
  for (const UserElement& u : m.users) {
    if (u.kind == UserElement::Potential) {
      t.evaluate(u, 1, q, nullptr);
      for (int k = 0; k < u.size(); ++k) force[u.v[k]] -= t.first[k];
    } else if (u.kind == UserElement::Force && v) {
      t.evaluate(u, 0, q, v);
      for (int k = 0; k < u.size(); ++k) force[u.v[k]] += t.value[k];
    }
  }
}

}  // namespace symplectree
