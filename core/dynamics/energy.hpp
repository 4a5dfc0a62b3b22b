// Energies and spatial momentum, O(n).
#pragma once

#include "model/workspace.hpp"

namespace symplectree {

double potential_energy(const Model& m, const double* q, Workspace<double>& w);

// T = ½ vᵀ M v; leaves poses and velocities in the workspace.
double kinetic_energy(const Model& m, const double* q, const double* v, Workspace<double>& w);

// Momentum of all bodies in world axes: angular about the world's origin, and linear. Rotor inertia is not counted.
Spatial<double> spatial_momentum(const Model& m, const double* q, const double* v, Workspace<double>& w);

}  // namespace symplectree
