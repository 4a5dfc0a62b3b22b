// Second derivatives of σ (hessian_interface.hpp) in O(n) per eight of them.
//
// What comes from an energy is the gradient of one function Λ = L_d(q, q') + λ·h(q) − μ·h(q'), so that this part of σ
// is Λ's derivative ξ along (start, end), and its gradient the derivative along it of the equations themselves: along
// an increment b, b ξ Λ = ξ b Λ + [b, ξ] Λ, whose last term is there for increments of one quaternion, which do not
// commute. So one run of the equations on duals along (start, end) of jets gives eight columns of second derivatives.
// Loads and dampers come from no energy; their part of σ is the power that they have at the velocities `start` and
// `end` (power_gradient.hpp). In λ, forces, v and μ σ is linear.
#include "kinematics/poses_twists.hpp"
#include "linearization/load_hessian.hpp"
#include "linearization/local_hessian.hpp"
#include "linearization/row_equations.hpp"
#include "linearization/step_equations.hpp"

namespace symplectree {
namespace {

// out (nv, of one or several joints) += how a gradient f changes when the order of b and the increment `along` is
// exchanged: f·[b, along].
template <class F>
void add_bracket(const Model& m, const std::vector<double>& along, F&& f, Jet* out) {
  for (int i : m.quaternions) {
    const Body& b = m.bodies[i];
    const auto three = [&](auto&& entry, int k) { return Vec3<Jet>{entry(k), entry(k + 1), entry(k + 2)}; };
    const auto a = [&](int j) { return Jet(along[j]); };
    Spatial<Jet> A{three(a, b.v), {}}, g{three(f, b.v), {}};
    if (b.kind == Kind::Free) A.linear = three(a, b.v + 3), g.linear = three(f, b.v + 3);
    const Spatial<Jet> c = bracket_force(A, g);
    out[b.v] += c.angular.x, out[b.v + 1] += c.angular.y, out[b.v + 2] += c.angular.z;
    if (b.kind == Kind::Free) out[b.v + 3] += c.linear.x, out[b.v + 4] += c.linear.y, out[b.v + 5] += c.linear.z;
  }
}

class StepHessian final : public HessianInterface {
  using Second = DualOf<Jet>;

 public:
  StepHessian(const Model& m, const StepLayout& layout, Action action, double alpha)
      : m_(m), l_(layout), equations_(step_equations<Second>(m, action, alpha)), rows_(m),
        middle_(action == Action::Midpoint ? std::make_unique<MidpointState<Second>>(m, alpha) : nullptr),
        local_(m, l_, middle_.get()), end_(m), speed_(m), other_(m), dz_(2 * m.nv), q0_(m.nq), q1_(m.nq), g_(l_.size) {
    if (middle_) {
      loads_ = std::make_unique<MidpointLoads>(m, l_, alpha);
    } else {
      loads_ = std::make_unique<EndLoads>(m, l_);
    }
    for (auto* x : {&a0_, &a1_}) x->resize(m.nq);
    for (auto* x : {&r_, &p_, &d_}) x->resize(m.nv);
    rows_.users = false;
    if (m.rows > 0) moving_ = std::make_unique<Workspace<Second>>(m);
  }

  void evaluate(const StepPoint& at, const StepWeights& w, double* H) override {
    const int n = 2 * l_.nv, size = l_.size;
    std::fill(H, H + size * size, 0.0);
    equations_->set_conservative(true);
    for (int first = 0; first < n; first += Jet::width) {
      const int count = std::min(Jet::width, n - first);
      std::fill(dz_.begin(), dz_.end(), Jet());
      for (int k = 0; k < count; ++k) dz_[first + k].slope.set(k, 1);
      retract_ad(m_, at.q0.data(), dz_.data() + l_.q0, q0_.data());
      retract_ad(m_, at.q1.data(), dz_.data() + l_.q1, q1_.data());
      std::fill(g_.begin(), g_.end(), Jet());
      energies(at, w);
      if (l_.projected) projection(at, w);
      loads_->add(at, w, q0_.data(), q1_.data(), g_.data());
      for (int z = 0; z < l_.size; ++z)
        for (int k = 0; k < count; ++k) H[size * z + first + k] = g_[z].slope[k];
    }
    equations_->set_conservative(false);
    // Of two increments of one quaternion, the mean of both orders.
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j <= i; ++j) H[size * i + j] = H[size * j + i] = 0.5 * (H[size * i + j] + H[size * j + i]);
      for (int j = n; j < size; ++j) H[size * i + j] = H[size * j + i];
    }
    local_.add(at, w, H);
  }

 private:
  // The part of Λ.
  void energies(const StepPoint& at, const StepWeights& w) {
    move(q0_, w.start, a0_), move(q1_, w.end, a1_);
    const StepArguments<Second> a{at.h, a0_.data(), a1_.data(), nullptr, nullptr, nullptr, nullptr, nullptr};
    equations_->evaluate(a, r_.data(), p_.data());
    if (m_.rows > 0) {
      lambda_.resize(m_.rows);
      for (int k = 0; k < m_.rows; ++k) lambda_[k] = Second(at.lambda[k]);
      rows_.add_impulses(a0_.data(), nullptr, lambda_.data(), equations_->start(), r_.data());
      for (int k = 0; k < m_.rows; ++k) g_[l_.lambda + k] += rows_.value(k).slope;
      for (int k = 0; k < m_.rows; ++k) lambda_[k] = Second(-at.mu[k]);
      rows_.add_impulses(a1_.data(), nullptr, lambda_.data(), equations_->end(), p_.data());
      for (int k = 0; k < m_.rows; ++k) g_[l_.mu + k] -= rows_.value(k).slope;
    }
    differentiate(r_, w.start, &g_[l_.q0]), differentiate(p_, w.end, &g_[l_.q1]);
  }

  // That of p' along constraints: momentum·M v, and rates·Dh v + rows·h, the derivative along v of (rates + ε rows)·h.
  void projection(const StepPoint& at, const StepWeights& w) {
    const Jets v = as_jets(at.v), c = as_jets(w.momentum);
    compute_poses<1>(m_, q1_.data(), end_);
    speed_.begin(end_, v.data()), other_.begin(end_, c.data());
    speed_.add_momenta(other_.U, end_), other_.add_momenta(speed_.U, end_);
    speed_.gather(end_, &g_[l_.q1], &g_[l_.v]), other_.gather(end_, &g_[l_.q1], nullptr);
    if (m_.rows == 0) return;
    move(q1_, at.v, a1_);
    compute_poses(m_, a1_.data(), *moving_);
    for (int k = 0; k < m_.rows; ++k) lambda_[k] = Second(Jet(w.rates[k]), Jet(w.rows[k]));
    std::fill(p_.begin(), p_.end(), Second());
    rows_.add_impulses(a1_.data(), nullptr, lambda_.data(), *moving_, p_.data());
    differentiate(p_, at.v, &g_[l_.q1]);
    for (int j = 0; j < l_.nv; ++j) g_[l_.v + j] += p_[j].value;
  }

  // out ← q, and how it changes along an increment.
  void move(const Jets& q, const std::vector<double>& along, std::vector<Second>& out) {
    for (int j = 0; j < l_.nv; ++j) d_[j] = Second(Jet(), Jet(along[j]));
    for (int k = 0; k < m_.nq; ++k) out[k] = Second(q[k], Jet());
    retract_ad(m_, out.data(), d_.data(), out.data());
  }

  // out (nv) += the gradient of the derivative along `along` of the function whose gradient is f.
  void differentiate(const std::vector<Second>& f, const std::vector<double>& along, Jet* out) const {
    for (int j = 0; j < l_.nv; ++j) out[j] += f[j].slope;
    add_bracket(m_, along, [&f](int j) { return f[j].value; }, out);
  }

  const Model& m_;
  const StepLayout l_;
  std::unique_ptr<StepEquations<Second>> equations_;
  RowEquations<Second> rows_;
  std::unique_ptr<StepLoads> loads_;
  std::unique_ptr<MidpointState<Second>> middle_;  // of the midpoint action
  LocalHessian local_;
  Workspace<Jet> end_;
  std::unique_ptr<Workspace<Second>> moving_;
  PowerSum<Jet> speed_, other_;
  Jets dz_, q0_, q1_, g_;
  std::vector<Second> a0_, a1_, r_, p_, d_, lambda_;
};

}  // namespace

std::unique_ptr<HessianInterface> step_hessian(const Model& m, const StepLayout& layout, Action action, double alpha) {
  return std::make_unique<StepHessian>(m, layout, action, alpha);
}

}  // namespace symplectree
