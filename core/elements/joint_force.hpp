// A motor: a constant force on one velocity, and a multiple of an input added to it.
#pragma once

#include "elements/element_terms.hpp"
#include "model/model.hpp"
#include "model/rows/joint_force.hpp"

namespace symplectree {

// force (nv) += `factor` times its force.
template <class R, class T, class U>
void add_force(const JointForceOf<R>& e, const U* inputs, double factor, T* force) {
  force[e.v] += T(factor) * (T(e.value) + (e.input >= 0 ? T(e.gain) * T(inputs[e.input]) : T(0)));
}

template <class T>
void add_terms(const JointForce& e, const double* inputs, ElementTerms<T>& out) {
  add_force(e, inputs, 1, out.force.data());
}

}  // namespace symplectree
