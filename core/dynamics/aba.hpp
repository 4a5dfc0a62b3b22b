// Forward dynamics and M⁻¹x in O(n) by articulated bodies, with every element of the model.
#pragma once

#include "model/joint_state.hpp"
#include "model/workspace.hpp"

namespace symplectree {

// a = M⁻¹(τ − bias) by articulated bodies.
void forward_dynamics(const Model& m, JointState<double> at, AppliedForces<double> forces, double* a,
                      Workspace<double>& w);

// Eliminate all coordinates from the mass matrix, leaves to root, at the poses in w.
template <class R, class T>
void eliminate_mass(const ModelOf<R>& m, Workspace<T>& w);
template <>
void eliminate_mass(const Model& m, Workspace<double>& w);

// The same at q. Poses are computed here, and derivatives of S up to `Order`.
template <int Order = 0, class R, class T>
void factorize_mass(const ModelOf<R>& m, const T* q, Workspace<T>& w);

// y = M⁻¹ x after either.
template <class R, class T>
void solve_mass(const ModelOf<R>& m, const T* x, T* y, Workspace<T>& w);
template <>
void solve_mass(const Model& m, const double* x, double* y, Workspace<double>& w);

}  // namespace symplectree
