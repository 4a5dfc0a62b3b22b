// Derivatives in independent coordinates.
#include "dynamics/mapped_derivatives.hpp"

namespace symplectree {

ChainRule::ChainRule(const CoordinateMap& map, const double* u, const double* rates)
    : v(map.tree().nv), n_(map.tree().nv) {
  map.evaluate(u, at);
  Numbers rate(n_);
  for (int j = 0; rates && j < n_; ++j) rate[j] = rates[map.leader_v[j]];
  const auto times = [](Numbers a, const Numbers& b) {
    for (std::size_t j = 0; j < a.size(); ++j) a[j] *= b[j];
    return a;
  };
  v = times(at.first, rate);
  C = map.sum(at.first), curvature = map.sum(at.second);
  B = map.sum(times(at.second, rate)), third = map.sum(times(at.third, rate));
}

StateDerivatives ChainRule::compose(const StateDerivatives& f, std::size_t tail) const {
  const std::size_t m = size();
  StateDerivatives out(m, tail);
  out.q = sum(C(f.q.data(), 1, tail), B(f.v.data(), 1, tail));
  out.v = C(f.v.data(), 1, tail);
  const Numbers mixed = both(C, f.qv, B, tail);
  out.qq = sum(both(C, f.qq, C, tail), both(B, f.vv, B, tail));
  for (std::size_t i = 0; i < m; ++i)
    for (std::size_t j = 0; j < m; ++j)
      for (std::size_t k = 0; k < tail; ++k)
        out.qq[(i * m + j) * tail + k] += mixed[(i * m + j) * tail + k] + mixed[(j * m + i) * tail + k];
  add_diagonal(curvature, f.q, tail, out.qq);
  add_diagonal(third, f.v, tail, out.qq);
  out.qv = sum(both(C, f.qv, C, tail), both(B, f.vv, C, tail));
  add_diagonal(curvature, f.v, tail, out.qv);
  out.vv = both(C, f.vv, C, tail);
  return out;
}

ForceCurvature::ForceCurvature(const ChainRule& chain, const AxisMap& thrice, const Numbers& force,
                               const StateDerivatives& terms) {
  const std::size_t n = chain.tree_size(), m = chain.size();
  const StateDerivatives f = chain.compose(terms, n);
  const auto first_axis = [&](const Numbers& x) {  // [j, k, a] → Cᵀ f at [i, j, k]
    const Numbers sums = chain.C(x.data(), m * m);
    Numbers out(sums.size());
    for (std::size_t jk = 0; jk < m * m; ++jk)
      for (std::size_t i = 0; i < m; ++i) out[i * m * m + jk] = sums[jk * m + i];
    return out;
  };
  qq = first_axis(f.qq), qv = first_axis(f.qv), vv = first_axis(f.vv);
  const Numbers along = chain.curvature(f.q.data(), m), across = chain.curvature(f.v.data(), m);  // [k, i]
  const Numbers last = thrice(force.data());
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t k = 0; k < m; ++k) {
      qq[(i * m + i) * m + k] += along[k * m + i];
      qq[(i * m + k) * m + i] += along[k * m + i];
      qv[(i * m + i) * m + k] += across[k * m + i];
    }
    qq[(i * m + i) * m + i] += last[i];
  }
}

void map_shape_derivatives(const CoordinateMap& map, const MapPoint& at, const ShapeTerms& tree, double* inertia,
                           double* connection, double* metric) {
  constexpr int base = 6;
  const AxisMap C = map.shape(at.first), bend = map.shape(at.second);
  const std::size_t n = map.tree().nv - base, m = C.size;
  std::fill(inertia, inertia + m * base * base, 0.0);
  C.add(tree.D_inertia.data(), 1, base * base, inertia);
  const Numbers DA = C(C(tree.D_A.data(), 1, base * n).data(), m * base);
  const Numbers DS = C(C(C(tree.D_S.data(), 1, n * n).data(), m, n).data(), m * m);
  std::copy(DA.begin(), DA.end(), connection);
  std::copy(DS.begin(), DS.end(), metric);
  const Numbers turned = bend(tree.A.data(), base);                // [k, j]: A D_j C at column j
  const Numbers crossed = C(bend(tree.S.data(), 1, n).data(), m);  // [j, i]: (D_j C)ᵀ S C
  for (std::size_t j = 0; j < m; ++j) {
    for (std::size_t k = 0; k < base; ++k) connection[(j * base + k) * m + j] += turned[k * m + j];
    for (std::size_t i = 0; i < m; ++i) {
      metric[(j * m + j) * m + i] += crossed[j * m + i];
      metric[(j * m + i) * m + j] += crossed[j * m + i];
    }
  }
}

}  // namespace symplectree
