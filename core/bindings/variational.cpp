// Runs of the variational integrators: many steps per call, saving every so many.
#include <memory>

#include "forces.hpp"
#include "gauss.hpp"
#include "midpoint.hpp"
#include "native.hpp"
#include "stepper.hpp"

namespace symplectree {
namespace {

// One integration, by steps of constant size; the state and its counters are those of `AnyRun` or `GaussRun`.
class NativeRun {
 public:
  NativeRun(NativeModel& model, double step) : m(model.model), h(step), v(m.nv) {}
  virtual ~NativeRun() = default;

  virtual void reset(const double* q, const double* p) = 0;
  // Step number `number` of the run, number k of this call.
  virtual bool step(int number, int k, const Forces& forces) = 0;
  virtual const std::vector<double>&q() const = 0, &p() const = 0;
  virtual long iterations() const = 0;
  virtual long halvings() const { return 0; }
  virtual double residual() const { return std::nan(""); }
  virtual int worst() const { return 0; }

  const Model& m;
  double h;
  std::vector<double> v;
};

class ActionRun final : public NativeRun {
 public:
  ActionRun(NativeModel& model, int action, double alpha, int solver, int guess, double tolerance, int max_iterations,
            int substeps, double step)
      : NativeRun(model, step) {
    const Settings s{static_cast<Guess>(guess), tolerance, max_iterations, substeps};
    const auto kind = static_cast<Solver>(solver);
    switch (action) {
      case 0:
        run_ = std::make_unique<VariationalRun<TreeScheme<Cayley>>>(m, s, kind);
        break;
      case 1:
        run_ = std::make_unique<VariationalRun<TreeScheme<Chord>>>(m, s, kind);
        break;
      case 2:
        run_ = std::make_unique<VariationalRun<TreeScheme<Exponential>>>(m, s, kind);
        break;
      default:
        run_ = std::make_unique<VariationalRun<MidpointScheme>>(m, s, alpha, kind);
    }
  }

  void reset(const double* q0, const double* p0) override {
    run_->reset(q0, p0);
    asked_ = false;
  }

  bool step(int number, int k, const Forces& forces) override {
    if (forces.asks() && !asked_) {
      ask(number * h, forces);
      asked_ = true;
    }
    if (!run_->step(h, forces.tau_of(k), forces.inputs_of(k))) return false;
    if (forces.asks())  // forces at the end depend on the velocity there: predict, then correct
      for (int pass = 0; pass < 2; ++pass) {
        ask((number + 1) * h, forces);
        run_->end_again(forces.tau_of(k), forces.inputs_of(k));
      }
    return true;
  }

  const std::vector<double>& q() const override { return run_->q; }
  const std::vector<double>& p() const override { return run_->p; }
  long iterations() const override { return run_->iterations; }
  long halvings() const override { return run_->halvings; }
  double residual() const override { return run_->last_residual; }
  int worst() const override { return run_->worst; }

 private:
  void ask(double t, const Forces& forces) {
    run_->velocity(v.data());
    forces.ask(t, run_->q.data(), v.data());
  }

  std::unique_ptr<AnyRun> run_;
  bool asked_ = false;  // has the force function been asked at the present state?
};

class CollocationRun final : public NativeRun {
 public:
  CollocationRun(NativeModel& model, int stages, double tolerance, int max_iterations, double step)
      : NativeRun(model, step), run_(m, stages, tolerance, max_iterations) {}

  void reset(const double* q0, const double* p0) override { run_.reset(q0, p0); }

  bool step(int number, int k, const Forces& forces) override {
    return run_.step(number * h, h, [&](double t, const double* q, const double* u) {
      if (forces.asks()) forces.ask(t, q, u);
      return std::pair{forces.tau_of(k), forces.inputs_of(k)};
    });
  }

  const std::vector<double>& q() const override { return run_.q; }
  const std::vector<double>& p() const override { return run_.p; }
  long iterations() const override { return run_.iterations; }

 private:
  GaussRun run_;
};

// Takes `steps` steps, of which the first is number `first`; returns how many were taken.
int advance(NativeRun& run, int first, int steps, int save_every, Out q_saved, Out p_saved, Out counts, In tau,
            In inputs, nb::object function, Out q_buffer, Out v_buffer) {
  const Model& m = run.m;
  const Forces forces(m, tau, inputs, std::move(function), q_buffer, v_buffer);
  nb::gil_scoped_release unlocked;
  long iterations = run.iterations(), halvings = run.halvings();
  for (int k = 0; k < steps; ++k) {
    if (!run.step(first + k, k, forces)) return k;
    if ((k + 1) % save_every != 0) continue;
    const std::size_t row = (k + 1) / save_every - 1;
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
      .def("reset", [](NativeRun& r, In q, In p) { r.reset(q.data(), p.data()); })
      .def("advance", &advance, nb::arg("first"), nb::arg("steps"), nb::arg("save_every"), nb::arg("q_saved"),
           nb::arg("p_saved"), nb::arg("counts"), nb::arg("tau"), nb::arg("inputs"), nb::arg("function").none(),
           nb::arg("q_buffer"), nb::arg("v_buffer"))
      .def("state",
           [](NativeRun& r, Out q, Out p) {
             std::copy(r.q().begin(), r.q().end(), q.data());
             std::copy(r.p().begin(), r.p().end(), p.data());
           })
      .def_prop_ro("residual", &NativeRun::residual)
      .def_prop_ro("worst", &NativeRun::worst);
  nb::class_<ActionRun, NativeRun>(module, "ActionRun")
      .def(nb::init<NativeModel&, int, double, int, int, double, int, int, double>(), nb::keep_alive<1, 2>());
  nb::class_<CollocationRun, NativeRun>(module, "CollocationRun")
      .def(nb::init<NativeModel&, int, double, int, double>(), nb::keep_alive<1, 2>());
}

}  // namespace symplectree
