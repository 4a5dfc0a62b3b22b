// One linear system of a tree with rows that couple its bodies (see loop_solver.hpp).
#pragma once

#include <array>

#include "constraints/row_evaluation.hpp"
#include "spatial/matrix6.hpp"

namespace symplectree {

// All arrays are the caller's. `none` in `block` of a body: nothing besides S A S'.
struct LoopSystem {
  const Workspace<double>*left = nullptr, *right = nullptr;
  const Matrix6<double>* A = nullptr;             // of each body
  const Spatial<double>* force = nullptr;         // of each body, added to A η; may be null
  const double* stiff = nullptr;                  // of each velocity, added to S A S'
  const std::array<double, 36>* block = nullptr;  // of each body with several velocities: added instead of `stiff`
  const char* prescribed = nullptr;               // of each velocity: its coordinate does not move; may be null
  const double* rhs = nullptr;                    // of each velocity
  const RowValues *rows_left = nullptr, *rows_right = nullptr;
  const double *compliance = nullptr, *e = nullptr;  // of each row; compliance (the diagonal of E) may be null
};

}  // namespace symplectree
