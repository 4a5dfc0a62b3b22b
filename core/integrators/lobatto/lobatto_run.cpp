#include "integrators/lobatto/lobatto_run.hpp"

#include "dynamics/hamiltonian_flow.hpp"
#include "integrators/make_run.hpp"

namespace symplectree {
namespace {

constexpr int kCorrections = 2;    // of impulses in an iteration
constexpr double kWeak = 0.01;     // constraints that are as near to being dependent may need Newton's method
constexpr int kLookAgain = 16;     // steps after which the strength of dampers is looked at again
constexpr double kNoise = 30;      // times rounding, below which a change that no longer falls is that
constexpr double kFarAhead = 2.3;  // lengths of the last step, up to which its polynomials are carried on

// Prescribed motions without their first rows, over the step and over parts of it.
class LaterRows final : public MotionParts {
 public:
  LaterRows(const Model& m, const PrescribedMotion& all, int rows) : m_(m), all_(all), rows_(rows) {}
  PrescribedMotion motion() const { return later(all_); }
  PrescribedMotion over(double t, double h) const override { return later(all_.over(t, h)); }

 private:
  PrescribedMotion later(const PrescribedMotion& all) const {
    PrescribedMotion out = all.from_stage(m_, rows_);
    out.parts = all.parts ? this : nullptr;
    return out;
  }

  const Model& m_;
  const PrescribedMotion& all_;
  int rows_;
};

}  // namespace

template <int W>
LobattoRun<W>::LobattoRun(const Model& m, const MethodOptions& options, int stages, std::unique_ptr<Run> composition)
    : m_(m), pair_(lobatto_pair(stages)), stages_(stages), max_iterations_(options.max_iterations), state_(m),
      report_(m), composition_(std::move(composition)), dynamics_(m), constraints_(m, pair_),
      residual_(m, options.tolerance), one_(m), all_(m), charts_(m),
      size_(2 * m.nv + 3 * static_cast<int>(m.quaternions.size())), start_(2 * m.nv), end_(2 * m.nv), middle_(2 * m.nv),
      change_(size_), slope_(size_), v_(m.nv), acceleration_(m.nv), z_(2 * m.nv), rate_(size_), pull_(size_),
      gained_(size_), gained_before_(size_), force_(m.nv), delta_(m.nv), last_(size_) {
  for (int j = 0; j < stages; ++j)
    for (int i = 0; i < W; ++i) {
      a_[j].set(i, pair_.positions.a[std::min(i, stages - 1)][j]);
      b_[j].set(i, pair_.momenta[std::min(i, stages - 1)][j]);
    }
  damped_ = has_damping(m);
  always_composed_ = !StageConstraints<W>::covers(m);
  set_prescribed(std::vector<char>(m.nv));
}

template <int W>
void LobattoRun<W>::set_prescribed(const std::vector<char>& velocities) {
  composition_->set_prescribed(velocities);
  dynamics_.set_prescribed(velocities);
  constraints_.set_prescribed(velocities);
  prescribes_rotation_ = false;
  for (const int i : m_.quaternions) {
    const Body& b = m_.bodies[i];
    for (int j = b.v; j < b.v + b.nv; ++j) prescribes_rotation_ |= velocities[j] != 0;
  }
  const std::size_t count = static_cast<std::size_t>(stages_ - 1) * constraints_.count();
  lambda_.assign(count, 0.0), last_lambda_.assign(count, 0.0), values_.assign(count, 0.0);
}

template <int W>
void LobattoRun<W>::reset(const double* q, const double* p, const double* rates) {
  std::copy(q, q + m_.nq, state_.q.begin());
  std::copy(p, p + m_.nv, state_.x.begin());
  std::copy(rates, rates + m_.nv, state_.rates.begin());
  state_.last_step_length = 0;
  known_ = false, looked_ = 0;
}

// The stages of a step that is not to be still serve to guess others.
template <int W>
void LobattoRun<W>::go_back(const RunState& state) {
  const bool known = known_;
  reset(state.q.data(), state.x.data(), state.rates.data());
  state_.last_step_length = state.last_step_length;
  known_ = known;
}

template <int W>
void LobattoRun<W>::carry(RunMemory& memory) {
  state_.carry(memory), composition_->carry(memory);
  memory(last_, last_lambda_, known_, t_last_, h_last_, looked_, composed_);
}

template <int W>
bool LobattoRun<W>::step(double t, double h, const ForceSource& forces, const PrescribedMotion& motion) {
  const Given given{t, h, forces, motion};
  if (always_composed_ || prescribes_rotation_) return compose(given);
  const bool resisting = damped_ || forces.varies();
  if (resisting && (composed_ || looked_ == 0)) {
    looked_ = kLookAgain;
    composition_->go_back(state_);
    composed_ = composition_->is_strong(t, h, forces);
  }
  if (resisting) --looked_;
  if (composed_) return compose(given);
  if (find_stages(given)) return true;
  return (resisting || constraints_.weakest() < kWeak) && compose(given);
}

template <int W>
bool LobattoRun<W>::compose(const Given& given) {
  known_ = false;
  composition_->go_back(state_);
  const long iterations = composition_->report().iterations, lowered = composition_->report().lowered;
  const LaterRows later(m_, given.motion, stages_ - 1);
  const bool done = composition_->step(given.t, given.h, given.forces, later.motion());
  const RunReport& r = composition_->report();
  report_.iterations += r.iterations - iterations, report_.lowered += r.lowered - lowered;
  report_.multipliers = r.multipliers, report_.reactions = r.reactions;
  report_.feeding = r.feeding, report_.residual = r.residual, report_.worst = r.worst;
  if (done) state_ = composition_->state();
  return done;
}

template <int W>
bool LobattoRun<W>::find_stages(const Given& given) {
  h_ = given.h;
  charts_.begin(state_.q.data(), state_.x.data(), start_.data());
  together_ = !given.forces.varies() && m_.users.empty();
  predict(given);
  sum_rates(h_);
  StageChange last{INFINITY, INFINITY, INFINITY};
  int stalled = 0;
  for (int it = 0; it < max_iterations_; ++it) {
    ++report_.iterations;
    if (!iterate(given, it == 0)) {
      always_composed_ = true;
      return compose(given);
    }
    if (it == 0) {
      constraints_.rounding(h_, rounding_);
      for (int k = 0; k < size_; ++k) gained_before_[k] = rate_[k] + pull_[k];
      const StageSums<W> sums{h_, stages_, a_};
      const AppliedForces<double> forces{given.forces.tau, given.forces.inputs};
      together_ ? residual_.scale(sums, start_, gained_before_, all_, {}, forces, rounding_)
                : residual_.scale(sums, start_, gained_before_, one_, {}, forces, rounding_);
    }
    sum_rates(h_);
    const StageChange change = residual_.change(gained_, gained_before_);
    if (!std::isfinite(change.sum)) return lose();
    const double ratio = it == 0 ? 1 : std::min(change.allowed / last.allowed, 0.5);
    stalled = change.rounding >= last.rounding ? stalled + 1 : 0;
    const bool stands = change.near_rounding() && stalled >= (change.rounding < kNoise ? 1 : 2);
    if (change.allowed * ratio <= 1 || stands) return finish(given);
    if (it > 8 && !change.near_rounding() && change.sum > 2 * last.sum) return lose();
    last = change;
  }
  return lose();
}

// rate_, pull_ and lambda_ ← a guess for the stages.
template <int W>
void LobattoRun<W>::predict(const Given& given) {
  for (auto& p : pull_) p = Pack<W>();
  const StepPlace place{(given.t - t_last_) / h_last_, given.h / h_last_};
  if (!known_ || place.length <= 0 || place.begin < -0.5 || place.begin + place.length > kFarAhead)
    return start_from_acceleration(given);
  const Tableau& t = pair_.positions;
  // Weights of the polynomial through nodes `first` to `beyond` of the last step.
  const auto weights = [&](int first, int beyond, double at, double* out) {
    for (int j = first; j < beyond; ++j) {
      out[j] = 1;
      for (int k = first; k < beyond; ++k)
        if (k != j) out[j] *= (at - t.c[k]) / (t.c[j] - t.c[k]);
    }
  };
  Predictor<W> carried;
  double of[kMostStages]{};
  const int count = constraints_.count();
  std::fill(lambda_.begin(), lambda_.end(), 0.0);
  for (int i = 0; i < W; ++i) {
    const double at = place.begin + place.length * t.c[std::min(i, stages_ - 1)];
    weights(0, stages_, at, of);
    for (int j = 0; j < stages_; ++j) carried.of_last[j].set(i, of[j]);
    if (i >= stages_ - 1) continue;
    weights(1, stages_ - 1, at, of);
    for (int j = 1; j < stages_ - 1; ++j)
      for (int r = 0; r < count; ++r) lambda_[i * count + r] += of[j] * last_lambda_[j * count + r];
  }
  for (int k = 0; k < size_; ++k) rate_[k] = carried(stages_, last_[k], last_[k]);
}

template <int W>
void LobattoRun<W>::start_from_acceleration(const Given& given) {
  std::fill(change_.begin(), change_.end(), 0.0);
  charts_.centre(change_.data(), start_.data());
  const int n = m_.nv, count = constraints_.count();
  const double* q = state_.q.data();
  velocity(v_.data());
  const ForceSource& forces = given.forces;
  if (forces.varies()) forces.update(given.t, q, v_.data());
  std::fill(acceleration_.begin(), acceleration_.end(), 0.0);
  if (given.motion.accelerations) std::copy_n(given.motion.accelerations, n, acceleration_.begin());
  dynamics_.acceleration(q, v_.data(), forces.tau, forces.inputs, acceleration_.data());
  std::fill(lambda_.begin(), lambda_.end(), 0.0);
  if (!dynamics_.is_free())
    for (int i = 0; i < stages_ - 1; ++i)
      std::copy(dynamics_.multipliers().begin(), dynamics_.multipliers().end(), &lambda_[i * count]);
  std::vector<double> mass(n), rate(n);
  one_.place(charts_, start_.data());
  one_.rates(charts_, start_.data(), {forces.tau, forces.inputs}, slope_.data());
  for (int k = 0; k < size_; ++k) rate_[k] = Pack<W>(slope_[k]);
  charts_.chart_velocity(start_.data(), q, v_.data(), rate.data());
  charts_.chart_velocity(start_.data(), q, acceleration_.data(), mass.data());
  for (int i = 0; i < W; ++i)
    for (int k = 0; k < n; ++k)
      rate_[k].set(i, rate[k] + given.h * pair_.positions.c[std::min(i, stages_ - 1)] * mass[k]);
}

template <int W>
void LobattoRun<W>::sum_rates(double h) {
  std::swap(gained_, gained_before_);
  for (int k = 0; k < m_.nv; ++k) gained_[k] = sum(a_, h, rate_[k]);
  for (int k = m_.nv; k < size_; ++k) gained_[k] = sum(b_, h, rate_[k] + pull_[k]);
}

template <int W>
bool LobattoRun<W>::iterate(const Given& given, bool first) {
  const double h = given.h;
  place(h);
  if (first) {
    for (int k = 0; k < 2 * m_.nv; ++k) middle_[k] = 0.5 * (z_[k][0] + z_[k][stages_ - 1]);
    charts_.state(middle_.data(), one_.q.data(), one_.p.data());
    if (!constraints_.factorize(one_.q.data())) return false;
  }
  constraints_.place(all_.w, all_.q.data(), given.motion.targets, first);
  pull_stages();
  place_momenta(h);
  eliminate_momentum(m_, all_.p.data(), all_.v.data(), all_.w);
  for (int correction = 0; correction < kCorrections; ++correction) {
    charts_.chart_velocity(z_.data(), all_.q.data(), all_.v.data(), delta_.data());
    for (int k = 0; k < m_.nv; ++k) delta_[k] = sum(a_, h, delta_[k] - rate_[k]);
    charts_.joint_velocity(z_.data(), all_.q.data(), delta_.data(), delta_.data());
    constraints_.changed(all_.w, delta_.data(), values_.data());
    constraints_.answer(h, values_.data(), lambda_.data());
    pull_stages();
    place_momenta(h);
    velocity_again(m_, all_.p.data(), all_.v.data(), all_.w);
  }
  evaluate_forces(given);
  return true;
}

// z_ ← positions of all stages, with charts about the middle of the step; poses there.
template <int W>
void LobattoRun<W>::place(double h) {
  if (!m_.quaternions.empty()) {
    for (int k = 0; k < size_; ++k) change_[k] = change(k, h);
    charts_.centre(change_.data(), start_.data());
  }
  for (int k = 0; k < 2 * m_.nv; ++k) z_[k] = Pack<W>(start_[k]) + gained_[k];
  charts_.state(z_.data(), all_.q.data(), all_.p.data());
  place_bodies<1>(m_, all_.q.data(), all_.w);
}

// pull_ ← what lambda_ adds to the rates.
template <int W>
void LobattoRun<W>::pull_stages() {
  constraints_.pull(all_.w, lambda_.data(), force_.data());
  charts_.chart_force(z_.data(), all_.q.data(), force_.data(), &pull_[m_.nv], pull_.data() + 2 * m_.nv);
}

// Momenta of all stages at the positions where they are.
template <int W>
void LobattoRun<W>::place_momenta(double h) {
  const int n = m_.nv;
  if (!m_.quaternions.empty()) {
    for (int k = n; k < size_; ++k) change_[k] = change(k, h);
    charts_.centre(change_.data(), start_.data());
  }
  for (int k = n; k < 2 * n; ++k) z_[k] = Pack<W>(start_[k]) + sum(b_, h, rate_[k] + pull_[k]);
  if (m_.quaternions.empty()) {
    std::copy(z_.begin() + n, z_.end(), all_.p.begin());
  } else {
    charts_.state(z_.data(), all_.q.data(), all_.p.data());
  }
}

// rate_ ← those at the stages, without constraints.
template <int W>
void LobattoRun<W>::evaluate_forces(const Given& given) {
  const ForceSource& forces = given.forces;
  if (together_) {
    momentum_rate(m_, {all_.q.data(), all_.v.data()}, {forces.tau, forces.inputs}, all_.force.data(), all_.w);
  } else {
    for (int i = 0; i < stages_; ++i) {
      for (int k = 0; k < m_.nq; ++k) one_.q[k] = all_.q[k][i];
      for (int k = 0; k < m_.nv; ++k) one_.p[k] = all_.p[k][i];
      velocity_of_momentum<1>(m_, one_.q.data(), one_.p.data(), one_.v.data(), one_.w);
      if (forces.varies() && all_finite(one_.q.data(), m_.nq) && all_finite(one_.v.data(), m_.nv))
        forces.update(given.t + pair_.positions.c[i] * given.h, one_.q.data(), one_.v.data());
      momentum_rate(m_, {one_.q.data(), one_.v.data()}, {forces.tau, forces.inputs}, one_.force.data(), one_.w);
      for (int lane = i; lane < (i == stages_ - 1 ? W : i + 1); ++lane)
        for (int k = 0; k < m_.nv; ++k) all_.force[k].set(lane, one_.force[k]);
    }
  }
  charts_.rates(z_.data(), all_.q.data(), all_.p.data(), all_.v.data(), all_.force.data(), rate_.data());
}

// The iteration found no stages, and this is what it left most of.
template <int W>
bool LobattoRun<W>::lose() {
  report_.worst = residual_.worst(gained_, gained_before_);
  return fail();
}

template <int W>
bool LobattoRun<W>::fail() {
  known_ = false;
  return false;
}

template <int W>
bool LobattoRun<W>::finish(const Given& given) {
  const double h = given.h;
  for (int k = 0; k < size_; ++k) change_[k] = change(k, h);
  charts_.centre(change_.data(), start_.data());
  for (int k = 0; k < 2 * m_.nv; ++k) end_[k] = start_[k] + change_[k];
  if (!all_finite(end_.data(), 2 * m_.nv)) return fail();
  report_impulses(h);
  charts_.finish(change_.data(), end_.data(), state_.q.data(), state_.x.data());
  if (given.motion.rates) {
    const PrescribedMotion end = given.motion.from_stage(m_, stages_ - 2);
    constraints_.settle(end.targets, state_.q.data());
    std::copy(end.rates, end.rates + m_.nv, state_.rates.begin());
  }
  // The impulses of the end that x leaves out are those of half a step of this length.
  state_.last_step_length = 2 * pair_.positions.b[stages_ - 1] * h;
  last_ = rate_, last_lambda_ = lambda_;
  t_last_ = given.t, h_last_ = h, known_ = true;
  return true;
}

// Forces at the beginning: impulses there over the time for which they stand, in this step and the one before.
template <int W>
void LobattoRun<W>::report_impulses(double h) {
  const double weight = pair_.positions.b[0] * h, share = weight / (weight + 0.5 * state_.last_step_length);
  std::vector<double> forces(lambda_.begin(), lambda_.begin() + constraints_.count());
  for (double& f : forces) f *= share;
  constraints_.share(forces.data());
  std::copy(forces.begin(), forces.begin() + m_.rows, report_.multipliers.begin());
  constraints_.reactions(forces.data(), report_.reactions);
}

// Of the velocities' mode of the highest degree: what is not resolved is less.
template <int W>
double LobattoRun<W>::unresolved_energy(double) {
  double sum = 0;
  for (int j = 0; j < m_.nv; ++j) {
    double v = 0, p = 0;
    for (int i = 0; i < stages_; ++i) v += pair_.highest[i] * rate_[j][i], p += pair_.highest[i] * z_[m_.nv + j][i];
    sum += v * p;
  }
  return 0.5 * std::fabs(sum) / (2 * stages_ - 1);
}

template class LobattoRun<4>;
template class LobattoRun<8>;

std::unique_ptr<Run> lobatto_run(const Model& m, const MethodOptions& options, int stages,
                                 std::unique_ptr<Run> composition) {
  if (stages > 4) return std::make_unique<LobattoRun<8>>(m, options, stages, std::move(composition));
  return std::make_unique<LobattoRun<4>>(m, options, stages, std::move(composition));
}

}  // namespace symplectree
