// Inverse dynamics and momenta in O(n) by the recursive Newton–Euler algorithm, with every element of the model.
#pragma once

#include "model/joint_state.hpp"
#include "model/workspace.hpp"

namespace symplectree {

// τ = M a + bias: the joint forces needed besides all elements to accelerate by a. Poses are computed here.
void inverse_dynamics(const Model& m, JointState<double> at, const double* a, const double* inputs, double* tau,
                      Workspace<double>& w);

// p = M v in O(n). Poses are computed here.
template <class R, class T>
void momenta(const ModelOf<R>& m, const T* q, const T* v, T* p, Workspace<T>& w);

}  // namespace symplectree
