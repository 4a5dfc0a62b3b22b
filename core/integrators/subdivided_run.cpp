#include "integrators/subdivided_run.hpp"

#include <cmath>

#include "kinematics/configurations.hpp"

namespace symplectree {
namespace {

constexpr double kRange = 0.01;  // the accuracy of steps of collocation that are just within their range
// −h² V̈/12 of springs, relative to their energy, when they turn over in a step; and relative to all, to be noticed.
constexpr double kTurnedOver = 0.03, kNoticed = 1e-3;
// Bounds h² H₂/E of other steps that are: of those of order 2, and of compositions of shorter ones.
constexpr double kRangeOfStep = 0.003, kRangeOfComposition = 0.03;
// What the energy may change by in a part, relative to the accuracy, where nothing changes it; and what is rounding.
constexpr double kChange = 0.3, kRounding = 1e-13;
// What the mode that is not resolved has at most of the energy that may be wrong, for steps of orders 4 to 8 to be as
// accurate as is asked on whipping chains over 50 s.
constexpr double kUnresolved = 1e-3;

// Bounds h² H₂/E = (factor · accuracy)^(2/order): a step of order 2 errs by h² H₂; one of higher order, if time scales
// are alike, by a multiple of its power. Of collocation only what is hopeless is divided so.
constexpr double kFactorOfStep = 0.3;
double factor(const Subdivision& options) {
  if (options.method == Subdivision::Method::Collocation) return 1;
  return options.order == 2 ? kFactorOfStep : options.order == 4 ? 3e-3 : options.order == 6 ? 1e-4 : 1e-7;
}

}  // namespace

SubdividedRun::SubdividedRun(const Model& m, std::unique_ptr<Run> whole, const Subdivision& options)
    : m_(m), run_(std::move(whole)), options_(options), error_(m, options.turning), report_(m),
      starts_(options.depth + 1, RunState(m)), change_(m.nv) {
  const bool asked = options.accuracy > 0;
  const double accuracy = asked ? options.accuracy : kRange;
  bound_ = std::pow(factor(options) * accuracy, 2.0 / options.order);
  if (!asked && options.method == Subdivision::Method::Newton) bound_ = kRangeOfStep;
  if (!asked && options.method == Subdivision::Method::Composition) bound_ = kRangeOfComposition;
  touching_bound_ = asked ? kFactorOfStep * accuracy : bound_;
  unresolved_ = kUnresolved * accuracy;
  largest_change_ = std::max(kChange * accuracy, kRounding);
  for (int j = 0; j < m.nv; ++j) {
    const Body& b = m.bodies[m.body_of[j]];
    if (b.kind != Kind::Prismatic && b.kind != Kind::Formula && j < b.v + 3) turning_.push_back(j);
  }
}

void SubdividedRun::set_prescribed(const std::vector<char>& velocities) {
  run_->set_prescribed(velocities);
  error_.set_prescribed(velocities);
}

void SubdividedRun::reset(const double* q, const double* x, const double* rates) {
  run_->reset(q, x, rates);
  known_ = false;
}

bool SubdividedRun::step(double t, double h, const ForceSource& forces, const PrescribedMotion& motion) {
  report_.parts.clear();
  whole_.reset();
  if (options_.accuracy > 0) note_forces(forces);
  if (take({t, h, motion, options_.depth}, forces)) return true;
  if (!report_.parts.empty()) restore(starts_[options_.depth]);
  if (whole_) report_.residual = whole_->first, report_.worst = whole_->second;
  return false;
}

bool SubdividedRun::take(const Part& part, const ForceSource& forces) {
  RunState& start = starts_[part.depth];
  start = run_->state();
  ShadowEnergy begin;
  if (options_.accuracy > 0 && part.depth > 0) {
    begin = known_ ? here_ : error_.in_state(start, part.t, forces, part.motion.accelerations);
    if (!is_short(begin, part.h)) return take_in_halves(part, forces);
  }
  known_ = false;
  const double limit = part.depth == 0 ? 0 : begin.touches ? INFINITY : unresolved_ * begin.scale;
  if (options_.accuracy > 0) run_->limit_unresolved(limit, begin.scale);
  const bool done = run_->step(part.t, part.h, forces, part.motion);
  copy_report();
  if (!done && part.depth == options_.depth) whole_ = {report_.residual, report_.worst};
  if (done && (part.depth == 0 || is_accurate(part, start, begin, forces))) return accept(part);
  if (part.depth == 0) return false;
  if (done) restore(start);
  if (options_.accuracy > 0) here_ = begin, known_ = true;
  return take_in_halves(part, forces);
}

bool SubdividedRun::take_in_halves(const Part& part, const ForceSource& forces) {
  ++report_.halvings;
  const double half = part.h / 2;
  for (const double t : {part.t, part.t + half})
    if (!take({t, half, part.motion.over(t, half), part.depth - 1}, forces)) return false;
  return true;
}

bool SubdividedRun::is_accurate(const Part& part, const RunState& start, ShadowEnergy begin,
                                const ForceSource& forces) {
  const double* accelerations = part.motion.accelerations;
  const double *q0 = start.q.data(), *q1 = run_->state().q.data();
  const bool bends = options_.method == Subdivision::Method::Newton && error_.has_pair_springs();
  const LocalError::Bend bend = bends ? error_.spring_bend(q0, q1) : LocalError::Bend{};
  if (options_.accuracy == 0) {
    if (-bend.size > kTurnedOver * bend.energy && -bend.size > kNoticed * bend.scale) return false;
    if (largest_turn(q0, q1) <= kLongestTurn) return true;
    begin = error_.in_state(start, part.t, forces, accelerations);
    if (!is_short(begin, part.h)) return false;
  }
  here_ = error_.in_state(run_->state(), part.t + part.h, forces, accelerations ? accelerations + 2 * m_.nv : nullptr);
  known_ = true;
  const double scale = std::max(begin.scale, here_.scale);
  if (!is_short(here_, part.h) || std::fabs(bend.size) > bound_ * scale ||
      (!begin.touches && !here_.touches && run_->unresolved_energy(scale) > unresolved_ * scale))
    return false;
  if (options_.accuracy > 0 && std::fabs(part.h) * change_of_limits(begin, here_) > largest_change_ * scale)
    return false;
  return std::fabs(here_.energy - begin.energy) <= largest_change_ * scale || !error_.is_conservative(forces);
}

// The power of actuators that are at a limit at one end only: of a force that bends within the part, which no
// polynomial follows, the work is wrong by less than this times the part's length.
double SubdividedRun::change_of_limits(const ShadowEnergy& begin, const ShadowEnergy& end) {
  double power = 0;
  for (std::size_t k = 0; k < begin.excess.size() && k < end.excess.size(); ++k)
    if ((begin.excess[k] == 0) != (end.excess[k] == 0)) power += std::fabs(begin.excess[k]) + std::fabs(end.excess[k]);
  return power;
}

bool SubdividedRun::accept(const Part& part) {
  report_.largest_turn = std::max(report_.largest_turn, run_->report().turn);
  if (part.depth < options_.depth) report_.shortest = std::min(report_.shortest, std::fabs(part.h));
  report_.parts.push_back(part.h);
  return true;
}

void SubdividedRun::restore(const RunState& state) {
  run_->go_back(state);
  known_ = false;
}

double SubdividedRun::largest_turn(const double* q0, const double* q1) {
  increments(m_, q0, q1, change_.data());
  double largest = 0;
  for (const int j : turning_) largest = std::max(largest, std::fabs(change_[j]));
  return largest;
}

// Multipliers and reactions are those of the step's beginning, in its first part.
void SubdividedRun::copy_report() {
  const RunReport& r = run_->report();
  if (report_.parts.empty()) report_.multipliers = r.multipliers, report_.reactions = r.reactions;
  report_.iterations = r.iterations, report_.lowered = r.lowered, report_.feeding = r.feeding;
  report_.residual = r.residual, report_.worst = r.worst;
}

void SubdividedRun::note_forces(const ForceSource& forces) {
  const auto note = [&](std::vector<double>& noted, const double* now, std::size_t n) {
    if (noted.size() == n && std::equal(now, now + n, noted.begin())) return;
    noted.assign(now, now + n);
    known_ = false;
  };
  note(tau_, forces.tau, m_.nv), note(inputs_, forces.inputs, m_.inputs);
}

}  // namespace symplectree
