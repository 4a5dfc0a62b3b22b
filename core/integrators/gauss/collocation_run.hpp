// Gauss collocation on (q, p): the Galerkin variational integrator with Gauss quadrature, on rotations with paths
// R exp(w(t)) of polynomial w about the middle of each step (see Chart). Order 2s with s stages, symplectic and
// symmetric; O(n) per stage and iteration. Stages are found by fixed-point iteration, all side by side, starting from
// the polynomial through the stages of the steps before, until little is left of each equation, relative to its terms.
// Where velocities decay within a step, a simplified Newton iteration finds them (stage_newton.hpp).
#pragma once

#include "integrators/gauss/chart_flow.hpp"
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
  CollocationRun(const Model& m, const MethodOptions& options, int stages)
      : m_(m), t_(gauss_tableau(stages)), max_iterations_(options.max_iterations), state_(m), report_(m), one_(m),
        all_(m), charts_(m), size_(2 * m.nv + 3 * m.quaternions.size()), start_(2 * m.nv), end_(2 * m.nv),
        slope_(size_), change_(size_), z_(2 * m.nv), rate_(size_), newest_(size_), last_(size_), before_(size_),
        residual_(m, options.tolerance), lift_(m, t_), newton_(m, t_) {
    damped_ = m.user_forces || !m.joint_dampers.empty() || has_damped_pairs(m);
    const std::array<double, 4> mode = highest_mode(t_);
    for (int i = 0; i < W; ++i) mode_.set(i, mode[std::min(i, stages - 1)]);
    for (int j = 0; j < stages; ++j)
      for (int i = 0; i < W; ++i) a_[j].set(i, t_.a[std::min(i, stages - 1)][j]);
    for (int older : {0, stages / 2, stages}) predictors_.emplace_back(t_, older);
  }

  void set_prescribed(const std::vector<char>&) override {}  // prescribed coordinates take a composition

  void reset(const double* q, const double* p, const double*) override {
    std::copy(q, q + m_.nq, state_.q.begin());
    std::copy(p, p + m_.nv, state_.x.begin());
    known_ = measured_ = 0;
  }

  bool step(double t, double h, const ForceSource& forces, const PrescribedMotion&) override {
    if (!damped_) return find_stages(t, h, forces);
    if (stiff_ || measured_ == 0) measure(forces);
    --measured_;
    stiff_ = std::fabs(h) * newton_.fastest() > kStiff;
    if (find_stages(t, h, forces)) return true;
    if (stiff_) return false;
    measure(forces);  // drag may have grown since
    stiff_ = true;
    return find_stages(t, h, forces);
  }

  // v = M(q)⁻¹ p.
  void velocity(double* v) override { velocity_of_momentum(m_, state_.q.data(), state_.x.data(), v, one_.w); }
  double unresolved_energy(double scale) override { return unresolved(scale, {begin_.data(), state_.q.data()}); }
  void limit_unresolved(double energy, double scale) override { limit_ = energy, limit_scale_ = scale; }
  // The stages that were found, or given up, of a step that is not to be, still serve to guess others.
  void go_back(const RunState& state) override {
    const int known = std::min(known_, 1);
    reset(state.q.data(), state.x.data(), state.rates.data());
    known_ = known;
  }
  void carry(RunMemory& memory) override {
    state_.carry(memory), newton_.carry(memory);
    memory(last_, before_, known_, best_, h_, t_last_, h_last_, stiff_, measured_);
  }
  const RunState& state() const override { return state_; }
  const RunReport& report() const override { return report_; }

 private:
  // ½ p_kᵀ M⁻¹ p_k of the modes k = s and s − 1 of momenta over the step (coefficients of Legendre's polynomials), from
  // the modes k − 1 of their rates; the second as its share of the mode s would be, were the modes to fall evenly. M at
  // some configurations, of which the one with most counts: of both ends, a reversed step has the same.
  double unresolved(double scale, std::initializer_list<const double*> at) {
    const int s = t_.stages;
    const auto energy = [&](int k) {  // of mode k
      std::array<double, 4> weight{};
      for (int i = 0; i < s; ++i) {
        const double x = 2 * t_.c[i] - 1;
        const double P[4] = {1, x, 1.5 * x * x - 0.5, 2.5 * x * x * x - 1.5 * x};
        weight[i] = (2 * k - 1) * t_.b[i] * P[k - 1];
      }
      for (int j = 0; j < m_.nv; ++j) {
        double sum = 0;
        for (int i = 0; i < s; ++i) sum += weight[i] * rate_[m_.nv + j][i];
        slope_[j] = h_ / (2 * (2 * k - 1)) * sum;
      }
      double twice = 0;
      for (const double* q : at) {
        velocity_of_momentum(m_, q, slope_.data(), end_.data(), one_.w);
        double sum = 0;
        for (int j = 0; j < m_.nv; ++j) sum += slope_[j] * end_[j];
        twice = std::max(twice, sum);
      }
      return 0.5 * twice / (2 * k + 1);
    };
    const double before = energy(s - 1);
    return std::max(energy(s), before * std::pow(before / scale, 1.0 / (s - 1)));
  }

  // tau and inputs at an instant.
  static std::pair<const double*, const double*> at_instant(const ForceSource& forces, double t, const double* q,
                                                            const double* v) {
    if (forces.varies()) forces.update(t, q, v);
    return {forces.tau, forces.inputs};
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
    const double* tau = forces.varies() ? forces.tau : nullptr;
    const bool together = !forces.varies() && m_.users.empty();  // forces are the same in all stages
    const StageSums<W> sums{h, t_.stages, a_};
    StageChange last{INFINITY, INFINITY, INFINITY};
    for (int it = 0; it < max_iterations_; ++it) {
      ++report_.iterations;
      together ? iterate_together(h, forces) : iterate_in_turn(t, h, forces);
      if (stiff_) newton_.correct(h, start_, z_, rate_);
      if (it == 0)
        together ? residual_.scale(sums, start_, rate_, all_, drag)
                 : residual_.scale(sums, start_, rate_, one_, drag, tau);
      const StageChange change = residual_.change(sums, rate_, newest_);
      if (!std::isfinite(change.rates)) return fail();
      // What is left is about change · ratio/(1 − ratio); or it no longer falls, because it is rounding.
      const double ratio = it == 0 ? 1 : std::min(change.allowed / last.allowed, 0.5);
      const bool stands = change.near_rounding() && change.rounding >= last.rounding;
      if (change.allowed * ratio <= 1 || stands) return finish(t, h);
      if (it == kEarly && limit_ > 0 && unresolved(limit_scale_, {state_.q.data()}) > kHopeless * limit_) {
        remember(t, h);
        known_ = 1;
        return false;
      }
      if (it > 8 && !change.near_rounding() && change.rates > 2 * last.rates) return fail();
      last = change;
    }
    return fail();
  }

  // rate_ ← a guess for the stages.
  void predict(double t, const ForceSource& forces, StepPlace place) {
    if (known_ == 0 || stiff_) {
      std::fill(change_.begin(), change_.end(), 0.0);
      charts_.centre(change_.data(), start_.data());
      one_.evaluate(charts_, start_.data(), slope_.data(),
                    [&](auto* x, auto* u) { return at_instant(forces, t, x, u); });
      for (int k = 0; k < size_; ++k) rate_[k] = Pack<W>(stiff_ && k >= m_.nv ? 0.0 : slope_[k]);
      return;
    }
    if (place.begin == 1 && place.length == 1) return predict_by(predictors_[known_ > 1 ? best_ : 0]);
    predict_by(Predictor<W>(t_, 0, place));
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

  // z_ at all stages from the rates.
  void place_stage(int k, double h) {
    Pack<W> sum;
    for (int j = 0; j < t_.stages; ++j) sum += a_[j] * Pack<W>(rate_[k][j]);
    z_[k] = Pack<W>(start_[k]) + Pack<W>(h) * sum;
  }

  // What dampers have more weight by, from the rates of velocities, after place_stage; those of joints in any case.
  void lift_stages(double h) {
    if (stiff_) {
      const Eigen::VectorXd lifted = newton_.lifted_momentum(h, rate_);
      for (int j = 0; j < m_.nv; ++j) z_[m_.nv + j] -= Pack<W>(lifted[j]) * mode_;
      return;
    }
    for (const int j : lift_.velocities) z_[m_.nv + j] -= Pack<W>(h * lift_(j, h) * newton_.highest(rate_[j])) * mode_;
  }

  // rate_ ← those of all stages side by side; newest_ ← the rates before.
  void iterate_together(double h, const ForceSource& forces) {
    centre(h);
    for (int k = 0; k < 2 * m_.nv; ++k) place_stage(k, h);
    lift_stages(h);
    all_.evaluate(charts_, z_.data(), newest_.data(),
                  [&](auto*, auto*) { return std::pair{forces.tau, forces.inputs}; });
    std::swap(newest_, rate_);
  }

  // The same for the stages one after the other, each with the newest rates of the others.
  void iterate_in_turn(double t, double h, const ForceSource& forces) {
    newest_ = rate_;
    centre(h);
    for (int i = 0; i < t_.stages; ++i) {
      if (i == 0 || !stiff_) {  // Newton's step is that of all stages together
        for (int k = 0; k < 2 * m_.nv; ++k) place_stage(k, h);
        lift_stages(h);
      }
      for (int k = 0; k < 2 * m_.nv; ++k) end_[k] = z_[k][i];
      const double at = t + t_.c[i] * h;
      one_.evaluate(charts_, end_.data(), slope_.data(),
                    [&](auto* x, auto* u) { return at_instant(forces, at, x, u); });
      for (int k = 0; k < size_; ++k) rate_[k].set(i, slope_[k]);
    }
  }

  bool fail() {
    known_ = 0;
    return false;
  }

  bool finish(double t, double h) {
    centre(h);
    double spoiled = 0;  // 0, or not a number when an end is not finite
    for (int k = 0; k < 2 * m_.nv; ++k) {
      end_[k] = start_[k] + change(k, h);
      spoiled += 0 * end_[k];
    }
    if (spoiled != 0) return fail();
    begin_ = state_.q;
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
      for (int k = 0; k < size_; ++k) off = larger(off, predictors_[c](t_.stages, last_[k], before_[k]) - rate_[k]);
      if (const double error = largest(off); error < least) least = error, best_ = c;
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
  int size_;                  // of (c, π, G)
  std::array<Pack<W>, 4> a_;  // columns of the tableau's a
  std::vector<Predictor<W>> predictors_;
  std::vector<double> start_, end_, slope_, change_;
  std::vector<Pack<W>> z_, rate_, newest_, last_, before_;  // of (c, π), rates of (c, π, G); lanes are stages
  int known_ = 0;                                           // how many of the steps before serve to predict
  std::vector<double> begin_;                               // q before the last step
  std::size_t best_ = 0;
  double h_ = 0, t_last_ = 0, h_last_ = 1;  // length of the step; beginning and length of the one that is remembered
  bool regular_ = false;                    // does the step follow that one, and is as long?
  double limit_ = 0, limit_scale_ = 0;      // of the unresolved energy, where steps with more are given up; see Run
  static constexpr int kEarly = 2;          // number of the iteration after which that is looked at,
  static constexpr double kHopeless = 4;    // and how many times the limit is too much then
  StageResidual<W> residual_;
  static constexpr double kStiff = 0.3;     // steps times rate of decay, above which Newton's iteration is faster
  static constexpr int kMeasureAgain = 32;  // steps after which the rate of decay is looked at again
  DamperLift lift_;
  StageNewton newton_;
  Pack<W> mode_;                         // the highest mode at the stages
  bool damped_ = false, stiff_ = false;  // do forces depend on velocities? do these decay within a step?
  int measured_ = 0;                     // for how many steps the rate of decay still counts
};

}  // namespace symplectree
