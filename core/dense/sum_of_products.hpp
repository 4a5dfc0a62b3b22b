// Σ aᵢ bᵢ in eight sums side by side, which compilers take in vector instructions.
#pragma once

namespace symplectree {

inline double sum_of_products(const double* a, const double* b, int n) {
  double lanes[8] = {}, rest = 0;
  int i = 0;
  for (; i + 8 <= n; i += 8)
    for (int k = 0; k < 8; ++k) lanes[k] += a[i + k] * b[i + k];
  for (; i < n; ++i) rest += a[i] * b[i];
  return ((lanes[0] + lanes[4]) + (lanes[1] + lanes[5])) + ((lanes[2] + lanes[6]) + (lanes[3] + lanes[7])) + rest;
}

}  // namespace symplectree
