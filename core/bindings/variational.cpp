// Runs of the variational integrator: many steps per call, saving every so many.
#include "native.hpp"
#include "stepper.hpp"

namespace symplectree {
namespace {

struct NativeRun {
  NativeModel& owner;
  VariationalRun run;
  double h;
  std::vector<double> v;
  bool started = false;  // has the force function been asked at the present state?

  NativeRun(NativeModel& model, int action, int solver, int guess, double tolerance, int max_iterations, int substeps,
            double step)
      : owner(model),
        run(model.model, {static_cast<ActionKind>(action), static_cast<Solver>(solver), static_cast<Guess>(guess),
                          tolerance, max_iterations, substeps}),
        h(step), v(model.model.nv) {}
};

// Asks a force function of Python for the forces at the run's present state; it writes the arrays behind tau and inputs.
void ask(NativeRun& r, const nb::object& function, double t, Out& q_buffer, Out& v_buffer) {
  r.run.velocity(r.v.data());
  nb::gil_scoped_acquire lock;
  std::copy(r.run.q.begin(), r.run.q.end(), q_buffer.data());
  std::copy(r.v.begin(), r.v.end(), v_buffer.data());
  function(t);
}

// Takes `steps` steps, of which the first is number `first`; returns how many were taken.
int advance(NativeRun& r, int first, int steps, int save_every, Out q_saved, Out p_saved, Out counts, In tau, In inputs,
            nb::object function, Out q_buffer, Out v_buffer) {
  const Model& m = r.owner.model;
  const bool asks = !function.is_none();
  const std::size_t tau_rows = tau.size() / m.nv, input_rows = m.inputs ? inputs.size() / m.inputs : 0;
  nb::gil_scoped_release unlocked;
  long iterations = r.run.iterations, halvings = r.run.halvings;
  for (int k = 0; k < steps; ++k) {
    const double* f = tau.data() + (tau_rows > 1 ? k : 0) * m.nv;
    const double* u = inputs.data() + (input_rows > 1 ? k : 0) * m.inputs;
    if (asks && !r.started) {
      ask(r, function, (first + k) * r.h, q_buffer, v_buffer);
      r.started = true;
    }
    if (!r.run.step(r.h, f, u)) return k;
    if (asks) {  // forces at the end depend on the velocity there: predict, then correct
      for (int pass = 0; pass < 2; ++pass) {
        ask(r, function, (first + k + 1) * r.h, q_buffer, v_buffer);
        r.run.end_again(r.h, f, u);
      }
    }
    if ((k + 1) % save_every == 0) {
      const std::size_t row = (k + 1) / save_every - 1;
      std::copy(r.run.q.begin(), r.run.q.end(), q_saved.data() + row * m.nq);
      std::copy(r.run.p.begin(), r.run.p.end(), p_saved.data() + row * m.nv);
      counts.data()[2 * row] = static_cast<double>(r.run.iterations - iterations);
      counts.data()[2 * row + 1] = static_cast<double>(r.run.halvings - halvings);
      iterations = r.run.iterations, halvings = r.run.halvings;
    }
  }
  return steps;
}

void reset(NativeRun& r, In q, In p) {
  r.run.reset(q.data(), p.data());
  r.started = false;
}

}  // namespace

void bind_variational(nb::module_& module) {
  nb::class_<NativeRun>(module, "VariationalRun")
      .def(nb::init<NativeModel&, int, int, int, double, int, int, double>(), nb::keep_alive<1, 2>())
      .def("reset", &reset)
      .def("advance", &advance, nb::arg("first"), nb::arg("steps"), nb::arg("save_every"), nb::arg("q_saved"),
           nb::arg("p_saved"), nb::arg("counts"), nb::arg("tau"), nb::arg("inputs"), nb::arg("function").none(),
           nb::arg("q_buffer"), nb::arg("v_buffer"))
      .def("state",
           [](NativeRun& r, Out q, Out p) {
             std::copy(r.run.q.begin(), r.run.q.end(), q.data());
             std::copy(r.run.p.begin(), r.run.p.end(), p.data());
           })
      .def_ro("h", &NativeRun::h)
      .def_prop_ro("residual", [](NativeRun& r) { return r.run.last_residual; })
      .def_prop_ro("worst", [](NativeRun& r) { return r.run.worst; });
}

}  // namespace symplectree
