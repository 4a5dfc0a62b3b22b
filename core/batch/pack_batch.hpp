// Many runs of one tree, several in each vector instruction, on threads.
#pragma once

#include <cstddef>
#include <vector>

#include "batch/parallel.hpp"
#include "integrators/method_options.hpp"
#include "model/model.hpp"

namespace symplectree {

// Rows of numbers of each run, or the same of all (`per_run` 0); and of each step, or the same of all (`per_step` 0).
struct RunRows {
  const double* first;
  std::size_t per_run, per_step;

  const double* at(long run, long step) const { return first + run * per_run + step * per_step; }
};

struct PackTask {
  const Model& m;
  MethodOptions options;
  double dt;
  long runs, steps, save_every;
  RunRows q0, v0, tau, inputs;
  // (runs × rows × …) of the saved states, the starts first; (runs × 3): iterations, halvings, and the largest turn in
  // a step [rad].
  double *q, *x, *counts;

  long rows() const { return (steps + save_every - 1) / save_every + 1; }
};

// A run that came to no end: the step that failed, its relative residual, the worst velocity, and the state before.
struct PackFailure {
  long run, step;
  double residual;
  int worst;
  std::vector<double> q, p;
};

// May steps of the model be taken in packs?
bool fits_packs(const Model& m, const MethodOptions& options, double dt);

// Takes all runs; `failures` ← those that came to no end, in the order of runs. False where it was asked to stop.
bool run_packs(const PackTask& task, int threads, const AskedToStop& asked, std::vector<PackFailure>& failures);

}  // namespace symplectree
