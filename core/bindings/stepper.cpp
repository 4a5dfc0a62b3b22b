// Steps one by one, as control loops take them: a call with an array of doubles, or with nothing, makes no objects of
// Python and asks it nothing.
#include "bindings/forces.hpp"
#include "bindings/kept_model.hpp"

namespace symplectree {
namespace {

// What became of a call. Ask: Python is to look at the arguments, or to take the step itself.
enum Outcome { kDone = 0, kAsk = 1, kFailed = 2 };

class StepLoop {
 public:
  // interval: steps after which Python starts the run anew, as in `simulate`.
  StepLoop(double dt, std::int64_t interval) : dt_(dt), interval_(interval) {}

  std::int64_t count = 0;  // steps since the start
  bool open = false;       // may steps be taken here? Not while another thread, or Python, uses the run.

  // Steps of this run, whose state is copied to (q, x, activations) after each; `rows` holds the one row of forces.
  // Arrays of forces are for inputs where there are any, else for all degrees of freedom.
  void attach(nb::object run, nb::object rows, Out q, Out x, Out activations) {
    run_ = nb::cast<OfModel<Run>&>(run).object.get(), q_ = q, x_ = x, activations_ = activations;
    const ForceRows& given = nb::cast<const ForceRows&>(rows);
    forces_ = std::make_unique<RowForces>(given);
    tau_ = const_cast<double*>(given.tau.data()), inputs_ = const_cast<double*>(given.inputs.data());
    nv_ = given.tau.size(), n_inputs_ = given.inputs.size();
    kept_run_ = run, kept_rows_ = rows;
    open = true;
  }
  void detach() { open = false; }

  // n steps under constant forces: an array, or None for none.
  int step(nb::handle forces, nb::handle steps) {
    if (!open || !PyLong_CheckExact(steps.ptr())) return kAsk;
    const long long n = PyLong_AsLongLong(steps.ptr());
    if (n < 1 || n > kMostWork || n * static_cast<long long>(nv_) > kMostWork || count % interval_ + n >= interval_)
      return PyErr_Clear(), kAsk;
    if (!set_forces(forces)) return kAsk;
    for (long long k = 0; k < n; ++k) {
      forces_->choose_step(0, count, count * dt_, dt_, *run_);
      if (!run_->step(count * dt_, dt_, *forces_, {})) return kFailed;
      ++count;
      copy_state();
    }
    return kDone;
  }

  template <class Visit>
  int visit(const Visit& each) const {
    return each(kept_run_, kept_rows_);
  }

  // A new array of the velocity, None where Python is to look.
  nb::object velocity() {
    if (!open) return nb::none();
    npy_intp size = static_cast<npy_intp>(nv_);
    nb::object out = nb::steal(PyArray_SimpleNew(1, &size, NPY_DOUBLE));
    if (!out.is_valid()) throw nb::python_error();
    run_->velocity(static_cast<double*>(PyArray_DATA(reinterpret_cast<PyArrayObject*>(out.ptr()))));
    return out;
  }

 private:
  static constexpr long kMostWork =
      5000;  // steps times degrees of freedom, about a millisecond, with Python's lock held

  bool set_forces(nb::handle given) {
    const std::size_t width = n_inputs_ ? n_inputs_ : nv_;
    const double* from = nullptr;
    if (!given.is_none()) {
      auto* array = reinterpret_cast<PyArrayObject*>(given.ptr());
      if (!is_ready(given, static_cast<int>(width)) || PyArray_NDIM(array) != 1) return false;
      from = static_cast<const double*>(PyArray_DATA(array));
    }
    std::fill(tau_, tau_ + nv_, 0.0);
    std::fill(inputs_, inputs_ + n_inputs_, 0.0);
    if (from) std::copy(from, from + width, n_inputs_ ? inputs_ : tau_);
    return true;
  }

  void copy_state() {
    const RunState& state = run_->state();
    std::copy(state.q.begin(), state.q.end(), q_.data());
    std::copy(state.x.begin(), state.x.end(), x_.data());
    if (const std::vector<double>* a = run_->activations()) std::copy(a->begin(), a->end(), activations_.data());
  }

  double dt_;
  std::int64_t interval_;
  Run* run_ = nullptr;
  nb::object kept_run_, kept_rows_;  // what the pointers point into
  std::unique_ptr<RowForces> forces_;
  double *tau_ = nullptr, *inputs_ = nullptr;
  std::size_t nv_ = 0, n_inputs_ = 0;
  Out q_, x_, activations_;
};

}  // namespace

void bind_stepper(nb::module_& module) {
  nb::class_<StepLoop>(module, "StepLoop", collected<StepLoop>())
      .def(nb::init<double, std::int64_t>(), nb::arg("dt"), nb::arg("interval"))
      .def("attach", &StepLoop::attach, nb::arg("run"), nb::arg("forces"), nb::arg("q"), nb::arg("x"),
           nb::arg("activations"))
      .def("detach", &StepLoop::detach)
      .def("step", &StepLoop::step, nb::arg("forces").none(), nb::arg("n"))
      .def("velocity", &StepLoop::velocity)
      .def_rw("count", &StepLoop::count)
      .def_rw("open", &StepLoop::open);
}

}  // namespace symplectree
