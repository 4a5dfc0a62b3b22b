#include "integrators/actuated_run.hpp"

#include "kinematics/configurations.hpp"
#include "model/potential.hpp"
#include "model/rows/all_rows.hpp"
#include "model/user_elements.hpp"

namespace symplectree {
namespace {

constexpr std::size_t kVariants = 64;  // that are kept

// Forces whose controls are clamped into `controls`.
class ClampedControls final : public ForceSource {
 public:
  ClampedControls(const ForceSource& own, const Model& m, std::vector<double>& controls)
      : ForceSource(own.tau, controls.data()), own_(own), m_(m), controls_(controls) {
    clamp_controls(m, own.inputs, controls.data());
  }
  bool varies() const override { return own_.varies(); }
  void update(double t, const double* q, const double* v) const override {
    own_.update(t, q, v);
    clamp_controls(m_, own_.inputs, controls_.data());
  }

 private:
  const ForceSource& own_;
  const Model& m_;
  std::vector<double>& controls_;
};

}  // namespace

std::unique_ptr<Run> run_with_limits(const Model& m, const RunMaker& make) {
  if (!has_limited_actuators(m)) return make(m);
  return std::make_unique<ActuatedRun>(m, make);
}

ActuatedRun::ActuatedRun(const Model& m, RunMaker make)
    : m_(m), make_(std::move(make)), plain_(make_(m)), run_(plain_.get()), limits_(no_limits(m)), report_(m),
      prescribed_(m.nv), q_(m.nq), v_(m.nv), controls_(m.inputs + 1) {}

void ActuatedRun::set_prescribed(const std::vector<char>& velocities) {
  prescribed_ = velocities;
  plain_->set_prescribed(velocities);
  for (auto& [limits, variant] : variants_) variant.run->set_prescribed(velocities);
}

void ActuatedRun::reset(const double* q, const double* x, const double* rates) {
  run_->reset(q, x, rates);
  h_ = 0, updated_ = false;
}

void ActuatedRun::limit_unresolved(double energy, double scale) { run_->limit_unresolved(energy, scale); }

void ActuatedRun::go_back(const RunState& state) {
  run_->go_back(state);
  h_ = 0;
}

bool ActuatedRun::step(double t, double h, const ForceSource& forces, const PrescribedMotion& motion) {
  const ClampedControls clamped(forces, m_, controls_);
  const JointState<double> at{state().q.data(), v_.data()};
  const bool unknown = forces.varies() && !updated_;
  if (unknown || !estimate_velocity(h_) || !is_within_limits(m_, at, controls_.data())) {
    velocity(v_.data());
    if (unknown) clamped.update(t, at.q, at.v);
    updated_ = true;
    take_over(limits_reached(m_, at, controls_.data()));
  } else {
    take_over(ActuatorLimits(limits_.size()));
  }
  std::copy(state().q.begin(), state().q.end(), q_.begin());
  const bool done = run_->step(t, h, clamped, motion);
  h_ = done ? h : 0;
  report_ = run_->report();
  report_.iterations += iterations_;
  return done;
}

bool ActuatedRun::estimate_velocity(double h) {
  if (h == 0) return false;
  increments(m_, q_.data(), state().q.data(), v_.data());
  for (double& v : v_) v /= h;
  return true;
}

void ActuatedRun::take_over(const ActuatorLimits& limits) {
  if (limits == limits_) return;
  Run& next = variant(limits);
  const RunState& start = state();
  next.reset(start.q.data(), start.x.data(), start.rates.data());
  next.set_last_step_length(start.last_step_length);
  iterations_ += run_->report().iterations - next.report().iterations;
  run_ = &next, limits_ = limits;
}

Run& ActuatedRun::variant(const ActuatorLimits& limits) {
  if (limits == ActuatorLimits(limits.size())) return *plain_;
  if (const auto found = variants_.find(limits); found != variants_.end()) return *found->second.run;
  if (variants_.size() >= kVariants)
    std::erase_if(variants_, [this](const auto& entry) { return entry.second.run.get() != run_; });
  Variant& made = variants_[limits];
  made.model = at_limits(m_, limits);
  made.run = make_(made.model);
  made.run->set_prescribed(prescribed_);
  return *made.run;
}

void ActuatedRun::carry(RunMemory& memory) {
  memory(limits_, q_, h_, updated_);
  if (memory.reading()) run_ = &variant(limits_);
  run_->carry(memory);
}

}  // namespace symplectree
