#include "integrators/contact_run.hpp"

#include <cmath>

#include "elements/pair_elements.hpp"
#include "kinematics/configurations.hpp"
#include "kinematics/poses_twists.hpp"
#include "model/rows/all_rows.hpp"

namespace symplectree {
namespace {

constexpr int kIterations = 40;    // of the impulses of a step
constexpr double kSolved = 1e-11;  // of impulses, relative to the largest
constexpr double kStill = 1e-13,
                 kStillInLoops = 1e-12;  // what may be left of gaps and displacements, where no less is found
constexpr double kTold = 1e-11;          // changes of gaps and displacements that say something of the slope [m or rad]
constexpr double kTouching = 1e-10;      // gaps that count as closed [m or rad]
constexpr double kOverlap = 1e-12;       // that is left alone [m or rad]
constexpr int kPatience = 3;             // iterations with a slope of steps before
constexpr double kResting = 1e-9;        // rates of gaps that count as rest [m/s or rad/s]
constexpr int kEvents = 16;              // impacts that are located in one step

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
  const ForceSource* means(double t, double h) const override { return own_.means(t, h); }

 private:
  const ForceSource& own_;
  double begin_;
  const std::vector<double>& change_;
  mutable std::vector<double> v_;
};

const Unilateral* find(const std::vector<Unilateral>& all, const Unilateral& one) {
  for (const Unilateral& u : all)
    if (u.same(one)) return &u;
  return nullptr;
}

}  // namespace

ContactRun::ContactRun(const Model& m, std::unique_ptr<Run> free, bool located)
    : m_(m), run_(std::move(free)), located_(located),
      conservative_(!m.user_forces && m.joint_dampers.empty() && !has_damped_pairs(m) && m.actuators.empty() &&
                    m.joint_frictions.empty()),
      unilateral_(m), dynamics_(m), start_(m), first_(m), begin_(m), end_(m), matrix_(m), impulse_(m.nv), column_(m.nv),
      no_rates_(m.nv), moved_(m.nv), v_(m.nv), a_(m.nv), change_(m.nv) {
  still_ = m.rows > 0 ? kStillInLoops : kStill;
  impacts = std::make_shared<std::vector<ImpactRecord>>();
}

void ContactRun::set_prescribed(const std::vector<char>& velocities) {
  run_->set_prescribed(velocities);
  dynamics_.set_prescribed(velocities);
}

void ContactRun::reset(const double* q, const double* x, const double* rates) {
  run_->reset(q, x, rates);
  known_ = built_ = false;
  active_.clear(), slope_.clear();
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
  const auto later = [t](const ImpactRecord& impact) { return impact.begin >= t; };
  begun_ = t;
  std::erase_if(*impacts, later);  // of steps that were not to be
  if (trace_) trace_->clear();
  if (advance({t, h, &forces, motion})) return true;
  std::erase_if(*impacts, later);
  go_back(first_);
  active_ = before;  // for their impulses
  return false;
}

bool ContactRun::advance(const Span& whole) {
  Span left = whole;
  double elapsed = 0;      // of `left`, where the last impact was, of a step that is taken as a whole
  bool reflected = false;  // is `start_` where a reflected motion would have begun?
  for (int event = 0;; ++event) {
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
    if (flight && conservative_ && !left.forces->varies() && !stays_) {
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
  return project_end(left.h);
}

// Does anything touch at the end of the step that was open, and approach?
bool ContactRun::meets_at_end() {
  std::vector<Unilateral> fresh;
  for (const Unilateral& u : touching_)
    if (!find(active_, u)) fresh.push_back(u);
  if (fresh.empty()) return false;
  build(fresh, state().q.data(), end_), built_ = false;
  run_->velocity(v_.data());
  rates(y_);
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
  build(active_, q, begin_), built_ = true;
  run_->velocity(v_.data());
  rates(y_);
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
  if (!active_.empty() && !built_) build(active_, start_.q.data(), begin_), built_ = true;
  x_.clear();
  if (h != slope_h_ || !same_parts()) slope_.clear();
  for (const Unilateral& u : active_) x_.insert(x_.end(), u.begin, u.begin + unilateral_.rows(u));
  double before = INFINITY;
  for (int k = 0; k < kIterations; ++k) {
    if (k > 0) run_->go_back(start_);
    sum_impulses(x_);
    if (!active_.empty()) run_->kick(impulse_.data());
    if (span.forces->varies()) dynamics_.velocity(start_.q.data(), impulse_.data(), no_rates_.data(), change_.data());
    if (!run_->step(span.t, h, BeforeImpulse(*span.forces, span.t, change_), span.motion)) return false;
    const bool grown = evaluate_step(only_closed);
    if (active_.empty()) return true;
    if (grown) build(active_, start_.q.data(), begin_), slope_.clear();
    if (grown || k == 0) begin_problem(h);
    if (slope_.empty() || k == kPatience || k == 4 * kPatience) {
      find_slope(h);
    } else if (k > 0) {
      learn();
    }
    const int n = problem_.rows();
    last_x_.resize(n);
    problem_.x = x_;
    groups_.copy(slope_.data(), 1, problem_.W.data());
    for (int i = 0; i < n; ++i) last_x_[i] = -x_[i];
    groups_.multiply(problem_.W.data(), last_x_.data(), y_.data(), problem_.y0.data());
    problem_.prepare();
    const double remains = problem_.residual(y_.data(), x_.data());
    const bool small = problem_.violation(y_.data(), x_.data()) <= still_, stands = k > 1 && !(remains < 0.5 * before);
    if (!grown && ((small && stands) || is_solved())) return keep_impulses(), true;
    if (!std::isfinite(remains) || (k > 5 * kPatience && !(remains < 0.9 * before))) return false;
    before = remains;
    last_x_ = x_, last_y_ = y_;
    if (!problem_.solve() && small && !grown) return keep_impulses(), true;  // redundant rows differ by rounding
    x_ = problem_.x;                                                         // or the best there is
  }
  return false;
}

void ContactRun::keep_impulses() {
  int at = 0;
  for (Unilateral& u : active_) {
    std::copy(&x_[at], &x_[at] + unilateral_.rows(u), u.begin);
    at += unilateral_.rows(u);
  }
}

void ContactRun::begin_problem(double h) {
  std::vector<ConeProblem::Part> parts;
  for (const Unilateral& u : active_) parts.push_back(unilateral_.part(u, h));
  problem_.begin(parts, groups_);
}

// slope_ ← J ∂q'/∂p Jᵀ of the last step where it is known, else h J M⁻¹ Jᵀ.
void ContactRun::find_slope(double h) {
  const std::size_t n = x_.size(), nv = m_.nv;
  slope_.assign(n * n, 0.0);
  slope_h_ = h, slope_parts_.clear();
  for (const Unilateral& u : active_) slope_parts_.push_back({static_cast<int>(u.source), u.index, u.id});
  int g = 0;
  for (std::size_t i = 0; i < n; ++i) {
    while (groups_.first[g + 1] <= static_cast<int>(i)) ++g;
    if (!run_->end_by_momentum(&J_[i * nv], column_.data())) {
      return groups_.copy(W_.data(), h, slope_.data());
    }
    groups_.for_columns(g, [&](int k, int end) {
      for (; k < end; ++k) {
        double sum = 0;
        for (std::size_t j = 0; j < nv; ++j) sum += J_[k * nv + j] * column_[j];
        slope_[n * k + i] = sum;
      }
    });
  }
}

// Is the slope that of the active parts?
bool ContactRun::same_parts() const {
  return std::equal(active_.begin(), active_.end(), slope_parts_.begin(), slope_parts_.end(),
                    [](const Unilateral& u, const std::array<int, 3>& known) {
                      return std::array<int, 3>{static_cast<int>(u.source), u.index, u.id} == known;
                    });
}

// Broyden's update of the slope by the last change of impulses, in each row where it is not zero (Schubert 1970).
void ContactRun::learn() {
  const int n = static_cast<int>(x_.size());
  for (int i = 0; i < n; ++i) last_x_[i] = x_[i] - last_x_[i];
  for (int g = 0; g < groups_.size(); ++g) {
    double square = 0, largest = 0, farthest = 0;
    groups_.for_columns(g, [&](int j, int end) {
      for (; j < end; ++j) square += last_x_[j] * last_x_[j];
    });
    for (int i = groups_.first[g]; i < groups_.first[g + 1]; ++i) {
      const double* row = &slope_[static_cast<std::size_t>(n) * i];
      double expected = 0;
      groups_.for_columns(g, [&](int j, int end) {
        for (; j < end; ++j) expected += row[j] * last_x_[j];
      });
      last_y_[i] = y_[i] - last_y_[i] - expected;
      largest = std::max(largest, std::fabs(expected)), farthest = std::max(farthest, std::fabs(last_y_[i]));
    }
    if (!(largest > kTold) || !(farthest < largest)) continue;  // rounding, or a step that went elsewhere, says nothing
    for (int i = groups_.first[g]; i < groups_.first[g + 1]; ++i) {
      double* row = &slope_[static_cast<std::size_t>(n) * i];
      groups_.for_columns(g, [&](int j, int end) {
        for (; j < end; ++j) row[j] += last_y_[i] / square * last_x_[j];
      });
    }
  }
}

bool ContactRun::evaluate_step(bool only_closed) {
  const double *q0 = start_.q.data(), *q1 = state().q.data();
  place(q1, end_);
  touching_.clear(), met_.clear();
  unilateral_.find(q1, end_, kTouching, touching_);
  bool grown = false;
  for (const Unilateral& u : touching_) {
    if (u.gap >= -kOverlap || find(active_, u)) continue;
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
    unilateral_.value(u, q1, end_, moved_.data(), &y_[at]);
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

double ContactRun::find_impact(const Span& span, double from) {
  const std::vector<Unilateral> met = met_;
  const auto least = [&](const double* q, const Workspace<double>& at) {
    double gap = INFINITY;
    for (Unilateral u : met) {
      unilateral_.hold(u, q, at);
      gap = std::min(gap, u.gap);
    }
    return gap;
  };
  double low = from, high = span.h, above = 0, below = least(state().q.data(), end_);
  const auto gap_after = [&](double time) {
    run_->go_back(start_);
    if (time == 0) return place(start_.q.data(), end_), least(start_.q.data(), end_);
    if (!take(span.part(0, time), true)) return std::nan("");
    return least(state().q.data(), end_);
  };
  above = gap_after(low);
  for (double share = 0.5; !(above > kOverlap) && share > 1e-6; share *= 0.5) {  // they have just moved apart
    above = gap_after(from + share * (high - from));
    low = from + share * (high - from);
  }
  if (!(above > 0)) return -1;
  double time = high, gap = below;
  for (int k = 0, side = 0; k < 100; ++k) {  // the Illinois method
    time = low + (high - low) * above / (above - below);
    if (!(time > low && time < high)) time = 0.5 * (low + high);
    gap = gap_after(time);
    if (std::isnan(gap)) return -1;
    if (std::fabs(gap) <= 1e-14 || high - low <= 1e-15 * span.h) return time;
    if (gap > 0) {
      low = time, above = gap;
      if (side == 1) below *= 0.5;
      side = 1;
    } else {
      high = time, below = gap;
      if (side == -1) above *= 0.5;
      side = -1;
    }
  }
  return time;
}

bool ContactRun::impact(const Span& span, double elapsed, double rest) {
  const double* q = state().q.data();
  place(q, begin_);
  std::vector<Unilateral> parts;
  unilateral_.find(q, begin_, kTouching, parts);
  build(parts, q, begin_), built_ = false;
  run_->velocity(v_.data());
  std::vector<double> u, x, moved;
  rates(u);
  if (span.forces->varies()) span.forces->update(span.t + elapsed, q, v_.data());
  dynamics_.acceleration(q, v_.data(), span.forces->tau, span.forces->inputs, a_.data());
  std::swap(v_, a_), rates(moved), std::swap(v_, a_);
  std::vector<ImpactPart> given;
  int at = 0;
  stays_ = false;
  for (const Unilateral& part : parts) {
    const int n = unilateral_.rows(part);
    double e = unilateral_.restitution(part);
    // All bounces to come, were they to end within the step, are this one.
    if (e < 1 && moved[at] < 0 && -2 * e * u[at] <= -moved[at] * (1 - e) * rest) e = 0;
    stays_ = stays_ || (u[at] < 0 && e == 0);
    given.push_back({n == 3 ? unilateral_.friction(part) : 0, e});
    at += n;
  }
  if (!impact_.solve(given, W_, u, x)) return false;
  if (trace_) {
    ContactStage stage{ContactStage::Kind::Impact, state().q, state().x};
    stage.parts = parts, stage.x = x, stage.impact = impact_.trace;
    trace_->push_back(std::move(stage));
  }
  sum_impulses(x);
  run_->kick(impulse_.data());
  at = 0;
  for (const Unilateral& part : parts) {
    const int n = unilateral_.rows(part);
    if (x[at] > 0) {
      Vec3<double> force = x[at] * part.n;
      if (n == 3) force += x[at + 1] * part.t1 + x[at + 2] * part.t2;
      double lost = 0;
      for (int k = at; k < at + n; ++k) {
        double after = u[k];
        for (std::size_t j = 0; j < x.size(); ++j) after += W_[x.size() * k + j] * x[j];
        lost -= 0.5 * x[k] * (u[k] + after);
      }
      const bool contact = part.source == Unilateral::Source::Contact;
      impacts->push_back({span.t + elapsed, begun_, contact ? 1 : 0, part.index, x[at],
                          contact ? part.point : Vec3<double>{}, contact ? force : Vec3<double>{}, lost});
    }
    at += n;
  }
  known_ = built_ = false;
  return true;
}

void ContactRun::build(const std::vector<Unilateral>& parts, const double* q, const Workspace<double>& at) {
  const int nv = m_.nv;
  int n = 0, row = 0;
  for (const Unilateral& u : parts) n += unilateral_.rows(u);
  J_.resize(static_cast<std::size_t>(n) * nv);
  for (const Unilateral& u : parts) {
    unilateral_.jacobian(u, at, &J_[static_cast<std::size_t>(row) * nv]);
    row += unilateral_.rows(u);
  }
  if (dynamics_.is_free()) {
    rows_.clear();
    for (const Unilateral& u : parts) {
      const auto [a, b] = unilateral_.bodies(u);
      rows_.push_back({unilateral_.rows(u), a, b});
    }
    return matrix_.form(rows_, J_.data(), dynamics_.eliminated(q), W_, groups_);
  }
  groups_ = RowGroups::whole(n);
  W_.resize(static_cast<std::size_t>(n) * n);
  for (int i = 0; i < n; ++i) {
    dynamics_.velocity(q, &J_[static_cast<std::size_t>(i) * nv], no_rates_.data(), column_.data());
    for (int k = 0; k < n; ++k) {
      double sum = 0;
      for (int j = 0; j < nv; ++j) sum += J_[static_cast<std::size_t>(k) * nv + j] * column_[j];
      W_[static_cast<std::size_t>(n) * k + i] = sum;
    }
  }
}

void ContactRun::sum_impulses(const std::vector<double>& x) {
  std::fill(impulse_.begin(), impulse_.end(), 0.0);
  for (std::size_t i = 0; i < x.size(); ++i)
    if (x[i] != 0)
      for (int j = 0; j < m_.nv; ++j) impulse_[j] += x[i] * J_[i * m_.nv + j];
}

void ContactRun::rates(std::vector<double>& out) const {
  out.assign(J_.size() / m_.nv, 0.0);
  for (std::size_t i = 0; i < out.size(); ++i)
    for (int j = 0; j < m_.nv; ++j) out[i] += J_[i * m_.nv + j] * v_[j];
}

bool ContactRun::project_end(double h) {
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
  build(active_, q1, begin_);
  std::vector<ConeProblem::Part> parts;
  for (const Unilateral& u : active_) parts.push_back(unilateral_.part(u, h));
  problem_.begin(parts, groups_);
  groups_.copy(W_.data(), 1, problem_.W.data());
  run_->velocity(v_.data());
  rates(problem_.y0);
  int at = 0;
  for (Unilateral& u : active_) {
    std::copy(u.end, u.end + unilateral_.rows(u), &problem_.x[at]);
    at += unilateral_.rows(u);
  }
  if (!problem_.solve()) return false;
  sum_impulses(problem_.x);
  const std::vector<double> before = trace_ ? state().x : std::vector<double>();
  run_->kick(impulse_.data());
  at = 0;
  for (Unilateral& u : active_) {
    std::copy(&problem_.x[at], &problem_.x[at] + unilateral_.rows(u), u.end);
    at += unilateral_.rows(u);
  }
  y_.resize(problem_.x.size());
  groups_.multiply(W_.data(), problem_.x.data(), problem_.y0.data(), y_.data());
  if (trace_) {
    ContactStage stage{ContactStage::Kind::End, state().q, before, h};
    stage.parts = active_, stage.x = problem_.x, stage.y = y_;
    trace_->push_back(std::move(stage));
  }
  drop_separating(y_);
  return true;
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
  memory(numbers, slope_, slope_h_, slope_parts_);
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
