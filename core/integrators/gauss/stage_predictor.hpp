// A guess for the stages of a collocation step: the polynomial through the stages of the steps before.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "integrators/gauss/gauss_nodes.hpp"
#include "scalar/simd_pack.hpp"

namespace symplectree {

// Where a step is, in lengths of the last one from the beginning of that.
struct StepPlace {
  double begin = 1, length = 1;
};

// Weights that carry rates at the nodes of the last step (and at the last `older` nodes of the one before, which was as
// long) to the nodes of the next. Lanes are stages of the next step.
template <int W>
struct Predictor {
  int older = 0;
  std::array<Pack<W>, kMostStages> of_last, of_older;

  // By Lagrange polynomials, for a step as long as the last.
  static Predictor through(const Tableau& t, int older) {
    Predictor out{older, {}, {}};
    std::array<double, 2 * kMostStages> nodes{};
    const int s = t.stages, count = s + older;
    for (int j = 0; j < s; ++j) nodes[j] = t.c[j];
    for (int j = 0; j < older; ++j) nodes[s + j] = t.c[s - older + j] - 1;
    for (int i = 0; i < W; ++i)
      for (int j = 0; j < count; ++j) {
        double weight = 1;
        for (int k = 0; k < count; ++k)
          if (k != j) weight *= (1 + t.c[std::min(i, s - 1)] - nodes[k]) / (nodes[j] - nodes[k]);
        (j < s ? out.of_last[j] : out.of_older[s - older + j - s]).set(i, weight);
      }
    return out;
  }

  Pack<W> operator()(int stages, const Pack<W>& last, const Pack<W>& before) const {
    Pack<W> sum;
    for (int j = 0; j < stages; ++j) sum += of_last[j] * Pack<W>(last[j]);
    for (int j = stages - older; j < stages; ++j) sum += of_older[j] * Pack<W>(before[j]);
    return sum;
  }
};

// Rates of a step by Legendre's polynomials, of which high ones serve near the step only.
template <int W>
class StageModes {
 public:
  explicit StageModes(const Tableau& t) : t_(t) {
    for (int j = 0; j < t.stages; ++j) {
      const auto P = legendre(t.stages - 1, 2 * t.c[j] - 1);
      for (int k = 0; k < t.stages; ++k) of_rates_[j].set(k, (2 * k + 1) * t.b[j] * P[k]);
    }
  }

  // The modes of a rate over a step, one in each lane.
  Pack<W> of(const Pack<W>& rate) const {
    Pack<W> sum;
    for (int j = 0; j < t_.stages; ++j) sum += of_rates_[j] * Pack<W>(rate[j]);
    return sum;
  }

  // For a step at `next`: modes up to the given degree.
  Predictor<W> predictor(StepPlace next, int degree) const {
    Predictor<W> out;
    std::array<Pack<W>, kMostStages> P;  // of each mode, at the stages of the next step
    for (int i = 0; i < W; ++i) {
      const auto at = legendre(degree, 2 * (next.begin + next.length * t_.c[std::min(i, t_.stages - 1)]) - 1);
      for (int k = 0; k <= degree; ++k) P[k].set(i, at[k]);
    }
    for (int j = 0; j < t_.stages; ++j)
      for (int k = 0; k <= degree; ++k) out.of_last[j] += P[k] * Pack<W>(of_rates_[j][k]);
    return out;
  }

  // The degree up to which the modes of n rates become smaller at the far end of a step at `next`, all in all.
  int degree(StepPlace next, const Pack<W>* rate, int n) const {
    Pack<W> size;
    for (int k = 0; k < n; ++k) size += larger(Pack<W>(), of(rate[k]));
    const double first = 2 * next.begin - 1, last = 2 * (next.begin + next.length) - 1;
    const auto P = legendre(t_.stages - 1, std::max(std::fabs(first), std::fabs(last)));
    int best = 0;
    for (int k = 1; k < t_.stages; ++k)
      if (size[k] * P[k] < size[best] * P[best]) best = k;
    return best;
  }

 private:
  Tableau t_;
  std::array<Pack<W>, kMostStages> of_rates_;
};

}  // namespace symplectree
