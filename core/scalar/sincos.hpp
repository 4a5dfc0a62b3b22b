// Sines and cosines of many angles at once, in a loop that compilers turn into vector instructions.
//
// Reduction to |r| ≤ π/4 by three parts of π/2 (Cody and Waite), then the minimax polynomials that C libraries use;
// within about one unit in the last place for |x| < 10⁶, beyond which the library's functions serve.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace symplectree {

inline void sines_and_cosines(const double* __restrict x, int n, double* __restrict sine, double* __restrict cosine) {
  constexpr double round = 6755399441055744.0;  // 1.5 · 2⁵²: adding it rounds to an integer, kept in the low bits
  double largest = 0;
  for (int i = 0; i < n; ++i) {
    const double a = x[i];
    largest = std::fabs(a) < 1e6 ? largest : 1.0;
    const double shifted = a * 0.63661977236758134308 + round, k = shifted - round;
    const double r =
        ((a - k * 1.57079632673412561417) - k * 6.07710050630396597660e-11) - k * 2.02226624879595063154e-21;
    const double z = r * r;
    const double s = r + r * z *
                             (-1.66666666666666324348e-01 +
                              z * (8.33333333332248946124e-03 +
                                   z * (-1.98412698298579493134e-04 +
                                        z * (2.75573137070700676789e-06 +
                                             z * (-2.50507602534068634195e-08 + z * 1.58969099521155010221e-10)))));
    const double c =
        (1 - 0.5 * z) + z * z *
                            (4.16666666666666019037e-02 +
                             z * (-1.38888888888741095749e-03 +
                                  z * (2.48015872894767294178e-05 +
                                       z * (-2.75573143513906633035e-07 +
                                            z * (2.08757232129817482790e-09 + z * -1.13596475577881948265e-11)))));
    // The quadrant's bits choose and sign without a branch, which would keep the loop from vector instructions.
    const auto quadrant = std::bit_cast<std::uint64_t>(shifted), swapped = -(quadrant & 1);
    const auto sb = std::bit_cast<std::uint64_t>(s), cb = std::bit_cast<std::uint64_t>(c), both = sb ^ cb;
    sine[i] = std::bit_cast<double>((sb ^ (both & swapped)) ^ ((quadrant & 2) << 62));
    cosine[i] = std::bit_cast<double>((cb ^ (both & swapped)) ^ (((quadrant + 1) & 2) << 62));
  }
  if (largest == 0) return;
  for (int i = 0; i < n; ++i) sine[i] = std::sin(x[i]), cosine[i] = std::cos(x[i]);
}

template <class T>
void sines_and_cosines(const T* x, int n, T* sine, T* cosine) {
  for (int i = 0; i < n; ++i) sine[i] = sin(x[i]), cosine[i] = cos(x[i]);
}

}  // namespace symplectree
