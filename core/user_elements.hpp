// Elements of the user's own at (q, v): their coordinates gathered, their functions called, results handed on.
#pragma once

#include "model.hpp"

namespace symplectree {

// Results of one call.
struct UserTerms {
  std::vector<double> q, v, value, first, second;

  void evaluate(const UserElement& u, int order, const double* all_q, const double* all_v) {
    const std::size_t k = u.v.size(), values = u.kind == UserElement::Constraint ? u.rows : k;
    q.resize(u.q.size()), v.resize(k), value.resize(values), first.resize(values * k), second.resize(k * k);
    for (std::size_t i = 0; i < u.q.size(); ++i) q[i] = all_q[u.q[i]];
    for (std::size_t i = 0; i < k; ++i) v[i] = all_v ? all_v[u.v[i]] : 0.0;
    u.evaluate(order, q.data(), v.data(), value.data(), first.data(), second.data());
  }
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
