// Newton's matrix of the midpoint action, eliminated leaves to root in linear time.
//
// A change δ of the end moves each body by a twist ξ and changes its velocity, relative to that motion, by ν; a change
// w of the beginning, times −h, likewise by ξ̄ and ν̄:
//   ξ_i = X_i ξ_λ + S ∂q_m,  ν_i = X_i ν_λ + S ∂v_m + Z ∂q_m,  Z as in velocity_change.
// With x = (ν, ξ) and y = (ν̄, ξ̄), so that x_i = X x_λ + s δ_i and y_i = X y_λ + s̄ w_i, −∂r/∂q' is the form
//   Σ_i y_iᵀ K_i x_i + δ_i c_iᵀ X y_λ + w_i d_iᵀ X x_λ + w_i O_i δ_i.
// K is the body's inertia between ν̄ and ν; c and d hold −ad_Sᵀ P, P the momentum carried, and gravity, for which the
// coordinate nearer the root turns the other's way of the carried mass: it needs no linear part of ξ. Elimination:
//   U = A s + c,  u = Aᵀ s̄ + d,  D = s̄ᵀ A s + O,  A_λ += Xᵀ (A − U D⁻¹ uᵀ) X.
// Of pairs and wrenches see midpoint_loads.hpp.
#include "dense/dense_solvers.hpp"
#include "dynamics/lagrangian_derivatives.hpp"
#include "elements/joint_damper.hpp"
#include "integrators/midpoint/midpoint_direction.hpp"
#include "integrators/midpoint/midpoint_loads.hpp"
#include "model/rows/joint_spring.hpp"
#include "spatial/block_matrix.hpp"
#include "spatial/matrix6.hpp"

namespace symplectree {
namespace {

// The elimination, with R blocks of y and C of x: 3 and 3, or 6 and 4 with pairs and wrenches.
template <int R, int C>
class MidpointTree final : public MidpointDirection {
  static constexpr bool kLoads = C > 3;

 public:
  explicit MidpointTree(const Model& m)
      : m_(m), slot_(m.size()), fresh_(m.size()), A_(assign_slots()), s_(m.nv), u_(m.nv), x_(m.size()), test_(m.nv),
        U_(m.nv), g_(m.size()), own_(m.nv), gravity_(m.nv), stiffness_(m.nv), damping_(joint_damping(m)),
        right_side_(m.nv), pivot_(m.size()) {
    for (const JointSpring& e : m.joint_springs) stiffness_[e.v] += e.stiffness;
    if constexpr (kLoads) {
      loads_ = std::make_unique<MidpointLoads>(m);
      const std::size_t k = loads_->couplings().size();
      small_.resize(k * k), right_.resize(k), lambda_.resize(k);
    }
  }

  void compute(const MidpointState<double>& mid, const StepEnds<double>& step, const double* r,
               double* delta) override {
    const auto [h, q0, q1] = step;
    std::fill(fresh_.begin(), fresh_.end(), 1);
    for (auto& g : g_) g = {};
    if constexpr (kLoads) {
      for (int i = 1; i < m_.size(); ++i) start(i);
      loads_->add_to(mid, [this](int i) -> BlockMatrix<R, C>& { return matrix(i); });
    }
    for (int i = m_.size() - 1; i > 0; --i) {
      const Body& b = m_.bodies[i];
      start(i);
      add_inertia(mid, b, i);
      form_joint(mid, b, i, h);
      eliminate(mid, b, i, h, q0, q1);
      reduce(mid, b, i, r);
      if (b.parent == 0) continue;
      start(b.parent);
      add_shifted(matrix(b.parent), matrix(i), mid.at.pose[i].r);
    }
    outward(mid, delta);
    if constexpr (kLoads)
      if (!loads_->couplings().empty()) add_couplings(mid, r, delta);
  }

 private:
  // A body's A is needed from when its first child adds to it until it has added to its parent's; bodies share slots,
  // so that a chain stays in the cache. With loads, all are begun at once. Returns how many slots there are.
  std::size_t assign_slots() {
    std::vector<int> idle;
    int count = 0;
    std::fill(slot_.begin(), slot_.end(), -1);
    const auto take = [&](int i) {
      if (slot_[i] >= 0) return;
      if (idle.empty()) idle.push_back(count++);
      slot_[i] = idle.back();
      idle.pop_back();
    };
    for (int i = m_.size() - 1; i > 0; --i) {
      take(i);
      if (m_.bodies[i].parent > 0) take(m_.bodies[i].parent);
      if (!kLoads) idle.push_back(slot_[i]);
    }
    return count;
  }

  BlockMatrix<R, C>& matrix(int i) { return A_[slot_[i]]; }

  // A ← 0 where nothing has been added in this sweep.
  void start(int i) {
    if (fresh_[i]) matrix(i) = {};
    fresh_[i] = 0;
  }

  void add_inertia(const MidpointState<double>& mid, const Body& b, int i) {
    matrix(i).at[0][0] += mid.inertia[i];
    matrix(i).at[1][1] += Mat3<double>{{b.mass, 0, 0}, {0, b.mass, 0}, {0, 0, b.mass}};
  }

  // Adds to the columns s and c of the end's coordinate c how the middle's coordinate l moves with it.
  void add_end(const MidpointState<double>& mid, int i, int l, int c, double q, double v) {
    const Spatial<double>& S = mid.at.S[l];
    s_[c].add(0, q, mid.Z[l]), s_[c].add(0, v, S), s_[c].add(2, q, S);
    U_[c].add(0, q, own_[l]), U_[c].at[2] += q * gravity_[l];
    if constexpr (kLoads) {
      U_[c].add(2, q, bracket_force(S, mid.springs[i]));
      U_[c].add(4, q, bracket_force(S, mid.loads[i]));
    }
  }

  // The same for s̄ and d of the beginning; f is how the work of a force at the middle counts.
  void add_beginning(const MidpointState<double>& mid, int l, int c, double q, double v, double f) {
    const Spatial<double>& S = mid.at.S[l];
    test_[c].add(0, q, mid.Z[l]), test_[c].add(0, v, S), test_[c].add(2, q, S);
    if constexpr (kLoads) test_[c].add(4, f, S);
    u_[c].add(0, q, own_[l]), u_[c].at[2] += q * gravity_[l];
  }

  // s, s̄, and c and d (in U and u) of a body's coordinates.
  void form_joint(const MidpointState<double>& mid, const Body& b, int i, double h) {
    for (int j = b.v; j < b.v + b.nv; ++j) {
      const Spatial<double>& S = mid.at.S[j];
      own_[j] = bracket_force(S, mid.P[i]);
      gravity_[j] = cross(mid.mass[i] * S.linear + cross(S.angular, mid.moment[i]), m_.gravity);
      s_[j] = {}, u_[j] = {}, test_[j] = {}, U_[j] = {};
    }
    if (b.nv == 1) {
      add_end(mid, i, b.v, b.v, mid.alpha, 1 / h);
      add_beginning(mid, b.v, b.v, -h * (1 - mid.alpha), 1, -0.5 * h);
      return;
    }
    const MidpointBlock<double>& M = mid.blocks[i];
    for (int l = 0; l < b.nv; ++l)
      for (int c = 0; c < b.nv; ++c) {
        add_end(mid, i, b.v + l, b.v + c, M.q1[l][c], M.v1[l][c]);
        add_beginning(mid, b.v + l, b.v + c, -h * M.q0[l][c], -h * M.v0[l][c], -0.5 * h * M.carry0[l][c]);
      }
  }

  // Eliminate the coordinates of body i from A.
  void eliminate(const MidpointState<double>& mid, const Body& b, int i, double h, const double* q0, const double* q1) {
    const int n = b.nv;
    BlockMatrix<R, C>& A = matrix(i);
    double* D = pivot_[i].data();
    if (n == 1) {
      const int j = b.v;
      const double q = -h * (1 - mid.alpha) * mid.alpha;
      D[0] = q * (own_term(mid, j, j) - stiffness_[j]) + (m_.armature[j] / h + 0.5 * damping_[j]);
    } else {
      own_block(mid, b, i, h, D);
      if (!b.flat()) add_chart_change(mid, b, {h, q0, q1}, D, n);
    }
    if (b.formula) add_formula(mid, b, i, h, D);
    for (int l = 0; l < n; ++l) {
      const BlockVector<R> As = A * s_[b.v + l];
      for (int k = 0; k < n; ++k) D[n * k + l] += dot(test_[b.v + k], As);
      U_[b.v + l].add(1, As);
      u_[b.v + l].add(1, transposed_times(A, test_[b.v + l]));
    }
    if (!invert_small(D, n)) std::fill(D, D + n * n, std::nan(""));
    if (b.parent == 0) return;
    for (int k = 0; k < n; ++k) {
      BlockVector<R> sum{};
      for (int l = 0; l < n; ++l) sum.add(D[n * l + k], U_[b.v + l]);
      subtract_outer(A, sum, u_[b.v + k]);
    }
  }

  // What coordinates k (of the beginning) and l (of the end) of one joint add to O, for each ∂q_m.
  double own_term(const MidpointState<double>& mid, int k, int l) const {
    return dot(own_[k], mid.Z[l]) + dot(mid.at.S[l].angular, gravity_[k]);
  }

  // O of a joint with several coordinates.
  void own_block(const MidpointState<double>& mid, const Body& b, int i, double h, double* D) const {
    const MidpointBlock<double>& M = mid.blocks[i];
    const int n = b.nv;
    std::fill(D, D + n * n, 0.0);
    for (int k = 0; k < n; ++k)
      for (int c = 0; c < n; ++c) {
        const int j = b.v + k;
        double along = 0;  // of D_k L with the end's coordinate c
        for (int l = 0; l < n; ++l) along += own_term(mid, j, b.v + l) * M.q1[l][c];
        along -= stiffness_[j] * M.q1[k][c];
        for (int a = 0; a < n; ++a)
          D[n * a + c] -= h * (M.q0[k][a] * along + M.v0[k][a] * m_.armature[j] * M.v1[k][c] -
                               0.5 * M.carry0[k][a] * damping_[j] * M.v1[k][c]);
      }
  }

  // What the varying S of a formula adds to O (see formula_terms).
  void add_formula(const MidpointState<double>& mid, const Body& b, int i, double h, double* D) const {
    const MidpointBlock<double>& M = mid.blocks[i];
    const int n = b.nv;
    Spatial<double> Q{cross(mid.moment[i], m_.gravity), mid.mass[i] * m_.gravity};
    if constexpr (kLoads) Q += mid.springs[i];
    const FormulaCarries carried{
        .parent = shift_motion(mid.at.V[b.parent], mid.at.pose[i].r), .momentum = mid.P[i], .wrench = Q};
    for (int k = 0; k < n; ++k)
      for (int l = 0; l < n; ++l) {
        const FormulaTerms t = formula_terms(b, k, l, carried, mid.v.data(), mid.at);
        D[n * k + l] -= h * (M.q0[k][k] * t.qq * M.q1[l][l] + M.v0[k][k] * t.qv * M.q1[l][l]);
        D[n * l + k] -= h * M.q0[l][l] * t.qv * M.v1[k][k];
        if constexpr (kLoads) {
          const Spatial<double>& E = mid.at.formula.E[b.formula->first + n * l + k];
          D[n * k + l] -= 0.5 * h * M.carry0[k][k] * dot(mid.loads[i], E) * M.q1[l][l];
        }
      }
  }

  // What r, or zero where there is none, and g leave for the joint of body i; hands g to the parent.
  void reduce(const MidpointState<double>& mid, const Body& b, int i, const double* r) {
    const int n = b.nv;
    const double* D = pivot_[i].data();
    BlockVector<R> g = g_[i];
    for (int k = 0; k < n; ++k) right_side_[b.v + k] = (r ? r[b.v + k] : 0) - dot(test_[b.v + k], g);
    if (b.parent == 0) return;
    for (int k = 0; k < n; ++k)
      for (int l = 0; l < n; ++l) g.add(D[n * k + l] * right_side_[b.v + l], U_[b.v + k]);
    g_[b.parent].add(1, shift_force(g, mid.at.pose[i].r));
  }

  // δ, and x of every body, root to leaves.
  void outward(const MidpointState<double>& mid, double* delta) {
    for (int i = 1; i < m_.size(); ++i) {
      const Body& b = m_.bodies[i];
      const int n = b.nv;
      const double* D = pivot_[i].data();
      BlockVector<C> x = shift_motion(x_[b.parent], mid.at.pose[i].r);
      for (int k = 0; k < n; ++k) right_side_[b.v + k] -= dot(u_[b.v + k], x);
      for (int k = 0; k < n; ++k) {
        double d = 0;
        for (int l = 0; l < n; ++l) d += D[n * k + l] * right_side_[b.v + l];
        delta[b.v + k] = d;
        x.add(d, s_[b.v + k]);
      }
      x_[i] = x;
    }
  }

  // δ for another right side, with what is in g besides r, after elimination.
  void solve(const MidpointState<double>& mid, const double* r, double* delta) {
    for (int i = m_.size() - 1; i > 0; --i) reduce(mid, m_.bodies[i], i, r);
    outward(mid, delta);
  }

  // With E and T the couplings' rows in y and x, −∂r/∂q' = tree + E Tᵀ: (1 + Tᵀ tree⁻¹ E) λ = Tᵀ tree⁻¹ r, then
  // δ = tree⁻¹ (r − E λ). To begin with, x is that of tree⁻¹ r.
  void add_couplings(const MidpointState<double>& mid, const double* r, double* delta) {
    const std::vector<Coupling>& couplings = loads_->couplings();
    for (std::size_t k = 0; k < couplings.size(); ++k) right_[k] = MidpointLoads::motion(couplings[k], x_);
    for (std::size_t c = 0; c < couplings.size(); ++c) {
      for (auto& g : g_) g = {};
      MidpointLoads::pull(couplings[c], -1, g_);
      solve(mid, nullptr, delta);
      for (std::size_t k = 0; k < couplings.size(); ++k)
        small_[couplings.size() * c + k] = MidpointLoads::motion(couplings[k], x_) + (k == c ? 1.0 : 0.0);
    }
    solve_lu(small_.data(), static_cast<int>(couplings.size()), right_.data(), lambda_.data());
    for (auto& g : g_) g = {};
    for (std::size_t k = 0; k < couplings.size(); ++k) MidpointLoads::pull(couplings[k], lambda_[k], g_);
    solve(mid, r, delta);
  }

  const Model& m_;
  std::vector<int> slot_;    // of each body: where its A is
  std::vector<char> fresh_;  // of each body: has nothing been added to A?
  std::vector<BlockMatrix<R, C>> A_;
  std::vector<BlockVector<C>> s_, u_, x_;     // of each velocity: s, u; of each body: x
  std::vector<BlockVector<R>> test_, U_, g_;  // of each velocity: s̄, U; of each body: what r has left in y
  std::vector<Spatial<double>> own_;          // of each velocity: −ad_Sᵀ P
  std::vector<Vec3<double>> gravity_;         // of each velocity: (way of the carried mass) × gravity
  std::vector<double> stiffness_, damping_;   // of each velocity: of the joint's own spring and damper
  std::vector<double> right_side_;
  std::vector<std::array<double, 36>> pivot_;   // of each body: D⁻¹
  std::unique_ptr<MidpointLoads> loads_;        // where there are pairs or wrenches
  std::vector<double> small_, right_, lambda_;  // of couplings; small_ column by column
};

}  // namespace

std::unique_ptr<MidpointDirection> midpoint_tree(const Model& m) {
  if (m.acts_on_bodies()) return std::make_unique<MidpointTree<6, 4>>(m);
  return std::make_unique<MidpointTree<3, 3>>(m);
}

bool has_many_couplings(const Model& m) { return 3 * MidpointLoads::springs_and_dampers(m) > m.nv; }

}  // namespace symplectree
