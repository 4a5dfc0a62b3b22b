// Impacts of a ContactRun: when they are, and what they do to momenta.
#include <cmath>

#include "integrators/before_impulse.hpp"
#include "integrators/contact_run.hpp"

namespace symplectree {
namespace {

constexpr std::size_t kMost = 1000000;  // impacts that are remembered
constexpr double kInstant = 1e-14;      // gaps that are those of the instant of an impact [m or rad]

// Of g + r x + c x², which is positive at T < 0 and negative at 0, between these.
double parabola_root(double g, double r, double c, double T) {
  const double root = std::sqrt(std::max(0.0, r * r - 4 * c * g)), sum = -0.5 * (r + std::copysign(root, r));
  for (const double x : {sum / c, g / sum})
    if (x > T && x < 0) return x;
  return 0.5 * T;
}

}  // namespace

bool ContactRun::step_free(const Span& span) {
  std::fill(change_.begin(), change_.end(), 0.0);
  return run_->step(span.t, span.h, BeforeImpulse(*span.forces, span.t, change_), span.motion);
}

ContactRun::Approach ContactRun::nearest(const std::vector<Unilateral>& parts) {
  const double* q = state().q.data();
  Approach found;
  const Unilateral* which = nullptr;
  std::vector<Unilateral> held = parts;
  for (Unilateral& u : held) {
    unilateral_.hold(u, q, end_);
    if (u.gap < found.gap || !which) found.gap = u.gap, which = &u;
  }
  row_.resize(3 * static_cast<std::size_t>(m_.nv));
  unilateral_.jacobian(*which, end_, row_.data());
  run_->velocity(v_.data());
  found.rate = 0, found.noise = unilateral_.noise(*which, q, end_);
  for (int j = 0; j < m_.nv; ++j) found.rate += row_[j] * v_[j];
  return found;
}

// Newton's method between bounds, from the root of the parabola through both ends with the rate at the later one.
double ContactRun::find_impact(const Span& span, double from) {
  const std::vector<Unilateral> met = met_;
  bool taken = true;
  const auto after = [&](double time) {
    run_->go_back(start_);
    const Span part = span.part(0, time);
    taken = time == 0 || (active_.empty() ? step_free(part) : take(part, true));
    if (!taken) return Approach{};
    place(state().q.data(), end_);
    return nearest(met);
  };
  double low = from, high = span.h;
  const Approach end = nearest(met);
  Approach begin = after(low);
  for (double share = 0.5; taken && !(begin.gap > kLeastOverlap) && share > 1e-6; share *= 0.5) {
    low = from + share * (high - from);  // they have just moved apart
    begin = after(low);
  }
  if (!taken || !(begin.gap > 0)) return -1;
  const double T = low - high, c = (begin.gap - end.gap - end.rate * T) / (T * T);
  double time = high + parabola_root(end.gap, end.rate, c, T), size = INFINITY;
  for (int k = 0; k < 100; ++k) {
    if (!(time > low && time < high)) time = 0.5 * (low + high);
    const Approach now = after(time);
    if (!taken) return -1;
    const double step = now.gap / now.rate;
    const bool rounded = std::fabs(now.gap) <= std::max(kInstant, now.noise) || std::fabs(step) <= 1e-15 * span.h;
    if (rounded || high - low <= 1e-15 * span.h) return time;
    (now.gap > 0 ? low : high) = time;
    const bool falls = now.rate < 0 && std::fabs(step) < 0.5 * size;
    size = std::fabs(falls ? step : high - low);
    time = falls ? time - step : 0.5 * (low + high);
  }
  return time;
}

bool ContactRun::impact(const Span& span, double elapsed, double rest) {
  const double* q = state().q.data();
  place(q, begin_);
  std::vector<Unilateral> parts;
  unilateral_.find(q, begin_, kTouching, parts);
  system_.build(parts, q, begin_), built_ = false;
  run_->velocity(v_.data());
  std::vector<double> u, x, moved;
  system_.rates(v_, u);
  if (span.forces->varies()) span.forces->update(span.t + elapsed, q, v_.data());
  dynamics_.acceleration(q, v_.data(), span.forces->tau, span.forces->inputs, a_.data());
  system_.rates(a_, moved);
  std::vector<ImpactPart> given;
  int at = 0;
  stays_ = false, elastic_ = true;
  for (const Unilateral& part : parts) {
    const int n = unilateral_.rows(part);
    double e = unilateral_.restitution(part);
    // All bounces to come, were they to end within the step, are this one.
    if (e < 1 && moved[at] < 0 && -2 * e * u[at] <= -moved[at] * (1 - e) * rest) e = 0;
    stays_ = stays_ || (u[at] < 0 && e == 0);
    elastic_ = elastic_ && (e == 1 || u[at] >= 0);
    given.push_back({n == 3 ? unilateral_.friction(part) : 0, e});
    at += n;
  }
  if (!impact_.solve(given, system_.W, u, x)) return false;
  if (trace_) {
    ContactStage stage{ContactStage::Kind::Impact, state().q, state().x};
    stage.parts = parts, stage.x = x, stage.impact = impact_.trace;
    trace_->push_back(std::move(stage));
  }
  system_.impulse(x, impulse_);
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
        for (std::size_t j = 0; j < x.size(); ++j) after += system_.W[x.size() * k + j] * x[j];
        lost -= 0.5 * x[k] * (u[k] + after);
      }
      const bool contact = part.source == Unilateral::Source::Contact;
      if (impacts->size() >= kMost)
        impacts->erase(impacts->begin(), impacts->begin() + kMost / 2);  // that nobody reads
      impacts->push_back({span.t + elapsed, begun_, contact ? 1 : 0, part.index, x[at],
                          contact ? part.point : Vec3<double>{}, contact ? force : Vec3<double>{}, lost});
    }
    at += n;
  }
  known_ = built_ = false;
  return true;
}

}  // namespace symplectree
