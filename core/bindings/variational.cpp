// Runs of the variational integrators: many steps per call, saving every so many.
#include <memory>

#include "bindings/forces.hpp"
#include "bindings/native.hpp"
#include "integrators/action_run.hpp"
#include "integrators/body_action/compiled_step.hpp"
#include "integrators/gauss/collocation_run.hpp"
#include "integrators/midpoint/midpoint_step.hpp"
#include "integrators/newton_run.hpp"
#include "integrators/reduced/reduced_step.hpp"

namespace symplectree {

std::unique_ptr<AnyRun> action_run(const Model& m, int action, double alpha, int solver, const Settings& settings) {
  const auto kind = static_cast<Solver>(solver);
  switch (action) {
    case 0:
      return std::make_unique<VariationalRun<TreeScheme<Cayley>>>(m, settings, kind);
    case 1:
      return std::make_unique<VariationalRun<TreeScheme<Chord>>>(m, settings, kind);
    case 2:
      return std::make_unique<VariationalRun<TreeScheme<Exponential>>>(m, settings, kind);
    case 3:
      return std::make_unique<VariationalRun<MidpointScheme>>(m, settings, alpha, kind);
    default:
      return std::make_unique<VariationalRun<ReducedScheme>>(m, settings, alpha,
                                                             action == 4 ? Retraction::Cayley : Retraction::Exp);
  }
}

namespace {

// Where prescribed coordinates are at the end of each stage of each step of a call, and how fast: rows (nq) and (nv).
struct Prescribed {
  const Model& m;
  const double *target, *rate;  // null when nothing is prescribed
  std::vector<double> still;

  Prescribed(const Model& model, const In& targets, const In& rates)
      : m(model),
        target(targets.size() ? targets.data() : nullptr),
        rate(rates.size() ? rates.data() : nullptr),
        still(m.nq + m.nv) {}
  const double* target_of(int row) const {
    return target ? target + static_cast<std::size_t>(row) * m.nq : still.data();
  }
  const double* rate_of(int row) const { return rate ? rate + static_cast<std::size_t>(row) * m.nv : still.data(); }
};

// One integration, by steps of constant size; the state and its counters are those of `AnyRun` or `GaussRun`.
class NativeRun {
 public:
  NativeRun(NativeModel& model, double step) : m(model.model), h(step), v(m.nv) {}
  virtual ~NativeRun() = default;

  // Start at (q, p); `rate` (nv) holds the velocities of prescribed coordinates.
  virtual void reset(const double* q, const double* p, const double* rate) = 0;
  // The state was reached by a step of this length, so that p leaves out half a step's impulses of constraints.
  virtual void came_by(double) {}
  // Step number `number` of the run, number k of this call.
  virtual bool step(int number, int k, const Forces& forces, const Prescribed& prescribed) = 0;
  virtual void velocity(double* v) = 0;
  virtual const std::vector<double>&q() const = 0, &p() const = 0;
  virtual long iterations() const = 0;
  virtual long halvings() const { return 0; }
  virtual double residual() const { return std::nan(""); }
  virtual int worst() const { return 0; }
  virtual double fastest() const { return 0; }
  // Forces of the constraints, and on prescribed coordinates, at the beginning of the last step; null where there are
  // none.
  virtual const double* multipliers() const { return nullptr; }
  virtual const double* reaction() const { return nullptr; }

  const Model& m;
  double h;
  std::vector<double> v;
};

// Steps of an action; each is one, or a composition of stages that take fractions of it. `direction` and `check` are
// addresses of code for this mechanism (see StepCode), or zero.
class ActionRun final : public NativeRun {
 public:
  ActionRun(NativeModel& model, int action, double alpha, int solver, int guess, double tolerance, int max_iterations,
            int substeps, double step, In stages, In driven, std::uint64_t direction, std::uint64_t check, int work)
      : NativeRun(model, step), stages_(stages.data(), stages.data() + stages.size()) {
    const Settings s{static_cast<Guess>(guess), tolerance, max_iterations, substeps};
    if (action == 0 && direction) {
      const auto code = [](std::uint64_t address) { return reinterpret_cast<StepCode::Function>(address); };
      run_ = std::make_unique<VariationalRun<CompiledScheme>>(m, s, StepCode{code(direction), code(check), work});
    } else {
      run_ = action_run(m, action, alpha, solver, s);
    }
    run_->drive(marked(m, driven));
  }

  void reset(const double* q0, const double* p0, const double* rate) override {
    run_->reset(q0, p0, rate);
    asked_ = false;
  }

  void came_by(double length) override { run_->last_h = length; }

  bool step(int number, int k, const Forces& forces, const Prescribed& prescribed) override {
    const int stages = static_cast<int>(stages_.size());
    if (stages > 1) q_ = run_->q, p_ = run_->p, rate_ = run_->rate;
    const double last_h = run_->last_h;
    double t = number * h;
    for (int s = 0; s < stages; ++s) {
      if (!stage(t, stages_[s] * h, k, stages * k + s, forces, prescribed)) {
        if (s > 0) run_->reset(q_.data(), p_.data(), rate_.data()), run_->last_h = last_h;  // the state stays
        return false;
      }
      if (s == 0) multipliers_ = run_->multipliers, reaction_ = run_->reaction;
      t += stages_[s] * h;
    }
    return true;
  }

  void velocity(double* v) override { run_->velocity(v); }
  const std::vector<double>& q() const override { return run_->q; }
  const std::vector<double>& p() const override { return run_->p; }
  long iterations() const override { return run_->iterations; }
  long halvings() const override { return run_->halvings; }
  double residual() const override { return run_->last_residual; }
  int worst() const override { return run_->worst; }
  double fastest() const override { return run_->fastest; }
  const double* multipliers() const override { return multipliers_.data(); }
  const double* reaction() const override { return reaction_.data(); }

 private:
  bool stage(double t, double length, int k, int row, const Forces& forces, const Prescribed& prescribed) {
    if (forces.asks() && !asked_) {
      ask(t, forces);
      asked_ = true;
    }
    if (!run_->step(length, forces.tau_of(k), forces.inputs_of(k), prescribed.target_of(row), prescribed.rate_of(row)))
      return false;
    if (forces.asks())  // forces at the end depend on the velocity there: predict, then correct
      for (int pass = 0; pass < 2; ++pass) {
        ask(t + length, forces);
        run_->end_again(forces.tau_of(k), forces.inputs_of(k));
      }
    return true;
  }

  void ask(double t, const Forces& forces) {
    run_->velocity(v.data());
    forces.ask(t, run_->q.data(), v.data());
  }

  std::unique_ptr<AnyRun> run_;
  std::vector<double> stages_;  // fractions of a step, in order; they add up to one
  std::vector<double> q_, p_, rate_, multipliers_, reaction_;
  bool asked_ = false;  // has the force function been asked at the present state?
};

// Steps of collocation; one whose stages are not found is taken as shorter ones.
template <int W>
class CollocationRun final : public NativeRun {
 public:
  CollocationRun(NativeModel& model, int stages, double tolerance, int max_iterations, int substeps, double step)
      : NativeRun(model, step), run_(m, stages, tolerance, max_iterations), substeps_(substeps) {}

  void reset(const double* q0, const double* p0, const double*) override { run_.reset(q0, p0); }

  bool step(int number, int k, const Forces& forces, const Prescribed&) override {
    if (part(number * h, h, k, forces)) return true;
    const std::vector<double> q = run_.q, p = run_.p;
    if (halved(number * h, h, k, forces, 1)) return true;
    run_.reset(q.data(), p.data());  // the state stays
    return false;
  }

  void velocity(double* out) override { run_.velocity(out); }
  const std::vector<double>& q() const override { return run_.q; }
  const std::vector<double>& p() const override { return run_.p; }
  long iterations() const override { return run_.iterations; }
  long halvings() const override { return halvings_; }

 private:
  bool part(double t, double length, int k, const Forces& forces) {
    return run_.step(t, length, !forces.asks(), [&](double at, const double* x, const double* u) {
      if (forces.asks()) forces.ask(at, x, u);
      return std::pair{forces.tau_of(k), forces.inputs_of(k)};
    });
  }

  bool halved(double t, double length, int k, const Forces& forces, int depth) {
    if (depth > substeps_) return false;
    ++halvings_;
    const double half = length / 2;
    for (double at : {t, t + half})
      if (!part(at, half, k, forces) && !halved(at, half, k, forces, depth + 1)) return false;
    return true;
  }

  GaussRun<W> run_;
  int substeps_;
  long halvings_ = 0;
};

NativeRun* collocation_run(NativeModel& model, int stages, double tolerance, int max_iterations, int substeps,
                           double step) {
  if (stages == 2) return new CollocationRun<2>(model, stages, tolerance, max_iterations, substeps, step);
  return new CollocationRun<4>(model, stages, tolerance, max_iterations, substeps, step);
}

// Takes `steps` steps, of which the first is number `first`; returns how many were taken. States and counts are those
// at the end of every `save_every` steps, multipliers and reactions those at their beginning.
int advance(NativeRun& run, int first, int steps, int save_every, Out q_saved, Out p_saved, Out counts, Out multipliers,
            Out reactions, In tau, In inputs, nb::object function, Out q_buffer, Out v_buffer, In targets, In rates) {
  const Model& m = run.m;
  const Forces forces(m, tau, inputs, std::move(function), q_buffer, v_buffer);
  const Prescribed prescribed(m, targets, rates);
  nb::gil_scoped_release unlocked;
  long iterations = run.iterations(), halvings = run.halvings();
  for (int k = 0; k < steps; ++k) {
    if (!run.step(first + k, k, forces, prescribed)) return k;
    const std::size_t row = k / save_every;
    if (k % save_every == 0) {
      if (multipliers.size())
        std::copy(run.multipliers(), run.multipliers() + m.rows, multipliers.data() + row * m.rows);
      if (reactions.size()) std::copy(run.reaction(), run.reaction() + m.nv, reactions.data() + row * m.nv);
    }
    if ((k + 1) % save_every != 0) continue;
    std::copy(run.q().begin(), run.q().end(), q_saved.data() + row * m.nq);
    std::copy(run.p().begin(), run.p().end(), p_saved.data() + row * m.nv);
    counts.data()[2 * row] = static_cast<double>(run.iterations() - iterations);
    counts.data()[2 * row + 1] = static_cast<double>(run.halvings() - halvings);
    iterations = run.iterations(), halvings = run.halvings();
  }
  return steps;
}

}  // namespace

void bind_variational(nb::module_& module) {
  nb::class_<NativeRun>(module, "Run")
      .def("reset", [](NativeRun& r, In q, In p, In rate) { r.reset(q.data(), p.data(), rate.data()); })
      .def("came_by", &NativeRun::came_by)
      .def("advance", &advance, nb::arg("first"), nb::arg("steps"), nb::arg("save_every"), nb::arg("q_saved"),
           nb::arg("p_saved"), nb::arg("counts"), nb::arg("multipliers"), nb::arg("reactions"), nb::arg("tau"),
           nb::arg("inputs"), nb::arg("function").none(), nb::arg("q_buffer"), nb::arg("v_buffer"), nb::arg("targets"),
           nb::arg("rates"))
      .def("velocity", [](NativeRun& r, Out v) { r.velocity(v.data()); })
      .def("state",
           [](NativeRun& r, Out q, Out p) {
             std::copy(r.q().begin(), r.q().end(), q.data());
             std::copy(r.p().begin(), r.p().end(), p.data());
           })
      .def_prop_ro("residual", &NativeRun::residual)
      .def_prop_ro("worst", &NativeRun::worst)
      .def_prop_ro("fastest", &NativeRun::fastest);
  nb::class_<ActionRun, NativeRun>(module, "ActionRun")
      .def(nb::init<NativeModel&, int, double, int, int, double, int, int, double, In, In, std::uint64_t, std::uint64_t,
                    int>(),
           nb::keep_alive<1, 2>());
  module.def("collocation_run", &collocation_run, nb::rv_policy::take_ownership, nb::keep_alive<0, 1>());
}

}  // namespace symplectree
