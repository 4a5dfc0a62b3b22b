// A guess for the stages of a collocation step: the polynomial through the stages of the steps before.
#pragma once

#include <algorithm>
#include <array>

#include "integrators/gauss/gauss_nodes.hpp"
#include "scalar/simd_pack.hpp"

namespace symplectree {

// Where a step is, in lengths of the last one from the beginning of that.
struct StepPlace {
  double begin = 1, length = 1;
};

// Weights that carry rates at the nodes of the last step (and at the last `older` nodes of the one before, which was as
// long) to the nodes of the next: Lagrange polynomials. Lanes are stages of the next step.
template <int W>
struct Predictor {
  int older;
  std::array<Pack<W>, 4> of_last, of_older;

  Predictor(const Tableau& t, int older_nodes, StepPlace next = {}) : older(older_nodes) {
    std::array<double, 8> nodes{};
    const int s = t.stages, count = s + older;
    for (int j = 0; j < s; ++j) nodes[j] = t.c[j];
    for (int j = 0; j < older; ++j) nodes[s + j] = t.c[s - older + j] - 1;
    for (int i = 0; i < W; ++i)
      for (int j = 0; j < count; ++j) {
        double weight = 1;
        for (int k = 0; k < count; ++k)
          if (k != j) weight *= (next.begin + next.length * t.c[std::min(i, s - 1)] - nodes[k]) / (nodes[j] - nodes[k]);
        (j < s ? of_last[j] : of_older[s - older + j - s]).set(i, weight);
      }
  }

  Pack<W> operator()(int stages, const Pack<W>& last, const Pack<W>& before) const {
    Pack<W> sum;
    for (int j = 0; j < stages; ++j) sum += of_last[j] * Pack<W>(last[j]);
    for (int j = stages - older; j < stages; ++j) sum += of_older[j] * Pack<W>(before[j]);
    return sum;
  }
};

}  // namespace symplectree
