#include "batch/pack_batch.hpp"

#include <algorithm>
#include <memory>
#include <mutex>

#include "batch/pack_step.hpp"
#include "batch/pack_width.hpp"
#include "dynamics/rnea.hpp"
#include "elements/actuator.hpp"
#include "elements/element_forces.hpp"
#include "elements/pair_elements.hpp"
#include "integrators/damped_end.hpp"
#include "integrators/make_run.hpp"
#include "model/potential.hpp"
#include "model/rows/all_rows.hpp"
#include "model/user_elements.hpp"

namespace symplectree {
namespace {

// An ordinary run of a tree, as bindings/variational.cpp makes it.
std::unique_ptr<Run> ordinary_run(const Model& m, const MethodOptions& options) {
  std::unique_ptr<Run> run = newton_run(m, options);
  if (options.substeps == 0) return run;
  const Subdivision how{options.accuracy, options.order, options.substeps, Subdivision::Method::Newton, true};
  return std::make_unique<SubdividedRun>(m, std::move(run), how);
}

// What a thread needs for one pack after the other.
template <class Action, int W>
class PackRuns {
  using P = Pack<W>;

 public:
  explicit PackRuns(const PackTask& task)
      : task_(task), m_(task.m), step_(m_, task.options), w_(m_), tau_(m_.nv), inputs_(m_.inputs + 1), p_(m_.nv),
        q_(m_.nq), rates_(m_.nv) {}

  // The runs `first` … `first` + count − 1.
  void take(long first, int count, const std::atomic<bool>& stop, std::vector<PackFailure>& failures) {
    first_ = first;
    step_.iterations = {}, step_.largest_turn = P(0);
    for (int k = 0; k < W; ++k) {
      others_[k].reset(), follows_[k] = false;
      if (k < count) {
        start(k);
      } else {
        step_.rest(k);
      }
    }
    step_.place_all();
    LaneSet alive = (1u << count) - 1;
    for (long s = 0; s < task_.steps && alive != 0 && !stop; ++s) {
      if (s == 0 || task_.tau.per_step || task_.inputs.per_step) load_forces(s, count);
      const LaneSet done = step_.step(task_.dt, tau_.data(), inputs_.data(), alive);
      for_lanes(done, [&](int lane) { follows_[lane] = false; });
      for_lanes(alive & ~done, [&](int lane) {
        if (take_alone(lane, s, failures)) return;
        alive &= ~(1u << lane);
        step_.park(lane);
      });
      if ((s + 1) % task_.save_every == 0 || s + 1 == task_.steps)
        save((s + task_.save_every) / task_.save_every, alive);
    }
    for (int k = 0; k < count; ++k) {
      double* counts = task_.counts + 3 * (first_ + k);
      counts[0] += static_cast<double>(step_.iterations[k]);
      counts[2] = std::max(counts[2], step_.largest_turn[k]);
      if (others_[k]) add(others_[k]->report(), counts);
    }
  }

 private:
  void start(int lane) {
    const double *q = task_.q0.at(first_ + lane, 0), *v = task_.v0.at(first_ + lane, 0);
    momenta(m_, q, v, p_.data(), w_);
    step_.start(lane, q, p_.data());
    std::copy(q, q + m_.nq, row(task_.q, m_.nq, lane, 0));
    std::copy(p_.begin(), p_.end(), row(task_.x, m_.nv, lane, 0));
  }

  double* row(double* all, int width, int lane, long row) const {
    return all + ((first_ + lane) * task_.rows() + row) * width;
  }

  void save(long to, LaneSet lanes) {
    for_lanes(lanes, [&](int lane) {
      step_.take_q(lane, row(task_.q, m_.nq, lane, to));
      step_.take_p(lane, row(task_.x, m_.nv, lane, to));
    });
  }

  void load_forces(long s, int count) {
    for (int k = 0; k < count; ++k) {
      const double *tau = task_.tau.at(first_ + k, s), *u = task_.inputs.at(first_ + k, s);
      for (int j = 0; j < m_.nv; ++j) tau_[j].set(k, tau[j]);
      for (int j = 0; j < m_.inputs; ++j) inputs_[j].set(k, u[j]);
    }
  }

  // The step of one lane by an ordinary run, which goes on where it stands if it has taken the step before, too.
  bool take_alone(int lane, long s, std::vector<PackFailure>& failures) {
    step_.take_q(lane, q_.data()), step_.take_p(lane, p_.data());
    std::unique_ptr<Run>& run = others_[lane];
    if (!run) run = ordinary_run(m_, task_.options), follows_[lane] = false;
    if (!follows_[lane]) run->reset(q_.data(), p_.data(), rates_.data());
    follows_[lane] = true;
    const ForceSource forces(task_.tau.at(first_ + lane, s), task_.inputs.at(first_ + lane, s));
    if (!run->step(static_cast<double>(s) * task_.dt, task_.dt, forces, {})) {
      failures.push_back({first_ + lane, s, run->report().residual, run->report().worst, q_, p_});
      return false;
    }
    step_.go_on(lane, run->state().q.data(), run->state().x.data());
    return true;
  }

  static void add(const RunReport& report, double* counts) {
    counts[0] += static_cast<double>(report.iterations), counts[1] += static_cast<double>(report.halvings);
    counts[2] = std::max(counts[2], report.largest_turn);
  }

  const PackTask& task_;
  const Model& m_;
  PackStep<Action, W> step_;
  Workspace<double> w_;
  std::array<std::unique_ptr<Run>, W> others_;  // ordinary runs of lanes, made when one is needed
  std::array<bool, W> follows_{};               // is that run at the lane's state?
  std::vector<P> tau_, inputs_;
  std::vector<double> p_, q_, rates_;
  long first_ = 0;
};

template <class Action>
bool run_packs_of(const PackTask& task, int threads, const AskedToStop& asked, std::vector<PackFailure>& failures) {
  constexpr int W = kPackWidth;
  const int jobs = static_cast<int>((task.runs + W - 1) / W);
  std::vector<std::unique_ptr<PackRuns<Action, W>>> workers(std::max(threads, 1));
  std::mutex mutex;
  const bool finished = on_threads(
      jobs, threads,
      [&](int job, int thread, const std::atomic<bool>& stop) {
        if (!workers[thread]) workers[thread] = std::make_unique<PackRuns<Action, W>>(task);
        const long first = static_cast<long>(job) * W;
        std::vector<PackFailure> found;
        workers[thread]->take(first, static_cast<int>(std::min<long>(W, task.runs - first)), stop, found);
        if (found.empty()) return;
        const std::lock_guard lock(mutex);
        failures.insert(failures.end(), found.begin(), found.end());
      },
      asked);
  std::sort(failures.begin(), failures.end(), [](const auto& a, const auto& b) { return a.run < b.run; });
  return finished;
}

}  // namespace

bool fits_packs(const Model& m, const MethodOptions& options, double dt) {
  const bool usual = (options.action == Action::Cayley || options.action == Action::Chord) &&
                     options.solver == Solver::Newton && options.guess == Guess::Extrapolate && options.order == 2 &&
                     options.accuracy == 0;
  if (!usual || m.rows > 0 || !m.users.empty() || !m.formula_bodies.empty() || m.has_unilateral() ||
      has_limited_actuators(m) || has_damped_pairs(m) || m.nv == 0)
    return false;
  bool springs = false;
  m.for_pairs([&](const auto& row) { springs |= row.elastic(); });
  return !springs && !(has_damping(m) && DampedEnd(m).is_strong(dt, nullptr, nullptr));
}

bool run_packs(const PackTask& task, int threads, const AskedToStop& asked, std::vector<PackFailure>& failures) {
  if (task.options.action == Action::Chord) return run_packs_of<Chord>(task, threads, asked, failures);
  return run_packs_of<Cayley>(task, threads, asked, failures);
}

}  // namespace symplectree
