// A run in independent coordinates, where others follow (model/coordinate_map.hpp): that of the tree, in which
// followers are bound by constraint rows.
//
// For a momentum p any p_tree with Cᵀ p_tree = p leads to the same step, since the impulses of these rows take up the
// rest; taken is the one without momenta of followers. What comes back is the independent part of q_tree, p = Cᵀ
// p_tree, and the forces of all other rows.
#pragma once

#include <memory>

#include "integrators/run_interface.hpp"
#include "model/coordinate_map.hpp"

namespace symplectree {

class MappedRun final : public Run {
 public:
  // What x of the state is. Methods on velocities start each step where followers have to be, so that rounding does not
  // take them away.
  enum class Second { Momentum, Velocity };

  // `stages`: how many rows of prescribed motions a step of `tree` takes.
  MappedRun(const CoordinateMap& map, std::unique_ptr<Run> tree, Second second, int stages)
      : map_(map), run_(std::move(tree)), second_(second), stages_(stages), state_(map.layout), report_(map.layout),
        x_(map.tree().nv), rates_(map.tree().nv), targets_(static_cast<std::size_t>(stages) * map.tree().nq),
        target_rates_(static_cast<std::size_t>(stages) * map.tree().nv),
        accelerations_(3 * static_cast<std::size_t>(map.tree().nv)) {}

  // Marks of the tree's velocities.
  void set_prescribed(const std::vector<char>& velocities) override { run_->set_prescribed(velocities); }

  void reset(const double* q, const double* x, const double* rates) override {
    map_.evaluate(q, at_);
    if (second_ == Second::Momentum) {
      map_.place(x, x_.data());
    } else {
      map_.velocity(at_, x, x_.data());
    }
    map_.place(rates, rates_.data());
    run_->reset(at_.q.data(), x_.data(), rates_.data());
    std::copy(q, q + map_.nq(), state_.q.begin());
    std::copy(x, x + map_.nv(), state_.x.begin());
    std::copy(rates, rates + map_.nv(), state_.rates.begin());
    state_.last_step_length = 0;
  }
  void set_last_step_length(double h) override { run_->set_last_step_length(state_.last_step_length = h); }

  bool step(double t, double h, const ForceSource& forces, const PrescribedMotion& motion) override {
    if (second_ == Second::Velocity) {
      const RunState start = state_;
      reset(start.q.data(), start.x.data(), start.rates.data());
    }
    const bool done = run_->step(t, h, PlacedForces(map_, forces), tree_motion(motion));
    read_state();
    read_report();
    return done;
  }

  void velocity(double* v) override {
    run_->velocity(x_.data());
    map_.take_v(x_.data(), v);
  }
  void carry(RunMemory& memory) override { state_.carry(memory), run_->carry(memory); }
  const RunState& state() const override { return state_; }
  const RunReport& report() const override { return report_; }

 private:
  // Forces on independent coordinates, as the tree takes them.
  class PlacedForces final : public ForceSource {
   public:
    PlacedForces(const CoordinateMap& map, const ForceSource& own)
        : ForceSource(nullptr, own.inputs), map_(map), own_(own), placed_(map.tree().nv), q_(map.nq()), v_(map.nv()) {
      map.place(own.tau, placed_.data());
      tau = placed_.data();
    }
    bool varies() const override { return own_.varies(); }
    void update(double t, const double* q, const double* v) const override {
      map_.take_q(q, q_.data()), map_.take_v(v, v_.data());
      own_.update(t, q_.data(), v_.data());
      map_.place(own_.tau, placed_.data());
    }
    const ForceSource* means(double t, double h) const override {
      const ForceSource* own = own_.means(t, h);
      if (!own) return nullptr;
      means_ = std::make_unique<PlacedForces>(map_, *own);
      return means_.get();
    }

   private:
    const CoordinateMap& map_;
    const ForceSource& own_;
    mutable std::vector<double> placed_, q_, v_;
    mutable std::unique_ptr<ForceSource> means_;
  };

  PrescribedMotion tree_motion(const PrescribedMotion& own) {
    const int nq = map_.nq(), nv = map_.nv(), tree_nq = map_.tree().nq, tree_nv = map_.tree().nv;
    MapPoint end;
    parts_.own = own.parts;
    for (int s = 0; own.targets && s < stages_; ++s) {
      map_.evaluate(own.targets + s * nq, end);
      std::copy(end.q.begin(), end.q.end(), targets_.begin() + s * tree_nq);
    }
    for (int s = 0; own.rates && s < stages_; ++s) map_.place(own.rates + s * nv, &target_rates_[s * tree_nv]);
    for (int s = 0; own.accelerations && s < 3; ++s)
      map_.place(own.accelerations + s * nv, &accelerations_[s * tree_nv]);
    return {own.targets ? targets_.data() : nullptr, own.rates ? target_rates_.data() : nullptr,
            own.accelerations ? accelerations_.data() : nullptr, own.parts ? &parts_ : nullptr};
  }

  // Motions of the tree over parts of a step.
  class TreeParts final : public MotionParts {
   public:
    explicit TreeParts(MappedRun& run) : run_(run) {}
    PrescribedMotion over(double t, double h) const override { return run_.tree_motion(own->over(t, h)); }
    const MotionParts* own = nullptr;

   private:
    MappedRun& run_;
  };

  void read_state() {
    const RunState& tree = run_->state();
    map_.take_q(tree.q.data(), state_.q.data());
    map_.take_v(tree.rates.data(), state_.rates.data());
    state_.last_step_length = tree.last_step_length;
    if (second_ == Second::Velocity) return map_.take_v(tree.x.data(), state_.x.data());
    map_.evaluate(state_.q.data(), at_);
    state_.x = map_.sum(at_.first)(tree.x.data());
  }

  void read_report() {
    const RunReport& tree = run_->report();
    report_.multipliers = map_.rows(tree.multipliers.data());
    map_.take_v(tree.reactions.data(), report_.reactions.data());
    report_.iterations = tree.iterations, report_.halvings = tree.halvings, report_.largest_turn = tree.largest_turn;
    report_.lowered = tree.lowered, report_.feeding = tree.feeding;
    report_.parts = tree.parts, report_.shortest = tree.shortest;
    report_.residual = tree.residual, report_.worst = tree.worst;  // worst counts velocities and rows of the tree
  }

  const CoordinateMap& map_;
  std::unique_ptr<Run> run_;
  Second second_;
  int stages_;
  RunState state_;
  RunReport report_;
  MapPoint at_;
  TreeParts parts_{*this};
  std::vector<double> x_, rates_, targets_, target_rates_, accelerations_;  // of the tree
};

}  // namespace symplectree
