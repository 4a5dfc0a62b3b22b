// First derivatives of steps from many states of one tree, several in each vector instruction.
#pragma once

#include "batch/pack_batch.hpp"

namespace symplectree {

// Steps of h from rows of states (q, p) under rows of forces; where the ends go, (rows × nq) and (rows × nv), and the
// derivatives, (rows × 2 nv × (2 nv + forces)), forces being the model's inputs, or its velocities when it has none.
struct LinearizeTask {
  const Model& m;
  MethodOptions options;
  double h;
  long rows;
  RunRows q, p, tau, inputs;
  double *q1, *p1, *first;

  int forces() const { return m.inputs ? m.inputs : m.nv; }
};

// May steps of the model be differentiated so?
bool fits_pack_linearizer(const Model& m, const MethodOptions& options, double h);

// `left` ← rows that were left out, since their steps need more than Newton's quick iteration.
void linearize_packs(const LinearizeTask& task, std::vector<long>& left);

}  // namespace symplectree
