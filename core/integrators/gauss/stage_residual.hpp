// What an iteration leaves of the equations of a collocation step: relative to the size of the terms that each is made
// of, and to their rounding. The equations of stage i are
//
//   cᵢ − c₀ = h Σ aᵢⱼ ċⱼ,   πᵢ = π₀ + h Σ aᵢⱼ π̇ⱼ
//
// (Hairer, Lubich, Wanner, II.1.2; see Charts for c, π and G, of which rates count as those of momentum).
#pragma once

#include "integrators/gauss/chart_flow.hpp"
#include "integrators/gauss/gauss_nodes.hpp"
#include "model/rows/joint_force.hpp"
#include "model/rows/joint_spring.hpp"

namespace symplectree {

// The largest change of an equation between two iterates, relative to what may be left of it, and to rounding; and the
// sum of the first over all, in which what is not finite stays.
struct StageChange {
  double allowed, rounding, sum;

  // Is it so small that iterations which no longer make it smaller are at an end?
  bool near_rounding() const { return rounding < 1e4; }
};

// h Σ aᵢⱼ: the step, and the columns of a, whose lanes are stages.
template <int W>
struct StageSums {
  double h;
  int stages;
  const std::array<Pack<W>, kMostStages>& a;

  Pack<W> operator()(const Pack<W>& rate) const {
    Pack<W> sum;
    for (int j = 0; j < stages; ++j) sum += a[j] * Pack<W>(rate[j]);
    return Pack<W>(h) * sum;
  }
};

template <int W>
double total(const Pack<W>& x) {
  double sum = 0;
  for (int k = 0; k < W; ++k) sum += x[k];
  return sum;
}

template <int W>
class StageResidual {
 public:
  // tolerance: how much of an equation may be left, relative to its terms.
  StageResidual(const Model& m, double tolerance)
      : m_(m), tolerance_(tolerance), root_(m.size()), speed_(m.size()), carried_(m.size()), force_(m.nv),
        momentum_(m.nv) {
    for (int i = 1; i < m.size(); ++i) root_[i] = m.bodies[i].parent > 0 ? root_[m.bodies[i].parent] : i;
    for (int k = 0; k < 2 * m.nv; ++k) velocity_of_.push_back(k % m.nv);
    for (const int i : m.quaternions) {
      const Body& b = m.bodies[i];
      triples_.push_back(velocity_of_.size());
      for (int k = 0; k < 3; ++k) velocity_of_.push_back(b.v + k);
      for (int k = b.v; k < b.v + b.nv; k += 3) triples_.insert(triples_.end(), {k, m.nv + k});
    }
    allowed_.resize(velocity_of_.size()), noise_.resize(velocity_of_.size());
  }

  // What may be left of each equation, from the rates of (c, π, G) in a step from `start`, of which `flow` has the last
  // state, or all side by side, under forces tau and inputs; `drag` (nv, or none) is the damping of each velocity, by
  // which its rounding counts; `pulled` (2 nv, or none) the rounding that constraints add to positions and momenta
  // at most, far more than mostly.
  template <class T>
  void scale(const StageSums<W>& sums, const std::vector<double>& start, const std::vector<Pack<W>>& rate,
             const ChartFlow<T>& flow, const std::vector<double>& drag, AppliedForces<double> forces,
             const std::vector<double>& pulled = {}) {
    const int n = m_.nv, size = velocity_of_.size();
    const double step = std::fabs(sums.h);
    measure_forces(flow, forces);
    std::fill(speed_.begin(), speed_.end(), 0.0);
    for (int j = 0; j < n; ++j) {
      double& speed = speed_[root_[m_.body_of[j]]];
      speed = std::fmax(speed, largest_size(flow.speed(j)) +
                                   (momentum_[j] + step * force_[j]) * largest_size(flow.w.pivot_inverse[j]));
    }
    std::fill(carried_.begin(), carried_.end(), 0.0);
    for (int k = n; k < size; ++k) {
      double& carried = carried_[m_.body_of[velocity_of_[k]]];
      carried = std::fmax(carried, std::fabs(start[n + velocity_of_[k]]) + kComputed * step * largest_size(rate[k]));
    }
    for (int i = m_.size() - 1; i > 0; --i) {
      double& parent = carried_[m_.bodies[i].parent];
      parent = std::fmax(parent, carried_[i]);
    }
    for (int k = 0; k < size; ++k) {
      Pack<W> terms;
      for (int j = 0; j < sums.stages; ++j) terms += larger(Pack<W>(), sums.a[j] * Pack<W>(rate[k][j]));
      allowed_[k] = Pack<W>(step) * terms + Pack<W>(k < n ? 0.0 : std::fabs(start[n + velocity_of_[k]]));
    }
    for (const int k : triples_)
      allowed_[k] = allowed_[k + 1] = allowed_[k + 2] = allowed_[k] + allowed_[k + 1] + allowed_[k + 2];
    for (int k = 0; k < size; ++k) {
      double noise = k < n ? position_noise(k, step, start[k]) : momentum_noise(k);
      if (k >= n && !drag.empty())
        noise += kUnit * kComputed * step * drag[velocity_of_[k]] * speed_[root_[m_.body_of[velocity_of_[k]]]];
      if (k >= n) noise += kUnit * kComputed * step * force_[velocity_of_[k]];
      const double more = pulled.empty() ? 0 : kUnit * pulled[k < n ? k : n + velocity_of_[k]];
      allowed_[k] = Pack<W>(1) / larger(Pack<W>(noise), Pack<W>(tolerance_) * allowed_[k]);
      noise_[k] = 1 / (noise + more);
    }
  }

  // Of an iteration that changed h Σ aᵢⱼ times the rates from `before` to `now`.
  StageChange change(const std::vector<Pack<W>>& now, const std::vector<Pack<W>>& before) const {
    Pack<W> allowed, rounding, sum;
    for (std::size_t k = 0; k < now.size(); ++k) {
      const Pack<W> d = now[k] - before[k], relative = larger(Pack<W>(), d * allowed_[k]);
      allowed = larger(allowed, relative);
      rounding = larger(rounding, d * Pack<W>(noise_[k]));
      sum += relative;
    }
    return {largest_size(allowed), largest_size(rounding), total(sum)};
  }

  // Of which velocity the equation is that such an iteration changed most, against what may be left of it; the first
  // where it is not finite.
  int worst(const std::vector<Pack<W>>& now, const std::vector<Pack<W>>& before) const {
    double most = -1;
    int found = 0;
    for (std::size_t k = 0; k < now.size(); ++k) {
      const double change = largest_size((now[k] - before[k]) * allowed_[k]);
      if (!std::isfinite(total(now[k]))) return velocity_of_[k];
      if (change > most) most = change, found = velocity_of_[k];
    }
    return found;
  }

 private:
  // force_, momentum_ ← of each velocity: the size of the forces that add up to its rate of momentum, and of what adds
  // up to its momentum. A mechanism at rest, held by springs, has large forces that cancel; joints that fall with all
  // else have large momenta that do. Momenta of all that a body carries are in w.acceleration (see momentum_rate).
  template <class T>
  void measure_forces(const ChartFlow<T>& flow, AppliedForces<double> forces) {
    const auto size = [](const Vec3<T>& x) { return largest_size(x.x) + largest_size(x.y) + largest_size(x.z); };
    for (int j = 0; j < m_.nv; ++j) {
      const int i = m_.body_of[j];
      const Spatial<T>&S = flow.w.S[j], &F = flow.w.force[i], &P = flow.w.acceleration[i], &V = flow.w.V[i];
      const double turns = size(S.angular), moves = size(S.linear), spin = size(V.angular), speed = size(V.linear);
      momentum_[j] = turns * size(P.angular) + moves * size(P.linear);
      force_[j] = std::fabs(forces.tau[j]) + turns * size(F.angular) + moves * size(F.linear) + spin * momentum_[j] +
                  turns * speed * size(P.linear);
    }
    for (const JointSpring& e : m_.joint_springs)
      force_[e.v] += std::fabs(e.stiffness) * (largest_size(flow.q[e.q]) + std::fabs(e.rest));
    for (const JointForce& e : m_.joint_forces)
      force_[e.v] += std::fabs(e.value) + (e.input >= 0 ? std::fabs(e.gain * forces.inputs[e.input]) : 0);
  }

  // Rounding of a position: its own, and that of velocities, which are solved for along whole chains.
  double position_noise(int k, double step, double start) const {
    return kUnit * (std::fabs(start) + kComputed * step * speed_[root_[m_.body_of[k]]]) + 1e-300;
  }
  // Rounding of a momentum: that of the momenta and impulses of all that its joint carries.
  double momentum_noise(int k) const { return kUnit * carried_[m_.body_of[velocity_of_[k]]] + 1e-300; }

  static constexpr double kUnit = 1.1e-16;  // rounding of a number, relative to it
  static constexpr double kComputed = 40;   // how many times that counts as the rounding of a computed rate

  const Model& m_;
  double tolerance_;
  std::vector<int> root_;                 // of each body: which of its ancestors is on the ground
  std::vector<int> velocity_of_;          // of each rate: of which coordinate it is
  std::vector<int> triples_;              // rates that are the first of the three of a vector, which have one size
  std::vector<double> speed_;             // of each body on the ground: of all that it carries
  std::vector<double> carried_;           // of each body: size of the momenta and impulses that it carries
  std::vector<double> force_, momentum_;  // of each velocity: see measure_forces
  std::vector<Pack<W>> allowed_;          // of each equation: one over what may be left of it
  std::vector<double> noise_;             // one over its rounding
};

}  // namespace symplectree
