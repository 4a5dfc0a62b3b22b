#include "integrators/force_function_run.hpp"

#include "elements/joint_force.hpp"
#include "integrators/end_damping.hpp"
#include "kinematics/poses_twists.hpp"
#include "model/rows/all_rows.hpp"

namespace symplectree {
namespace {

constexpr double kStrong = 0.5;     // ζ from which C is taken out of the function, as for dampers
constexpr double kFeeding = 0.25;   // −ζ from which a function is told to feed energy
constexpr int kWait = 8;            // steps until C is estimated again
constexpr double kNudge = 1e-4;     // rad/s or m/s, by which velocities differ
constexpr double kDiagonal = 1e-6;  // relative to the largest: what others count as none

// tau = f + C v; `drag` (nv) is the C v of the last update.
class LessDamped final : public ForceSource {
 public:
  LessDamped(const ForceSource& own, const std::vector<double>& C, std::vector<double>& drag)
      : ForceSource(nullptr, own.inputs), own_(own), C_(C), drag_(drag), tau_(drag) {
    for (std::size_t i = 0; i < tau_.size(); ++i) tau_[i] += own.tau[i];
    tau = tau_.data();
  }
  bool varies() const override { return true; }
  void update(double t, const double* q, const double* v) const override {
    own_.update(t, q, v);
    const std::size_t n = tau_.size();
    for (std::size_t i = 0; i < n; ++i) {
      drag_[i] = 0;
      for (std::size_t j = 0; j < n; ++j) drag_[i] += C_[n * i + j] * v[j];
      tau_[i] = own_.tau[i] + drag_[i];
    }
  }

 private:
  const ForceSource& own_;
  const std::vector<double>& C_;
  std::vector<double>& drag_;
  mutable std::vector<double> tau_;
};

// The force −C v on all velocities.
UserElement dampers(const std::vector<double>& C, int n) {
  UserElement u;
  u.kind = UserElement::Force;
  for (int j = 0; j < n; ++j) u.v.push_back(j);
  u.first_row = u.rows = 0, u.owner = -1;
  u.evaluate = [C, n](int, const double*, const double* v, double* value, double* first, double* second) {
    for (int i = 0; i < n; ++i) {
      value[i] = 0;
      for (int j = 0; j < n; ++j) value[i] -= C[n * i + j] * v[j];
    }
    if (first) std::fill(first, first + n * n, 0.0);
    for (int e = 0; second && e < n * n; ++e) second[e] = -C[e];
  };
  return u;
}

}  // namespace

ForceFunctionRun::~ForceFunctionRun() = default;

ForceFunctionRun::ForceFunctionRun(const Model& m, std::unique_ptr<Run> plain, Maker make)
    : m_(m), model_(m), plain_(std::move(plain)), make_(std::move(make)), start_(m), report_(m), prescribed_(m.nv),
      drag_(m.nv) {
  model_.users.reserve(m.users.size() + 1);
}

void ForceFunctionRun::set_prescribed(const std::vector<char>& velocities) {
  prescribed_ = velocities;
  run().set_prescribed(velocities);
}

bool ForceFunctionRun::step(double t, double h, const ForceSource& forces, const PrescribedMotion& motion) {
  if (!forces.varies()) {
    if (damped_) C_.clear(), take_over();
    known_ = false;
    return advance(t, h, forces, motion);
  }
  if (!known_ && estimate(t, h, forces)) take_over();
  start_ = state();
  const bool done = advance(t, h, forces, motion);
  if (waiting_ > 0) --waiting_;
  if (done && (!report().stiff_end || waiting_ > 0)) return true;
  waiting_ = kWait;
  if (done) {  // the function may have changed since, and have done so within the step
    if (!estimate(t + h, h, forces)) return true;
    reset_to_start();
  } else if (!estimate(t, h, forces)) {
    return false;
  }
  take_over();
  return advance(t, h, forces, motion);
}

void ForceFunctionRun::carry(RunMemory& memory) {
  memory(C_, drag_, waiting_, feeding_, asked_, known_);
  if (memory.reading()) take_over();
  run().carry(memory);
}

void ForceFunctionRun::reset_to_start() {
  run().reset(start_.q.data(), start_.x.data(), start_.rates.data());
  run().set_last_step_length(start_.last_step_length);
}

bool ForceFunctionRun::is_strong(double t, double h, const ForceSource& forces) {
  if (forces.varies() && !known_ && estimate(t, h, forces)) take_over();
  return run().is_strong(t, h, forces);
}

bool ForceFunctionRun::advance(double t, double h, const ForceSource& forces, const PrescribedMotion& motion) {
  const bool done = damped_ && forces.varies() ? damped_->step(t, h, LessDamped(forces, C_, drag_), motion)
                                               : run().step(t, h, forces, motion);
  if (!asked_ && !forces.varies()) return done;
  asked_ = true;
  report_ = run().report();
  report_.iterations += iterations_, report_.feeding = feeding_;
  return done;
}

bool ForceFunctionRun::estimate(double t, double h, const ForceSource& forces) {
  const int n = m_.nv;
  known_ = true;
  if (inverse_.empty()) inverse_ = DampedInertia<double>(m_).of_velocity;
  std::vector<double> v(n), here(n), there(n), d(n), C;
  run().velocity(v.data());
  force_at(t, forces, v.data(), here.data());
  const auto rate_along = [&] {
    for (int j = 0; j < n; ++j) d[j] = v[j] + kNudge * d[j];
    force_at(t, forces, d.data(), there.data());
    for (int j = 0; j < n; ++j) there[j] = (there[j] - here[j]) / kNudge, d[j] = (d[j] - v[j]) / kNudge;
  };
  for (int j = 0; j < n; ++j) d[j] = (j * 2654435761u >> 8) % 2 ? 1 : -1;  // all at once: few functions are strong
  rate_along();
  if (resists(h, d.data(), there.data())) {
    C.resize(n * n);
    for (int k = 0; k < n; ++k) {
      std::fill(d.begin(), d.end(), 0.0);
      d[k] = 1;
      rate_along();
      for (int j = 0; j < n; ++j) C[n * j + k] = -there[j];
      if (0.5 * std::fabs(h) * there[k] * inverse_[k] > kFeeding) feeding_ = k;
    }
  }
  double change = 0, size = 1e-300;
  for (int e = 0; e < n * n; ++e) {
    const double now = C.empty() ? 0 : C[e], before = C_.empty() ? 0 : C_[e];
    change = std::max(change, std::fabs(now - before)), size = std::max(size, std::fabs(before));
  }
  if (!(change > 0.1 * size) || !std::isfinite(change)) {
    forces.update(t, state().q.data(), v.data());  // as the run has left them
    return false;
  }
  C_ = C;
  return true;
}

bool ForceFunctionRun::resists(double h, const double* d, const double* rate) const {
  for (int j = 0; j < m_.nv; ++j)
    if (0.5 * std::fabs(h * rate[j] * d[j]) * inverse_[j] > 0.5 * kStrong) return true;
  return false;
}

void ForceFunctionRun::force_at(double t, const ForceSource& forces, const double* v, double* out) const {
  forces.update(t, state().q.data(), v);
  std::copy(forces.tau, forces.tau + m_.nv, out);
  for (const JointForce& e : m_.joint_forces) add_force(e, forces.inputs, 1, out);
}

void ForceFunctionRun::take_over() {
  const int n = m_.nv;
  start_ = state();
  const long iterations = report().iterations;
  model_.joint_dampers.erase(model_.joint_dampers.begin() + m_.joint_dampers.size(), model_.joint_dampers.end());
  model_.users.erase(model_.users.begin() + m_.users.size(), model_.users.end());
  model_.user_forces = m_.user_forces;
  double largest = 0, beside = 0;
  for (int e = 0; e < n * n && !C_.empty(); ++e) {
    double& size = e % (n + 1) == 0 ? largest : beside;
    size = std::max(size, std::fabs(C_[e]));
  }
  if (largest > 0 && beside <= kDiagonal * largest) {
    for (int j = 0; j < n; ++j) {
      const double c = std::max(0.0, C_[(n + 1) * j]);
      std::fill(&C_[n * j], &C_[n * j] + n, 0.0);
      C_[(n + 1) * j] = c;
      if (c > 0) model_.joint_dampers.push_back({j, c, -1});
    }
  } else if (largest > 0) {
    model_.users.push_back(dampers(C_, n));
    model_.user_forces = true;
  }
  if (largest > 0) {
    damped_ = make_(model_);
    damped_->set_prescribed(prescribed_);
  } else {
    damped_.reset();
  }
  iterations_ = iterations - run().report().iterations;
  reset_to_start();
}

}  // namespace symplectree
