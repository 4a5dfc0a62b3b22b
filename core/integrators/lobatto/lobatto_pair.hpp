// Lobatto's pair IIIA (positions) and IIIB (momenta) with 3, 4 or 5 stages, of order 2s − 2 (Hairer, Lubich, Wanner,
// II.1.4 and II.2.2).
#pragma once

#include <vector>

#include "dense/dense_solvers.hpp"
#include "integrators/gauss/gauss_nodes.hpp"

namespace symplectree {

struct LobattoPair {
  Tableau positions;                                                   // a of IIIA
  std::array<std::array<double, kMostStages>, kMostStages> momenta{};  // a of IIIB
  // (AÂ)⁻¹ (s − 1 × s − 1, row by row): how impulses of constraints at all stages but the last answer positions at all
  // stages but the first, where masses and constraints stay as they are.
  std::vector<double> answer;
  std::array<double, kMostStages> highest{};  // weights of stages in their mode of degree s − 1

  int stages() const { return positions.stages; }
};

inline LobattoPair lobatto_pair(int s) {
  LobattoPair pair;
  Tableau& t = pair.positions;
  t = {s, {}, {}, {}};
  const double inner = s == 4 ? std::sqrt(0.05) : std::sqrt(3.0 / 28);  // of inner nodes, from the middle
  for (int i = 0; i < s; ++i) {
    const int k = std::min(i, s - 1 - i), side = 2 * i < s - 1 ? -1 : 1;
    const double away = k == 0 ? 0.5 : 2 * i == s - 1 ? 0 : inner;
    t.c[i] = i == 0 ? 0 : 0.5 + side * away;
    const double P = legendre(s - 1, 2 * (t.c[i] - 0.5))[s - 1];
    t.b[i] = 1 / (s * (s - 1) * P * P);
    pair.highest[i] = (s - 1) * t.b[i] * P;
  }
  for (int i = 1; i < s; ++i)
    for (int j = 0; j < s; ++j) {
      for (int n = 0; n < s; ++n) {
        double lagrange = 1;
        for (int k = 0; k < s; ++k)
          if (k != j) lagrange *= (t.c[i] * t.c[n] - t.c[k]) / (t.c[j] - t.c[k]);
        t.a[i][j] += t.c[i] * t.b[n] * lagrange;
      }
      if (i == s - 1) t.a[i][j] = t.b[j];
    }
  for (int i = 0; i < s; ++i)
    for (int j = 0; j < s - 1; ++j) pair.momenta[i][j] = j == 0 ? t.b[0] : t.b[j] * (1 - t.a[j][i] / t.b[i]);
  const int n = s - 1;
  std::vector<double> product(n * n);
  pair.answer.assign(n * n, 0.0);
  for (int i = 0; i < n; ++i) {
    pair.answer[n * i + i] = 1;
    for (int k = 0; k < n; ++k)
      for (int j = 0; j < s; ++j) product[n * i + k] += t.a[i + 1][j] * pair.momenta[j][k];
  }
  solve_in_place(product.data(), n, pair.answer.data(), n);
  return pair;
}

}  // namespace symplectree
