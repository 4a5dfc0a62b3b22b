// What elements give with their exact derivatives. Potential parts: energy V, gradient D_i V, Hessian D_j D_i V. The
// rest: force f_i, D_j f_i, ∂f_i/∂v_j.
#pragma once

#include <algorithm>
#include <vector>

namespace symplectree {

template <class T>
struct ElementTerms {
  T energy{};
  std::vector<T> gradient, hessian, force, force_dq, force_dv;

  explicit ElementTerms(int n) : gradient(n), hessian(n * n), force(n), force_dq(n * n), force_dv(n * n) {}

  int size() const { return static_cast<int>(gradient.size()); }
  void clear() {
    energy = T(0);
    for (auto* terms : {&gradient, &hessian, &force, &force_dq, &force_dv})
      std::fill(terms->begin(), terms->end(), T(0));
  }
};

}  // namespace symplectree
