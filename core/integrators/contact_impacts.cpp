// Impacts of a ContactRun: when they are, and what they do to momenta.
#include <cmath>

#include "integrators/contact_run.hpp"

namespace symplectree {
namespace {

constexpr std::size_t kMost = 1000000;  // impacts that are remembered

}  // namespace

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
  for (double share = 0.5; !(above > kLeastOverlap) && share > 1e-6; share *= 0.5) {  // they have just moved apart
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
  system_.build(parts, q, begin_), built_ = false;
  run_->velocity(v_.data());
  std::vector<double> u, x, moved;
  system_.rates(v_, u);
  if (span.forces->varies()) span.forces->update(span.t + elapsed, q, v_.data());
  dynamics_.acceleration(q, v_.data(), span.forces->tau, span.forces->inputs, a_.data());
  system_.rates(a_, moved);
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
