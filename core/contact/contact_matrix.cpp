#include "contact/contact_matrix.hpp"

#include <algorithm>
#include <cmath>

#include "dense/sum_of_products.hpp"

namespace symplectree {

ContactMatrix::ContactMatrix(const Model& m) : m_(m), tree_(m.size()), root_(m.nv) {
  std::vector<int> roots(m.size());
  for (int i = 1; i < m.size(); ++i) {
    const Body& body = m.bodies[i];
    const int root = roots[i] = body.parent == 0 ? i : roots[body.parent];
    Range& range = tree_[root];
    if (root == i) range = {body.v, body.v + body.nv};
    range = {std::min(range.low, body.v), std::max(range.high, body.v + body.nv)};
  }
  for (int i = 1; i < m.size(); ++i) tree_[i] = tree_[roots[i]];
}

ContactMatrix::Support ContactMatrix::support(const Part& p) const {
  Range a = tree_[p.a], b = tree_[p.b];
  if (b.low < a.low) std::swap(a, b);
  if (a.high == a.low) return {{b, {}}};
  if (b.low >= a.high) return {{a, b}};
  return {{{a.low, std::max(a.high, b.high)}, {}}};
}

template <class F>
void ContactMatrix::for_shared(const Support& s, const Support& t, F&& f) {
  for (const Range& r : s.ranges)
    for (const Range& o : t.ranges) {
      const int low = std::max(r.low, o.low), high = std::min(r.high, o.high);
      if (low < high) f(low, high);
    }
}

// z ← √D L Jᵀ of one row, on the paths from its bodies to the roots.
void ContactMatrix::sweep(const Part& p, const double* J, const Workspace<double>& at, double* z) const {
  int a = p.a, b = p.b;
  Spatial<double> on_a{}, on_b{};
  while (a > 0 || b > 0) {
    const bool joined = a == b, first = a >= b;
    const int i = first ? a : b;
    Spatial<double> f = first ? on_a : on_b;
    if (joined) f += on_b;
    const Body& body = m_.bodies[i];
    for (int j = body.v; j < body.v + body.nv; ++j) {
      const double u = J[j] - dot(at.S[j], f);
      z[j] = root_[j] * u;
      f += (u * at.pivot_inverse[j]) * at.W[j];
    }
    f = shift_force(f, at.pose[i].r);
    (first ? on_a : on_b) = f, (first ? a : b) = body.parent;
    if (joined) b = 0, on_b = {};
  }
}

void ContactMatrix::form(const std::vector<Part>& parts, const double* J, const Workspace<double>& at,
                         std::vector<double>& W, RowGroups& groups) {
  const int nv = m_.nv;
  next_.first.assign(1, 0), next_.start.assign(1, 0), next_.others.clear(), supports_.clear();
  for (const Part& p : parts) {
    const Support s = support(p);
    if (supports_.empty() || !(supports_.back() == s)) supports_.push_back(s), next_.first.push_back(next_.rows());
    next_.first.back() += p.rows;
  }
  for (int g = 0; g < next_.size(); ++g) {
    for (int h = 0; h < next_.size(); ++h) {
      bool meet = g == h;
      if (!meet) for_shared(supports_[g], supports_[h], [&](int, int) { meet = true; });
      if (meet) next_.others.push_back(h);
    }
    next_.start.push_back(static_cast<int>(next_.others.size()));
  }
  const std::size_t n = next_.rows();
  if (!(next_ == groups) || W.size() != n * n) groups = next_, W.assign(n * n, 0.0);
  Z_.resize(n * nv);
  for (int j = 0; j < nv; ++j) root_[j] = std::sqrt(at.pivot_inverse[j]);
  int row = 0, g = 0;
  for (const Part& p : parts) {
    while (groups.first[g + 1] <= row) ++g;
    for (const int end = row + p.rows; row < end; ++row) {
      double* z = &Z_[static_cast<std::size_t>(row) * nv];
      for (const Range& r : supports_[g].ranges) std::fill(z + r.low, z + r.high, 0.0);
      sweep(p, J + static_cast<std::size_t>(row) * nv, at, z);
    }
  }
  for (g = 0; g < groups.size(); ++g)
    for (int k = groups.start[g]; k < groups.start[g + 1] && groups.others[k] <= g; ++k) {
      const int h = groups.others[k];
      Range shared[4];
      int count = 0;
      for_shared(supports_[g], supports_[h], [&](int low, int high) { shared[count++] = {low, high}; });
      for (int i = groups.first[g]; i < groups.first[g + 1]; ++i)
        for (int j = groups.first[h]; j < std::min(groups.first[h + 1], i + 1); ++j) {
          const double *z = &Z_[static_cast<std::size_t>(i) * nv], *o = &Z_[static_cast<std::size_t>(j) * nv];
          double sum = 0;
          for (int c = 0; c < count; ++c)
            sum += sum_of_products(z + shared[c].low, o + shared[c].low, shared[c].high - shared[c].low);
          W[n * i + j] = W[n * j + i] = sum;
        }
    }
}

}  // namespace symplectree
