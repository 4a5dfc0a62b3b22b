// Steps of orders 4, 6 and 8 under constraints and prescribed coordinates: Lobatto's pair IIIA and IIIB (Jay 1996),
// symplectic on the constraint manifold and symmetric, with rotations in charts as in Gauss collocation (see Chart).
//
// Constraints hold at every stage but the first, where the step before has met them; impulses λ act at every stage but
// the last, whose share is left to the next step as in steps of order 2 (RATTLE, of which this is the generalisation):
//
//   Q_i = q₀ + h Σ a_ij V_j,   P_i = p₀ + h Σ â_ij (F_j + Dhᵀ λ_j),   h(Q_i) = 0 for i > 1.
//
// An iteration takes F from the one before, places the stages, finds the λ with which they meet the constraints to
// first order, by the masses and constraints in the middle of the step and two corrections, and evaluates F anew: all
// stages side by side, O(n) but for a matrix of the size of the constraints. Motions that dampers end within a step are
// left to a composition, which takes them at order 2.
#pragma once

#include <memory>

#include "integrators/gauss/chart_flow.hpp"
#include "integrators/gauss/stage_predictor.hpp"
#include "integrators/gauss/stage_residual.hpp"
#include "integrators/lobatto/stage_constraints.hpp"
#include "integrators/method_options.hpp"
#include "integrators/run_interface.hpp"
#include "integrators/state_dynamics.hpp"

namespace symplectree {

// W: lanes of a pack, at least as many as stages; lanes beyond the last stage repeat it.
template <int W>
class LobattoRun final : public Run {
 public:
  LobattoRun(const Model& m, const MethodOptions& options, int stages, std::unique_ptr<Run> composition);

  void set_prescribed(const std::vector<char>& velocities) override;
  void reset(const double* q, const double* p, const double* rates) override;
  void set_last_step_length(double h) override { state_.last_step_length = h; }
  bool step(double t, double h, const ForceSource& forces, const PrescribedMotion& motion) override;
  void velocity(double* v) override { dynamics_.velocity(state_.q.data(), state_.x.data(), state_.rates.data(), v); }
  double unresolved_energy(double) override;
  void go_back(const RunState& state) override;
  void carry(RunMemory& memory) override;
  const RunState& state() const override { return state_; }
  const RunReport& report() const override { return report_; }

 private:
  // What a step is taken under.
  struct Given {
    double t, h;
    const ForceSource& forces;
    const PrescribedMotion& motion;
  };

  bool compose(const Given& given);
  bool find_stages(const Given& given);
  void predict(const Given& given);
  void start_from_acceleration(const Given& given);
  // One iteration; false where the masses in the middle of the step have no inverse.
  bool iterate(const Given& given, bool first);
  void place(double h);
  void place_momenta(double h);
  void pull_stages();
  void evaluate_forces(const Given& given);
  void sum_rates(double h);
  bool finish(const Given& given);
  bool lose();
  bool fail();
  void report_impulses(double h);

  // h Σ a of a quantity at the stages, by the coefficients of IIIA or IIIB.
  using Columns = std::array<Pack<W>, kMostStages>;
  Pack<W> sum(const Columns& a, double h, const Pack<W>& rate) const { return StageSums<W>{h, stages_, a}(rate); }
  double change(int k, double h) const {
    double sum = 0;
    for (int j = 0; j < stages_; ++j) sum += pair_.positions.b[j] * total(k, j);
    return h * sum;
  }
  double total(int k, int stage) const { return rate_[k][stage] + pull_[k][stage]; }

  const Model& m_;
  LobattoPair pair_;
  int stages_, max_iterations_;
  RunState state_;
  RunReport report_;
  std::unique_ptr<Run> composition_;
  StateDynamics dynamics_;
  StageConstraints<W> constraints_;
  StageResidual<W> residual_;
  ChartFlow<double> one_;
  ChartFlow<Pack<W>> all_;
  Charts charts_;
  int size_;  // of (c, π, G)
  Columns a_, b_;
  std::vector<double> start_, end_, middle_, change_, slope_, v_, acceleration_;
  // By stages: (c, π); rates of (c, π, G) without constraints, and what these add; h Σ of both, now and before; forces
  // of constraints; velocities in charts, increments.
  std::vector<Pack<W>> z_, rate_, pull_, gained_, gained_before_, force_, delta_, last_;
  std::vector<double> lambda_, last_lambda_, values_, rounding_;
  double h_ = 0, t_last_ = 0, h_last_ = 1;
  bool known_ = false;    // do the stages of the step before serve to guess?
  bool together_ = true;  // are forces the same in all stages, which then go side by side?
  bool damped_, always_composed_, prescribes_rotation_ = false, composed_ = false;
  int looked_ = 0;  // steps until the strength of dampers is looked at again
};

}  // namespace symplectree
