// The mass matrix in O(n²) by composite bodies.
#pragma once

#include "model/workspace.hpp"

namespace symplectree {

// w.composite ← the inertia of each body with all that it carries, about its centre. Poses must be there.
template <class T>
void composite_inertias(const Model& m, Workspace<T>& w);

// M (nv × nv, row by row) by composite bodies.
template <class T>
void mass_matrix(const Model& m, const T* q, T* M, Workspace<T>& w);

}  // namespace symplectree
