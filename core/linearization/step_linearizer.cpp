#include "linearization/step_linearizer.hpp"

#include "dense/dense_solvers.hpp"
#include "dynamics/rnea.hpp"
#include "integrators/make_run.hpp"
#include "linearization/mapped_step.hpp"
#include "linearization/parameter_sensitivity.hpp"

namespace symplectree {
namespace {

constexpr double kDependent = 1e-11;  // relative to the largest pivot: of rows that depend on others

bool any(const std::vector<char>& marks) { return std::find(marks.begin(), marks.end(), char(1)) != marks.end(); }

}  // namespace

StepLinearizer::StepLinearizer(const Model& m, const MethodOptions& options, double h, std::vector<char> prescribed)
    : m_(m), prescribed_(std::move(prescribed)), action_(options.action), alpha_(options.alpha), constrained_(m_) {
  point_.h = h;
  if (!any(prescribed_)) tree_ = tree_linearizer(m_, action_);
  if (!tree_) make_general();
  MethodOptions single = options;
  single.guess = Guess::Acceleration, single.substeps = 0;
  run_ = newton_run(m_, single);
  run_->set_prescribed(prescribed_);
  constrained_.prescribed = prescribed_;
}

StepLinearizer::~StepLinearizer() = default;

void StepLinearizer::multipliers(double* out) const { std::copy(multipliers_.begin(), multipliers_.end(), out); }

void StepLinearizer::contract(const double* weights, bool with_second, double* hessian) {
  linearizer_with(with_second).contracted(point_, weights, hessian);
}

bool StepLinearizer::take(const StepConditions& given, double* q1, double* p1) {
  run_->reset(given.q, given.p, given.rates);
  if (!run_->step(0, point_.h, {given.tau, given.inputs}, {given.target, given.rates})) return false;
  const RunState& end = run_->state();
  point_.q0.assign(given.q, given.q + m_.nq), point_.q1 = end.q;
  point_.tau.assign(given.tau, given.tau + m_.nv), point_.inputs.assign(given.inputs, given.inputs + m_.inputs);
  multipliers_ = run_->report().multipliers;
  if (m_.rows > 0) remove_redundant_part();
  point_.lambda = multipliers_;
  for (double& x : point_.lambda) x *= impulse_time();
  std::copy(end.q.begin(), end.q.end(), q1);
  std::copy(end.x.begin(), end.x.end(), p1);
  if (general_ && general_->projected()) project(given.rates, p1);
  return true;
}

void StepLinearizer::differentiate(double* first, double* multipliers_first, double* second) {
  LinearizerInterface& linearizer = linearizer_with(second != nullptr);
  linearizer.first(point_, first, multipliers_first);
  const std::size_t count = static_cast<std::size_t>(m_.rows) * inputs();
  for (std::size_t k = 0; k < count; ++k) multipliers_first[k] /= impulse_time();
  if (second) linearizer.second(point_, second);
}

void StepLinearizer::set_parameters(const ModelArrays<double>& arrays, const double* effects, std::size_t size,
                                    int count) {
  const ModelParameters parameters{.arrays = arrays, .effects = parameter_effects(effects, size), .count = count};
  parameters_ = std::make_unique<ParameterEquations>(m_, parameters, any(prescribed_), action_, alpha_);
}

int StepLinearizer::differentiate_in_parameters(const double* first, double* out, double* multipliers) {
  RowMatrix dE, dO;
  parameters_->evaluate(point_, dE, dO);
  if (!parameters_->layout().projected) {
    parameters_->as_momentum(first, inputs(), dE, dO, out);
    return -1;
  }
  const int torn = general_->follow(dE, dO, out, multipliers);
  parameters_->impulses_to_forces(point_, multipliers);
  return torn;
}

LinearizerInterface& StepLinearizer::linearizer_with(bool second) {
  if (tree_ && (!second || tree_->has_second())) return *tree_;
  make_general();
  return *general_;
}

void StepLinearizer::make_general() {
  if (!general_) general_ = general_linearizer(m_, action_, alpha_, prescribed_);
}

void StepLinearizer::remove_redundant_part() {
  std::vector<double> values(m_.rows), G(static_cast<std::size_t>(m_.rows) * m_.nv);
  constrained_.rows(point_.q0.data(), values.data(), G.data());
  for (std::size_t k = 0; k < G.size(); ++k)
    if (prescribed_[k % m_.nv]) G[k] = 0;
  remove_null_part(G.data(), m_.rows, m_.nv, kDependent, multipliers_.data());
}

void StepLinearizer::project(const double* rates, double* p) {
  point_.v.assign(rates, rates + m_.nv);
  constrained_.velocity(point_.q1.data(), p, point_.v.data());
  point_.mu = constrained_.multipliers;
  for (double& x : point_.mu) x = -x;
  if (!scratch_) scratch_ = std::make_unique<Workspace<double>>(m_);
  momenta(m_, point_.q1.data(), point_.v.data(), p, *scratch_);
}

std::unique_ptr<StepDerivatives> step_derivatives(const Model& tree, const CoordinateMap* map,
                                                  const MethodOptions& options, double h,
                                                  std::vector<char> prescribed) {
  auto of_tree = std::make_unique<StepLinearizer>(tree, options, h, std::move(prescribed));
  if (!map) return of_tree;
  return std::make_unique<MappedStepDerivatives>(*map, std::move(of_tree));
}

}  // namespace symplectree
