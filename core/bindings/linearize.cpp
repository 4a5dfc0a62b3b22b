// Derivatives of variational steps.
#include <mutex>

#include "action_run.hpp"
#include "any_linearizer.hpp"
#include "constrained.hpp"
#include "native.hpp"
#include "parameters.hpp"

namespace symplectree {
namespace {

// Takes single steps of one model, method and step size, and differentiates them.
class NativeLinearizer {
 public:
  NativeLinearizer(NativeModel& model, int action, double alpha, int solver, double tolerance, int max_iterations,
                   double step, In driven)
      : m_(model.model), mask_(mask(model.model, driven)), action_(action), alpha_(alpha), constrained_(m_) {
    point_.h = step;
    if (driven.size() == 0) tree_ = tree_linearizer(m_, action);
    if (!tree_) make_general();
    run_ = action_run(m_, action, alpha, solver, Settings{Guess::Acceleration, tolerance, max_iterations, 0});
    run_->drive(mask_);
    constrained_.driven = mask_;
  }

  int inputs() const { return (tree_ ? *tree_ : *general_).inputs(); }
  double residual() const { return run_->last_residual; }
  int worst() const { return run_->worst; }

  // False when the step has no solution. `second` may be empty, and so may be `weights` and `hessian`, second
  // derivatives contracted with them; multipliers are forces.
  bool compute(In q, In p, In tau, In inputs, In target, In rates, Out q1, Out p1, Out multipliers, Out first,
               Out multipliers_first, Out second, In weights, Out hessian) {
    nb::gil_scoped_release unlocked;
    std::lock_guard lock(mutex_);
    run_->reset(q.data(), p.data(), rates.data());
    if (!run_->step(point_.h, tau.data(), inputs.data(), target.data(), rates.data())) return false;
    const auto copy = [](const double* from, std::size_t n, std::vector<double>& to) { to.assign(from, from + n); };
    copy(q.data(), m_.nq, point_.q0), copy(run_->q.data(), m_.nq, point_.q1);
    copy(tau.data(), m_.nv, point_.tau), copy(inputs.data(), m_.inputs, point_.inputs);
    const double time = 0.5 * point_.h;  // of which the multipliers' impulse is made at a start
    point_.lambda = run_->multipliers;
    for (double& x : point_.lambda) x *= time;
    std::copy(run_->q.begin(), run_->q.end(), q1.data());
    std::copy(run_->multipliers.begin(), run_->multipliers.end(), multipliers.data());
    std::copy(run_->p.begin(), run_->p.end(), p1.data());
    if (general_ && general_->projected()) project(rates.data(), p1.data());
    AnyLinearizer* linearizer = tree_.get();
    if (!linearizer || (second.size() && !linearizer->has_second())) {
      make_general();
      linearizer = general_.get();
    }
    linearizer->first(point_, first.data(), multipliers_first.data());
    for (std::size_t k = 0; k < multipliers_first.size(); ++k) multipliers_first.data()[k] /= time;
    if (second.size()) linearizer->second(point_, second.data());
    if (hessian.size()) linearizer->contracted(point_, weights.data(), hessian.data());
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

 private:
  void make_general() {
    if (!general_) general_ = general_linearizer(m_, action_, alpha_, mask_);
  }

  static std::vector<char> mask(const Model& m, const In& driven) {
    std::vector<char> out(m.size());
    for (std::size_t k = 0; k < driven.size(); ++k) out[static_cast<int>(driven.data()[k]) + 1] = 1;
    return out;
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
