// The energy in the highest modes of momenta over a collocation step: what is not resolved is less.
#pragma once

#include "integrators/gauss/chart_flow.hpp"
#include "integrators/gauss/gauss_nodes.hpp"

namespace symplectree {

template <int W>
class HighestModes {
 public:
  HighestModes(const Model& m, const Tableau& t) : stages_(t.stages), momentum_(m.nv) {
    for (int i = 0; i < stages_; ++i) {
      const auto P = legendre(stages_ - 1, 2 * t.c[i] - 1);
      for (int k : {0, 1}) weights_[k][i] = t.b[i] * P[stages_ - 2 + k];
    }
  }

  // ½ p_kᵀ M⁻¹ p_k of mode k = s or s − 1 (coefficients of Legendre's polynomials) in a step of h, from mode k − 1 of
  // the rates of momenta (nv). M at the stages, where `flow` was placed last; the one with most counts, so that
  // a reversed step has the same.
  double energy(int k, double h, const Pack<W>* rate, ChartFlow<Pack<W>>& flow) {
    const auto& weight = weights_[k - stages_ + 1];
    for (std::size_t j = 0; j < momentum_.size(); ++j) {
      double sum = 0;
      for (int i = 0; i < stages_; ++i) sum += weight[i] * rate[j][i];
      momentum_[j] = Pack<W>(0.5 * h * sum);
    }
    return 0.5 * largest_size(flow.twice_kinetic_energy(momentum_.data())) / (2 * k + 1);
  }

 private:
  int stages_;
  std::array<std::array<double, kMostStages>, 2> weights_{};
  std::vector<Pack<W>> momentum_;
};

}  // namespace symplectree
