// Single steps of models with what only pushes or rubs, and their first derivatives, from those of the steps that these
// impulses are about (integrators/contact_run.hpp): of p⁺ = p + J(q)ᵀx, (q', p'⁻) = Φ(q, p⁺), p' = p'⁻ + J(q')ᵀx',
//
//   dq' = Φ_q dq + Φ_p (dp + ∂(Jᵀx)/∂q dq + Jᵀdx) + Φ_u du,
//
// in which dx keeps what holds between x and the values y(q, q') on the pieces that the step took
// (contact/cone_derivative.hpp), and likewise dx' with rates at q'. A step with impacts is a chain of steps and
// impacts, whose instants t move so that the gap stays zero: dt = −dg/ġ. Where nothing acts, all is as without.
#pragma once

#include <functional>
#include <map>

#include "integrators/contact_run.hpp"
#include "linearization/momentum_kick.hpp"
#include "linearization/step_derivatives.hpp"

namespace symplectree {

class ContactStepDerivatives final : public StepDerivatives {
 public:
  // Steps without contact, of any length.
  using Maker = std::function<std::unique_ptr<StepDerivatives>(double)>;

  // `prescribed` marks velocities whose coordinates are prescribed; `smooth`: steps of h without contact.
  ContactStepDerivatives(const Model& m, const MethodOptions& options, double h, const std::vector<char>& prescribed,
                         std::unique_ptr<StepDerivatives> smooth, Maker make);
  ~ContactStepDerivatives() override;

  int inputs() const override { return smooth_->inputs(); }
  int rows() const override { return smooth_->rows(); }
  double residual() const override { return run_.report().residual; }
  int worst() const override { return run_.report().worst; }
  double turn() const override { return run_.report().turn; }
  bool take(const StepConditions& given, double* q1, double* p1) override;
  void multipliers(double* out) const override { last_->multipliers(out); }
  void differentiate(double* first, double* multipliers_first, double* second) override;
  void contract(const double* weights, bool with_second, double* hessian) override;
  const UnilateralParts& unilateral() const override { return parts_; }
  void set_parameters(const ModelArrays<double>& arrays, const double* effects, std::size_t size, int count) override {
    smooth_->set_parameters(arrays, effects, size, count);
  }
  int differentiate_in_parameters(const double* first, double* out, double* multipliers) override;

 private:
  // Where prescribed coordinates are over parts of the step: on the straight way.
  class StraightPath;
  // How the state changes with the inputs, a column each, and when what is left of the step begins.
  struct Chain {
    RowMatrix q, p;
    double begin = 0;
    Eigen::RowVectorXd begins, located;  // changes of `begin`, and of the length of the last located step
  };

  void find_acting();
  void note_weak(const ContactStage& stage, const std::vector<int>& weak);
  // The momentum at the beginning of a stage, along constraints; that of the first is as given.
  std::vector<double> momentum(std::size_t stage);
  // Takes stage k, a step, once more.
  bool take_smooth(std::size_t k, double begin);
  StepDerivatives& of_length(double length);
  void differentiate_step(std::size_t k, Chain& chain, double* multipliers);
  void differentiate_impact(std::size_t k, Chain& chain);
  void differentiate_end(std::size_t k, Chain& chain);
  RowMatrix jacobian(const std::vector<Unilateral>& parts, const double* q);
  // Columns of inputs that are ends of prescribed coordinates, and then their rates.
  int ends() const { return inputs() - 2 * static_cast<int>(places_.size()); }
  RowMatrix rates() const;
  void require_smooth() const;

  const Model& m_;
  double h_;
  std::vector<char> prescribed_;
  std::vector<int> places_;  // velocities whose coordinates are prescribed
  std::unique_ptr<StepDerivatives> smooth_;
  Maker make_;
  ContactRun run_;
  ContactTrace trace_;
  UnilateralRows unilateral_;
  StateDynamics dynamics_;
  ImpulseEquations equations_;
  MomentumKick kick_;
  Workspace<double> at_;
  UnilateralParts parts_;
  std::map<double, std::unique_ptr<StepDerivatives>> others_;  // by their lengths, of the last step
  StepDerivatives* last_;                                      // that the step was taken with, or its last part
  std::size_t taken_ = 0;                                      // the stage of `last_`
  // The conditions, the end, and what steps are taken from.
  std::vector<double> q_, p_, tau_, inputs_, target_, rates_, q1_, p1_, kicked_, v_;
};

}  // namespace symplectree
