#include "control/stagewise_newton.hpp"

namespace symplectree {
namespace {

constexpr int kHalvings = 12;
constexpr double kDecrease = 1e-4;  // of what the sweep promises

}  // namespace

StagewiseNewton::StagewiseNewton(const ControlledModel& model, const TotalCost& cost, ControlLimits limits, bool exact,
                                 int threads)
    : sweep(model.steps, model.n(), model.m()), model_(model), cost_(cost), limits_(std::move(limits)), exact_(exact),
      n_(model.n()), m_(model.m()), roll_out_(model_), pipeline_(std::max(1, std::min(threads, model.steps))),
      no_controls_(m_), sizes_(m_), states_(model.steps), acting_(model.steps), plain_{sweep} {
  const std::size_t count = model.steps, square = static_cast<std::size_t>(N()) * N();
  motion = trial = Motion(model_);
  AB.resize(count * n_ * N()), H.resize((count + 1) * square), bending.resize(exact ? count * square : 0);
  last.resize(static_cast<std::size_t>(n_) * n_), costates.resize((count + 1) * n_), slope.resize(count * m_);
  gradients_.resize((count + 1) * N()), room_.resize(2 * count * m_);
  for (int i = 0; i < pipeline_.threads(); ++i) workers_.push_back(std::make_unique<Worker>(model_));
  if (!exact || pipeline_.threads() == 1) return;
  if (workers_[0]->stages.can_keep()) {
    records_.resize(count);
  } else {
    for (std::size_t k = 0; k < count; ++k) single_stages_.push_back(std::make_unique<StepStages>(model_));
  }
}

int StagewiseNewton::begin(const double* q, const double* v, const Policy& policy) {
  std::vector<double> p(model_.nv());
  workers_[0]->scratch.mechanics.momentum(q, v, p.data());
  const int taken = roll_out_.run(q, p.data(), v, policy, trial);
  if (taken == model_.steps) trial.cost = measure(trial);
  return taken;
}

double StagewiseNewton::measure(const Motion& of, bool per_time) { return cost_of(of, per_time, workers_[0]->scratch); }

double StagewiseNewton::cost_of(const Motion& of, bool per_time, CostScratch& scratch) const {
  const std::size_t nq = model_.nq(), nv = model_.nv();
  double sum = 0;
  for (int k = 0; k <= model_.steps; ++k) {
    const double* u = k < model_.steps ? &of.u[static_cast<std::size_t>(k) * m_] : no_controls_.data();
    sum += cost_.value(k, &of.q[k * nq], &of.p[k * nv], u, scratch, per_time);
  }
  return sum;
}

bool StagewiseNewton::tried(const double* steps, double length, const OtherCost& other) {
  if (roll_out_.run(motion.q.data(), motion.p.data(), motion.v.data(), policy(steps, length), trial) < model_.steps)
    return false;
  trial.cost = measure(trial);
  if (other) trial.cost += other(trial);
  return std::isfinite(trial.cost);
}

Policy StagewiseNewton::policy(const double* steps, double length) const {
  return {&motion, steps, sweep.gains.data(), length, limits_.lower.data(), limits_.upper.data()};
}

bool StagewiseNewton::is_low_enough(const Motion& of, int halving) const {
  const double length = std::ldexp(1.0, -halving);
  const double promised = -(length * sweep.linear + length * length * sweep.quadratic);
  return motion.cost - of.cost >= kDecrease * promised;
}

int StagewiseNewton::line_search(int first, const OtherCost& other, int& broken) {
  for (int k = first; k < kHalvings;) {
    const int count = k == first ? 1 : std::min(pipeline_.threads(), kHalvings - k);
    if (count > 1) {
      if (const int found = line_search_together(k, count, other, broken); found >= 0) return found;
    } else if (!tried(sweep.steps.data(), std::ldexp(1.0, -k), other)) {
      ++broken;
    } else if (is_low_enough(trial, k)) {
      return k;
    }
    k += count;
  }
  return -1;
}

int StagewiseNewton::line_search_together(int first, int count, const OtherCost& other, int& broken) {
  while (static_cast<int>(attempts_.size()) < count) attempts_.push_back(std::make_unique<Attempt>(model_));
  int found = -1;
  const auto roll = [&](int thread, int i) {
    auto& [roll_out, out, whole] = *attempts_[i];
    const Policy shorter = policy(sweep.steps.data(), std::ldexp(1.0, -first - i));
    whole = roll_out.run(motion.q.data(), motion.p.data(), motion.v.data(), shorter, out) == model_.steps;
    if (whole) out.cost = cost_of(out, false, workers_[thread]->scratch);
  };
  const auto compare = [&](int i) {
    if (found >= 0) return;
    Motion& of = attempts_[i]->motion;
    if (attempts_[i]->whole && other) of.cost += other(of);
    if (!attempts_[i]->whole || !std::isfinite(of.cost)) {
      ++broken;
    } else if (is_low_enough(of, first + i)) {
      found = first + i;
      std::swap(trial, of);
    }
  };
  pipeline_.run(count, roll, compare);
  return found;
}

void StagewiseNewton::first_derivatives(int thread, int k) {
  Worker& own = *workers_[thread];
  StepStages& stages = single_stages_.empty() ? own.stages : *single_stages_[k];
  states_[k] = static_cast<char>(Found::Everything);
  if (!cost_.derivatives(k, row(motion.q, k, model_.nq()), row(motion.p, k, model_.nv()), row(motion.u, k, m_),
                         own.scratch, row(gradients_, k, N()), row(H, k, N() * N())))
    states_[k] = static_cast<char>(Found::NotFinite);
  if (!stages.first(k, motion, row(AB, k, n_ * N()))) {
    states_[k] = static_cast<char>(Found::NoSolution);
  } else if (exact_ && !stages.acting().empty()) {
    states_[k] = static_cast<char>(Found::NotSmooth), acting_[k] = stages.acting()[0];
  }
  if (!records_.empty()) stages.keep(records_[k]);
}

void StagewiseNewton::second_derivatives(int thread, int k) {
  StepStages& stages = single_stages_.empty() ? workers_[thread]->stages : *single_stages_[k];
  if (!records_.empty()) stages.put_back(records_[k]);
  stages.bend(row(costates, k + 1, n_), row(bending, k, N() * N()));
}

void StagewiseNewton::add_others(int k, const OtherCosts& others) {
  const int from = model_.steps + 1 - others.rows, size = N();
  if (k < from) return;
  double *g = row(gradients_, k, size), *own = row(H, k, size * size);
  const double *dg = others.gradients + (k - from) * size, *dH = others.hessians + (k - from) * size * size;
  for (int i = 0; i < size; ++i) g[i] += dg[i];
  for (int i = 0; i < size * size; ++i) own[i] += dH[i];
}

// λ_k and the slope r_k from λ_{k+1}; the scale.
void StagewiseNewton::follow_costate(int k) {
  const double *g = row(gradients_, k, N()), *ahead = row(costates, k + 1, n_), *J = row(AB, k, n_ * N());
  double *lambda = row(costates, k, n_), *r = row(slope, k, m_);
  std::copy_n(g, n_, lambda), std::copy_n(g + n_, m_, r);
  for (int j = 0; j < m_; ++j) sizes_[j] = std::fabs(r[j]);
  for (int i = 0; i < n_; ++i, J += N()) {
    for (int j = 0; j < n_; ++j) lambda[j] += ahead[i] * J[j];
    for (int j = 0; j < m_; ++j) r[j] += ahead[i] * J[n_ + j], sizes_[j] += std::fabs(ahead[i] * J[n_ + j]);
  }
  for (const double size : sizes_) scale = std::max(scale, size);
}

// λ_K, and second derivatives at the end.
bool StagewiseNewton::end_derivatives(const OtherCosts& others) {
  const int count = model_.steps;
  const bool finite = cost_.derivatives(count, row(motion.q, count, model_.nq()), row(motion.p, count, model_.nv()),
                                        no_controls_.data(), workers_[0]->scratch, row(gradients_, count, N()),
                                        row(H, count, N() * N()));
  where = count;
  if (!finite) return false;
  add_others(count, others);
  std::copy_n(row(gradients_, count, N()), n_, row(costates, count, n_));
  Eigen::Map<RowMatrix>(last.data(), n_, n_) =
      Eigen::Map<RowMatrix>(row(H, count, N() * N()), N(), N()).topLeftCorner(n_, n_);
  return true;
}

// Limits of changes of the controls, all lower ones first.
void StagewiseNewton::set_room() {
  const int count = model_.steps;
  for (int k = 0; k < count; ++k)
    for (int i = 0; i < m_; ++i) {
      const std::size_t at = static_cast<std::size_t>(k) * m_ + i;
      room_[at] = limits_.lower[i] - motion.u[at], room_[count * m_ + at] = limits_.upper[i] - motion.u[at];
    }
}

StagewiseNewton::Found StagewiseNewton::differentiate(const OtherCosts& others, double damping) {
  const int count = model_.steps;
  Found found = Found::Everything;
  scale = 0, plain_.ready = false;
  if (!end_derivatives(others)) return Found::NotFinite;
  set_room();
  const auto finished = [&](int k) {  // derivatives of step k are there, those of later steps have been taken in
    if (found != Found::Everything) return false;
    found = static_cast<Found>(states_[k]), where = k;
    if (found != Found::Everything) return false;
    add_others(k, others);
    follow_costate(k);
    return true;
  };
  swept_ = true;
  sweep.begin(last.data());
  const auto swept = [&](int k) { swept_ = swept_ && sweep.stage(k, stage(k, exact_), damping); };
  const auto of = [count](int task) { return count - 1 - task; };  // tasks go backward in time
  const auto first = [&](int thread, int task) { first_derivatives(thread, of(task)); };
  if (!two_passes()) {
    pipeline_.run(count, first, [&](int task) {
      const int k = of(task);
      if (!finished(k)) return;
      if (exact_) second_derivatives(0, k);
      swept(k);
    });
  } else {  // second derivatives wait for the costates, and these for all first ones
    pipeline_.run(count, first, [&](int task) { finished(of(task)); });
    if (found != Found::Everything) return found;
    const auto second = [&](int thread, int task) { second_derivatives(thread, of(task)); };
    pipeline_.run(count, second, [&](int task) {
      const bool before = swept_;
      swept(of(task));
      if (before && !swept_) sweep_plainly(damping);  // while other threads go on
    });
  }
  swept_ = swept_ && sweep.is_finite();
  return found;
}

Stage StagewiseNewton::stage(int k, bool with_bending) {
  return {row(AB, k, n_ * N()), row(H, k, N() * N()), with_bending ? row(bending, k, N() * N()) : nullptr,
          row(slope, k, m_),    row(room_, k, m_),    row(room_, model_.steps + k, m_)};
}

void StagewiseNewton::sweep_plainly(double damping) {
  plain_.damping = damping;
  plain_.sweep.begin(last.data());
  plain_.ready = plain_.swept = true;
  for (int k = model_.steps - 1; k >= 0 && plain_.swept; --k)
    plain_.swept = plain_.sweep.stage(k, stage(k, false), damping);
}

bool StagewiseNewton::sweep_again(double damping, bool with_bending) {
  if (plain_.ready && !with_bending && plain_.damping == damping) {
    std::swap(sweep, plain_.sweep);
    plain_.ready = false;
    return swept_ = plain_.swept && sweep.is_finite();
  }
  sweep.begin(last.data());
  swept_ = true;
  for (int k = model_.steps - 1; k >= 0 && swept_; --k)
    swept_ = sweep.stage(k, stage(k, exact_ && with_bending), damping);
  return swept_ = swept_ && sweep.is_finite();
}

void StagewiseNewton::aim(const RowMatrix& C, RowMatrix& W, Eigen::VectorXd& a) {
  const int rows = static_cast<int>(C.rows());
  RowMatrix V = C.transpose(), BV, pull;
  W.setZero(rows, rows), a.setZero(rows), pulls_.resize(model_.steps * m_, rows);
  BoxMinimum box;
  for (int k = model_.steps - 1; k >= 0; --k) {
    const Eigen::Map<const RowMatrix> J(row(AB, k, n_ * N()), n_, N()), M(row(sweep.curvature, k, m_ * m_), m_, m_);
    const Eigen::Map<const RowMatrix> G(row(sweep.gains, k, m_ * n_), m_, n_);
    BV.noalias() = J.rightCols(m_).transpose() * V;
    box.free.assign(&sweep.free[static_cast<std::size_t>(k) * m_], &sweep.free[static_cast<std::size_t>(k) * m_] + m_);
    box.solve_free(M, -BV, pull);
    pulls_.middleRows(k * m_, m_) = pull;
    W.noalias() += BV.transpose() * pull;
    a.noalias() += BV.transpose() * Eigen::Map<const Eigen::VectorXd>(row(sweep.steps, k, m_), m_);
    V = (J.leftCols(n_).transpose() * V + G.transpose() * BV).eval();
  }
}

std::vector<double> StagewiseNewton::aimed(const Eigen::VectorXd& nu) const {
  std::vector<double> out = sweep.steps;
  Eigen::Map<Eigen::VectorXd>(out.data(), static_cast<int>(out.size())) += pulls_ * nu;
  return out;
}

double StagewiseNewton::largest_slope() const {
  double out = 0;
  for (std::size_t i = 0; i < slope.size(); ++i) {
    const double u = motion.u[i], low = limits_.lower[i % m_], high = limits_.upper[i % m_];
    const bool held = (u <= low && slope[i] > 0) || (u >= high && slope[i] < 0);
    if (!held) out = std::max(out, std::fabs(slope[i]));
  }
  return out;
}

double StagewiseNewton::largest_curvature() const {
  const std::size_t size = N(), count = model_.steps;
  double largest = 0;
  for (std::size_t k = 0; k < count; ++k)
    for (std::size_t i = n_ * size; i < size * size; ++i)
      largest = std::max(largest, std::fabs(H[k * size * size + i]));
  const auto B = Eigen::Map<const RowMatrix>(&AB[(count - 1) * n_ * size], n_, size).rightCols(m_);
  const RowMatrix end = B.transpose() * Eigen::Map<const RowMatrix>(last.data(), n_, n_) * B;
  return largest + end.cwiseAbs().maxCoeff();
}

}  // namespace symplectree
