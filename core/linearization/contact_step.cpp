#include "linearization/contact_step.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "dynamics/rnea.hpp"
#include "integrators/actuated_run.hpp"
#include "integrators/make_run.hpp"
#include "kinematics/configurations.hpp"
#include "kinematics/poses_twists.hpp"
#include "linearization/impact_derivative.hpp"
#include "model/rows/all_rows.hpp"

namespace symplectree {
namespace {

using Stage = ContactStage::Kind;

std::unique_ptr<Run> single_steps(const Model& m, MethodOptions options) {
  options.guess = Guess::Acceleration, options.substeps = 0;
  return run_with_limits(m, [options](const Model& given) { return newton_run(given, options); });
}

bool is_step(const ContactStage& stage) { return stage.kind == Stage::Step || stage.kind == Stage::Located; }

void add(std::vector<UnilateralPlace>& to, const UnilateralPlace& place) {
  if (std::find(to.begin(), to.end(), place) == to.end()) to.push_back(place);
}

UnilateralPlace place_of(const Unilateral& u) { return {static_cast<int>(u.source), u.index}; }

}  // namespace

class ContactStepDerivatives::StraightPath final : public MotionParts {
 public:
  StraightPath(const ContactStepDerivatives& of) : of_(of), target_(of.q_) { coordinates_.set(of.prescribed_); }
  PrescribedMotion over(double t, double h) const override {
    coordinates_.interpolate(of_.q_.data(), of_.target_.data(), (t + h) / of_.h_, target_.data());
    return {target_.data(), of_.rates_.data(), nullptr, this};
  }

 private:
  const ContactStepDerivatives& of_;
  PrescribedCoordinates coordinates_{of_.m_};
  mutable std::vector<double> target_;
};

ContactStepDerivatives::ContactStepDerivatives(const Model& m, const MethodOptions& options, double h,
                                               const std::vector<char>& prescribed,
                                               std::unique_ptr<StepDerivatives> smooth, Maker make)
    : m_(m), h_(h), prescribed_(prescribed), smooth_(std::move(smooth)), make_(std::move(make)),
      run_(m, single_steps(m, options), options.located, options.substeps), unilateral_(m), dynamics_(m), equations_(m),
      kick_(m, prescribed_), at_(m), last_(smooth_.get()), q1_(m.nq), p1_(m.nv), kicked_(m.nv), v_(m.nv) {
  for (int j = 0; j < m.nv; ++j)
    if (prescribed_[j]) places_.push_back(j);
  run_.set_prescribed(prescribed_), dynamics_.set_prescribed(prescribed_);
  run_.keep_trace(trace_);
}

ContactStepDerivatives::~ContactStepDerivatives() = default;

bool ContactStepDerivatives::take(const StepConditions& given, double* q1, double* p1) {
  q_.assign(given.q, given.q + m_.nq), p_.assign(given.p, given.p + m_.nv);
  tau_.assign(given.tau, given.tau + m_.nv), inputs_.assign(given.inputs, given.inputs + m_.inputs);
  target_.assign(given.target, given.target + m_.nq), rates_.assign(given.rates, given.rates + m_.nv);
  run_.reset(given.q, given.p, given.rates);
  const StraightPath path(*this);
  if (!run_.step(0, h_, {given.tau, given.inputs}, {given.target, given.rates, nullptr, &path})) return false;
  find_acting();
  last_ = smooth_.get();
  if (parts_.acting.empty()) return smooth_->take(given, q1, p1);
  const RunState& end = run_.state();
  q1_ = end.q, p1_ = end.x;
  if (!dynamics_.is_free()) {
    dynamics_.velocity(q1_.data(), end.x.data(), rates_.data(), v_.data());
    momenta(m_, q1_.data(), v_.data(), p1_.data(), at_);
  }
  std::copy(q1_.begin(), q1_.end(), q1), std::copy(p1_.begin(), p1_.end(), p1);
  double begin = 0;
  others_.clear();
  for (std::size_t k = 0; k < trace_.size(); ++k)
    if (is_step(trace_[k])) taken_ = k;
  for (std::size_t k = 0; k < taken_; ++k)
    if (trace_[k].kind == Stage::Located && trace_[k + 2].kind != Stage::Back) begin += trace_[k].length;
  return take_smooth(taken_, begin);
}

void ContactStepDerivatives::find_acting() {
  parts_.acting.clear(), parts_.weak.clear();
  for (const ContactStage& stage : trace_) {
    int row = 0;
    for (const Unilateral& u : stage.parts) {
      const bool rubs = u.source == Unilateral::Source::Friction && unilateral_.part(u, h_).bound > 0;
      if (rubs || stage.x[row] != 0 || stage.kind == Stage::Impact) {
        add(parts_.acting, place_of(u));
      } else if (std::fabs(stage.y[row]) <= ConeDerivative::kRounding) {
        add(parts_.weak, place_of(u));
      }
      row += unilateral_.rows(u);
    }
  }
  if (!parts_.acting.empty()) parts_.weak.clear();  // these are found with the derivatives
}

void ContactStepDerivatives::note_weak(const ContactStage& stage, const std::vector<int>& weak) {
  for (const int k : weak) add(parts_.weak, place_of(stage.parts[k]));
}

std::vector<double> ContactStepDerivatives::momentum(std::size_t stage) {
  const ContactStage& at = trace_[stage];
  if (stage == 0) return p_;
  if (dynamics_.is_free()) return at.p;
  std::vector<double> out(m_.nv);
  dynamics_.velocity(at.q.data(), at.p.data(), rates_.data(), v_.data());
  momenta(m_, at.q.data(), v_.data(), out.data(), at_);
  return out;
}

StepDerivatives& ContactStepDerivatives::of_length(double length) {
  if (length == h_) return *smooth_;
  auto& steps = others_[length];
  if (!steps) steps = make_(length);
  return *steps;
}

RowMatrix ContactStepDerivatives::jacobian(const std::vector<Unilateral>& parts, const double* q) {
  RowMatrix J(equations_.count(parts), m_.nv);
  if (unilateral_.has_contacts()) compute_poses(m_, q, at_);
  double* row = J.data();
  for (const Unilateral& u : parts) {
    unilateral_.jacobian(u, at_, row);
    row += static_cast<std::size_t>(unilateral_.rows(u)) * m_.nv;
  }
  return J;
}

bool ContactStepDerivatives::take_smooth(std::size_t k, double begin) {
  const ContactStage& stage = trace_[k];
  const RowMatrix J = jacobian(stage.parts, stage.q.data());
  kicked_ = momentum(k);
  for (int i = 0; i < J.rows(); ++i)
    for (int j = 0; j < m_.nv; ++j) kicked_[j] += stage.x[i] * J(i, j);
  const double until = stage.kind == Stage::Back ? begin : begin + stage.length;
  const StraightPath path(*this);
  const double* target = path.over(until, 0).targets;
  last_ = &of_length(stage.length);
  const std::vector<double>& end = k + 1 < trace_.size() ? trace_[k + 1].q : q1_;
  std::vector<double> q1(m_.nq), p1(m_.nv);
  return last_->take_known({stage.q.data(), kicked_.data(), tau_.data(), inputs_.data(), target, rates_.data()},
                           end.data(), q1.data(), p1.data());
}

RowMatrix ContactStepDerivatives::rates() const {
  RowMatrix out = RowMatrix::Zero(m_.nv, inputs());
  const int count = static_cast<int>(places_.size());
  for (int k = 0; k < count; ++k) out(places_[k], ends() + count + k) = 1;
  return out;
}

void ContactStepDerivatives::differentiate(double* first, double* multipliers_first, double* second) {
  if (parts_.acting.empty()) return smooth_->differentiate(first, multipliers_first, second);
  if (second) require_smooth();
  const int nv = m_.nv, n = inputs();
  Chain chain;
  chain.q = RowMatrix::Identity(nv, n), chain.p = RowMatrix::Zero(nv, n);
  chain.p.middleCols(nv, nv).setIdentity();
  chain.begins = chain.located = Eigen::RowVectorXd::Zero(n);
  for (std::size_t k = 0; k < trace_.size(); ++k) {
    switch (trace_[k].kind) {
      case Stage::Impact: differentiate_impact(k, chain); break;
      case Stage::End: differentiate_end(k, chain); break;
      default: differentiate_step(k, chain, k == taken_ ? multipliers_first : nullptr);
    }
  }
  Eigen::Map<RowMatrix> result(first, 2 * nv, n);
  result.topRows(nv) = chain.q, result.bottomRows(nv) = chain.p;
}

void ContactStepDerivatives::differentiate_step(std::size_t k, Chain& chain, double* multipliers) {
  const ContactStage& stage = trace_[k];
  const int nv = m_.nv, n = inputs(), count = static_cast<int>(places_.size()), rows = m_.rows;
  if (trace_.size() > 2 && !take_smooth(k, chain.begin)) throw std::runtime_error("a part of a step has no solution");
  RowMatrix F(2 * nv, n), G(rows, n);
  last_->differentiate(F.data(), G.data(), nullptr);
  // The inputs of this part, and its length in the last column.
  const bool varies = stage.kind != Stage::Step || !chain.begins.isZero(0);
  RowMatrix in = RowMatrix::Zero(n, n + 1);
  in.bottomLeftCorner(n - 2 * nv, n) = RowMatrix::Identity(n, n).bottomRows(n - 2 * nv);
  in.topLeftCorner(nv, n) = chain.q, in.block(nv, 0, nv, n) = chain.p;
  in.block(nv, 0, nv, n) += product(equations_.push(stage.parts, stage.q.data(), stage.x), chain.q);
  if (count > 0 && varies) {
    increments(m_, q_.data(), target_.data(), v_.data());
    const double until = stage.kind == Stage::Back ? chain.begin : chain.begin + stage.length, share = until / h_;
    for (int i = 0; i < count && stage.kind != Stage::Step; ++i) {
      const double rate = v_[places_[i]] / h_;
      in.row(ends() + i).setZero();
      in(ends() + i, places_[i]) = 1 - share, in(ends() + i, ends() + i) = share;
      in.row(ends() + i).head(n) += rate * chain.begins;
      if (stage.kind == Stage::Located) in(ends() + i, n) = rate;
    }
  }
  RowMatrix out = product(F, in), of_rows = product(G, in);
  if (varies) {
    RowMatrix by_length(2 * nv, 1), of_multipliers = RowMatrix::Zero(rows, 1);
    last_->differentiate_in_length(F.data(), by_length.data(), of_multipliers.data());
    out.col(n) += by_length.col(0), of_rows.col(n) += of_multipliers.col(0);
  }
  if (!stage.parts.empty()) {
    const std::vector<double>& end = k + 1 < trace_.size() ? trace_[k + 1].q : q1_;
    const RowMatrix J = jacobian(stage.parts, stage.q.data());
    const RowMatrix y = equations_.values(stage.parts, stage.q.data(), end.data()), by_end = y.rightCols(nv);
    const RowMatrix answer = product(F.middleCols(nv, nv), RowMatrix(J.transpose()));
    const RowMatrix dy = product(y.leftCols(nv), in.topRows(nv)) + product(by_end, out.topRows(nv));
    std::vector<ConeProblem::Part> parts;
    RowMatrix bounds = RowMatrix::Zero(static_cast<int>(stage.parts.size()), n + 1);
    for (const Unilateral& u : stage.parts) {
      parts.push_back(unilateral_.part(u, stage.length));
      if (u.source == Unilateral::Source::Friction)
        bounds(static_cast<int>(parts.size()) - 1, n) = parts.back().bound / stage.length;
    }
    ConeDerivative cone;
    cone.begin(parts, product(by_end, answer.topRows(nv)), stage.x, stage.y);
    note_weak(stage, cone.weak);
    const RowMatrix dx = cone.solve(dy, bounds);
    out += product(answer, dx);
    if (rows > 0) of_rows += product(product(G.middleCols(nv, nv), RowMatrix(J.transpose())), dx);
  }
  Eigen::RowVectorXd length = -chain.begins;
  if (stage.kind == Stage::Back) length = -chain.located;
  if (stage.kind == Stage::Located) {
    const std::vector<double>& end = trace_[k + 1].q;
    const RowMatrix gap = product(jacobian(stage.met, end.data()).topRows(1), out.topRows(nv));
    length = chain.located = -gap.row(0).head(n) / gap(0, n);
  }
  const RowMatrix all = out.leftCols(n) + out.col(n) * length;
  chain.q = all.topRows(nv), chain.p = all.bottomRows(nv);
  if (multipliers && rows > 0)
    Eigen::Map<RowMatrix>(multipliers, rows, n) = of_rows.leftCols(n) + of_rows.col(n) * length;
  const bool split = stage.kind == Stage::Located && (k + 2 >= trace_.size() || trace_[k + 2].kind != Stage::Back);
  if (split) chain.begin += stage.length, chain.begins += chain.located;
}

void ContactStepDerivatives::differentiate_impact(std::size_t k, Chain& chain) {
  const ContactStage& stage = trace_[k];
  const RowMatrix given = rates();
  kick_.begin(stage.parts, stage.q.data(), momentum(k).data(), rates_.data());
  std::vector<int> weak;
  const RowMatrix dx = impact_derivative(stage, kick_, {chain.q, chain.p, given}, weak);
  note_weak(stage, weak);
  chain.p = kick_.change(stage.x, chain.q, chain.p, given).p + product(kick_.response(), dx);
}

void ContactStepDerivatives::differentiate_end(std::size_t k, Chain& chain) {
  const ContactStage& stage = trace_[k];
  if (stage.bounces)
    throw std::domain_error("restitution where impacts are 'stepped' has no derivatives: take impacts='located'");
  kick_.begin(stage.parts, stage.q.data(), momentum(k).data(), rates_.data());
  const MomentumKick::Change change = kick_.change(stage.x, chain.q, chain.p, rates());
  std::vector<ConeProblem::Part> parts;
  RowMatrix bounds = RowMatrix::Zero(static_cast<int>(stage.parts.size()), inputs());
  for (const Unilateral& u : stage.parts) {
    parts.push_back(unilateral_.part(u, stage.length));
    if (u.source == Unilateral::Source::Friction)
      bounds.row(static_cast<int>(parts.size()) - 1) = -parts.back().bound / stage.length * chain.begins;
  }
  ConeDerivative cone;
  cone.begin(parts, kick_.W(), stage.x, stage.y);
  note_weak(stage, cone.weak);
  chain.p = change.p + product(kick_.response(), cone.solve(change.speeds, bounds));
}

void ContactStepDerivatives::require_smooth() const {
  if (!parts_.acting.empty())
    throw std::domain_error("a step in which something pushes or rubs has first derivatives in its state only");
}

void ContactStepDerivatives::contract(const double* weights, bool with_second, double* hessian) {
  require_smooth();
  smooth_->contract(weights, with_second, hessian);
}

int ContactStepDerivatives::differentiate_in_parameters(const double* first, double* out, double* multipliers) {
  require_smooth();
  return smooth_->differentiate_in_parameters(first, out, multipliers);
}

}  // namespace symplectree
