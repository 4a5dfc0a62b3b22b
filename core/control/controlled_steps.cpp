#include "control/controlled_steps.hpp"

#include "integrators/actuated_run.hpp"
#include "integrators/contact_run.hpp"
#include "integrators/make_run.hpp"
#include "integrators/mapped_run.hpp"

namespace symplectree {

RollOut::RollOut(const ControlledModel& m)
    : m_(m), workspace_(m.tree), mechanics_(m.tree, m.map, workspace_),
      run_(run_with_limits(m.tree, [&m](const Model& given) { return newton_run(given, m.options); })), controls_(m),
      off_(m.n()), none_(m.nv()) {
  if (m.tree.has_unilateral()) run_ = std::make_unique<ContactRun>(m.tree, std::move(run_), m.options.located, 0);
  if (m.map) run_ = std::make_unique<MappedRun>(*m.map, std::move(run_), MappedRun::Second::Momentum, 1);
  run_->set_prescribed(m.marks());
}

void RollOut::decide(int k, const double* q, const double* p, const Policy& policy, double* u) {
  const int m = m_.m(), nv = m_.nv(), n = m_.n();
  const Motion& along = *policy.along;
  const std::size_t row = static_cast<std::size_t>(k) * m;
  std::copy_n(&along.u[row], m, u);
  if (policy.steps)
    for (int i = 0; i < m; ++i) u[i] += policy.length * policy.steps[row + i];
  if (!policy.gains) return;
  increments(m_.layout(), &along.q[static_cast<std::size_t>(k) * m_.nq()], q, off_.data());
  for (int j = 0; j < nv; ++j) off_[nv + j] = p[j] - along.p[static_cast<std::size_t>(k) * nv + j];
  const double* gains = policy.gains + row * n;
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) u[i] += gains[i * n + j] * off_[j];
    u[i] = std::min(std::max(u[i], policy.lower[i]), policy.upper[i]);
  }
}

int RollOut::run(const double* q0, const double* p0, const double* v0, const Policy& policy, Motion& out) {
  const int nq = m_.nq(), nv = m_.nv(), m = m_.m();
  double *q = out.q.data(), *p = out.p.data(), *u = out.u.data(), *v = m_.is_free() ? nullptr : out.v.data();
  std::copy(q0, q0 + nq, q), std::copy(p0, p0 + nv, p);
  if (v) std::copy(v0, v0 + nv, v);
  run_->reset(q0, p, none_.data());
  for (int k = 0; k < m_.steps; ++k, q += nq, p += nv, u += m) {
    decide(k, q, p, policy, u);
    double sum = 0;  // of zeros, unless a control is not finite
    for (int i = 0; i < m; ++i) sum += 0 * u[i];
    if (sum != 0) return k;
    controls_.set(q, u);
    PrescribedMotion motion;
    if (!m_.prescribed.empty()) motion = {controls_.target.data(), controls_.rates.data()};
    if (!run_->step(k * m_.dt, m_.dt, {controls_.tau.data(), controls_.inputs.data()}, motion)) return k;
    std::copy_n(run_->state().q.data(), nq, q + nq);
    if (v) {  // momenta along constraints and prescribed coordinates
      v += nv;
      run_->velocity(v);
      mechanics_.momentum(q + nq, v, p + nv);
    } else {
      std::copy_n(run_->state().x.data(), nv, p + nv);
    }
  }
  return m_.steps;
}

StepStages::StepStages(const ControlledModel& m)
    : m_(m), step_(step_derivatives(m.tree, m.map, m.single, m.dt, m.marks())), controls_(m), q1_(m.nq()), p1_(m.nv()),
      first_(static_cast<std::size_t>(m.n()) * step_->inputs()), multipliers_(step_->rows() * step_->inputs()) {
  if (m.prescribed.empty()) return;
  const int n = m.n(), own = m.tree.inputs ? m.tree.inputs : m.nv(), count = static_cast<int>(m.prescribed.size());
  bent_.resize(static_cast<std::size_t>(step_->inputs()) * step_->inputs());
  chain_.setZero(step_->inputs(), n + m.m());
  chain_.topLeftCorner(n + m.forces(), n + m.forces()).setIdentity();
  for (int i = 0; i < count; ++i) {
    int rank = 0;  // ends and rates are in the order of velocities
    for (const PrescribedPlace& other : m.prescribed) rank += other.v < m.prescribed[i].v;
    const int control = n + m.forces() + i, end = n + own + rank;
    chain_(end, m.prescribed[i].v) = 1, chain_(end, control) = m.dt;
    chain_(end + count, control) = 1;
  }
}

bool StepStages::first(int k, const Motion& along, double* AB) {
  const std::size_t nq = m_.nq(), nv = m_.nv();
  const double *q = &along.q[k * nq], *p = &along.p[k * nv];
  controls_.set(q, &along.u[static_cast<std::size_t>(k) * m_.m()]);
  const StepConditions given{q,
                             p,
                             controls_.tau.data(),
                             controls_.inputs.data(),
                             m_.prescribed.empty() ? q : controls_.target.data(),
                             controls_.rates.data()};
  if (!step_->take_known(given, q + nq, q1_.data(), p1_.data())) return false;
  step_->differentiate(chain_.size() ? first_.data() : AB, multipliers_.data(), nullptr);
  if (chain_.size())
    Eigen::Map<RowMatrix>(AB, m_.n(), chain_.cols()).noalias() =
        Eigen::Map<const RowMatrix>(first_.data(), m_.n(), chain_.rows()) * chain_;
  return true;
}

void StepStages::bend(const double* weights, double* H) {
  step_->contract(weights, false, chain_.size() ? bent_.data() : H);
  if (!chain_.size()) return;
  const Eigen::Map<const RowMatrix> bent(bent_.data(), chain_.rows(), chain_.rows());
  Eigen::Map<RowMatrix>(H, chain_.cols(), chain_.cols()).noalias() = chain_.transpose() * bent * chain_;
}

}  // namespace symplectree
