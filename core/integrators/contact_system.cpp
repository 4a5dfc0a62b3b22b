#include "integrators/contact_system.hpp"

#include "dense/sum_of_products.hpp"

namespace symplectree {

void ContactSystem::build(const std::vector<Unilateral>& parts, const double* q, const Workspace<double>& at) {
  const std::size_t nv = m_.nv;
  std::size_t n = 0, row = 0;
  for (const Unilateral& u : parts) n += unilateral_.rows(u);
  J.resize(n * nv);
  for (const Unilateral& u : parts) {
    unilateral_.jacobian(u, at, &J[row * nv]);
    row += unilateral_.rows(u);
  }
  if (dynamics_.is_free()) {
    rows_.clear();
    for (const Unilateral& u : parts) {
      const auto [a, b] = unilateral_.bodies(u);
      rows_.push_back({unilateral_.rows(u), a, b});
    }
    return matrix_.form(rows_, J.data(), dynamics_.eliminated(q), W, groups);
  }
  groups = RowGroups::whole(static_cast<int>(n));
  W.resize(n * n);
  for (std::size_t i = 0; i < n; ++i) {
    velocity(q, &J[i * nv], column_.data());
    for (std::size_t k = 0; k < n; ++k) {
      W[n * k + i] = sum_of_products(&J[k * nv], column_.data(), m_.nv);
    }
  }
}

void ContactSystem::begin(const std::vector<Unilateral>& parts, double h, ConeProblem& problem) const {
  std::vector<ConeProblem::Part> cone;
  for (const Unilateral& u : parts) cone.push_back(unilateral_.part(u, h));
  problem.begin(cone, groups);
  groups.copy(W.data(), 1, problem.W.data());
}

void ContactSystem::impulse(const std::vector<double>& x, std::vector<double>& out) const {
  std::fill(out.begin(), out.end(), 0.0);
  for (std::size_t i = 0; i < x.size(); ++i)
    if (x[i] != 0)
      for (int j = 0; j < m_.nv; ++j) out[j] += x[i] * J[i * m_.nv + j];
}

void ContactSystem::rates(const std::vector<double>& v, std::vector<double>& out) const {
  out.resize(J.size() / m_.nv);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = sum_of_products(&J[i * m_.nv], v.data(), m_.nv);
}

}  // namespace symplectree
