#include "integrators/contact_run.hpp"

#include <cmath>

#include "kinematics/configurations.hpp"
#include "model/rows/all_rows.hpp"

namespace symplectree {
namespace {

constexpr int kIterations = 40;      // of the impulses of a step
constexpr double kSolved = 1e-11;    // of impulses, relative to the largest
constexpr double kTouching = 1e-10;  // gaps that count as closed [m or rad]

// Forces that do not see the impulse at a step's beginning: there they are those of the velocity without it.
class BeforeImpulse final : public ForceSource {
 public:
  BeforeImpulse(const ForceSource& own, double begin, const std::vector<double>& change)
      : ForceSource(own.tau, own.inputs), own_(own), begin_(begin), change_(change), v_(change.size()) {}
  bool varies() const override { return own_.varies(); }
  void update(double t, const double* q, const double* v) const override {
    if (t != begin_) return own_.update(t, q, v);
    for (std::size_t j = 0; j < v_.size(); ++j) v_[j] = v[j] - change_[j];
    own_.update(t, q, v_.data());
  }

 private:
  const ForceSource& own_;
  double begin_;
  const std::vector<double>& change_;
  mutable std::vector<double> v_;
};

}  // namespace

ContactRun::ContactRun(const Model& m, std::unique_ptr<Run> free)
    : m_(m), run_(std::move(free)), unilateral_(m), dynamics_(m), report_(m), start_(m), impulse_(m.nv), column_(m.nv),
      no_rates_(m.nv), moved_(m.nv), v_(m.nv), change_(m.nv) {
  report_.unilateral_forces.assign(m.joint_limits.size() + m.joint_frictions.size(), 0.0);
}

void ContactRun::set_prescribed(const std::vector<char>& velocities) {
  run_->set_prescribed(velocities);
  dynamics_.set_prescribed(velocities);
}

void ContactRun::reset(const double* q, const double* x, const double* rates) {
  run_->reset(q, x, rates);
  known_ = built_ = false;
  active_.clear();
}

void ContactRun::go_back(const RunState& state) {
  run_->go_back(state);
  known_ = built_ = false;
}

void ContactRun::find_closed() {
  const double* q = state().q.data();
  if (!known_) {
    std::vector<Unilateral> now;
    unilateral_.add_frictions(now);
    unilateral_.add_closed(q, kTouching, now);
    for (Unilateral& u : now)
      for (const Unilateral& before : active_)
        if (u.same(before)) std::copy(before.begin, before.begin + 3, u.begin);
    active_ = std::move(now);
    known_ = true, built_ = false;
  }
  for (Unilateral& u : active_) {
    const double gap = unilateral_.gap(u, q);
    u.allowed = gap < -kOverlap ? gap : 0, u.closed = true;
  }
}

bool ContactRun::step(double t, double h, const ForceSource& forces, const PrescribedMotion& motion) {
  find_closed();
  start_ = state();
  const bool done = take(t, h, forces, motion);
  const RunReport& r = run_->report();
  std::vector<double> unilateral = std::move(report_.unilateral_forces);
  report_ = r;
  report_.unilateral_forces = std::move(unilateral);
  if (!done) {
    go_back(start_);
    return false;
  }
  project_end(h);
  return true;
}

bool ContactRun::take(double t, double h, const ForceSource& forces, const PrescribedMotion& motion) {
  if (!active_.empty() && !built_) build(start_.q.data());
  x_.clear();
  for (const Unilateral& u : active_) x_.insert(x_.end(), u.begin, u.begin + u.rows());
  slope_.clear();
  double before = INFINITY;
  for (int k = 0; k < kIterations; ++k) {
    if (k > 0) run_->go_back(start_);
    sum_impulses();
    if (!active_.empty()) run_->kick(impulse_.data());
    if (forces.varies()) dynamics_.velocity(start_.q.data(), impulse_.data(), no_rates_.data(), change_.data());
    if (!run_->step(t, h, BeforeImpulse(forces, t, change_), motion)) return false;
    const bool grown = evaluate_step();
    if (active_.empty()) return true;
    const int n = rows();
    if (grown) {
      build(start_.q.data());
      slope_.clear();
    }
    if (slope_.empty()) {
      std::vector<ConeProblem::Part> parts;
      for (const Unilateral& u : active_) parts.push_back(unilateral_.part(u, h));
      problem_.begin(parts);
      slope_.resize(W_.size());
      for (std::size_t e = 0; e < W_.size(); ++e) slope_[e] = h * W_[e];
    } else {  // Broyden's update by the last change of impulses
      double square = 0;
      for (int i = 0; i < n; ++i) square += (x_[i] - last_x_[i]) * (x_[i] - last_x_[i]);
      for (int i = 0; i < n && square > 0; ++i) {
        double* row = &slope_[static_cast<std::size_t>(n) * i];
        double off = y_[i] - last_y_[i];
        for (int j = 0; j < n; ++j) off -= row[j] * (x_[j] - last_x_[j]);
        for (int j = 0; j < n; ++j) row[j] += off / square * (x_[j] - last_x_[j]);
      }
    }
    problem_.W = slope_;
    problem_.x = x_;
    for (int i = 0; i < n; ++i) {
      problem_.y0[i] = y_[i];
      for (int j = 0; j < n; ++j) problem_.y0[i] -= slope_[static_cast<std::size_t>(n) * i + j] * x_[j];
    }
    problem_.prepare();
    if (!grown && is_solved(h)) {
      int at = 0;
      for (Unilateral& u : active_) {
        std::copy(&x_[at], &x_[at] + u.rows(), u.begin);
        at += u.rows();
      }
      return true;
    }
    const double left = problem_.residual(y_.data(), x_.data());
    if (!std::isfinite(left) || (k > 12 && !(left < 0.9 * before))) return false;
    before = left;
    last_x_ = x_, last_y_ = y_;
    if (!problem_.solve()) return false;
    x_ = problem_.x;
  }
  return false;
}

bool ContactRun::evaluate_step() {
  const double* q1 = state().q.data();
  const std::size_t before = active_.size();
  unilateral_.add_closed(q1, -1e-14, active_);
  for (std::size_t k = before; k < active_.size(); ++k) {
    Unilateral& u = active_[k];
    const double gap = unilateral_.gap(u, start_.q.data());
    u.allowed = gap < -kOverlap ? gap : 0;
    x_.insert(x_.end(), u.rows(), 0.0);
  }
  if (active_.empty()) return false;
  increments(m_, start_.q.data(), q1, moved_.data());
  y_.resize(x_.size());
  int at = 0;
  for (const Unilateral& u : active_) {
    unilateral_.value(u, q1, moved_.data(), &y_[at]);
    at += u.rows();
  }
  return active_.size() > before;
}

bool ContactRun::is_solved(double) const {
  const double scale = problem_.scale();
  int at = 0;
  std::vector<double> allowed(x_.size());
  for (const Unilateral& u : active_) {
    const double noise = unilateral_.noise(u, state().q.data());
    for (int k = 0; k < u.rows(); ++k, ++at) allowed[at] = std::max(kSolved * scale, problem_.step(at) * noise);
  }
  return problem_.is_within(y_.data(), x_.data(), allowed.data());
}

void ContactRun::build(const double* q) {
  const int nv = m_.nv;
  int n = 0;
  for (const Unilateral& u : active_) n += u.rows();
  J_.resize(static_cast<std::size_t>(n) * nv), W_.resize(static_cast<std::size_t>(n) * n);
  int at = 0;
  for (const Unilateral& u : active_) {
    unilateral_.jacobian(u, &J_[static_cast<std::size_t>(at) * nv]);
    at += u.rows();
  }
  for (int i = 0; i < n; ++i) {
    dynamics_.velocity(q, &J_[static_cast<std::size_t>(i) * nv], no_rates_.data(), column_.data());
    for (int k = 0; k < n; ++k) {
      double sum = 0;
      for (int j = 0; j < nv; ++j) sum += J_[static_cast<std::size_t>(k) * nv + j] * column_[j];
      W_[static_cast<std::size_t>(n) * k + i] = sum;
    }
  }
  built_ = true;
}

void ContactRun::sum_impulses() {
  std::fill(impulse_.begin(), impulse_.end(), 0.0);
  for (int i = 0; i < rows(); ++i)
    if (x_[i] != 0)
      for (int j = 0; j < m_.nv; ++j) impulse_[j] += x_[i] * J_[static_cast<std::size_t>(i) * m_.nv + j];
}

void ContactRun::project_end(double h) {
  const double* q1 = state().q.data();
  std::fill(report_.unilateral_forces.begin(), report_.unilateral_forces.end(), 0.0);
  // Of those that had an impulse or touch now.
  std::erase_if(active_, [&](const Unilateral& u) {
    return u.source == Unilateral::Source::Limit && !(u.begin[0] > 0) && !(unilateral_.gap(u, q1) < kTouching);
  });
  unilateral_.add_closed(q1, kTouching, active_);
  known_ = true, built_ = false;
  if (active_.empty()) return;
  build(q1);
  std::vector<ConeProblem::Part> parts;
  for (const Unilateral& u : active_) parts.push_back(unilateral_.part(u, h));
  problem_.begin(parts);
  problem_.W = W_;
  const int n = problem_.rows();
  run_->velocity(v_.data());
  int at = 0;
  for (Unilateral& u : active_)
    for (int k = 0; k < u.rows(); ++k, ++at) {
      problem_.x[at] = u.end[k];
      problem_.y0[at] = 0;
      for (int j = 0; j < m_.nv; ++j) problem_.y0[at] += J_[static_cast<std::size_t>(at) * m_.nv + j] * v_[j];
    }
  problem_.solve();
  x_ = problem_.x;
  sum_impulses();
  run_->kick(impulse_.data());
  at = 0;
  const int limits = static_cast<int>(m_.joint_limits.size());
  for (Unilateral& u : active_) {
    std::copy(&x_[at], &x_[at] + u.rows(), u.end);
    const bool limit = u.source == Unilateral::Source::Limit;
    report_.unilateral_forces[limit ? u.index : limits + u.index] = (u.begin[0] + u.end[0]) / h;
    at += u.rows();
  }
  (void)n;
}

void ContactRun::carry(RunMemory& memory) {
  run_->carry(memory);
  std::vector<double> numbers;
  for (const Unilateral& u : active_) {
    numbers.insert(numbers.end(), {static_cast<double>(u.source), static_cast<double>(u.index)});
    numbers.insert(numbers.end(), u.begin, u.begin + 3);
    numbers.insert(numbers.end(), u.end, u.end + 3);
  }
  memory(numbers, known_);
  if (!memory.reading()) return;
  active_.clear(), built_ = false;
  for (std::size_t k = 0; k + 8 <= numbers.size(); k += 8) {
    Unilateral u{static_cast<Unilateral::Source>(static_cast<int>(numbers[k])), static_cast<int>(numbers[k + 1])};
    std::copy(&numbers[k + 2], &numbers[k + 5], u.begin), std::copy(&numbers[k + 5], &numbers[k + 8], u.end);
    active_.push_back(u);
  }
}

}  // namespace symplectree
