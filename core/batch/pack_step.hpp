// Steps of several runs of one tree side by side: Newton's iteration of NewtonRun and RootFinder where it converges
// fast, lane by lane. A lane that has converged stays as it is while others go on, and a lane that needs anything else
// is left as it was, for an ordinary run. No lane knows of the others: its numbers are the same whatever these are.
#pragma once

#include "batch/lanes.hpp"
#include "batch/pack_configurations.hpp"
#include "batch/pack_residual.hpp"
#include "dynamics/aba.hpp"
#include "integrators/method_options.hpp"
#include "integrators/subdivided_run.hpp"

namespace symplectree {

template <class Action, int W>
class PackStep {
 public:
  using P = Pack<W>;
  static constexpr LaneSet kAll = (1u << W) - 1;

  PackStep(const Model& m, const MethodOptions& options)
      : m_(m), options_(options), w_(m), moved_(m), q_(m.nq), q1_(m.nq), trial_(m.nq), p_(m.nv), p1_(m.nv),
        guessed_(m.nv), delta_(m.nv), change_(m.nv), one_(m.nq + 2 * m.nv) {
    for (auto& d : gained_) d.resize(m.nv);
    for (int j = 0; j < m.nv; ++j) {
      const Body& b = m.bodies[m.body_of[j]];
      turning_.push_back(b.kind != Kind::Prismatic && b.kind != Kind::Formula && j < b.v + 3);
    }
  }

  // The lane's state ← (q, p), as soon as all lanes are placed; what is known of steps before is forgotten.
  void start(int lane, const double* q, const double* p) {
    for (int k = 0; k < m_.nq; ++k) q_[k].set(lane, q[k]);
    for (int j = 0; j < m_.nv; ++j) p_[j].set(lane, p[j]);
    for (auto& gained : gained_)
      for (P& d : gained) d.set(lane, 0);
    known_[lane] = wait_[lane] = 0;
  }
  void place_all() { compute_poses(m_, q_.data(), *w_.now); }
  // The lane is at rest, and no run; as `start`.
  void rest(int lane) {
    std::fill(one_.begin(), one_.end(), 0.0);
    for (int i : m_.quaternions) one_[m_.bodies[i].q + (m_.bodies[i].kind == Kind::Free ? 3 : 0)] = 1;
    start(lane, one_.data(), one_.data() + m_.nq);
  }
  // The same once all were placed.
  void park(int lane) { rest(lane), place(lane); }
  // The lane's state ← (q, p), the end of a step of another run from the lane's state.
  void go_on(int lane, const double* q, const double* p) {
    double *before = one_.data(), *gained = before + m_.nq;
    take_q(lane, before);
    symplectree::increments(m_, before, q, gained);
    for (int j = 0; j < m_.nv; ++j) {
      for (int k = 2; k > 0; --k) gained_[k][j].set(lane, gained_[k - 1][j][lane]);
      gained_[0][j].set(lane, gained[j]);
    }
    known_[lane] = std::min(known_[lane] + 1, 3);
    for (int k = 0; k < m_.nq; ++k) q_[k].set(lane, q[k]);
    for (int j = 0; j < m_.nv; ++j) p_[j].set(lane, p[j]);
    place(lane);
  }

  // Coordinate k of all lanes.
  const P& q(int k) const { return q_[k]; }
  void take_q(int lane, double* q) const {
    for (int k = 0; k < m_.nq; ++k) q[k] = q_[k][lane];
  }
  void take_p(int lane, double* p) const {
    for (int j = 0; j < m_.nv; ++j) p[j] = p_[j][lane];
  }

  // A step of h of those lanes, under forces tau (nv) and inputs; returns the lanes that have taken it.
  LaneSet step(double h, const P* tau, const P* inputs, LaneSet lanes) {
    const P H(h);
    begin_step(w_, H, q_.data(), p_.data(), tau, inputs);
    LaneSet early = 0;
    for_lanes(lanes, [&](int lane) {
      if (known_[lane] < 3 || wait_[lane] > 0) early |= 1u << lane;
      if (wait_[lane] > 0) --wait_[lane];
    });
    for (int j = 0; j < m_.nv; ++j) guessed_[j] = P(3) * (gained_[0][j] - gained_[1][j]) + gained_[2][j];
    if (early != 0) guess_by_velocity(h, early);
    symplectree::retract(m_, q_.data(), guessed_.data(), q1_.data());
    LaneSet done = search(h, lanes);
    if (const LaneSet again = lanes & ~done & ~early; again != 0) {
      for_lanes(again, [&](int lane) { wait_[lane] = kWait; });
      guess_by_velocity(h, again);
      symplectree::retract(m_, q_.data(), guessed_.data(), trial_.data());
      choose(again, trial_, q1_);
      done |= search(h, again);
      displace<Action>(w_, H, q1_.data());  // for lanes that were done before, as they left it
      pack_residual(w_, StepEnds<P>{H, q_.data(), q1_.data()});
    }
    if (done == 0) return 0;
    const P moved = largest(guessed_);
    symplectree::increments(m_, q_.data(), q1_.data(), change_.data());
    done &= within_range();
    for (int j = 0; j < m_.nv; ++j) delta_[j] = change_[j] - guessed_[j];
    done &= near(delta_, moved);
    end_step<Action>(w_, StepEnds<P>{H, q_.data(), q1_.data()}, tau, inputs, p1_.data());
    keep_remainder(m_, w_.r.data(), q_.data(), q1_.data(), p1_.data());
    P sum(0);  // of zeros, unless something is not finite
    for (const P& p : p1_) sum += P(0) * p;
    done &= at_most(sum, P(0));
    accept(done);
    return done;
  }

  // Newton iterations of each lane so far, and the largest angle by which a joint turned in a step [rad].
  std::array<long, W> iterations{};
  P largest_turn;

 private:
  // w_.now of one lane ← the poses at its configuration.
  void place(int lane) {
    compute_poses(m_, q_.data(), moved_);
    const auto copy = [lane](P& to, const P& from) { to.set(lane, from[lane]); };
    const auto copy3 = [&](Vec3<P>& to, const Vec3<P>& from) {
      copy(to.x, from.x), copy(to.y, from.y), copy(to.z, from.z);
    };
    Workspace<P>& now = *w_.now;
    for (int i = 1; i < m_.size(); ++i) {
      const BodyPose<P>& from = moved_.pose[i];
      BodyPose<P>& to = now.pose[i];
      copy3(to.R.a, from.R.a), copy3(to.R.b, from.R.b), copy3(to.R.c, from.R.c);
      copy3(to.x, from.x), copy3(to.r, from.r);
    }
    for (int j = 0; j < m_.nv; ++j)
      copy3(now.S[j].angular, moved_.S[j].angular), copy3(now.S[j].linear, moved_.S[j].linear);
  }

  // guessed_ of these lanes ← where velocity leads and one step of Newton's from there, as near as acceleration leads.
  void guess_by_velocity(double h, LaneSet lanes) {
    const P H(h);
    eliminate_mass(m_, *w_.now);
    solve_mass(m_, p_.data(), delta_.data(), *w_.now);
    for (P& d : delta_) d = H * d;
    keep_where(lanes & lanes_that_fit(delta_), delta_);
    symplectree::retract(m_, q_.data(), delta_.data(), trial_.data());
    displace<Action, true>(w_, H, trial_.data());
    newton_sweep<Action>(w_, StepEnds<P>{H, q_.data(), trial_.data()}, delta_.data());
    keep_where(lanes & lanes_that_fit(delta_), delta_);
    symplectree::retract(m_, trial_.data(), delta_.data(), trial_.data());
    symplectree::increments(m_, q_.data(), trial_.data(), delta_.data());
    keep_where(lanes_that_fit(delta_), delta_);
    choose(lanes, delta_, guessed_);
  }
  // to ← from, in these lanes.
  static void choose(LaneSet lanes, const std::vector<P>& from, std::vector<P>& to) {
    const LaneMask<W> mask = mask_of<W>(lanes);
    for (std::size_t k = 0; k < to.size(); ++k) to[k] = select<W>(mask, from[k], to[k]);
  }
  // Zero in other lanes.
  static void keep_where(LaneSet lanes, std::vector<P>& d) {
    const LaneMask<W> mask = mask_of<W>(lanes);
    for (P& x : d) x = select<W>(mask, x, P(0));
  }

  // q1_ ← the ends of the step of these lanes, and w_ as it is there; returns those whose residual has vanished.
  LaneSet search(double h, LaneSet lanes) {
    const P H(h), moved = largest(guessed_);
    const StepEnds<P> step{H, q_.data(), q1_.data()};
    displace<Action, true>(w_, H, q1_.data());
    newton_sweep<Action>(w_, step, delta_.data());
    LaneSet active = lanes & near(delta_, moved), found = 0;
    for (P before(kGood); active != 0;) {
      keep_where(active, delta_);
      symplectree::retract(m_, q1_.data(), delta_.data(), trial_.data());
      choose(active, trial_, q1_);
      displace<Action>(w_, H, q1_.data());
      const P reached = pack_residual(w_, step);
      for_lanes(active, [&](int lane) { ++iterations[lane]; });
      const LaneSet falls = active & below(reached, before);
      LaneSet converged = falls & at_most(reached, P(options_.tolerance));
      if (const LaneSet rest = active & ~converged & below(reached, P(kSmall)))
        converged |= rest & at_floor(w_, h, q1_.data(), 2 * kFloor);
      active = falls;
      found |= converged, active &= ~converged;
      if (active == 0) break;
      before = P(0.01) * reached;
      restore_impulses(w_, H);
      newton_sweep<Action>(w_, step, delta_.data());
      active &= lanes_that_fit(delta_);
    }
    return found;
  }

  // Is a change small against the motion that was guessed, as in RootFinder::is_near?
  LaneSet near(const std::vector<P>& change, const P& moved) const {
    const P size = largest(change);
    return (at_most(moved, P(kNothing)) & lanes_that_fit(change)) |
           at_most(size, P(kNear) * largest_of(moved, P(kStill)));
  }
  // Lanes in which nothing is beyond all bounds, or not a number.
  LaneSet lanes_that_fit(const std::vector<P>& change) const { return below(largest(change), P(kFar)); }

  // Is the step within the range of fixed steps, as SubdividedRun and NewtonRun judge at once? Others they look into.
  LaneSet within_range() {
    P turn(0), far(0);
    for (int j = 0; j < m_.nv; ++j) {
      const P size = size_of(change_[j]);
      if (turning_[j]) turn = larger_or_nan(turn, size);
      far = larger_or_nan(far, size);
    }
    P angle(0);  // of coordinates: sines and cosines of very large ones are taken one by one
    for (const P& q : q1_) angle = larger_or_nan(angle, size_of(q));
    turn_ = turn;
    const double longest = options_.substeps > 0 ? kLongestTurn : kCoarse;
    return at_most(turn, P(longest)) & below(far, P(kCoarse)) & below(angle, P(kFar));
  }

  static P larger_or_nan(const P& a, const P& b) { return P(b.lanes <= a.lanes ? a.lanes : b.lanes + 0 * a.lanes); }

  P largest(const std::vector<P>& d) const {
    P out(0);
    for (const P& x : d) out = larger_or_nan(out, size_of(x));
    return out;
  }

  void accept(LaneSet done) {
    choose(done, q1_, q_), choose(done, p1_, p_);
    choose(done, gained_[1], gained_[2]), choose(done, gained_[0], gained_[1]), choose(done, change_, gained_[0]);
    largest_turn = select<W>(mask_of<W>(done), largest_of(largest_turn, turn_), largest_turn);
    for_lanes(done, [&](int lane) { known_[lane] = std::min(known_[lane] + 1, 3); });
    std::swap(w_.now, w_.next);
  }

  // As of RootFinder and NewtonRun.
  static constexpr double kNear = 0.25, kStill = 1e-3, kNothing = 1e-14, kGood = 1e-3, kSmall = 1e-8, kFloor = 16;
  static constexpr double kCoarse = 0.3;
  static constexpr int kWait = 8;
  static constexpr double kFar = 9e5;  // below what sines_and_cosines takes in vectors

  const Model& m_;
  MethodOptions options_;
  NewtonWorkspaceOf<P> w_;
  Workspace<P> moved_;
  std::vector<P> q_, q1_, trial_, p_, p1_, guessed_, delta_, change_;
  std::array<std::vector<P>, 3> gained_;  // increments of the last steps, newest first
  std::array<int, W> known_{};            // how many of these there are
  std::array<int, W> wait_{};             // steps until they may be extrapolated again, where that led nowhere
  std::vector<char> turning_;             // is a velocity one of rotation?
  P turn_;                                // of this step
  std::vector<double> one_;               // scratch of one lane
};

}  // namespace symplectree
