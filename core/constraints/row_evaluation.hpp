// Holonomic constraints: values of their rows, derivatives, and what velocity alone makes of their second derivatives
// (JM09 section IV-D).
//
// The derivative of a row is a list of pulls, wrenches at the centres of the bodies it holds on to, and of coefficients
// of coordinates: D h along a motion is the sum of pulls on the bodies' twists and of coefficients on velocities. Which
// bodies and coordinates these are never changes.
#pragma once

#include <algorithm>
#include <array>

#include "constraints/constraint_rows.hpp"
#include "constraints/row_structure.hpp"

namespace symplectree {

// Values and derivatives of all rows at one configuration.
struct RowValues : RowTerms<double> {
  std::vector<double> size, noise;  // of each row: what it is measured against, and what rounding is relative to
  std::vector<double> reach, turn;  // of each body: the way to it from the world's origin, the largest angle on it

  explicit RowValues(const RowStructure& s)
      : RowTerms(s.rows(), s.pull_body.size(), s.coefficient_v.size()), size(s.rows()), noise(s.rows()) {}
};

// All rows at q; with `WithDerivative` also their derivatives. Poses in `at` must be those of q.
template <bool WithDerivative>
void evaluate_rows(const Model& m, const RowStructure& s, const double* q, const Workspace<double>& at, RowValues& out,
                   bool users = true);

// Pulls of the damped pairs' gauges. Poses in `at` must be there.
void evaluate_dampers(const Model& m, const RowStructure& s, const Workspace<double>& at, RowValues& out);

// d²h/dt² of all rows for the twists and accelerations of bodies in `at` (of coordinates: velocities v and
// accelerations a).
void row_accelerations(const Model& m, const double* q, const double* v, const double* a, const Workspace<double>& at,
                       double* out);

// Derivatives of rows, and the poses that they are of.
struct RowsAt {
  const RowValues& values;
  const Workspace<double>& poses;
};

// Scratch of transposed_rows: of each body its wrench, and bounds of torque and force.
struct RowWrenches {
  std::vector<Spatial<double>>& force;
  std::vector<std::array<double, 2>>& bound;
};

// Σ λ_k D h_k (nv), and the size of the terms that each is made of (nv).
struct PulledForces {
  double *sum, *size;
};

void transposed_rows(const Model& m, const RowStructure& s, const RowsAt& rows, const double* lambda,
                     const RowWrenches& scratch, const PulledForces& out);

// G (rows × nv, row by row) ← D h.
void dense_rows(const Model& m, const RowStructure& s, const RowValues& rows, const Workspace<double>& at, double* G);

}  // namespace symplectree
