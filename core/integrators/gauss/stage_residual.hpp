// What an iteration leaves of the equations of a collocation step: relative to the size of the terms that each is made
// of, and to their rounding. The equations of stage i are
//
//   cᵢ − c₀ = h Σ aᵢⱼ ċⱼ,   πᵢ = π₀ + h Σ aᵢⱼ π̇ⱼ
//
// (Hairer, Lubich, Wanner, II.1.2; see Charts for c, π and G, of which rates count as those of momentum).
#pragma once

#include "integrators/gauss/chart_flow.hpp"

namespace symplectree {

// The largest change of an equation between two iterates, relative to what may be left of it, and to rounding; and the
// largest of a rate.
struct StageChange {
  double allowed, rounding, rate;

  // Is it so small that iterations which no longer make it smaller are at an end?
  bool near_rounding() const { return rounding < 1e4; }
};

// h Σ aᵢⱼ: the step, and the columns of a, whose lanes are stages.
template <int W>
struct StageSums {
  double h;
  int stages;
  const std::array<Pack<W>, 4>& a;
};

// The largest of all parts, NaN when there is one.
inline double largest(double x) { return std::fabs(x); }
template <int W>
double largest(const Pack<W>& x) {
  double out = 0;
  for (int k = 0; k < W; ++k) out = larger(out, x[k]);
  return out;
}

template <int W>
class StageResidual {
 public:
  // tolerance: how much of an equation may be left, relative to its terms.
  StageResidual(const Model& m, double tolerance)
      : m_(m), tolerance_(tolerance), root_(m.size()), speed_(m.size()), carried_(m.size()) {
    for (int i = 1; i < m.size(); ++i) root_[i] = m.bodies[i].parent > 0 ? root_[m.bodies[i].parent] : i;
    for (int k = 0; k < 2 * m.nv; ++k) velocity_of_.push_back(k % m.nv);
    for (const int i : m.quaternions) {
      const Body& b = m.bodies[i];
      triples_.push_back(velocity_of_.size());
      for (int k = 0; k < 3; ++k) velocity_of_.push_back(b.v + k);
      for (int k = b.v; k < b.v + b.nv; k += 3) triples_.insert(triples_.end(), {k, m.nv + k});
    }
    terms_.resize(velocity_of_.size());
  }

  // An iteration begins.
  void begin() { std::fill(speed_.begin(), speed_.end(), 0.0); }

  // It evaluated one more stage, or all side by side.
  template <class T>
  void add_speeds(const ChartFlow<T>& flow) {
    for (int j = 0; j < m_.nv; ++j) {
      double& speed = speed_[root_[m_.body_of[j]]];
      speed = larger(speed, largest(flow.speed(j)));
    }
  }

  // It changed the rates of (c, π, G) from `before` to `rate`, in a step from `start`; `before` is overwritten.
  StageChange change(const StageSums<W>& sums, const std::vector<double>& start, const std::vector<Pack<W>>& rate,
                     std::vector<Pack<W>>& before) {
    const int n = m_.nv, size = velocity_of_.size();
    const double step = std::fabs(sums.h);
    std::fill(carried_.begin(), carried_.end(), 0.0);
    Pack<W> changed;
    for (int k = 0; k < size; ++k) {
      Pack<W> change, terms;
      for (int j = 0; j < sums.stages; ++j) {
        change += sums.a[j] * Pack<W>(rate[k][j] - before[k][j]);
        terms += larger(Pack<W>(), sums.a[j] * Pack<W>(rate[k][j]));
      }
      changed = larger(changed, rate[k] - before[k]);
      before[k] = Pack<W>(step) * change, terms_[k] = Pack<W>(step) * terms;
      if (k < n) continue;
      const double momentum = std::fabs(start[n + velocity_of_[k]]);
      terms_[k] += Pack<W>(momentum);
      double& carried = carried_[m_.body_of[velocity_of_[k]]];
      carried = larger(carried, momentum + kComputed * step * largest(rate[k]));
    }
    for (const int k : triples_) terms_[k] = terms_[k + 1] = terms_[k + 2] = terms_[k] + terms_[k + 1] + terms_[k + 2];
    for (int i = m_.size() - 1; i > 0; --i) {
      double& parent = carried_[m_.bodies[i].parent];
      parent = larger(parent, carried_[i]);
    }
    Pack<W> allowed, rounding;
    for (int k = 0; k < size; ++k) {
      const Pack<W> noise(k < n ? position_noise(k, step, start[k]) : momentum_noise(k));
      allowed = larger(allowed, before[k] / larger(noise, Pack<W>(tolerance_) * terms_[k]));
      rounding = larger(rounding, before[k] / noise);
    }
    return {largest(allowed), largest(rounding), largest(changed)};
  }

 private:
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
  std::vector<int> root_;         // of each body: which of its ancestors is on the ground
  std::vector<int> velocity_of_;  // of each rate: of which coordinate it is
  std::vector<int> triples_;      // rates that are the first of the three of a vector, which have one size
  std::vector<double> speed_;     // of each body on the ground: of all that it carries
  std::vector<double> carried_;   // of each body: size of the momenta and impulses that it carries
  std::vector<Pack<W>> terms_;    // of each equation: size of the terms that it is made of
};

}  // namespace symplectree
