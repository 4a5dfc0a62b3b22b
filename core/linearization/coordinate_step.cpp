// Steps as maps of plain numbers.
#include "linearization/coordinate_step.hpp"

#include <cstdio>
#include <limits>

#include "kinematics/configurations.hpp"
#include "kinematics/poses_twists.hpp"
#include "kinematics/quaternion_coordinates.hpp"

namespace symplectree {

static std::string text(const char* format, double x) {
  char out[32];
  std::snprintf(out, sizeof out, format, x);
  return out;
}

// One row at a time.
class NumberStep {
 public:
  // `layout`: where the coordinates of the steps lie.
  NumberStep(const Model& layout, std::unique_ptr<StepDerivatives> steps)
      : m_(layout), steps_(std::move(steps)), maps_(m_, m_.inputs ? m_.inputs : m_.nv), q_(m_.nq),
        zero_(m_.nv + m_.inputs), F_(static_cast<std::size_t>(2 * m_.nv) * steps_->inputs()),
        of_multipliers_(static_cast<std::size_t>(m_.rows) * steps_->inputs()) {}

  double residual() const { return steps_->residual(); }
  int worst() const { return steps_->worst(); }

  // False when the step has no solution.
  bool compute(const StepBuffers& at) {
    std::copy(at.q, at.q + m_.nq, q_.begin());
    normalize(m_, q_.data());
    const double *tau = m_.inputs ? zero_.data() : at.u, *inputs = m_.inputs ? at.u : zero_.data();
    if (!steps_->take({q_.data(), at.p, tau, inputs, q_.data(), zero_.data()}, at.q1, at.p1)) return false;
    for (int i : m_.quaternions) keep_sign(m_.bodies[i], at.q, at.q1);
    if (at.J) differentiate(at);
    return true;
  }

 private:
  // Of Q and −Q, which are one rotation, that nearer to the numbers given.
  static void keep_sign(const Body& b, const double* q, double* q1) {
    const int start = b.q + b.nq() - 4;
    double product = 0;
    for (int k = start; k < start + 4; ++k) product += q[k] * q1[k];
    for (int k = start; product < 0 && k < start + 4; ++k) q1[k] = -q1[k];
  }

  void differentiate(const StepBuffers& at) {
    if (maps_.trivial()) return steps_->differentiate(at.J, of_multipliers_.data(), at.H);
    if (at.H) S_.resize(F_.size() * steps_->inputs());
    steps_->differentiate(F_.data(), of_multipliers_.data(), at.H ? S_.data() : nullptr);
    maps_.place(at.q, at.q1);
    maps_.first(F_.data(), at.J);
    if (at.H) maps_.second(F_.data(), S_.data(), at.H);
  }

  const Model& m_;
  std::unique_ptr<StepDerivatives> steps_;
  NumberMaps maps_;
  std::vector<double> q_, zero_, F_, of_multipliers_, S_;  // F, S: derivatives along increments
};

NumberSteps::NumberSteps(const Model& layout, Make make, Names names, bool quiet)
    : m_(layout), make_(std::move(make)), names_(std::move(names)), quiet_(quiet), nu_(m_.inputs ? m_.inputs : m_.nv) {}

RowFailure NumberSteps::compute(std::size_t rows, StepBuffers at) {
  std::unique_ptr<NumberStep> step = borrow();
  RowFailure failure;
  for (std::size_t row = 0; row < rows; ++row, next(at)) {
    failure = refused(at);
    if (failure.text.empty() && !step->compute(at)) failure = unsolved(*step);
    if (failure.text.empty()) continue;
    if (quiet_) {
      fill(at, std::numeric_limits<double>::quiet_NaN());
      failure = {};
      continue;
    }
    if (rows > 1) failure.text += " (row " + std::to_string(row) + " of " + std::to_string(rows) + ")";
    break;
  }
  std::lock_guard lock(mutex_);
  idle_.push_back(std::move(step));
  return failure;
}

std::unique_ptr<NumberStep> NumberSteps::borrow() {
  {
    std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      auto step = std::move(idle_.back());
      idle_.pop_back();
      return step;
    }
  }
  return std::make_unique<NumberStep>(m_, make_());
}

void NumberSteps::next(StepBuffers& at) const {
  at.q += m_.nq, at.p += m_.nv, at.u += nu_, at.q1 += m_.nq, at.p1 += m_.nv;
  if (at.J) at.J += states() * numbers();
  if (at.H) at.H += states() * numbers() * numbers();
}

void NumberSteps::fill(const StepBuffers& at, double value) const {
  std::fill_n(at.q1, m_.nq, value);
  std::fill_n(at.p1, m_.nv, value);
  if (at.J) std::fill_n(at.J, states() * numbers(), value);
  if (at.H) std::fill_n(at.H, states() * numbers() * numbers(), value);
}

RowFailure NumberSteps::refused(const StepBuffers& at) const {
  const auto strange = [&](const double* x, int count, int first) {
    for (int k = 0; k < count; ++k)
      if (!std::isfinite(x[k])) return names_.numbers[first + k] + " is " + text("%g", x[k]) + "; give finite numbers";
    return std::string();
  };
  RowFailure out{strange(at.q, m_.nq, 0)};
  if (out.text.empty()) out.text = strange(at.p, m_.nv, m_.nq);
  if (out.text.empty()) out.text = strange(at.u, nu_, m_.nq + m_.nv);
  for (int i : m_.quaternions) {
    const int start = m_.bodies[i].q + m_.bodies[i].nq() - 4;
    double square = 0;
    for (int k = start; k < start + 4; ++k) square += at.q[k] * at.q[k];
    if (out.text.empty() && !(square > 1e-18))
      out.text = names_.numbers[start] + " begins a quaternion of length zero; give one that has a direction";
  }
  return out;
}

RowFailure NumberSteps::unsolved(const NumberStep& step) const {
  return {"the step has no solution that '" + names_.solver + "' finds: relative residual " +
              text("%.3g", step.residual()) + ", worst in '" + names_.equations[step.worst()] + "'; take a smaller dt",
          true, step.residual(), step.worst()};
}

NumberSteps::~NumberSteps() = default;

}  // namespace symplectree
