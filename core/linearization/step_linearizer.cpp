#include "linearization/step_linearizer.hpp"

#include "constraints/constrained_dynamics.hpp"
#include "dense/dense_solvers.hpp"
#include "dynamics/rnea.hpp"
#include "integrators/end_damping.hpp"
#include "integrators/make_run.hpp"
#include "linearization/actuated_step.hpp"
#include "linearization/contact_step.hpp"
#include "linearization/mapped_step.hpp"
#include "linearization/parameter_sensitivity.hpp"

namespace symplectree {
namespace {

constexpr double kDependent = 1e-11;  // relative to the largest pivot: of rows that depend on others

bool any(const std::vector<char>& marks) { return std::find(marks.begin(), marks.end(), char(1)) != marks.end(); }

}  // namespace

StepLinearizer::StepLinearizer(const Model& m, const MethodOptions& options, double h, std::vector<char> prescribed)
    : m_(m), prescribed_(std::move(prescribed)), action_(options.action), alpha_(options.alpha),
      layout_(m, any(prescribed_), m.user_forces || EndDamping<double>(m).is_strong(h)),
      constrained_(std::make_unique<Constrained>(m_)) {
  point_.h = h;
  if (!any(prescribed_) && !layout_.damped)
    tree_ = m.rows > 0 ? row_linearizer(m_, action_) : tree_linearizer(m_, action_);
  if (!tree_) make_general();
  MethodOptions single = options;
  single.guess = Guess::Acceleration, single.substeps = 0;
  run_ = newton_run(m_, single);
  run_->set_prescribed(prescribed_);
  constrained_->prescribed = prescribed_;
}

StepLinearizer::~StepLinearizer() = default;

void StepLinearizer::multipliers(double* out) const { std::copy(multipliers_.begin(), multipliers_.end(), out); }

void StepLinearizer::contract(const double* weights, bool with_second, double* hessian) {
  linearizer_with(with_second).contracted(point_, weights, hessian);
}

void StepLinearizer::place(const StepConditions& given, const double* end) {
  point_.q0.assign(given.q, given.q + m_.nq), point_.q1.assign(end, end + m_.nq);
  point_.tau.assign(given.tau, given.tau + m_.nv), point_.inputs.assign(given.inputs, given.inputs + m_.inputs);
}

bool StepLinearizer::take_known(const StepConditions& given, const double* end, double* q1, double* p1) {
  if (layout_.projected) return take(given, q1, p1);
  place(given, end);
  return true;
}

bool StepLinearizer::take(const StepConditions& given, double* q1, double* p1) {
  if (!solve(given, q1, p1)) return false;
  complete(p1);
  return true;
}

bool StepLinearizer::solve(const StepConditions& given, double* q1, double* p1) {
  run_->reset(given.q, given.p, given.rates);
  if (!run_->step(0, point_.h, {given.tau, given.inputs}, {given.target, given.rates})) return false;
  const RunState& end = run_->state();
  place(given, end.q.data());
  rates_.assign(given.rates, given.rates + m_.nv);
  std::copy(end.q.begin(), end.q.end(), q1);
  std::copy(end.x.begin(), end.x.end(), p1);
  return true;
}

void StepLinearizer::complete(double* p1) {
  multipliers_ = run_->report().multipliers;
  if (m_.rows > 0 && !tree_) remove_redundant_part();
  point_.lambda = multipliers_;
  for (double& x : point_.lambda) x *= impulse_time();
  LinearizerInterface& used = tree_ ? *tree_ : *general_;
  if (used.projected() && !used.project(point_, p1)) project(p1);
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
  parameters_ = std::make_unique<ParameterEquations>(m_, layout_, parameters, action_, alpha_);
}

int StepLinearizer::differentiate_in_parameters(const double* first, double* out, double* multipliers) {
  RowMatrix dE, dO;
  parameters_->evaluate(point_, dE, dO);
  if (!parameters_->layout().projected) {
    parameters_->as_momentum(first, inputs(), dE, dO, out);
    return -1;
  }
  const int torn = general_after_first().follow(dE, dO, out, multipliers);
  parameters_->impulses_to_forces(point_, multipliers);
  return torn;
}

bool StepLinearizer::differentiate_in_length(const double* first, double* out, double* multipliers) {
  const int nv = m_.nv;
  if (!system_) system_ = step_system<Jet, double>(m_, layout_, action_, alpha_);
  std::vector<Jet> dz(layout_.size), e(layout_.equations), o(layout_.outputs);
  Jet h;
  h.slope.set(0, 1);
  system_->evaluate(point_, dz.data(), e.data(), o.data(), h);
  RowMatrix dE(layout_.equations, 1), dO(layout_.outputs, 1);
  for (int i = 0; i < layout_.equations; ++i) dE(i, 0) = e[i].slope[0];
  for (int i = 0; i < layout_.outputs; ++i) dO(i, 0) = o[i].slope[0];
  if (!layout_.projected) {  // the equations are r + p, so that a change of r acts as one of p does
    Eigen::Map<RowMatrix> result(out, 2 * nv, 1);
    result = product(Eigen::Map<const RowMatrix>(first, 2 * nv, inputs()).middleCols(nv, nv), dE);
    result.bottomRows(nv) += dO;
    return true;
  }
  general_after_first().follow(dE, dO, out, multipliers);
  for (int k = 0; k < m_.rows; ++k) multipliers[k] = (multipliers[k] - point_.lambda[k] / point_.h) / impulse_time();
  return true;
}

LinearizerInterface& StepLinearizer::general_after_first() {
  if (tree_) {  // which has not given the general one's matrices
    make_general();
    std::vector<double> of_state(2 * m_.nv * inputs()), of_rows(m_.rows * inputs());
    general_->first(point_, of_state.data(), of_rows.data());
  }
  return *general_;
}

LinearizerInterface& StepLinearizer::linearizer_with(bool second) {
  if (tree_ && (!second || tree_->has_second())) return *tree_;
  make_general();
  return *general_;
}

void StepLinearizer::make_general() {
  if (!general_) general_ = general_linearizer(m_, layout_, action_, alpha_, prescribed_);
}

void StepLinearizer::remove_redundant_part() {
  std::vector<double> values(m_.rows), G(static_cast<std::size_t>(m_.rows) * m_.nv);
  constrained_->rows(point_.q0.data(), values.data(), G.data());
  for (std::size_t k = 0; k < G.size(); ++k)
    if (prescribed_[k % m_.nv]) G[k] = 0;
  remove_null_part(G.data(), m_.rows, m_.nv, kDependent, multipliers_.data());
}

void StepLinearizer::project(double* p) {
  point_.v = rates_;
  constrained_->velocity(point_.q1.data(), p, point_.v.data());
  point_.mu = constrained_->multipliers;
  for (double& x : point_.mu) x = -x;
  if (!scratch_) scratch_ = std::make_unique<Workspace<double>>(m_);
  momenta(m_, point_.q1.data(), point_.v.data(), p, *scratch_);
}

std::unique_ptr<StepDerivatives> step_derivatives(const Model& tree, const CoordinateMap* map,
                                                  const MethodOptions& options, double h,
                                                  std::vector<char> prescribed) {
  const auto smooth = [&tree, options, prescribed](double length) -> std::unique_ptr<StepDerivatives> {
    const auto make = [options, length, prescribed](const Model& m) -> std::unique_ptr<StepDerivatives> {
      return std::make_unique<StepLinearizer>(m, options, length, prescribed);
    };
    if (!has_limited_actuators(tree)) return make(tree);
    return std::make_unique<ActuatedStepDerivatives>(tree, prescribed, make);
  };
  std::unique_ptr<StepDerivatives> of_tree = smooth(h);
  if (tree.has_unilateral())
    of_tree = std::make_unique<ContactStepDerivatives>(tree, options, h, prescribed, std::move(of_tree), smooth);
  if (!map) return of_tree;
  return std::make_unique<MappedStepDerivatives>(*map, std::move(of_tree), options.action, h);
}

}  // namespace symplectree
