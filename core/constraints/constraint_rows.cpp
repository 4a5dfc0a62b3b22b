// Values and derivatives of constraint rows.
#include "constraints/constraint_rows.hpp"

#include "kinematics/poses_twists.hpp"
#include "model/potential.hpp"
#include "model/rows/all_rows.hpp"

#include "scalar/jet.hpp"

namespace symplectree {

template <bool WithDerivative, class R, class T>
void evaluate_row_terms(const ModelOf<R>& m, const std::vector<int>& pull_start,
                        const std::vector<int>& coefficient_start, const T* q, const Workspace<T>& at,
                        RowTerms<T>& out) {
  using std::sqrt;
  for (const PointRowOf<R>& r : m.point_rows) {
    const Vec3<T> a = position(r.a, at), b = position(r.b, at), n = world_axis(r.n, at);
    out.value[r.row] = dot(n, b - a);
    if constexpr (!WithDerivative) continue;
    Spatial<T>* pull = &out.pull[pull_start[r.row]];
    pull[0] = force_at(a, -n, r.a.body, at);
    pull[1] = force_at(b, n, r.b.body, at);
    pull[2] = {cross(n, b - a), {}};
  }
  for (const AngleRowOf<R>& r : m.angle_rows) {
    const Vec3<T> u = world_axis(r.u, at), w = world_axis(r.w, at);
    out.value[r.row] = dot(u, w);
    if constexpr (!WithDerivative) continue;
    Spatial<T>* pull = &out.pull[pull_start[r.row]];
    pull[0] = {cross(u, w), {}};
    pull[1] = {cross(w, u), {}};
  }
  for (const DistanceRowOf<R>& r : m.distance_rows) {
    const Vec3<T> a = position(r.a, at), b = position(r.b, at), d = b - a;
    const T square = dot(d, d), length = value_of(square) > 0 ? sqrt(square) : T(0);
    out.value[r.row] = length - (T(r.length) + (r.q >= 0 ? q[r.q] : T(0)));
    if constexpr (!WithDerivative) continue;
    const Vec3<T> u = (value_of(length) > 0 ? T(1) / length : T(0)) * d;
    Spatial<T>* pull = &out.pull[pull_start[r.row]];
    pull[0] = force_at(a, -u, r.a.body, at);
    pull[1] = force_at(b, u, r.b.body, at);
    if (r.v >= 0) out.coefficient[coefficient_start[r.row]] = T(-1);
  }
  for (const CoordinateRowOf<R>& r : m.coordinate_rows) {
    const double x = value_of(q[r.q1]);
    double phi[4] = {x, 1, 0, 0};
    if (r.function >= 0) m.potentials[r.function].evaluate(x, phi);
    out.value[r.row] = T(r.c1) * taylor(phi[0], phi[1], phi[2], q[r.q1]) + T(r.c2) * q[r.q2] - T(r.constant);
    if constexpr (!WithDerivative) continue;
    T* c = &out.coefficient[coefficient_start[r.row]];
    c[0] = T(r.c1) * taylor(phi[1], phi[2], phi[3], q[r.q1]), c[1] = T(r.c2);
  }
}

#define SYMPLECTREE_ROW_TERMS(WithDerivative, R, T)                                                        \
  template void evaluate_row_terms<WithDerivative>(const ModelOf<R>&, const std::vector<int>&,             \
                                                   const std::vector<int>&, const T*, const Workspace<T>&, \
                                                   RowTerms<T>&);
SYMPLECTREE_ROW_TERMS(false, double, double)
SYMPLECTREE_ROW_TERMS(true, double, double)
SYMPLECTREE_ROW_TERMS(true, double, Jet)
SYMPLECTREE_ROW_TERMS(true, double, DualOf<Jet>)
SYMPLECTREE_ROW_TERMS(true, Jet, Jet)

}  // namespace symplectree
