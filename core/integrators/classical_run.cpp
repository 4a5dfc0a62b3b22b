// Runs of the explicit methods of classical.hpp. Constraints hold their accelerations only (JM09 (36)).
#include "integrators/classical.hpp"

#include <algorithm>
#include <cmath>

#include "integrators/make_run.hpp"
#include "integrators/state_dynamics.hpp"

namespace symplectree {
namespace {

constexpr double kLargest = 1e100;  // beyond, a motion has come apart, and products of such numbers are not finite

class ClassicalRun final : public Run {
 public:
  ClassicalRun(const Model& m, ClassicalMethod method)
      : m_(m), method_(method), state_(m), report_(m), prescribed_(m), dynamics_(m), scratch_(3 * (m.nq + m.nv)) {}

  void set_prescribed(const std::vector<char>& velocities) override {
    marks_ = velocities;
    prescribed_.set(velocities);
    dynamics_.set_prescribed(velocities);
  }

  void reset(const double* q, const double* v, const double*) override {
    std::copy(q, q + m_.nq, state_.q.begin());
    std::copy(v, v + m_.nv, state_.x.begin());
  }

  bool step(double t, double h, const ForceSource& forces, const PrescribedMotion& motion) override {
    const auto acceleration = [&](double at, const double* q, const double* v, double* a) {
      if (forces.varies()) forces.update(at, q, v);
      if (prescribed_.any()) {
        const int part = static_cast<int>(std::lround(2 * (at - t) / h));
        const double* given = motion.accelerations + static_cast<std::size_t>(part) * m_.nv;
        std::copy(given, given + m_.nv, a);
      }
      dynamics_.acceleration(q, v, forces.tau, forces.inputs, a);
      if (at != t || dynamics_.is_free()) return;
      report_.multipliers = dynamics_.multipliers();
      if (prescribed_.any()) dynamics_.reactions(q, v, a, forces.tau, forces.inputs, report_.reactions.data());
    };
    double *q = state_.q.data(), *v = state_.x.data();
    if (method_ == ClassicalMethod::SemiImplicitEuler) {
      step_semi_implicit(m_, acceleration, {t, h}, q, v, scratch_.data());
    } else {
      step_rk4(m_, acceleration, {t, h}, q, v, scratch_.data());
    }
    prescribed_.place(motion.targets, q);
    for (int j = 0; prescribed_.any() && j < m_.nv; ++j)
      if (marks_[j]) v[j] = motion.rates[j];
    const auto ends = [](double x) { return std::fabs(x) < kLargest; };
    return std::all_of(state_.q.begin(), state_.q.end(), ends) && std::all_of(v, v + m_.nv, ends);
  }

  void velocity(double* v) override { std::copy(state_.x.begin(), state_.x.end(), v); }
  void carry(RunMemory& memory) override { state_.carry(memory); }
  const RunState& state() const override { return state_; }
  const RunReport& report() const override { return report_; }

 private:
  const Model& m_;
  ClassicalMethod method_;
  RunState state_;
  RunReport report_;
  PrescribedCoordinates prescribed_;
  std::vector<char> marks_;  // of each velocity: its coordinate is prescribed
  StateDynamics dynamics_;
  std::vector<double> scratch_;
};

}  // namespace

std::unique_ptr<Run> classical_run(const Model& m, ClassicalMethod method) {
  return std::make_unique<ClassicalRun>(m, method);
}

}  // namespace symplectree
