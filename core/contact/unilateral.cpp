#include "contact/unilateral.hpp"

#include <algorithm>
#include <cmath>

#include "model/rows/joint_friction.hpp"
#include "model/rows/joint_limit.hpp"

namespace symplectree {
namespace {

double gap_of(const JointLimit& limit, const double* q) { return limit.side * (q[limit.q] - limit.bound); }

bool contains(const std::vector<Unilateral>& all, const Unilateral& one) {
  return std::any_of(all.begin(), all.end(), [&](const Unilateral& u) { return u.same(one); });
}

}  // namespace

void UnilateralRows::add_frictions(std::vector<Unilateral>& to) const {
  for (std::size_t k = 0; k < m_.joint_frictions.size(); ++k)
    to.push_back({Unilateral::Source::Friction, static_cast<int>(k)});
}

void UnilateralRows::add_closed(const double* q, double margin, std::vector<Unilateral>& to) const {
  for (std::size_t k = 0; k < m_.joint_limits.size(); ++k) {
    const double gap = gap_of(m_.joint_limits[k], q);
    if (gap >= margin) continue;
    const Unilateral u{Unilateral::Source::Limit, static_cast<int>(k)};
    if (!contains(to, u)) to.push_back(u);
  }
}

double UnilateralRows::gap(const Unilateral& u, const double* q) const {
  return u.source == Unilateral::Source::Limit ? gap_of(m_.joint_limits[u.index], q) : 0;
}

ConeProblem::Part UnilateralRows::part(const Unilateral& u, double h) const {
  if (u.source == Unilateral::Source::Limit) return {ConeProblem::Kind::Limit, 0};
  return {ConeProblem::Kind::Friction, 0.5 * std::fabs(h) * m_.joint_frictions[u.index].force};
}

void UnilateralRows::value(const Unilateral& u, const double* q1, const double* moved, double* y) const {
  y[0] = u.source == Unilateral::Source::Limit ? gap_of(m_.joint_limits[u.index], q1) - u.allowed
                                               : moved[m_.joint_frictions[u.index].v];
}

double UnilateralRows::noise(const Unilateral& u, const double* q1) const {
  if (u.source == Unilateral::Source::Friction) return 1e-15;
  const JointLimit& limit = m_.joint_limits[u.index];
  return 1e-15 * (1 + std::fabs(q1[limit.q]) + std::fabs(limit.bound));
}

void UnilateralRows::jacobian(const Unilateral& u, double* J) const {
  std::fill(J, J + m_.nv, 0.0);
  if (u.source == Unilateral::Source::Limit) {
    J[m_.joint_limits[u.index].v] = m_.joint_limits[u.index].side;
  } else {
    J[m_.joint_frictions[u.index].v] = 1;
  }
}

double UnilateralRows::restitution(const Unilateral& u) const {
  return u.source == Unilateral::Source::Limit ? m_.joint_limits[u.index].restitution : 0;
}

}  // namespace symplectree
