// Gauss collocation: nodes and weights, and Legendre's polynomials.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace symplectree {

inline constexpr int kMostStages = 8;

struct Tableau {
  int stages;
  std::array<double, kMostStages> c, b;
  std::array<std::array<double, kMostStages>, kMostStages> a;
};

// Legendre's polynomials P₀ … P_degree at x in [−1, 1].
inline std::array<double, kMostStages + 1> legendre(int degree, double x) {
  std::array<double, kMostStages + 1> P{1, x};
  for (int k = 2; k <= degree; ++k) P[k] = ((2 * k - 1) * x * P[k - 1] - (k - 1) * P[k - 2]) / k;
  return P;
}

// Nodes are the zeros of P_s, moved to [0, 1]. a_ij is the integral of the Lagrange polynomial of node j up to c_i, by
// the quadrature of the nodes itself, which is exact for it.
inline Tableau gauss_tableau(int stages) {
  Tableau t{stages, {}, {}, {}};
  const int s = stages;
  for (int i = 0; i < s; ++i) {
    const bool mirrored = i < s / 2;  // so that nodes lie exactly alike about the middle
    const int k = mirrored ? s - 1 - i : i;
    double x = 2 * k == s - 1 ? 0 : -std::cos(std::numbers::pi * (k + 0.75) / (s + 0.5)), slope = 1;
    for (int it = 0; it < 8; ++it) {
      const auto P = legendre(s, x);
      slope = s * (P[s - 1] - x * P[s]) / (1 - x * x);
      if (2 * k != s - 1) x -= P[s] / slope;
    }
    t.c[i] = mirrored ? 0.5 - 0.5 * x : 0.5 + 0.5 * x;
    t.b[i] = 1 / ((1 - x * x) * slope * slope);
  }
  for (int i = 0; i < s; ++i)
    for (int j = 0; j < s; ++j)
      for (int n = 0; n < s; ++n) {
        double lagrange = 1;
        for (int k = 0; k < s; ++k)
          if (k != j) lagrange *= (t.c[i] * t.c[n] - t.c[k]) / (t.c[j] - t.c[k]);
        t.a[i][j] += t.c[i] * t.b[n] * lagrange;
      }
  return t;
}

}  // namespace symplectree
