#include "integrators/contact_run.hpp"

#include <cmath>

#include "elements/element_forces.hpp"
#include "integrators/before_impulse.hpp"
#include "kinematics/configurations.hpp"
#include "kinematics/poses_twists.hpp"
#include "model/rows/all_rows.hpp"

namespace symplectree {
namespace {

constexpr int kIterations = 40;    // of the impulses of a step
constexpr double kSolved = 1e-11;  // of impulses, relative to the largest
constexpr double kStill = 1e-13,
                 kStillInLoops = 1e-12;  // what may be left of gaps and displacements, where no less is found
constexpr int kPatience = 3;             // iterations with a slope of steps before
constexpr int kEvents = 16;              // impacts that are located in one step, where they take energy,
constexpr int kElastic = 4096;           // and where they do not
constexpr double kNear = 3e-11;          // what may be left where iterations no longer help [m or rad]
constexpr int kHalvings = 5;             // of steps, at most, before they are taken roughly

}  // namespace

ContactRun::ContactRun(const Model& m, std::unique_ptr<Run> free, bool located, int halvings)
    : m_(m), run_(std::move(free)), located_(located),
      conservative_(!has_damping(m) && m.actuators.empty() && m.joint_frictions.empty()), unilateral_(m), dynamics_(m),
      start_(m), first_(m), begin_(m), end_(m), system_(m, unilateral_, dynamics_), impulse_(m.nv), moved_(m.nv),
      v_(m.nv), a_(m.nv), change_(m.nv), v0_(m.nv) {
  bare_ = halvings == 0, share_ = std::ldexp(1.0, -std::min(halvings, kHalvings));
  still_ = m.rows > 0 ? kStillInLoops : kStill;
  impacts = std::make_shared<std::vector<ImpactRecord>>();
}

void ContactRun::set_prescribed(const std::vector<char>& velocities) {
  run_->set_prescribed(velocities);
  dynamics_.set_prescribed(velocities);
  unilateral_.set_prescribed(velocities);
}

void ContactRun::reset(const double* q, const double* x, const double* rates) {
  run_->reset(q, x, rates);
  known_ = built_ = false, longest_ = 0;
  active_.clear(), slope_.forget();
}

void ContactRun::go_back(const RunState& state) {
  run_->go_back(state);
  known_ = built_ = false;
}

void ContactRun::place(const double* q, Workspace<double>& at) const {
  if (unilateral_.has_contacts()) compute_poses(m_, q, at);
}

bool ContactRun::step(double t, double h, const ForceSource& forces, const PrescribedMotion& motion) {
  first_ = state();
  const std::vector<Unilateral> before = active_;
  begun_ = t;
  forget_impacts();  // of steps that were not to be
  if (trace_) trace_->clear();
  longest_ = std::max(longest_, std::fabs(h));
  const bool halves = !last_ && std::fabs(h) > 1.001 * share_ * longest_, taken = advance({t, h, &forces, motion});
  if (taken && (bare_ || !halves || !gains() || is_damped({t, h, &forces, motion}))) return true;
  forget_impacts();
  go_back(first_);
  active_ = before;  // for their impulses
  if (bare_ || halves) return false;
  if (take_roughly({t, h, &forces, motion})) return true;
  go_back(first_);
  active_ = before;
  return false;
}

void ContactRun::forget_impacts() {
  while (!impacts->empty() && impacts->back().begin >= begun_) impacts->pop_back();
}

bool ContactRun::advance(const Span& whole) {
  Span left = whole;
  added_ = energy_ = held_ = 0;
  double elapsed = 0;      // of `left`, where the last impact was, of a step that is taken as a whole
  bool reflected = false;  // is `start_` where a reflected motion would have begun?
  for (int event = 0, elastic = 0;;) {
    if (!reflected && !find_closed() && located_) {  // they touch and approach: an impact at once
      if (!impact(left, 0, left.h)) return false;
      find_closed();
    }
    start_ = state();
    if (!take(left, located_ && event < kEvents)) return false;
    if (met_.empty()) {
      note_stage(ContactStage::Kind::Step, start_, left.h);
      break;
    }
    const bool flight = active_.empty();
    const std::vector<Unilateral> met = met_;
    const double time = find_impact(left, elapsed);
    if (time < 0) {  // they cannot be told apart from the beginning: impulses there have to do
      run_->go_back(start_);
      if (!take(left, false)) return false;
      note_stage(ContactStage::Kind::Step, start_, left.h);
      break;
    }
    met_ = met;
    note_stage(ContactStage::Kind::Located, start_, time);
    if (!impact(left, time, left.h - time)) return false;
    elastic_ ? ++elastic : ++event;
    if (elastic > kElastic) return false;
    if (flight && !stays_ && conservative_ && !left.forces->varies() && !dynamics_.has_prescribed()) {
      const Span back = left.part(time, -time);
      note_stage(ContactStage::Kind::Back, state(), -time);
      if (!run_->step(back.t, back.h, *back.forces, back.motion)) return false;
      elapsed = time, reflected = true;
    } else {
      left = left.part(time, left.h - time);
      elapsed = 0, reflected = false, known_ = false;
      if (!(left.h > 1e-12 * whole.h)) break;
    }
  }
  if (located_ && meets_at_end() && !impact(left, left.h, 0)) return false;
  if (!project_end(left.h, false)) return false;
  if (!impacts->empty() && impacts->back().begin >= begun_) added_ = 0;
  return true;
}

// Does anything touch at the end of the step that was open, and approach?
bool ContactRun::meets_at_end() {
  std::vector<Unilateral> fresh;
  for (const Unilateral& u : touching_)
    if (!find(active_, u)) fresh.push_back(u);
  if (fresh.empty()) return false;
  system_.build(fresh, state().q.data(), end_), built_ = false;
  run_->velocity(v_.data());
  system_.rates(v_, y_);
  return approaches(fresh, y_);
}

bool ContactRun::approaches(const std::vector<Unilateral>& parts, const std::vector<double>& rate) const {
  int at = 0;
  for (const Unilateral& u : parts) {
    if (u.source != Unilateral::Source::Friction && rate[at] < -kResting) return true;
    at += unilateral_.rows(u);
  }
  return false;
}

bool ContactRun::find_closed() {
  const double* q = state().q.data();
  if (known_) return true;
  std::vector<Unilateral> now;
  place(q, begin_);
  unilateral_.add_frictions(now);
  unilateral_.find(q, begin_, kTouching, now);
  for (Unilateral& u : now)
    if (const Unilateral* before = find(active_, u)) u.take_impulses(*before);
  active_ = std::move(now);
  known_ = true;
  built_ = active_.empty();
  if (built_) return true;
  system_.build(active_, q, begin_), built_ = true;
  run_->velocity(v_.data());
  system_.rates(v_, y_);
  const bool rest = !approaches(active_, y_);
  drop_separating(y_);
  return rest;
}

// What moves apart is not at rest: should it meet again, that is another impact.
void ContactRun::drop_separating(const std::vector<double>& rate) {
  std::size_t kept = 0;
  int at = 0;
  for (const Unilateral& u : active_) {
    const bool stays = u.source == Unilateral::Source::Friction || !located_ || rate[at] <= kResting;
    at += unilateral_.rows(u);
    if (stays) active_[kept++] = u;
  }
  if (kept == active_.size()) return;
  active_.resize(kept, {Unilateral::Source::Friction, 0});
  built_ = false;
}

bool ContactRun::take(const Span& span, bool only_closed) {
  const double h = span.h;
  forces_ = span.forces;
  if (!active_.empty() && !built_) system_.build(active_, start_.q.data(), begin_), built_ = true;
  slope_.keep_for(h, active_);
  take_impulses(&Unilateral::begin, x_);
  bounces_.clear();
  run_->velocity(v0_.data());
  double before = INFINITY;
  for (int k = 0; k < kIterations; ++k) {
    if (k > 0) run_->go_back(start_);
    system_.impulse(x_, impulse_);
    if (!active_.empty()) run_->kick(impulse_.data());
    if (span.forces->varies()) system_.velocity(start_.q.data(), impulse_.data(), change_.data());
    if (!run_->step(span.t, h, BeforeImpulse(*span.forces, span.t, change_), span.motion)) return false;
    const bool grown = evaluate_step(only_closed);
    if (active_.empty()) return true;
    if (grown) system_.build(active_, start_.q.data(), begin_), slope_.forget();
    if (grown || k == 0) system_.begin(active_, h, problem_);
    const int n = problem_.rows();
    if (!slope_.is_known() || k == kPatience || k == 4 * kPatience) {
      slope_.find(h, active_, system_, *run_);
    } else if (k > 0) {
      for (int i = 0; i < n; ++i) last_x_[i] = x_[i] - last_x_[i], last_y_[i] = y_[i] - last_y_[i];
      slope_.learn(system_.groups, last_x_, last_y_);
    }
    last_x_.resize(n);
    problem_.x = x_;
    system_.groups.copy(slope_.data(), 1, problem_.W.data());
    for (int i = 0; i < n; ++i) last_x_[i] = -x_[i];
    system_.groups.multiply(problem_.W.data(), last_x_.data(), y_.data(), problem_.y0.data());
    problem_.prepare();
    const double remains = problem_.residual(y_.data(), x_.data());
    const double left = problem_.violation(y_.data(), x_.data());
    const bool stands = k > 1 && !(remains < 0.5 * before), small = left <= (k > 2 * kPatience ? kNear : still_);
    if (!grown && ((small && stands) || is_solved())) return keep_begin(h), true;
    if (!std::isfinite(remains) || (k > 5 * kPatience && !(remains < 0.9 * before))) return false;
    before = remains;
    last_x_ = x_, last_y_ = y_;
    if (!problem_.solve() && small && !grown) return keep_begin(h), true;  // redundant rows differ by rounding
    x_ = problem_.x;                                                       // or the best there is
  }
  return false;
}

// Impulses of the active parts, at the beginning or the end, ← those in x.
void ContactRun::keep_impulses(const std::vector<double>& x, double (Unilateral::*of)[3]) {
  int at = 0;
  for (Unilateral& u : active_) {
    std::copy(&x[at], &x[at] + unilateral_.rows(u), u.*of);
    at += unilateral_.rows(u);
  }
}

// And the other way round.
void ContactRun::take_impulses(double (Unilateral::*of)[3], std::vector<double>& x) const {
  x.clear();
  for (const Unilateral& u : active_) x.insert(x.end(), u.*of, u.*of + unilateral_.rows(u));
}

bool ContactRun::evaluate_step(bool only_closed) {
  const double *q0 = start_.q.data(), *q1 = state().q.data();
  place(q1, end_);
  touching_.clear(), met_.clear();
  unilateral_.find(q1, end_, kTouching, touching_);
  bool grown = false;
  for (const Unilateral& u : touching_) {
    if (u.gap >= -kLeastOverlap || find(active_, u)) continue;
    if (only_closed) {
      met_.push_back(u);
      continue;
    }
    active_.push_back(u);
    unilateral_.hold(active_.back(), q0, begin_);
    x_.insert(x_.end(), unilateral_.rows(u), 0.0);
    grown = true;
  }
  if (active_.empty()) return false;
  increments(m_, q0, q1, moved_.data());
  y_.resize(x_.size());
  int at = 0;
  for (const Unilateral& u : active_) {
    unilateral_.value(u, begin_, q1, end_, moved_.data(), &y_[at]);
    at += unilateral_.rows(u);
  }
  return grown;
}

bool ContactRun::is_solved() const {
  const double scale = problem_.scale();
  int at = 0;
  std::vector<double> allowed(x_.size());
  for (const Unilateral& u : active_) {
    const double noise = unilateral_.noise(u, state().q.data(), end_);
    for (int k = 0; k < unilateral_.rows(u); ++k, ++at)
      allowed[at] = std::max(kSolved * scale, problem_.step(at) * noise);
  }
  return problem_.is_within(y_.data(), x_.data(), allowed.data());
}

void ContactRun::note_stage(ContactStage::Kind kind, const RunState& from, double length) {
  if (!trace_) return;
  ContactStage stage{kind, from.q, from.x, length};
  if (kind != ContactStage::Kind::Back) stage.parts = active_, stage.x = x_, stage.y = y_;
  for (Unilateral u : met_) {
    if (kind != ContactStage::Kind::Located) break;
    unilateral_.hold(u, state().q.data(), end_);
    if (stage.met.empty() || u.gap < stage.met[0].gap) stage.met.assign(1, u);
  }
  trace_->push_back(std::move(stage));
}

void ContactRun::carry(RunMemory& memory) {
  run_->carry(memory);
  std::vector<double> numbers;
  for (const Unilateral& u : active_) {
    for (const int n : {static_cast<int>(u.source), u.index, u.id}) numbers.push_back(n);
    numbers.insert(numbers.end(), u.begin, u.begin + 3);
    numbers.insert(numbers.end(), u.end, u.end + 3);
  }
  memory(numbers);
  slope_.carry(memory), problem_.carry(memory), end_problem_.carry(memory);
  if (!memory.reading()) return;
  active_.clear(), known_ = built_ = false;
  for (std::size_t k = 0; k + 9 <= numbers.size(); k += 9) {
    const auto whole = [&](std::size_t i) { return static_cast<int>(numbers[k + i]); };
    Unilateral u{static_cast<Unilateral::Source>(whole(0)), whole(1), whole(2)};
    std::copy(&numbers[k + 3], &numbers[k + 6], u.begin), std::copy(&numbers[k + 6], &numbers[k + 9], u.end);
    active_.push_back(u);
  }
}

}  // namespace symplectree
