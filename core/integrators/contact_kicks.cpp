// Impulses of a ContactRun at the ends of its steps: with restitution where impacts are not located, and what the
// impulses of a step do to the energy.
#include <cmath>

#include "integrators/contact_run.hpp"

namespace symplectree {
namespace {

constexpr double kGain = 1e-5;    // what kicks may add to the energy in a step, of the kinetic one,
constexpr double kRise = 0.1;     // and of what the first of them adds
constexpr double kBounce = 1e-9;  // what they may add where something bounces, of the kinetic energy,
constexpr double kShare = 1e-6;   // and how near that is met by taking a share of the bounces

}  // namespace

// What contact truly adds is small beside the kick that holds a weight through half a step.
bool ContactRun::gains() const { return added_ > kGain * energy_ + kRise * held_; }

bool ContactRun::take_roughly(const Span& whole) {
  start_ = first_;
  active_.clear(), x_.clear(), y_.clear(), bounces_.clear();
  if (!run_->step(whole.t, whole.h, *whole.forces, whole.motion)) return false;
  evaluate_step(true);
  if (!project_end(whole.h, true)) return false;
  impacts->push_back({whole.t + whole.h, begun_, kRough, 0, 0, {}, {}, 0});
  return true;
}

// The impulses x_ at the beginning, and what they do.
void ContactRun::keep_begin(double h) {
  keep_impulses(x_, &Unilateral::begin);
  system_.rates(v0_, rates_);
  added_ = work(rates_, x_), held_ = std::fabs(added_), energy_ = 0;
  for (int j = 0; j < m_.nv; ++j) energy_ += 0.5 * v0_[j] * start_.x[j];
  if (!located_) find_bounces(h);
}

void ContactRun::find_bounces(double h) {
  bool known = false;
  std::vector<double> pressed;  // rates of rates, where nothing touches
  int at = 0;
  for (const Unilateral& u : active_) {
    const double e = u.source == Unilateral::Source::Friction ? 0 : unilateral_.restitution(u), speed = rates_[at];
    if (e > 0 && speed < -kResting && x_[at] > 0) {
      if (!known) {
        dynamics_.acceleration(start_.q.data(), v0_.data(), forces_->tau, forces_->inputs, a_.data());
        system_.rates(a_, pressed), known = true;
      }
      // All bounces to come, were they to end within the step, are this one.
      if (e == 1 || -2 * e * speed > -pressed[at] * (1 - e) * h) bounces_.push_back({u, e * speed});
    }
    at += unilateral_.rows(u);
  }
}

void ContactRun::add_bounces(double share, std::vector<double>& rates) const {
  int at = 0;
  for (const Unilateral& u : active_) {
    for (const auto& [part, speed] : bounces_)
      if (u.same(part)) rates[at] += share * speed;
    at += unilateral_.rows(u);
  }
}

double ContactRun::work(const std::vector<double>& u, const std::vector<double>& x) const {
  std::vector<double> after(x.size());
  system_.groups.multiply(system_.W.data(), x.data(), u.data(), after.data());
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += 0.5 * x[i] * (u[i] + after[i]);
  return sum;
}

bool ContactRun::project_end(double h, bool rough) {
  const double* q1 = state().q.data();
  std::vector<Unilateral> now;
  unilateral_.add_frictions(now);
  now.insert(now.end(), touching_.begin(), touching_.end());
  for (Unilateral& u : now)
    if (const Unilateral* before = find(active_, u)) u.take_impulses(*before);
  active_ = std::move(now);
  std::swap(begin_, end_);
  known_ = built_ = true;
  if (active_.empty()) return true;
  system_.build(active_, q1, begin_);
  system_.begin(active_, h, end_problem_);
  run_->velocity(v_.data());
  system_.rates(v_, rates_);
  const double before_end = added_;
  for (double low = 0, high = 1, share = 1;;) {  // less restitution where energy would grow
    end_problem_.y0 = rates_;
    add_bounces(share, end_problem_.y0);
    take_impulses(&Unilateral::end, end_problem_.x);
    if (!end_problem_.solve()) {
      if (!rough) return false;
      subdue(end_problem_.x, end_problem_.y0);
    }
    added_ = before_end + work(rates_, end_problem_.x);
    if (bounces_.empty() || share == 0) break;
    const bool grows = added_ > kBounce * energy_;
    if (!grows && (share == 1 || high - share < kShare)) break;
    (grows ? high : low) = share;
    share = high - low < kShare ? low : 0.5 * (low + high);
  }
  system_.impulse(end_problem_.x, impulse_);
  const std::vector<double> before = trace_ ? state().x : std::vector<double>();
  run_->kick(impulse_.data());
  keep_impulses(end_problem_.x, &Unilateral::end);
  y_.resize(end_problem_.x.size());
  system_.groups.multiply(system_.W.data(), end_problem_.x.data(), end_problem_.y0.data(), y_.data());
  if (trace_) {
    ContactStage stage{ContactStage::Kind::End, state().q, before, h};
    stage.parts = active_, stage.x = end_problem_.x, stage.y = y_, stage.bounces = !bounces_.empty();
    trace_->push_back(std::move(stage));
  }
  drop_separating(y_);
  return true;
}

// Impulses that are no solution, made smaller until they take energy.
void ContactRun::subdue(std::vector<double>& x, const std::vector<double>& u) const {
  double along = 0, energy = work(u, x);
  for (std::size_t i = 0; i < x.size(); ++i) along += x[i] * u[i];
  const double square = 2 * (energy - along);  // xᵀ W x
  const double share = energy <= 0 ? 1 : along < 0 && square > 0 ? std::min(1.0, -along / square) : 0;
  for (double& impulse : x) impulse = std::isfinite(energy) ? share * impulse : 0;
}

}  // namespace symplectree
