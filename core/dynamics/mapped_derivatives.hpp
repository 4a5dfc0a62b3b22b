// Derivatives in independent coordinates, where others follow (model/coordinate_map.hpp), from those of the tree.
//
// The tree's state is q = φ(u), v = C(u) v. With B_il = φ_i'' v_l, the derivative of the tree's v in u, a function F of
// both has
//
//   D F = Cᵀ F_q + Bᵀ F_v,   ∂F/∂v = Cᵀ F_v,
//   D D F = Cᵀ F_qq C + Cᵀ F_qv B + Bᵀ F_vq C + Bᵀ F_vv B + Σ (φ'' F_q + φ''' v F_v),
//   D ∂F/∂v = Cᵀ F_qv C + Bᵀ F_vv C + Σ φ'' F_v,   ∂²F/∂v² = Cᵀ F_vv C,
//
// where Σ, over all that follow the same coordinate, stands on the diagonal. Axes of coordinates come first.
#pragma once

#include "model/coordinate_map.hpp"

namespace symplectree {

using Numbers = std::vector<double>;

// Derivatives of a function with values of `tail` numbers in (q, v): first (n × tail), second [i, j] (n × n × tail).
struct StateDerivatives {
  Numbers q, v, qq, qv, vv;

  StateDerivatives(std::size_t n, std::size_t tail)
      : q(n * tail), v(n * tail), qq(n * n * tail), qv(n * n * tail), vv(n * n * tail) {}
};

class ChainRule {
 public:
  MapPoint at;
  Numbers v;                // velocities of the tree
  AxisMap C, B, curvature;  // weights φ', φ'' v and φ''
  AxisMap third;            // weights φ''' v

  // At independent coordinates u and velocities `rates`, null for none.
  ChainRule(const CoordinateMap& map, const double* u, const double* rates);

  int tree_size() const { return n_; }
  int size() const { return C.size; }

  // aᵀ x b of x (n × n × tail).
  Numbers both(const AxisMap& a, const Numbers& x, const AxisMap& b, std::size_t tail = 1) const {
    return b(a(x.data(), 1, n_ * tail).data(), a.size, tail);
  }
  // x (size × size × tail) += the sums of y (n × tail) on its diagonal.
  void add_diagonal(const AxisMap& sums, const Numbers& y, std::size_t tail, Numbers& x) const {
    const Numbers s = sums(y.data(), 1, tail);
    for (std::size_t i = 0; i < static_cast<std::size_t>(size()); ++i)
      for (std::size_t k = 0; k < tail; ++k) x[(i * size() + i) * tail + k] += s[i * tail + k];
  }

  // Derivatives of a function of the tree's state.
  StateDerivatives compose(const StateDerivatives& f, std::size_t tail) const;

  static Numbers sum(Numbers a, const Numbers& b) {
    for (std::size_t k = 0; k < a.size(); ++k) a[k] += b[k];
    return a;
  }

 private:
  int n_;
};

// Of an element's force f (n), whose derivatives in (q, v) are `terms` with tail n, [.., a] of f_a: those of F = Cᵀ f,
// second ones at [i, j, k] as D_k D_j F_i, D_j ∂F_i/∂v_k and ∂²F_i/∂v_j∂v_k.
struct ForceCurvature {
  Numbers qq, qv, vv;

  ForceCurvature(const ChainRule& chain, const AxisMap& thrice, const Numbers& force, const StateDerivatives& terms);
};

// Of a floating tree: connection (6 × n) and shape metric (n × n), and derivatives of the locked inertia (n × 6 × 6),
// the connection (n × 6 × n) and the metric (n × n × n) along the tree's shape.
struct ShapeTerms {
  const Numbers &A, &S, &D_inertia, &D_A, &D_S;
};

// The derivatives along independent shape coordinates, of I, A C and Cᵀ S C, with C that of the shape alone.
void map_shape_derivatives(const CoordinateMap& map, const MapPoint& at, const ShapeTerms& tree, double* inertia,
                           double* connection, double* metric);

}  // namespace symplectree
