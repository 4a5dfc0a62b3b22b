// Derivatives of variational steps.
#include <mutex>

#include "bindings/native.hpp"
#include "constraints/constrained_dynamics.hpp"
#include "integrators/action_run.hpp"
#include "linearization/linearizer_interface.hpp"
#include "linearization/parameter_sensitivity.hpp"
#include "linearization/step_linearizer.hpp"

namespace symplectree {
namespace {

// Takes single steps of one model, method and step size, and differentiates them.
class NativeLinearizer final : public StepLinearizer {
 public:
  NativeLinearizer(NativeModel& model, int action, double alpha, int solver, double tolerance, int max_iterations,
                   double step, In driven)
      : NativeLinearizer(model.model, {action, alpha, solver, tolerance, max_iterations, step},
                         marked(model.model, driven)) {}

  NativeLinearizer(const Model& m, const StepChoice& choice, std::vector<char> driven)
      : m_(m), mask_(std::move(driven)), action_(choice.action), alpha_(choice.alpha), constrained_(m_) {
    point_.h = choice.h;
    if (std::find(mask_.begin(), mask_.end(), char(1)) == mask_.end()) tree_ = tree_linearizer(m_, action_);
    if (!tree_) make_general();
    const Settings settings{Guess::Acceleration, choice.tolerance, choice.max_iterations, 0};
    run_ = action_run(m_, action_, alpha_, choice.solver, settings);
    run_->drive(mask_);
    constrained_.driven = mask_;
  }

  int inputs() const override { return (tree_ ? *tree_ : *general_).inputs(); }
  double residual() const override { return run_->last_residual; }
  int worst() const override { return run_->worst; }

  // False when the step has no solution. `second` may be empty, and so may be `weights` and `hessian`, second
  // derivatives contracted with them; multipliers are forces.
  bool compute(In q, In p, In tau, In inputs, In target, In rates, Out q1, Out p1, Out multipliers, Out first,
               Out multipliers_first, Out second, In weights, Out hessian) {
    nb::gil_scoped_release unlocked;
    std::lock_guard lock(mutex_);
    if (!take(q.data(), p.data(), tau.data(), inputs.data(), target.data(), rates.data(), q1.data(), p1.data()))
      return false;
    std::copy(run_->multipliers.begin(), run_->multipliers.end(), multipliers.data());
    differentiate(first.data(), multipliers_first.data(), second.size() ? second.data() : nullptr);
    if (hessian.size()) that_serves(second.size() > 0).contracted(point_, weights.data(), hessian.data());
    return true;
  }

  // Differentiate in `count` parameters, too: rows of `effects` are (parameter, array, place, rate).
  void parametrize(const NativeModel& model, In effects, int count) {
    const bool driven = std::find(mask_.begin(), mask_.end(), char(1)) != mask_.end();
    parameters_ = std::make_unique<ParameterEquations>(
        m_, model.arrays, parameter_effects(effects.data(), effects.size()), count, driven, action_, alpha_);
  }

  // Derivatives in the parameters, after `compute` gave `first`; returns the parameter that constraints cannot follow,
  // or −1.
  int follow(In first, Out out, Out multipliers) {
    nb::gil_scoped_release unlocked;
    RowMatrix dE, dO;
    parameters_->evaluate(point_, dE, dO);
    if (!parameters_->layout().projected) {
      parameters_->as_momentum(first.data(), inputs(), dE, dO, out.data());
      return -1;
    }
    const int torn = general_->follow(dE, dO, out.data(), multipliers.data());
    parameters_->impulses_to_forces(point_, multipliers.data());
    return torn;
  }

  bool take(const double* q, const double* p, const double* tau, const double* inputs, const double* target,
            const double* rates, double* q1, double* p1) override {
    run_->reset(q, p, rates);
    if (!run_->step(point_.h, tau, inputs, target, rates)) return false;
    point_.q0.assign(q, q + m_.nq), point_.q1 = run_->q;
    point_.tau.assign(tau, tau + m_.nv), point_.inputs.assign(inputs, inputs + m_.inputs);
    point_.lambda = run_->multipliers;
    for (double& x : point_.lambda) x *= impulse_time();
    std::copy(run_->q.begin(), run_->q.end(), q1);
    std::copy(run_->p.begin(), run_->p.end(), p1);
    if (general_ && general_->projected()) project(rates, p1);
    return true;
  }

  void differentiate(double* first, double* multipliers_first, double* second) override {
    AnyLinearizer& linearizer = that_serves(second != nullptr);
    linearizer.first(point_, first, multipliers_first);
    const std::size_t count = static_cast<std::size_t>(m_.rows) * inputs();
    for (std::size_t k = 0; k < count; ++k) multipliers_first[k] /= impulse_time();
    if (second) linearizer.second(point_, second);
  }

 private:
  double impulse_time() const { return 0.5 * point_.h; }  // of which the multipliers' impulse is made at a start

  AnyLinearizer& that_serves(bool twice) {
    if (tree_ && (!twice || tree_->has_second())) return *tree_;
    make_general();
    return *general_;
  }

  void make_general() {
    if (!general_) general_ = general_linearizer(m_, action_, alpha_, mask_);
  }

  // p ← momenta of the velocity along the constraints that goes with it.
  void project(const double* rates, double* p) {
    point_.v.assign(rates, rates + m_.nv);
    constrained_.velocity(point_.q1.data(), p, point_.v.data());
    point_.mu = constrained_.multipliers;
    for (double& x : point_.mu) x = -x;
    if (!scratch_) scratch_ = std::make_unique<Workspace<double>>(m_);
    momenta(m_, point_.q1.data(), point_.v.data(), p, *scratch_);
  }

  const Model& m_;
  std::vector<char> mask_;
  int action_;
  double alpha_;
  std::unique_ptr<AnyLinearizer> tree_, general_;
  Constrained constrained_;
  std::unique_ptr<AnyRun> run_;
  std::unique_ptr<Workspace<double>> scratch_;
  std::unique_ptr<ParameterEquations> parameters_;
  StepPoint point_;
  std::mutex mutex_;  // one step at a time, whatever thread asks for it
};

}  // namespace

std::unique_ptr<StepLinearizer> step_linearizer(const Model& m, const StepChoice& choice) {
  return std::make_unique<NativeLinearizer>(m, choice, std::vector<char>(m.nv));
}

void bind_linearize(nb::module_& module) {
  nb::list arrays;
  for (const ArrayKind& kind : kArrayKinds) arrays.append(kind.name);
  module.attr("ARRAYS") = arrays;
  nb::class_<NativeLinearizer>(module, "Linearizer")
      .def(nb::init<NativeModel&, int, double, int, double, int, double, In>(), nb::keep_alive<1, 2>())
      .def("compute", &NativeLinearizer::compute)
      .def("parametrize", &NativeLinearizer::parametrize)
      .def("follow", &NativeLinearizer::follow)
      .def_prop_ro("inputs", &NativeLinearizer::inputs)
      .def_prop_ro("residual", &NativeLinearizer::residual)
      .def_prop_ro("worst", &NativeLinearizer::worst);
}

}  // namespace symplectree
