#include "integrators/guesses.hpp"

#include "kinematics/configurations.hpp"

namespace symplectree {

StepGuesses::StepGuesses(const Model& m, const PrescribedCoordinates& prescribed, StateDynamics& dynamics)
    : m_(m), prescribed_(prescribed), dynamics_(dynamics), d_(m.nv), v_(m.nv), a_(m.nv) {
  for (auto& d : increment_) d.resize(m.nv);
}

void StepGuesses::guess(Guess kind, double h, const RunState& at, const ForceSource& forces, const double* target,
                        double* q1) {
  const int n = m_.nv;
  const auto &d0 = increment_[0], &d1 = increment_[1], &d2 = increment_[2];
  if (kind == Guess::Extrapolate && known_ < 3) kind = Guess::Acceleration;
  switch (kind) {
    case Guess::Extrapolate:
      for (int j = 0; j < n; ++j) d_[j] = 3 * (d0[j] - d1[j]) + d2[j];
      break;
    case Guess::Current: std::fill(d_.begin(), d_.end(), 0.0); break;
    case Guess::Velocity:
    case Guess::Acceleration:
      dynamics_.velocity(at.q.data(), at.x.data(), at.rates.data(), v_.data());
      for (int j = 0; j < n; ++j) d_[j] = h * v_[j];
      if (kind == Guess::Velocity) break;
      accelerate(h, at, forces, target);
      for (int j = 0; j < n; ++j) d_[j] += 0.5 * h * h * a_[j];
      break;
  }
  retract(m_, at.q.data(), d_.data(), q1);
  prescribed_.place(target, q1);
}

void StepGuesses::accelerate(double h, const RunState& at, const ForceSource& forces, const double* target) {
  if (!dynamics_.is_free()) {
    increments(m_, at.q.data(), target, a_.data());
    for (int j = 0; j < m_.nv; ++j) a_[j] = 2 / (h * h) * (a_[j] - h * v_[j]);
  }
  dynamics_.acceleration(at.q.data(), v_.data(), forces.tau, forces.inputs, a_.data());
}

const std::vector<double>& StepGuesses::remember(const double* q0, const double* q1) {
  for (int k = 3; k > 0; --k) std::swap(increment_[k], increment_[k - 1]);
  increments(m_, q0, q1, increment_[0].data());
  known_ = std::min(known_ + 1, 4);
  return increment_[0];
}

}  // namespace symplectree
