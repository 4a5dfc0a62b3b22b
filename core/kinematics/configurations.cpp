// Configurations and the increments between them.
#include "kinematics/configurations.hpp"

#include <algorithm>

#include "kinematics/poses_twists.hpp"
#include "scalar/jet.hpp"
#include "spatial/so3.hpp"

namespace symplectree {

template <class R>
void retract_body(const BodyOf<R>& b, const double* q, const double* d, double* out) {
  if (b.nv == 1) {
    out[b.q] = q[b.q] + d[b.v];
    return;
  }
  if (b.flat()) {
    for (int k = 0; k < b.nv; ++k) out[b.q + k] = q[b.q + k] + d[b.v + k];
    return;
  }
  const bool free = b.kind == Kind::Free;
  const double* p = q + b.q + (free ? 3 : 0);
  double* o = out + b.q + (free ? 3 : 0);
  const Vec3<double> w{d[b.v], d[b.v + 1], d[b.v + 2]};
  const double angle2 = dot(w, w), angle = std::sqrt(angle2);
  const bool small = angle < 1e-4;
  if (free) {  // position: R (1 + b ŵ + c ŵ²) u with the coefficients of the exponential on SE(3)
    const double half = std::sin(angle / 2);
    const double B = small ? 0.5 - angle2 / 24 : 2 * half * half / angle2;
    const double C = small ? 1.0 / 6 - angle2 / 120 : (angle - std::sin(angle)) / (angle2 * angle);
    const Vec3<double> u{d[b.v + 3], d[b.v + 4], d[b.v + 5]}, wu = cross(w, u);
    const double n = 1 / std::sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2] + p[3] * p[3]);
    const Vec3<double> moved =
        quaternion_matrix(p[0] * n, p[1] * n, p[2] * n, p[3] * n) * (u + B * wu + C * cross(w, wu));
    const Vec3<double> x{q[b.q] + moved.x, q[b.q + 1] + moved.y, q[b.q + 2] + moved.z};
    out[b.q] = x.x, out[b.q + 1] = x.y, out[b.q + 2] = x.z;
  }
  const double s = small ? 0.5 - angle2 / 48 : std::sin(angle / 2) / angle, c = std::cos(angle / 2);
  const Vec3<double> e = s * w, a{p[1], p[2], p[3]};
  const double qw = p[0] * c - dot(a, e);
  const Vec3<double> qv = p[0] * e + c * a + cross(a, e);
  const double n = 1 / std::sqrt(qw * qw + dot(qv, qv));
  o[0] = qw * n, o[1] = qv.x * n, o[2] = qv.y * n, o[3] = qv.z * n;
}

void body_increment(const Body& b, const double* q0, const double* q1, double* d) {
  if (b.nv == 1) {
    d[0] = q1[b.q] - q0[b.q];
  } else if (b.flat()) {
    for (int k = 0; k < b.nv; ++k) d[k] = q1[b.q + k] - q0[b.q + k];
  } else {
    local_increment(b.kind == Kind::Free, q0 + b.q, q1 + b.q, d);
  }
}

template <class R>
void retract(const ModelOf<R>& m, const double* q, const double* d, double* out) {
  if (m.quaternions.empty()) {
    for (int j = 0; j < m.nv; ++j) out[j] = q[j] + d[j];
    return;
  }
  for (int i = 1; i < m.size(); ++i) retract_body(m.bodies[i], q, d, out);
}

void increments(const Model& m, const double* q0, const double* q1, double* d) {
  if (m.quaternions.empty()) {
    for (int j = 0; j < m.nv; ++j) d[j] = q1[j] - q0[j];
    return;
  }
  for (int i = 1; i < m.size(); ++i) body_increment(m.bodies[i], q0, q1, d + m.bodies[i].v);
}

void configuration_rate(const Model& m, const double* q, const double* v, double* rate) {
  for (int i = 1; i < m.size(); ++i) {
    const Body& b = m.bodies[i];
    if (b.flat()) {
      for (int k = 0; k < b.nv; ++k) rate[b.q + k] = v[b.v + k];
      continue;
    }
    const int start = b.q + (b.kind == Kind::Free ? 3 : 0);
    const double w = q[start], *p = v + b.v;
    const Vec3<double> a{q[start + 1], q[start + 2], q[start + 3]}, omega{p[0], p[1], p[2]};
    if (b.kind == Kind::Free) {
      const double n = 1 / std::sqrt(w * w + dot(a, a));
      const Vec3<double> u = quaternion_matrix(w * n, a.x * n, a.y * n, a.z * n) * Vec3<double>{p[3], p[4], p[5]};
      rate[b.q] = u.x, rate[b.q + 1] = u.y, rate[b.q + 2] = u.z;
    }
    const Vec3<double> d = w * omega + cross(a, omega);
    rate[start] = -0.5 * dot(a, omega);
    rate[start + 1] = 0.5 * d.x, rate[start + 2] = 0.5 * d.y, rate[start + 3] = 0.5 * d.z;
  }
}

void normalize(const Model& m, double* q) {
  for (int i = 1; i < m.size(); ++i) {
    const Body& b = m.bodies[i];
    if (b.flat()) continue;
    double* p = q + b.q + (b.kind == Kind::Free ? 3 : 0);
    const double n = 1 / std::sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2] + p[3] * p[3]);
    for (int k = 0; k < 4; ++k) p[k] *= n;
  }
}

double formula_turn(const Model& m, const Workspace<double>& now, const Workspace<double>& next) {
  double largest = 0;
  for (int i : m.formula_bodies) {
    const int parent = m.bodies[i].parent;
    const auto relative = [&](const Workspace<double>& w) {
      return parent == 0 ? w.pose[i].R : transposed(w.pose[parent].R) * w.pose[i].R;
    };
    const Mat3<double> R0 = relative(now), R1 = relative(next);
    const double trace = dot(R0.a, R1.a) + dot(R0.b, R1.b) + dot(R0.c, R1.c);
    largest = std::max(largest, std::acos(std::clamp(0.5 * (trace - 1), -1.0, 1.0)));
  }
  return largest;
}

template void retract_body(const Body&, const double*, const double*, double*);
template void retract(const Model&, const double*, const double*, double*);
template void retract(const ModelOf<Jet>&, const double*, const double*, double*);

}  // namespace symplectree
