// Claims of Lee, Liu, Park and Srinivasa 2016 as ratios of times in one run; compiled and run by llps16.py.
//
// Residual: DRNEA (O(n), their Algorithm 2) against the recursion of Johnson and Murphey (O(n²): every body's velocity
// differentiated by every coordinate above it, with 4×4 matrices as JM08 (5)–(7), (16), (23) write it).
// Root update: h M⁻¹ r by articulated bodies (their Algorithm 3: M is that of the step's beginning, so it is factorised
// once a step and only solved with in each iteration; "whole" counts both) and our exact Newton sweep, against the full
// Jacobian with an LU factorisation in each iteration (their Algorithm 4).
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "solvers.hpp"

using namespace symplectree;

namespace {

Model chain(int n) {
  Model m;
  m.bodies.resize(1);
  m.bodies[0].axes = Mat3<double>::identity();
  for (int i = 0; i < n; ++i) {
    Body b;
    b.parent = i, b.q = b.v = i, b.nv = 1, b.mass = 1;
    b.axes = axes_with_z(i % 2 ? Vec3<double>{0, 1, 0} : Vec3<double>{1, 0, 0});
    b.link_centre = {0, 0, -0.5};
    const Body& p = m.bodies[i];
    b.base_axes = transposed(p.axes) * b.axes;
    b.base_point = transposed_times(p.axes, Vec3<double>{0, 0, i ? -1.0 : 0.0} - p.link_centre);
    b.centre = transposed_times(b.axes, b.link_centre);
    b.inertia = rotated(transposed(b.axes), Sym3<double>{0.084, 0.084, 0.002, 0, 0, 0});
    m.bodies.push_back(b);
    m.body_of.push_back(i + 1);
    m.armature.push_back(0);
    ++m.nq, ++m.nv;
  }
  m.gravity = {0, 0, -9.81};
  return m;
}

struct Mat4 {
  double a[4][4] = {};
};

Mat4 operator*(const Mat4& x, const Mat4& y) {
  Mat4 r;
  for (int i = 0; i < 4; ++i)
    for (int k = 0; k < 4; ++k)
      for (int j = 0; j < 4; ++j) r.a[i][j] += x.a[i][k] * y.a[k][j];
  return r;
}

Mat4 operator+(Mat4 x, const Mat4& y) {
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) x.a[i][j] += y.a[i][j];
  return x;
}

Mat4 scaled(double s, Mat4 x) {
  for (auto& row : x.a)
    for (double& e : row) e *= s;
  return x;
}

// The chain's links: rotation about x or y, then the next joint 1 m below; mass 1 at the middle.
struct TreeForm {
  int n;
  std::vector<Mat4> g, inverse, twist, pose, velocity;
  std::vector<std::vector<Mat4>> velocity_dq;  // [body][coordinate]
  std::vector<double> residual;

  explicit TreeForm(int size)
      : n(size), g(n), inverse(n), twist(n), pose(n), velocity(n), velocity_dq(n, std::vector<Mat4>(n)), residual(n) {
    for (int i = 0; i < n; ++i) {
      if (i % 2) {
        twist[i].a[0][2] = 1, twist[i].a[2][0] = -1;
      } else {
        twist[i].a[1][2] = -1, twist[i].a[2][1] = 1;
      }
    }
  }

  // p + D₁L_d of the midpoint action, JM08 (23), from ∂L/∂q (16) and ∂L/∂q̇.
  void evaluate(const double* q0, const double* q1, const double* p, double h) {
    for (int i = 0; i < n; ++i) {
      const double angle = 0.5 * (q0[i] + q1[i]), rate = (q1[i] - q0[i]) / h, c = std::cos(angle), s = std::sin(angle);
      Mat4 T;
      T.a[3][3] = 1, T.a[2][3] = i ? -1 : 0;
      if (i % 2) {
        T.a[0][0] = c, T.a[0][2] = s, T.a[1][1] = 1, T.a[2][0] = -s, T.a[2][2] = c;
      } else {
        T.a[0][0] = 1, T.a[1][1] = c, T.a[1][2] = -s, T.a[2][1] = s, T.a[2][2] = c;
      }
      g[i] = T;
      Mat4 I;
      I.a[3][3] = 1;
      for (int r = 0; r < 3; ++r)
        for (int k = 0; k < 3; ++k) {
          I.a[r][k] = T.a[k][r];
          I.a[r][3] -= T.a[k][r] * T.a[k][3];
        }
      inverse[i] = I;
      pose[i] = i ? pose[i - 1] * g[i] : g[i];                                // JM08 (1)
      const Mat4 carried = i ? inverse[i] * velocity[i - 1] * g[i] : Mat4{};  // (6)
      velocity[i] = carried + ::scaled(rate, twist[i]);
      for (int k = 0; k < i; ++k) velocity_dq[i][k] = inverse[i] * velocity_dq[i - 1][k] * g[i];  // (7)
      velocity_dq[i][i] = carried * twist[i] + ::scaled(-1, twist[i] * carried);
    }
    for (int j = 0; j < n; ++j) {
      double dq = 0, dv = 0;
      Mat4 column = twist[j];  // ∂v/∂q̇_j of body j, carried outward
      Mat4 moved = pose[j] * twist[j];
      for (int k = j; k < n; ++k) {
        if (k > j) column = inverse[k] * column * g[k], moved = moved * g[k];
        dq += product(velocity[k], velocity_dq[k][j]) + 9.81 * 0.5 * moved.a[2][2] - 9.81 * moved.a[2][3];
        dv += product(velocity[k], column);
      }
      residual[j] = p[j] + 0.5 * h * dq - dv;
    }
  }

  // v₁ᵀ M v₂ of a link, about its joint.
  static double product(const Mat4& x, const Mat4& y) {
    const double w1[3] = {x.a[2][1], x.a[0][2], x.a[1][0]}, w2[3] = {y.a[2][1], y.a[0][2], y.a[1][0]};
    const double u1[3] = {x.a[0][3] - 0.5 * w1[1], x.a[1][3] + 0.5 * w1[0], x.a[2][3]};
    const double u2[3] = {y.a[0][3] - 0.5 * w2[1], y.a[1][3] + 0.5 * w2[0], y.a[2][3]};
    return 0.084 * (w1[0] * w2[0] + w1[1] * w2[1]) + 0.002 * w1[2] * w2[2] + u1[0] * u2[0] + u1[1] * u2[1] +
           u1[2] * u2[2];
  }
};

// Best time of a call in µs.
template <class F>
double best(F f) {
  using Clock = std::chrono::steady_clock;
  int count = 1;
  double fastest = 1e30;
  for (int round = 0; round < 40; ++round) {
    const auto start = Clock::now();
    for (int i = 0; i < count; ++i) f();
    const double spent = std::chrono::duration<double>(Clock::now() - start).count();
    fastest = std::min(fastest, spent / count);
    if (spent < 1e-3) count = std::max(count + 1, static_cast<int>(count * 1e-3 / (spent + 1e-9)));
  }
  return 1e6 * fastest;
}

template <class Action>
void compare(const char* name, int n) {
  const Model m = chain(n);
  const double h = 1e-3;
  std::vector<double> q0(n, 0.3), q1(n), p(n), tau(n), delta(n), none(1);
  for (int i = 0; i < n; ++i) q1[i] = 0.3 + 1e-3 * std::sin(i);
  VariationalWorkspace w(m);
  int worst = 0;
  compute_poses(m, q0.data(), *w.now);
  begin_step<Action>(w, h, q0.data(), p.data(), tau.data(), none.data());
  const auto linear = [&] {
    displace<Action, false>(w, h, q1.data());
    residual(w, h, q0.data(), q1.data(), worst);
  };
  TreeForm tree(n);
  const double drnea = best(linear), svi = best([&] { tree.evaluate(q0.data(), q1.data(), p.data(), h); });
  // Both are the momentum balance of a step: they agree to the order of the methods.
  double gap = 0, size = 0;
  for (int j = 0; j < n; ++j)
    gap = std::max(gap, std::fabs(tree.residual[j] - w.r[j])), size = std::max(size, std::fabs(w.r[j]));

  displace<Action, true>(w, h, q1.data());
  residual(w, h, q0.data(), q1.data(), worst);
  Direction riqn(m), dense(m);
  const auto update = [&](Direction& d) { d.compute(w, h, q0.data(), q1.data(), delta.data()); };
  const double whole = best([&] {
    riqn.begin(Solver::Riqn, w, q0.data());
    update(riqn);
  });
  const double abi = best([&] { update(riqn); });
  dense.begin(Solver::Dense, w, q0.data());
  const double full = best([&] {
    displace<Action, true>(w, h, q1.data());
    update(dense);
  });
  const double newton = best([&] {
    displace<Action, true>(w, h, q1.data());
    newton_sweep(w, h, q0.data(), q1.data(), delta.data());
  });
  std::printf("%7s %5d %9.2f %9.2f %7.1f %9.2f %9.2f %9.2f %9.2f %7.1f %7.1f %7.1f   %.1e\n", name, n, drnea, svi,
              svi / drnea, abi, whole, newton, full, full / abi, full / whole, full / newton, gap / size);
}

}  // namespace

int main(int count, char** sizes) {
  std::printf("µs per call; the last column is how much the two residuals differ, relative to their size\n");
  std::printf("%7s %5s %9s %9s %7s %9s %9s %9s %9s %7s %7s %7s\n", "action", "n", "DRNEA", "O(n2)", "ratio", "RIQN",
              "whole", "Newton", "full", "/RIQN", "/whole", "/Newton");
  for (int i = 1; i < count; ++i) {
    compare<Cayley>("cayley", std::atoi(sizes[i]));
    compare<Exponential>("exp", std::atoi(sizes[i]));
  }
}
