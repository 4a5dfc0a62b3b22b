// A damper on one velocity: f = −c v.
#pragma once

#include "elements/element_terms.hpp"
#include "model/model.hpp"
#include "model/rows/joint_damper.hpp"

namespace symplectree {

// force (nv) += `factor` times its force.
template <class R, class T>
void add_force(const JointDamperOf<R>& e, const T* v, double factor, T* force) {
  force[e.v] -= T(factor * e.damping) * v[e.v];
}

template <class T>
void add_terms(const JointDamper& e, const T* v, ElementTerms<T>& out) {
  add_force(e, v, 1, out.force.data());
  out.force_dv[(out.size() + 1) * e.v] -= T(e.damping);
}

// The sum of c on each velocity, (nv).
template <class R>
std::vector<R> joint_damping(const ModelOf<R>& m) {
  std::vector<R> out(m.nv);
  for (const JointDamperOf<R>& e : m.joint_dampers) out[e.v] += e.damping;
  return out;
}

}  // namespace symplectree
