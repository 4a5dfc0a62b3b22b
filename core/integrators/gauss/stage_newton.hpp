// Damping in the stages of a collocation step: a simplified Newton iteration, for which a fixed-point iteration would
// need steps shorter than the decay (Hairer and Wanner II, IV.8), and more weight of joint dampers at the highest mode.
//
// With C = −∂f/∂v of all elements and M at the step's beginning, and g what is left of πᵢ = π₀ + h Σ aᵢⱼ π̇ⱼ, stages
// change by y:  yᵢ + h Σⱼ (aᵢⱼ C + wᵢ wⱼ bⱼ L) M⁻¹ yⱼ = gᵢ. The full matrix is used, O((s n)³).
#pragma once

#include <memory>
#include <vector>

#include "integrators/gauss/gauss_nodes.hpp"
#include "model/model.hpp"
#include "scalar/simd_pack.hpp"

namespace symplectree {

class RunMemory;

// Legendre's polynomial of degree s − 1 at the nodes, normalised: wᵀ diag(b) w = 1.
std::array<double, kMostStages> highest_mode(const Tableau& t);

// L: for a damper c the stages have A + δ w wᵀ diag(b) in place of A, δ = z/(1 + z)/(4s − 2) with z = |h| c/m.
// With δ = 1/(4s − 2) the multiplier of a damped momentum is that of Radau's methods, zero for z → ∞ (Hairer and
// Wanner II, IV.5); δ = O(h) keeps the order 2s. m is the inertia that the damper works against where all coordinates
// are zero.
class DamperLift {
 public:
  DamperLift(const Model& m, const Tableau& t);

  std::vector<int> velocities;  // that have one

  double damping(int j) const { return damping_[j]; }
  double share() const { return share_; }

  double operator()(int j, double h) const {
    const double z = std::fabs(h) * rate_[j];
    return damping_[j] * share_ * z / (1 + z);
  }

 private:
  std::vector<double> damping_, rate_;
  double share_;
};

class StageNewton {
 public:
  StageNewton(const Model& m, const Tableau& t);
  ~StageNewton();

  // C and M⁻¹ at (q, v), in the axes of the charts' momenta.
  void measure(const double* q, const double* v, const double* inputs);
  // A bound of the rates at which velocities decay [1/s]; zero before they are measured.
  double fastest() const;
  // The same of the difference between C at (q, v) and C measured: of dampers whose directions turn.
  double turning(const double* q, const double* v, const double* inputs);
  // Σ |C| of each velocity.
  std::vector<double> drag() const;
  // What was measured.
  void carry(RunMemory& memory);

  void factorize(double h, const DamperLift& lift);

  // rate ← rates of (c, π, G) of the stages after Newton's step, from those at z, the stages (c, π) of a step from
  // `start`.
  template <int W>
  void correct(double h, const std::vector<double>& start, const std::vector<Pack<W>>& z, std::vector<Pack<W>>& rate) {
    const int n = m_.nv, s = t_.stages;
    for (int i = 0; i < s; ++i)
      for (int k = 0; k < n; ++k) {
        double sum = 0;
        for (int j = 0; j < s; ++j) sum += t_.a[i][j] * rate[n + k][j];
        left_[i * n + k] = start[n + k] + h * sum - z[n + k][i];
      }
    lifted_momentum(h, rate);
    solve();
    for (int i = 0; i < s; ++i) {
      const double *v = &velocity_[i * n], *f = &force_[i * n];
      for (int k = 0; k < n; ++k) add(rate[k], i, v[k]), add(rate[n + k], i, f[k]);
      for (std::size_t r = 0; r < m_.quaternions.size(); ++r)
        for (int k = 0; k < 3; ++k) add(rate[2 * n + 3 * r + k], i, f[m_.bodies[m_.quaternions[r]].v + k]);
    }
    for (Pack<W>& r : rate)
      for (int i = s; i < W; ++i) r.set(i, r[s - 1]);
  }

  // h L times the highest mode of the velocities: what dampers have more weight by at each stage, over the mode there.
  template <int W>
  const std::vector<double>& lifted_momentum(double h, const std::vector<Pack<W>>& rate) {
    for (int k = 0; k < m_.nv; ++k) mean_[k] = highest(rate[k]);
    lift(h);
    return lifted_;
  }

  // The highest mode of a rate over the step.
  template <int W>
  double highest(const Pack<W>& rate) const {
    double sum = 0;
    for (int j = 0; j < t_.stages; ++j) sum += mode_[j] * t_.b[j] * rate[j];
    return sum;
  }

 private:
  struct Matrices;

  // A ← C at (q, v), and M ← in the axes of the charts' momenta at q.
  template <class A>
  void damping(const double* q, const double* v, const double* inputs, A& C);
  template <class A>
  void turn_axes(const double* q, A& M) const;

  template <int W>
  static void add(Pack<W>& x, int lane, double d) {
    x.set(lane, x[lane] + d);
  }

  // velocity_, force_ ← by what Newton's step changes velocities and forces of the stages, from what is left of their
  // momenta, and lifted_.
  void solve();
  // lifted_ ← h L times mean_.
  void lift(double h);

  const Model& m_;
  const Tableau& t_;
  std::array<double, kMostStages> mode_;
  std::unique_ptr<Matrices> matrices_;
  std::vector<double> left_, velocity_, force_;  // of all stages
  std::vector<double> mean_, lifted_;            // of each velocity
};

}  // namespace symplectree
