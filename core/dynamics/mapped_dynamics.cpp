// Continuous mechanics in independent coordinates.
#include "dynamics/mapped_dynamics.hpp"

#include "dense/dense_solvers.hpp"
#include "dynamics/crba.hpp"
#include "dynamics/rnea.hpp"

namespace symplectree {

void MappedDynamics::inverse_mass_product(const double* q, const double* x, double* out, Workspace<double>& w) {
  map_.evaluate(q, at_);
  solve(x, out, w);
}

void MappedDynamics::forward_dynamics(JointState<double> state, AppliedForces<double> forces, double* a,
                                      Workspace<double>& w) {
  map_.evaluate(state.q, at_);
  map_.velocity(at_, state.v, v_.data());
  const std::vector<double> zero(map_.nv());
  map_.acceleration(at_, state.v, zero.data(), a_.data());
  inverse_dynamics(tree_, {at_.q.data(), v_.data()}, a_.data(), forces.inputs, force_.data(), w);
  std::vector<double> rest = map_.sum(at_.first)(force_.data());
  for (int j = 0; j < map_.nv(); ++j) rest[j] = forces.tau[j] - rest[j];
  solve(rest.data(), a, w);
}

void MappedDynamics::solve(const double* x, double* out, Workspace<double>& w) {
  const int n = map_.nv();
  mass_matrix(tree_, at_.q.data(), M_.data(), w);
  const AxisMap C = map_.sum(at_.first);
  const std::vector<double> own = C(C(M_.data(), tree_.nv, 1).data(), 1, n);
  solve_symmetric(own.data(), n, x, out);
}

void project_rows(const CoordinateMap& map, const MapPoint& at, std::vector<double> G, double* out) {
  constexpr double rounding = 1e-13;
  const std::size_t rows = map.rows.size, n = map.tree().nv;
  const auto projected = [&](const std::vector<double>& x, std::vector<double> slopes) {
    return map.sum(std::move(slopes))(map.rows(x.data(), 1, n).data(), rows);
  };
  const auto absolute = [](std::vector<double> x) {
    for (double& each : x) each = std::fabs(each);
    return x;
  };
  const std::vector<double> value = projected(G, at.first), terms = projected(absolute(G), absolute(at.first));
  for (std::size_t k = 0; k < value.size(); ++k) out[k] = std::fabs(value[k]) < rounding * terms[k] ? 0.0 : value[k];
}

}  // namespace symplectree
