// Columns of N⁻¹ and of P N⁻¹ (tree_blocks.hpp) in linear time each, eight side by side.
//
// N is eliminated leaves to root as Newton's matrix of a step is (tree_elimination.hpp): η_i = X_i(q') η_λ(i) + S'_i
// δ_i, g_i = K_i η_i + Σ_c X_c(q)ᵀ g_c, S_iᵀ g_i = right-hand side. And with the twists η of δ, (P δ)_l = carried_l·η_i
// + S'_l·(Σ of carried_k δ_k over all coordinates k beyond body i).
#pragma once

#include <array>

#include "linearization/tree_blocks.hpp"
#include "model/rows/joint_spring.hpp"
#include "scalar/simd_pack.hpp"

namespace symplectree {

class TreeColumns {
 public:
  using Lanes = Pack<8>;

  explicit TreeColumns(const Model& m)
      : m_(m), A_(m.size()), W_(m.nv), Z_(m.nv), pivot_(m.size()), stiff_(m.nv), end_(m.nv), u_(m.nv), F_(m.size()),
        eta_(m.size()) {}

  // After blocks.evaluate, whose poses stay in use.
  void factorize(const StepBlocks<double>& blocks, double h) {
    now_ = &blocks.now, next_ = &blocks.next, carried_ = blocks.carried.data();
    for (int j = 0; j < m_.nv; ++j) {
      stiff_[j] = m_.armature[j] / h + 0.5 * blocks.damping[j], end_[j] = m_.armature[j] / h - 0.5 * blocks.damping[j];
    }
    for (const JointSpring& s : m_.joint_springs) end_[s.v] -= 0.5 * h * s.stiffness;
    A_ = blocks.own;
    for (int i = m_.size() - 1; i > 0; --i) {
      eliminate(m_.bodies[i], i);
      const int parent = m_.bodies[i].parent;
      if (parent > 0) add_shifted(A_[parent], A_[i], now_->pose[i].r, next_->pose[i].r);
    }
  }

  // delta (nv) with N delta = rhs (nv), of which entries of bodies beyond `last` are zero.
  void solve(const Lanes* rhs, int last, Lanes* delta) {
    for (int i = 1; i < m_.size(); ++i) F_[i] = {};
    for (int j = m_.bodies[last].v + m_.bodies[last].nv; j < m_.nv; ++j) u_[j] = Lanes();
    for (int i = last; i > 0; --i) {
      const Body& b = m_.bodies[i];
      Spatial<Lanes>& g = F_[i];
      for (int j = b.v; j < b.v + b.nv; ++j) u_[j] = rhs[j] - product(now_->S[j], g);
      for (int k = 0; k < b.nv; ++k) add(pivoted(b, i, k, &u_[b.v]), W_[b.v + k], g);
      if (b.parent > 0) add_shifted_force(g, now_->pose[i].r, F_[b.parent]);
    }
    for (int i = 1; i < m_.size(); ++i) {
      const Body& b = m_.bodies[i];
      Spatial<Lanes>& eta = eta_[i];
      eta = shifted_motion(eta_[b.parent], next_->pose[i].r);
      Lanes left[6];
      for (int k = 0; k < b.nv; ++k) left[k] = u_[b.v + k] - product(Z_[b.v + k], eta);
      for (int k = 0; k < b.nv; ++k) delta[b.v + k] = pivoted(b, i, k, left);
      for (int k = 0; k < b.nv; ++k) add(delta[b.v + k], next_->S[b.v + k], eta);
    }
  }

  // out (nv) += P delta of the delta that was solved for last.
  void add_ends(const Lanes* delta, Lanes* out) {
    for (int i = 1; i < m_.size(); ++i) F_[i] = {};
    for (int i = m_.size() - 1; i > 0; --i) {
      const Body& b = m_.bodies[i];
      for (int j = b.v; j < b.v + b.nv; ++j)
        out[j] += product(carried_[j], eta_[i]) + product(next_->S[j], F_[i]) + Lanes(end_[j]) * delta[j];
      for (int j = b.v; j < b.v + b.nv; ++j) add(delta[j], carried_[j], F_[i]);
      if (b.parent > 0) add_shifted_force(F_[i], next_->pose[i].r, F_[b.parent]);
    }
  }

 private:
  void eliminate(const Body& b, int i) {
    Matrix6<double>& A = A_[i];
    const int n = b.nv;
    double* D = pivot_[i].data();
    for (int k = 0; k < n; ++k)
      W_[b.v + k] = A * next_->S[b.v + k], Z_[b.v + k] = transposed_times(A, now_->S[b.v + k]);
    for (int k = 0; k < n; ++k)
      for (int l = 0; l < n; ++l) D[n * k + l] = dot(now_->S[b.v + k], W_[b.v + l]) + (k == l ? stiff_[b.v + k] : 0.0);
    if (!invert_small(D, n)) std::fill(D, D + n * n, std::nan(""));
    for (int k = 0; k < n; ++k) {
      Spatial<double> sum{};
      for (int l = 0; l < n; ++l) sum += D[n * l + k] * W_[b.v + l];
      subtract_outer(A, sum, Z_[b.v + k]);
    }
  }

  // Row k of the inverse of a body's pivot block times x.
  Lanes pivoted(const Body& b, int i, int k, const Lanes* x) const {
    const double* D = pivot_[i].data() + b.nv * k;
    Lanes sum = Lanes(D[0]) * x[0];
    for (int l = 1; l < b.nv; ++l) sum += Lanes(D[l]) * x[l];
    return sum;
  }

  static Lanes product(const Spatial<double>& s, const Spatial<Lanes>& f) {
    return Lanes(s.angular.x) * f.angular.x + Lanes(s.angular.y) * f.angular.y + Lanes(s.angular.z) * f.angular.z +
           Lanes(s.linear.x) * f.linear.x + Lanes(s.linear.y) * f.linear.y + Lanes(s.linear.z) * f.linear.z;
  }
  static void add(const Lanes& x, const Spatial<double>& s, Spatial<Lanes>& f) {
    f.angular.x += x * Lanes(s.angular.x), f.angular.y += x * Lanes(s.angular.y), f.angular.z += x * Lanes(s.angular.z);
    f.linear.x += x * Lanes(s.linear.x), f.linear.y += x * Lanes(s.linear.y), f.linear.z += x * Lanes(s.linear.z);
  }
  static Vec3<Lanes> crossed(const Vec3<double>& r, const Vec3<Lanes>& f) {
    return {Lanes(r.y) * f.z - Lanes(r.z) * f.y, Lanes(r.z) * f.x - Lanes(r.x) * f.z,
            Lanes(r.x) * f.y - Lanes(r.y) * f.x};
  }
  static void add_shifted_force(const Spatial<Lanes>& f, const Vec3<double>& r, Spatial<Lanes>& sum) {
    sum.angular += f.angular, sum.angular += crossed(r, f.linear), sum.linear += f.linear;
  }
  static Spatial<Lanes> shifted_motion(const Spatial<Lanes>& V, const Vec3<double>& r) {
    return {V.angular, V.linear - crossed(r, V.angular)};
  }

  const Model& m_;
  std::vector<Matrix6<double>> A_;
  std::vector<Spatial<double>> W_, Z_;
  std::vector<std::array<double, 36>> pivot_;  // of each body: inverse of its pivot block
  std::vector<double> stiff_, end_;            // of each velocity: what N and P have on their diagonals besides
  std::vector<Lanes> u_;
  std::vector<Spatial<Lanes>> F_, eta_;
  const Workspace<double>*now_ = nullptr, *next_ = nullptr;
  const Spatial<double>* carried_ = nullptr;
};

}  // namespace symplectree
