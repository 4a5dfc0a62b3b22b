// Many runs at once (symplectree/ensemble): ordinary runs on threads, and packs of runs.
#include <nanobind/stl/vector.h>

#include <memory>
#include <unordered_set>

#include "batch/pack_batch.hpp"
#include "batch/pack_linearizer.hpp"
#include "batch/parallel.hpp"
#include "bindings/bound_run.hpp"
#include "bindings/forces.hpp"

namespace symplectree {
namespace {

// Ctrl-C, or another signal whose handler raises.
bool signalled() {
  nb::gil_scoped_acquire lock;
  return PyErr_CheckSignals() != 0;
}

// Of all runs: the length of a step, the number of the first and how many, of how many in all; after how many states
// are saved.
struct Stretch {
  double dt;
  long first, steps, total, save_every;

  // The row of the state after `done` steps, −1 where none is saved; the last one always is.
  long row(long done) const {
    if (done % save_every != 0 && done != total) return -1;
    return (done + save_every - 1) / save_every;
  }
};

// The steps of one run; returns how many were taken.
long advance_one(Run& run, const ForceRows& rows, const Stretch& s, double* q, double* x, double* activations,
                 const std::atomic<bool>& stop) {
  std::unique_ptr<RowForces> forces;
  if (rows.function.is_none()) {
    forces = std::make_unique<RowForces>(rows);
  } else {
    nb::gil_scoped_acquire lock;
    forces = std::make_unique<RowForces>(rows);
  }
  const auto copy = [](const std::vector<double>& from, long row, double* to) {
    if (!from.empty()) std::copy(from.begin(), from.end(), to + row * from.size());
  };
  long done = 0;
  try {
    for (; done < s.steps && !stop; ++done) {
      const long k = s.first + done;
      forces->choose_step(static_cast<int>(k), k, k * s.dt, s.dt, run);
      if (!run.step(k * s.dt, s.dt, *forces, {})) break;
      const long row = s.row(k + 1);
      if (row < 0) continue;
      copy(run.state().q, row, q), copy(run.state().x, row, x);
      if (run.activations()) copy(*run.activations(), row, activations);
    }
  } catch (...) {
    nb::gil_scoped_acquire lock;
    forces.reset();
    throw;
  }
  if (!rows.function.is_none()) {
    nb::gil_scoped_acquire lock;
    forces.reset();
  }
  return done;
}

void add_counts(const RunReport& report, double* counts) {
  counts[0] += report.iterations, counts[1] += report.halvings;
  counts[2] = std::max(counts[2], report.largest_turn);
}

// Rows of q, x and activations (runs × rows × …) of the saved states, the starts first; counts (runs × 3):
// iterations and halvings are added, and the largest turn in a step [rad] kept. Returns how many steps each run has
// taken.
std::vector<long> advance_runs(const std::vector<BoundRun*>& given, const nb::list& forces, double dt, long first,
                               long steps, long total, long save_every, Out q, Out x, Out activations, Out counts,
                               int threads) {
  std::vector<Run*> runs;
  for (const BoundRun* each : given) runs.push_back(each->object.get());
  std::unordered_set<const Run*> different(runs.begin(), runs.end());
  if (different.size() < runs.size()) throw std::invalid_argument("a run is there twice");
  std::vector<const ForceRows*> rows;
  for (const nb::handle each : forces) rows.push_back(&nb::cast<const ForceRows&>(each));
  std::vector<long> taken(runs.size());
  const Stretch stretch{dt, first, steps, total, save_every};
  const auto part = [&runs](const Out& all, std::size_t run) { return all.data() + run * (all.size() / runs.size()); };
  bool finished;
  {
    nb::gil_scoped_release unlocked;
    finished = on_threads(
        static_cast<int>(runs.size()), threads,
        [&](int k, int, const std::atomic<bool>& stop) {
          taken[k] = advance_one(*runs[k], *rows[k], stretch, part(q, k), part(x, k), part(activations, k), stop);
          add_counts(runs[k]->report(), part(counts, k));
        },
        signalled);
  }
  if (!finished) throw nb::python_error();
  return taken;
}

// Of an array of rows (runs or 1, width), or (runs or 1, steps or 1, width).
RunRows run_rows(const In& a) {
  const std::size_t width = a.shape(a.ndim() - 1), steps = a.ndim() == 3 ? a.shape(1) : 1;
  return {a.data(), a.shape(0) > 1 ? steps * width : 0, steps > 1 ? width : 0};
}

// Rows of q and p (runs × rows × …), and counts as of advance_runs; returns of each run that came to no end its number,
// the step, the residual, the worst velocity, and (q, p) before.
std::vector<nb::tuple> rollout_packs(const NativeModel& model, const MethodOptions& options, double dt, long steps,
                                     long save_every, In q0, In v0, In tau, In inputs, Out q, Out x, Out counts,
                                     int threads) {
  const PackTask task{model.model,   options,          dt,           static_cast<long>(q.shape(0)),
                      steps,         save_every,       run_rows(q0), run_rows(v0),
                      run_rows(tau), run_rows(inputs), q.data(),     x.data(),
                      counts.data()};
  std::vector<PackFailure> failures;
  bool finished;
  {
    nb::gil_scoped_release unlocked;
    finished = run_packs(task, threads, signalled, failures);
  }
  if (!finished) throw nb::python_error();
  std::vector<nb::tuple> out;
  for (const PackFailure& f : failures)
    out.push_back(nb::make_tuple(f.run, f.step, f.residual, f.worst, nb::cast(f.q), nb::cast(f.p)));
  return out;
}

// Ends (rows × nq), (rows × nv) and derivatives (rows × 2 nv × …) of steps from rows of states; returns the rows that
// were left out.
std::vector<long> linearize_rows(const NativeModel& model, const MethodOptions& options, double dt, In q, In p, In tau,
                                 In inputs, Out q1, Out p1, Out first) {
  const LinearizeTask task{model.model,
                           options,
                           dt,
                           static_cast<long>(q.shape(0)),
                           run_rows(q),
                           run_rows(p),
                           run_rows(tau),
                           run_rows(inputs),
                           q1.data(),
                           p1.data(),
                           first.data()};
  std::vector<long> left;
  nb::gil_scoped_release unlocked;
  linearize_packs(task, left);
  return left;
}

}  // namespace

void bind_rollout(nb::module_& module) {
  module.def("advance_runs", &advance_runs, nb::kw_only(), nb::arg("runs"), nb::arg("forces"), nb::arg("dt"),
             nb::arg("first"), nb::arg("steps"), nb::arg("total"), nb::arg("save_every"), nb::arg("q"), nb::arg("x"),
             nb::arg("activations"), nb::arg("counts"), nb::arg("threads"));
  module.def("fits_packs", [](const NativeModel& model, const MethodOptions& options, double dt) {
    return !model.map && fits_packs(model.model, options, dt);
  });
  module.def("fits_linearize_rows", [](const NativeModel& model, const MethodOptions& options, double dt) {
    return !model.map && fits_pack_linearizer(model.model, options, dt);
  });
  module.def("linearize_rows", &linearize_rows, nb::arg("model"), nb::kw_only(), nb::arg("options"), nb::arg("dt"),
             nb::arg("q"), nb::arg("p"), nb::arg("tau"), nb::arg("inputs"), nb::arg("q1"), nb::arg("p1"),
             nb::arg("first"));
  module.def("rollout_packs", &rollout_packs, nb::arg("model"), nb::kw_only(), nb::arg("options"), nb::arg("dt"),
             nb::arg("steps"), nb::arg("save_every"), nb::arg("q0"), nb::arg("v0"), nb::arg("tau"), nb::arg("inputs"),
             nb::arg("q"), nb::arg("x"), nb::arg("counts"), nb::arg("threads"));
}

}  // namespace symplectree
