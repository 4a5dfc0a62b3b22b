// Gauss collocation: nodes and weights for two to four stages.
#pragma once

#include <array>
#include <cmath>

namespace symplectree {

struct Tableau {
  int stages;
  std::array<double, 4> c, b;
  std::array<std::array<double, 4>, 4> a;
};

// Integrals of the Lagrange polynomials on the nodes c: a_ij up to c_i, b_j up to 1; and for any upper end.
inline std::array<double, 4> collocation_weights(const Tableau& t, double end) {
  std::array<double, 4> out{};
  for (int j = 0; j < t.stages; ++j) {
    std::array<double, 5> poly{1};  // coefficients of Π (x − c_k)/(c_j − c_k), lowest power first
    int degree = 0;
    for (int k = 0; k < t.stages; ++k) {
      if (k == j) continue;
      for (int d = ++degree; d >= 0; --d)
        poly[d] = ((d > 0 ? poly[d - 1] : 0) - t.c[k] * (d < degree ? poly[d] : 0)) / (t.c[j] - t.c[k]);
    }
    double power = end;
    for (int d = 0; d <= degree; ++d, power *= end) out[j] += poly[d] * power / (d + 1);
  }
  return out;
}

inline Tableau gauss_tableau(int stages) {
  Tableau t{stages, {}, {}, {}};
  const double r3 = std::sqrt(3.0) / 6, r15 = std::sqrt(15.0) / 10;
  if (stages == 2) t.c = {0.5 - r3, 0.5 + r3};
  if (stages == 3) t.c = {0.5 - r15, 0.5, 0.5 + r15};
  if (stages == 4) {
    const double outer = 0.5 * std::sqrt(3.0 / 7 + 2.0 / 7 * std::sqrt(1.2)),
                 inner = 0.5 * std::sqrt(3.0 / 7 - 2.0 / 7 * std::sqrt(1.2));
    t.c = {0.5 - outer, 0.5 - inner, 0.5 + inner, 0.5 + outer};
  }
  for (int i = 0; i < stages; ++i) t.a[i] = collocation_weights(t, t.c[i]);
  t.b = collocation_weights(t, 1);
  return t;
}

}  // namespace symplectree
