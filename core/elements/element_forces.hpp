// Forces and energies of springs, dampers and loads, added to the bodies and joints they act on: O(1) each.
#pragma once

#include "model/joint_state.hpp"
#include "model/workspace.hpp"

namespace symplectree {

// Are there forces that depend on velocities: dampers, or the user's own?
bool has_damping(const Model& m);

// force (nv) += `share` times the forces of joint springs,
template <class R, class T>
void add_spring_forces(const ModelOf<R>& m, const T* q, double share, T* force);
// and of joint dampers and motors.
template <class R, class T, class U>
void add_drive_forces(const ModelOf<R>& m, const T* v, const U* inputs, double share, T* force);

// w.joint_force ← what joint elements and the user's own apply to each velocity at (q, v); the user's forces, and
// limits of actuators, only when they are asked for. Dual numbers do not reach the user's functions.
template <class R, class T, class U>
void joint_element_forces(const ModelOf<R>& m, const T* q, const T* v, const U* inputs, Workspace<T>& w,
                          bool user_forces = true);

// Subtract from w.force, the wrench that motion requires of each body, what pairs and loads supply.
template <class R, class T, class U>
void subtract_element_wrenches(const ModelOf<R>& m, const U* inputs, Workspace<T>& w);

// w.force += those of pairs and loads, times their shares.
template <class T>
void add_element_wrenches(const Model& m, const double* inputs, ForceShares shares, Workspace<T>& w);

// springs, loads ← of each body: the wrench of its pairs' springs; that of their dampers and of loads, none where only
// what is conservative counts.
template <class R, class T>
void split_element_wrenches(const ModelOf<R>& m, const T* inputs, const Workspace<T>& w, bool conservative,
                            std::vector<Spatial<T>>& springs, std::vector<Spatial<T>>& loads);

// Energy of all springs and the user's potentials; poses must be there.
double spring_energy(const Model& m, const double* q, const Workspace<double>& w);

}  // namespace symplectree
