// Single steps in all coordinates of a tree, and their derivatives.
#pragma once

#include "integrators/run_interface.hpp"
#include "linearization/linearizer_interface.hpp"
#include "linearization/step_derivatives.hpp"
#include "linearization/step_system.hpp"
#include "model/workspace.hpp"

namespace symplectree {

class Constrained;
class ParameterEquations;

class StepLinearizer final : public StepDerivatives {
 public:
  // `prescribed` marks velocities whose coordinates are prescribed. Of the options guess and substeps do not count.
  StepLinearizer(const Model& m, const MethodOptions& options, double h, std::vector<char> prescribed);
  ~StepLinearizer() override;

  int inputs() const override { return (tree_ ? *tree_ : *general_).inputs(); }
  int rows() const override { return m_.rows; }
  double residual() const override { return run_->report().residual; }
  int worst() const override { return run_->report().worst; }
  double turn() const override { return run_->report().turn; }
  bool take(const StepConditions& given, double* q1, double* p1) override;
  bool solve(const StepConditions& given, double* q1, double* p1) override;
  void complete(double* p1) override;
  bool take_known(const StepConditions& given, const double* end, double* q1, double* p1) override;
  void multipliers(double* out) const override;
  void differentiate(double* first, double* multipliers_first, double* second) override;
  void contract(const double* weights, bool with_second, double* hessian) override;
  bool differentiate_in_length(const double* first, double* out, double* multipliers) override;
  bool can_keep() const override { return tree_ && tree_->can_keep(); }
  void keep(StepRecord& out) const override { out.point = point_, tree_->keep(out.numbers); }
  void put_back(const StepRecord& kept) override { point_ = kept.point, tree_->put_back(kept.numbers); }
  void set_parameters(const ModelArrays<double>& arrays, const double* effects, std::size_t size, int count) override;
  int differentiate_in_parameters(const double* first, double* out, double* multipliers) override;

 private:
  double impulse_time() const { return 0.5 * point_.h; }  // of which the multipliers' impulse is made at a start
  // point_ ← the ends and forces of a step.
  void place(const StepConditions& given, const double* end);
  // The fast linearizer where it has the derivatives that are needed, else the general one.
  LinearizerInterface& linearizer_with(bool second);
  void make_general();
  // The general linearizer after `first`, which knows how unknowns follow changes of the equations.
  LinearizerInterface& general_after_first();
  // multipliers_ ← those of least norm with the same forces Dh(q)ᵀλ, where rows are redundant.
  void remove_redundant_part();
  // p ← momenta of the velocity along the constraints that goes with it.
  void project(double* p);

  const Model& m_;
  std::vector<char> prescribed_;
  Action action_;
  double alpha_;
  StepLayout layout_;
  std::unique_ptr<LinearizerInterface> tree_, general_;
  std::unique_ptr<Constrained> constrained_;
  std::unique_ptr<Run> run_;
  std::unique_ptr<Workspace<double>> scratch_;
  std::unique_ptr<ParameterEquations> parameters_;
  std::unique_ptr<StepSystem<Jet, double>> system_;  // where derivatives in the step's length are asked for
  StepPoint point_;
  std::vector<double> multipliers_;  // of the last step: forces
  std::vector<double> rates_;        // at its end, of prescribed coordinates
};

}  // namespace symplectree
