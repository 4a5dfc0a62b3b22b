// A spring on one coordinate: V = ½ k (q − rest)², f = −k (q − rest).
#pragma once

#include "elements/element_terms.hpp"
#include "model/model.hpp"
#include "model/rows/joint_spring.hpp"

namespace symplectree {

template <class R, class T>
void add_energy(const JointSpringOf<R>& e, const T* q, T& energy) {
  if (!e.stored) return;
  const T stretch = q[e.q] - T(e.rest);
  energy += T(0.5 * e.stiffness) * stretch * stretch;
}

// force (nv) += `factor` times its force.
template <class R, class T>
void add_force(const JointSpringOf<R>& e, const T* q, double factor, T* force) {
  force[e.v] -= T(factor * e.stiffness) * (q[e.q] - T(e.rest));
}

template <class T>
void add_terms(const JointSpring& e, const T* q, ElementTerms<T>& out) {
  add_energy(e, q, out.energy);
  out.gradient[e.v] += T(e.stiffness) * (q[e.q] - T(e.rest));
  out.hessian[(out.size() + 1) * e.v] += T(e.stiffness);
}

}  // namespace symplectree
