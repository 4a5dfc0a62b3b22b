// Newton's method on a whole trajectory, stage by stage (K section V): roll-out, derivatives along it, the sweep, and
// the line search. What decides about iterations, damping and ends is in symplectree/control.
//
// Costates λ_k = ∂(cost from k on)/∂x_k; H_k = ∇²c_k + λ_{k+1}·∇²F_k with F the step; slope r_k = ∂c/∂u + Bᵀλ.
#pragma once

#include "control/controlled_steps.hpp"
#include "control/costs.hpp"
#include "control/riccati.hpp"
#include "control/task_pipeline.hpp"

namespace symplectree {

// Derivatives of costs that are found elsewhere, of the last `rows` states: gradients (N) and Hessians (N × N).
struct OtherCosts {
  int rows = 0;
  const double *gradients = nullptr, *hessians = nullptr;
};

// Limits of the controls (m).
struct ControlLimits {
  std::vector<double> lower, upper;
};

class StagewiseNewton {
 public:
  enum class Found { Everything, NoSolution, NotFinite, NotSmooth };
  using OtherCost = std::function<double(const Motion&)>;

  Motion motion, trial;
  std::vector<double> AB, H, bending, last;  // of all stages: (n × N), (N × N), (N × N); of the end (n × n)
  std::vector<double> costates, slope;       // (steps + 1 × n), (steps × m)
  double scale = 0;                          // the size of the terms that the slope is a sum of
  int where = 0;                             // the state at which derivatives were not finite, or there were none
  Sweep sweep;

  StagewiseNewton(const ControlledModel& model, const TotalCost& cost, ControlLimits limits, bool exact, int threads);
  StagewiseNewton(const StagewiseNewton&) = delete;

  const ControlledModel& model() const { return model_; }
  const TotalCost& cost() const { return cost_; }
  const ControlLimits& limits() const { return limits_; }

  // trial ← the motion from (q, v) under a policy; returns how many steps were taken.
  int begin(const double* q, const double* v, const Policy& policy);
  // What a motion costs, without other costs; per second of each step, without what the end costs.
  double measure(const Motion& of, bool per_time = false);

  // Derivatives along `motion`, and the sweep under this damping; `swept` says whether it has a minimum.
  Found differentiate(const OtherCosts& others, double damping);
  // What acts in step `where`, after that was found not to be smooth.
  const UnilateralPlace& acting() const { return acting_[where]; }
  // The sweep once more, with second derivatives of steps or without; false when it has no minimum.
  bool sweep_again(double damping, bool with_bending);
  bool swept() const { return swept_; }

  // trial ← the motion under changed controls; false when it breaks off. `other`, unless it is empty, is added to its
  // cost.
  bool tried(const double* steps, double length, const OtherCost& other);
  // From 2^−first on, ever shorter steps, at most down to 2^−11: the first whose cost falls by 1e-4 of what the sweep
  // promises, in `trial`; −1 when there is none. `broken` counts motions that broke off. Where the first does not
  // serve, threads try one each.
  int line_search(int first, const OtherCost& other, int& broken);

  // How an end moves, of which C (rows × n) is the derivative in x_K: by a under the steps of the sweep, and by W ν
  // when multipliers of the end change by ν. With V_K = Cᵀ, V_k = (A + B G)ᵀ V_{k+1},
  //   a = Σ V_{k+1}ᵀ B d,   W = −Σ V_{k+1}ᵀ B M⁻¹ Bᵀ V_{k+1},   δu = d − M⁻¹BᵀV ν + G δx.
  void aim(const RowMatrix& C, RowMatrix& W, Eigen::VectorXd& a);
  // Steps (steps × m) with ν.
  std::vector<double> aimed(const Eigen::VectorXd& nu) const;

  // The largest slope over controls that may move against it.
  double largest_slope() const;
  // The size of the cost's second derivatives in controls.
  double largest_curvature() const;

 private:
  struct Worker {
    CostScratch scratch;
    StepStages stages;
    Worker(const ControlledModel& m) : scratch(m.tree, m.map), stages(m) {}
  };
  // One of several motions that are tried at once.
  struct Attempt {
    RollOut roll_out;
    Motion motion;
    bool whole = false;  // or broken off
    Attempt(const ControlledModel& m) : roll_out(m), motion(m) {}
  };

  int N() const { return n_ + m_; }
  double* row(std::vector<double>& of, int k, int size) { return &of[static_cast<std::size_t>(k) * size]; }
  Policy policy(const double* steps, double length) const;
  double cost_of(const Motion& of, bool per_time, CostScratch& scratch) const;
  bool is_low_enough(const Motion& of, int halving) const;
  // Lengths from 2^−first on, one for each thread: the number of the first that is low enough, which is in `trial`.
  int line_search_together(int first, int count, const OtherCost& other, int& broken);
  Stage stage(int k, bool with_bending);
  bool end_derivatives(const OtherCosts& others);  // false when one is not finite
  void set_room();
  void first_derivatives(int thread, int k);
  void add_others(int k, const OtherCosts& others);
  void follow_costate(int k);
  bool two_passes() const { return !records_.empty() || !single_stages_.empty(); }
  void second_derivatives(int thread, int k);
  void sweep_plainly(double damping);

  ControlledModel model_;
  const TotalCost& cost_;
  ControlLimits limits_;
  bool exact_;
  int n_, m_;
  RollOut roll_out_;
  std::vector<std::unique_ptr<Attempt>> attempts_;  // made when they are needed
  TaskPipeline pipeline_;
  std::vector<std::unique_ptr<Worker>> workers_;  // one for each thread
  // For each step, where second derivatives come in a second pass: what they need, or all.
  std::vector<StepRecord> records_;
  std::vector<std::unique_ptr<StepStages>> single_stages_;
  std::vector<double> gradients_, no_controls_, sizes_, room_;
  RowMatrix pulls_;                      // −M⁻¹BᵀV of all steps (steps · m × rows)
  std::vector<char> states_;             // of each step: Found
  std::vector<UnilateralPlace> acting_;  // of each step that is not smooth
  bool swept_ = false;
  // The sweep without second derivatives of steps, made as soon as the one with them has failed.
  struct {
    Sweep sweep;
    double damping = 0;
    bool ready = false, swept = false;
  } plain_;
};

}  // namespace symplectree
