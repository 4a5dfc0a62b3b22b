// Gauss collocation on (q, p): the Galerkin variational integrator with Gauss quadrature, on rotations with paths
// R exp(w(t)) of polynomial w about the middle of each step (see Chart). Order 2s with s stages, symplectic and
// symmetric; O(n) per stage and iteration. Stages are found by fixed-point iteration, all side by side, starting from
// the polynomial through the stages of the steps before, until little is left of each equation, relative to its terms.
// Where velocities decay within a step, a simplified Newton iteration finds them (stage_newton.hpp), or shorter steps
// are taken (shorter_steps.hpp).
#pragma once

#include <utility>

#include "elements/element_forces.hpp"
#include "integrators/gauss/chart_flow.hpp"
#include "integrators/gauss/highest_modes.hpp"
#include "integrators/gauss/shorter_steps.hpp"
#include "integrators/gauss/stage_newton.hpp"
#include "integrators/gauss/stage_predictor.hpp"
#include "integrators/gauss/stage_residual.hpp"
#include "integrators/method_options.hpp"
#include "integrators/run_interface.hpp"

namespace symplectree {

// W: lanes of a pack, at least as many as stages; lanes beyond the last stage repeat it.
template <int W>
class CollocationRun final : public Run {
 public:
  CollocationRun(const Model& m, const MethodOptions& options, int stages, std::unique_ptr<Run> shorter)
      : m_(m), t_(gauss_tableau(stages)), max_iterations_(options.max_iterations), state_(m), report_(m), one_(m),
        all_(m), charts_(m), size_(2 * m.nv + 3 * m.quaternions.size()), start_(2 * m.nv), end_(2 * m.nv),
        slope_(size_), change_(size_), z_(2 * m.nv), rate_(size_), gained_(size_), gained_before_(size_), last_(size_),
        before_(size_), residual_(m, options.tolerance), modes_(t_), highest_(m, t_), lift_(m, t_), newton_(m, t_),
        shorter_(m, std::move(shorter)) {
    damped_ = has_damping(m);
    for (int i = 0; i < W; ++i) mode_.set(i, highest_mode(t_)[std::min(i, stages - 1)]);
    for (int j = 0; j < stages; ++j)
      for (int i = 0; i < W; ++i) a_[j].set(i, t_.a[std::min(i, stages - 1)][j]);
    for (int older : {0, stages / 2, stages}) predictors_.push_back(Predictor<W>::through(t_, older));
    for (int degree = stages - 2; degree > 0; degree -= 2) predictors_.push_back(modes_.predictor({}, degree));
  }

  void set_prescribed(const std::vector<char>&) override {}  // prescribed coordinates take a composition
  void reset(const double* q, const double* p, const double*) override {
    std::copy(q, q + m_.nq, state_.q.begin()), std::copy(p, p + m_.nv, state_.x.begin());
    known_ = measured_ = 0;
  }

  bool step(double t, double h, const ForceSource& forces, const PrescribedMotion&) override {
    if (!damped_) return find_stages(t, h, forces);
    if (stiff_ || measured_ == 0) measure(forces);
    --measured_;
    stiff_ = is_strong(t, h, forces);
    if (stiff_) velocity(slope_.data());
    const bool due = stiff_ && shorter_.are_due(h, state_.q.data(), slope_.data(), forces.inputs, newton_);
    if (!due && find_stages(t, h, forces)) return true;
    if (stiff_) return known_ = 0, shorter_.take(t, h, forces, state_, report_);
    measure(forces);  // drag may have grown since
    stiff_ = true;
    return find_stages(t, h, forces);
  }

  bool is_strong(double, double h, const ForceSource&) override { return std::fabs(h) * newton_.fastest() > kStiff; }
  // v = M(q)⁻¹ p.
  void velocity(double* v) override { one_.velocity(state_.q.data(), state_.x.data(), v); }
  double unresolved_energy(double scale) override { return unresolved(scale); }
  void limit_unresolved(double energy, double scale) override { limit_ = energy, limit_scale_ = scale; }
  // The stages that were found, or given up, of a step that is not to be, still serve to guess others.
  void go_back(const RunState& state) override {
    const int known = std::min(known_, 1);
    reset(state.q.data(), state.x.data(), state.rates.data());
    known_ = known;
  }
  void carry(RunMemory& memory) override {
    state_.carry(memory), newton_.carry(memory), shorter_.carry(memory);
    memory(last_, before_, known_, best_, h_, t_last_, h_last_, stiff_, measured_);
  }
  const RunState& state() const override { return state_; }
  const RunReport& report() const override { return report_; }

 private:
  // The energy of mode s of momenta; of mode s − 1 its share of that, were the modes to fall evenly, if it is more.
  double unresolved(double scale) {
    const double before = mode_energy(t_.stages - 1);
    return std::max(mode_energy(t_.stages), before * std::pow(before / scale, 1.0 / (t_.stages - 1)));
  }
  double mode_energy(int k) {
    if (!together_) all_.place(charts_, z_.data());  // stages were looked at one by one
    return highest_.energy(k, h_, rate_.data() + m_.nv, all_);
  }

  // slope_ ← rates at time t and z; functions are not asked in states that are not finite, where an iteration diverges.
  void evaluate_one(double t, const double* z, const ForceSource& forces) {
    one_.place(charts_, z);
    if (forces.varies() && all_finite(one_.q.data(), m_.nq) && all_finite(one_.v.data(), m_.nv))
      forces.update(t, one_.q.data(), one_.v.data());
    one_.rates(charts_, z, {forces.tau, forces.inputs}, slope_.data());
  }

  // How velocities decay at the state.
  void measure(const ForceSource& forces) {
    velocity(slope_.data());
    newton_.measure(state_.q.data(), slope_.data(), forces.inputs);
    measured_ = kMeasureAgain;
  }

  bool find_stages(double t, double h, const ForceSource& forces) {
    const StepPlace place{(t - t_last_) / h_last_, h / h_last_};
    regular_ = std::fabs(place.begin - 1) < 1e-9 && h == h_last_;
    if (!regular_) known_ = known_ > 0 && std::fabs(place.begin) < 2 && place.length > 0 && place.length < 4 ? 1 : 0;
    h_ = h;
    charts_.begin(state_.q.data(), state_.x.data(), start_.data());
    predict(t, forces, regular_ ? StepPlace{} : place);
    if (stiff_) newton_.factorize(h, lift_);
    const std::vector<double> drag = stiff_ ? newton_.drag() : std::vector<double>();
    together_ = !forces.varies() && m_.users.empty();
    const StageSums<W> sums{h, t_.stages, a_};
    sum_rates(sums);
    excess_ = 0;
    StageChange last{INFINITY, INFINITY, INFINITY};
    int stalled = 0;  // for how many iterations the change has not fallen
    for (int it = 0; it < max_iterations_; ++it) {
      ++report_.iterations;
      together_ ? iterate_together(h, forces) : iterate_in_turn(t, sums, forces);
      if (stiff_) newton_.correct(h, start_, z_, rate_);
      if (it == 0)
        together_ ? residual_.scale(sums, start_, rate_, all_, drag, {forces.tau, forces.inputs})
                  : residual_.scale(sums, start_, rate_, one_, drag, {forces.tau, forces.inputs});
      sum_rates(sums);
      const StageChange change = residual_.change(gained_, gained_before_);
      if (!std::isfinite(change.sum)) return fail();
      // What is left is about change · ratio/(1 − ratio); or it no longer falls, because it is rounding.
      const double ratio = it == 0 ? 1 : std::min(change.allowed / last.allowed, 0.5);
      stalled = change.rounding >= last.rounding ? stalled + 1 : 0;
      const bool stands = change.near_rounding() && stalled >= (change.rounding < kNoise ? 1 : 2);
      if (change.allowed * ratio <= 1 || stands) return finish(t, h);
      if (limit_ > 0 && it > 0 && it < kLate && is_hopeless(t, h)) return false;
      if (it > 8 && !change.near_rounding() && change.sum > 2 * last.sum) return fail();
      last = change;
    }
    return fail();
  }

  // Has the step far more unresolved energy than it may have, and as much as after the iteration before? Unless it is
  // far off, its stages serve to guess others.
  bool is_hopeless(double t, double h) {
    const double before = std::exchange(excess_, mode_energy(t_.stages) / limit_);
    const bool settled = excess_ < kSettled * before && before < kSettled * excess_;
    if (!(excess_ > kFarOff || (excess_ > kHopeless && settled))) return false;
    if (excess_ < kFarOff) remember(t, h);
    known_ = std::min(known_, 1);
    return true;
  }

  // rate_ ← a guess for the stages.
  void predict(double t, const ForceSource& forces, StepPlace place) {
    if (known_ == 0 || stiff_) {
      std::fill(change_.begin(), change_.end(), 0.0);
      charts_.centre(change_.data(), start_.data());
      evaluate_one(t, start_.data(), forces);
      for (int k = 0; k < size_; ++k) rate_[k] = Pack<W>(stiff_ && k >= m_.nv ? 0.0 : slope_[k]);
      return;
    }
    if (place.begin == 1 && place.length == 1) return predict_by(predictors_[known_ > 1 ? best_ : 0]);
    predict_by(modes_.predictor(place, modes_.degree(place, last_.data() + m_.nv, m_.nv)));
  }
  void predict_by(const Predictor<W>& predictor) {
    for (int k = 0; k < size_; ++k) rate_[k] = predictor(t_.stages, last_[k], before_[k]);
  }

  // Charts and the beginning in them from the rates, which say how far the step will turn.
  void centre(double h) {
    if (m_.quaternions.empty()) return;
    for (int k = 0; k < size_; ++k) change_[k] = change(k, h);
    charts_.centre(change_.data(), start_.data());
  }

  double change(int k, double h) const {
    double sum = 0;
    for (int j = 0; j < t_.stages; ++j) sum += t_.b[j] * rate_[k][j];
    return h * sum;
  }

  // gained_ ← h Σ aᵢⱼ times the rates; what it was before ← gained_before_.
  void sum_rates(const StageSums<W>& sums) {
    std::swap(gained_, gained_before_);
    for (int k = 0; k < size_; ++k) gained_[k] = sums(rate_[k]);
  }

  // z_ ← all stages.
  void place_stages(double h) {
    for (int k = 0; k < 2 * m_.nv; ++k) z_[k] = Pack<W>(start_[k]) + gained_[k];
    lift_stages(h);
  }

  // What dampers have more weight by, from the rates of velocities; those of joints in any case.
  void lift_stages(double h) {
    if (stiff_) {
      const std::vector<double>& lifted = newton_.lifted_momentum(h, rate_);
      for (int j = 0; j < m_.nv; ++j) z_[m_.nv + j] -= Pack<W>(lifted[j]) * mode_;
      return;
    }
    for (const int j : lift_.velocities) z_[m_.nv + j] -= Pack<W>(h * lift_(j, h) * newton_.highest(rate_[j])) * mode_;
  }

  // rate_ ← those of all stages side by side.
  void iterate_together(double h, const ForceSource& forces) {
    centre(h);
    place_stages(h);
    all_.place(charts_, z_.data());
    all_.rates(charts_, z_.data(), {forces.tau, forces.inputs}, rate_.data());
  }

  // The same for the stages one after the other, each with the newest rates of the others.
  void iterate_in_turn(double t, const StageSums<W>& sums, const ForceSource& forces) {
    const std::vector<Pack<W>> before = gained_;
    centre(sums.h);
    for (int i = 0; i < t_.stages; ++i) {
      if (i > 0 && !stiff_)  // Newton's step is that of all stages together
        for (int k = 0; k < size_; ++k) gained_[k] = sums(rate_[k]);
      if (i == 0 || !stiff_) place_stages(sums.h);
      for (int k = 0; k < 2 * m_.nv; ++k) end_[k] = z_[k][i];
      evaluate_one(t + t_.c[i] * sums.h, end_.data(), forces);
      for (int k = 0; k < size_; ++k) rate_[k].set(i, slope_[k]);
    }
    gained_ = before;
  }

  bool fail() {
    known_ = 0, report_.worst = residual_.worst(gained_, gained_before_);
    return false;
  }

  bool finish(double t, double h) {
    centre(h);
    for (int k = 0; k < 2 * m_.nv; ++k) end_[k] = start_[k] + change(k, h);
    if (!all_finite(end_.data(), 2 * m_.nv)) return fail();
    charts_.finish(change_.data(), end_.data(), state_.q.data(), state_.x.data());
    if (known_ > 1) choose_predictor();
    std::swap(before_, last_);
    remember(t, h);
    return true;
  }

  // Note the rates of a step from which others are guessed.
  void remember(double t, double h) {
    last_ = rate_;
    t_last_ = t, h_last_ = h;
    known_ = regular_ ? std::min(known_ + 1, 2) : 1;
  }

  // best_ ← the predictor that would have served best in this step.
  void choose_predictor() {
    double least = INFINITY;
    for (std::size_t c = 0; c < predictors_.size(); ++c) {
      Pack<W> off;
      for (int k = m_.nv; k < 2 * m_.nv; ++k)
        off = larger(off, predictors_[c](t_.stages, last_[k], before_[k]) - rate_[k]);
      if (const double error = largest_size(off); error < least) least = error, best_ = c;
    }
  }

  const Model& m_;
  Tableau t_;
  int max_iterations_;
  RunState state_;
  RunReport report_;
  ChartFlow<double> one_;
  ChartFlow<Pack<W>> all_;
  Charts charts_;
  int size_;                            // of (c, π, G)
  std::array<Pack<W>, kMostStages> a_;  // columns of the tableau's a
  std::vector<Predictor<W>> predictors_;
  std::vector<double> start_, end_, slope_, change_;
  std::vector<Pack<W>> z_, rate_, gained_, gained_before_;  // (c, π), rates of (c, π, G), h Σ aᵢⱼ of these; by stages
  std::vector<Pack<W>> last_, before_;                      // rates of the steps before
  int known_ = 0;                                           // how many of the steps before serve to predict
  std::size_t best_ = 0;
  double h_ = 0, t_last_ = 0, h_last_ = 1;  // length of the step; beginning and length of the one that is remembered
  bool regular_ = false;                    // does the step follow that one, and is as long?
  double limit_ = 0, limit_scale_ = 0;      // of the unresolved energy, where steps with more are given up; see Run
  double excess_ = 0;                       // energy of the highest mode over that limit, after the last iteration
  static constexpr int kLate = 8;           // iterations after which it is no longer looked at
  static constexpr double kHopeless = 4;    // how many times the limit is too much,
  static constexpr double kSettled = 1.2;   // when it changes by less from one iteration to the next,
  static constexpr double kFarOff = 1e14;   // and how many times tells that the iteration diverges
  StageResidual<W> residual_;
  StageModes<W> modes_;
  HighestModes<W> highest_;
  static constexpr double kNoise = 30;      // times rounding, below which a change that no longer falls is that
  static constexpr double kStiff = 0.3;     // steps times rate of decay, above which Newton's iteration is faster
  static constexpr int kMeasureAgain = 32;  // steps after which the rate of decay is looked at again
  DamperLift lift_;
  StageNewton newton_;
  ShorterSteps shorter_;
  Pack<W> mode_;                         // the highest mode at the stages
  bool together_ = true;                 // are forces the same in all stages, which then go side by side?
  bool damped_ = false, stiff_ = false;  // do forces depend on velocities? do these decay within a step?
  int measured_ = 0;                     // for how many steps the rate of decay still counts
};

}  // namespace symplectree
