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

#include "integrators/body_action/root_direction.hpp"
#include "model/potential.hpp"
#include "model/rows/all_rows.hpp"
#include "model/user_elements.hpp"

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

// The chain in the papers' tree form: every frame is one elementary transformation of its parent (JM08 assumption 1),
// so a link is three frames: the joint's rotation, the mass half a metre below it, and the next joint's place one metre
// below.
struct TreeForm {
  static constexpr int kJoint = 0, kMass = 1, kEnd = 2;

  int n;
  std::vector<Mat4> g, inverse, twist, pose, velocity;               // of each frame, 3 i + kind
  std::vector<std::vector<Mat4>> pose_dq, velocity_dq, velocity_dv;  // [frame][coordinate]
  std::vector<double> residual;

  explicit TreeForm(int size)
      : n(size),
        g(3 * n),
        inverse(3 * n),
        twist(n),
        pose(3 * n),
        velocity(3 * n),
        pose_dq(3 * n, std::vector<Mat4>(n)),
        velocity_dq(pose_dq),
        velocity_dv(pose_dq),
        residual(n) {
    for (int i = 0; i < n; ++i) {
      if (i % 2) {
        twist[i].a[0][2] = 1, twist[i].a[2][0] = -1;
      } else {
        twist[i].a[1][2] = -1, twist[i].a[2][1] = 1;
      }
    }
  }

  static int parent(int frame) { return frame % 3 == kJoint ? frame - 1 : frame - frame % 3; }

  void place(int frame, double angle) {
    Mat4& T = g[frame] = Mat4{};
    const double c = std::cos(angle), s = std::sin(angle);
    for (int k = 0; k < 4; ++k) T.a[k][k] = 1;
    if (frame % 3 == kMass) T.a[2][3] = -0.5;
    if (frame % 3 == kEnd) T.a[2][3] = -1;
    if (frame % 3 == kJoint && frame / 3 % 2) T.a[0][0] = T.a[2][2] = c, T.a[0][2] = s, T.a[2][0] = -s;
    if (frame % 3 == kJoint && frame / 3 % 2 == 0) T.a[1][1] = T.a[2][2] = c, T.a[1][2] = -s, T.a[2][1] = s;
    Mat4& I = inverse[frame] = Mat4{};
    I.a[3][3] = 1;
    for (int r = 0; r < 3; ++r)
      for (int k = 0; k < 3; ++k) I.a[r][k] = T.a[k][r], I.a[r][3] -= T.a[k][r] * T.a[k][3];
  }

  // p + D₁L_d of the midpoint action, JM08 (23), from ∂L/∂q (16) and ∂L/∂q̇.
  void evaluate(const double* q0, const double* q1, const double* p, double h) {
    for (int f = 0; f < 3 * n; ++f) {
      const int i = f / 3, up = parent(f);
      const bool joint = f % 3 == kJoint;
      place(f, 0.5 * (q0[i] + q1[i]));
      const Mat4 carried = up < 0 ? Mat4{} : inverse[f] * velocity[up] * g[f];
      pose[f] = up < 0 ? g[f] : pose[up] * g[f];                                          // JM08 (1)
      velocity[f] = joint ? carried + ::scaled((q1[i] - q0[i]) / h, twist[i]) : carried;  // (6)
      for (int k = 0; k < i + !joint; ++k) {
        pose_dq[f][k] = pose_dq[up][k] * g[f];                       // (3)
        velocity_dq[f][k] = inverse[f] * velocity_dq[up][k] * g[f];  // (7)
        velocity_dv[f][k] = inverse[f] * velocity_dv[up][k] * g[f];  // (8)
      }
      if (!joint) continue;
      pose_dq[f][i] = pose[f] * twist[i];
      velocity_dq[f][i] = carried * twist[i] + ::scaled(-1, twist[i] * carried);
      velocity_dv[f][i] = twist[i];
    }
    for (int j = 0; j < n; ++j) {
      double dq = 0, dv = 0;
      for (int k = j; k < n; ++k) {
        const int f = 3 * k + kMass;
        dq += product(velocity[f], velocity_dq[f][j]) - 9.81 * pose_dq[f][j].a[2][3];
        dv += product(velocity[f], velocity_dv[f][j]);
      }
      residual[j] = p[j] + 0.5 * h * dq - dv;
    }
  }

  // v₁ᵀ M v₂ of a mass.
  static double product(const Mat4& x, const Mat4& y) {
    return 0.084 * (x.a[2][1] * y.a[2][1] + x.a[0][2] * y.a[0][2]) + 0.002 * x.a[1][0] * y.a[1][0] +
           x.a[0][3] * y.a[0][3] + x.a[1][3] * y.a[1][3] + x.a[2][3] * y.a[2][3];
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
  NewtonWorkspace w(m);
  const StepEnds<double> step{h, q0.data(), q1.data()};
  int worst = 0;
  compute_poses(m, q0.data(), *w.now);
  begin_step(w, h, q0.data(), p.data(), tau.data(), none.data());
  hold_bodies<Action>(w);
  const auto linear = [&] {
    displace<Action>(w, h, q1.data());
    residual(w, step, worst);
  };
  TreeForm tree(n);
  const double drnea = best(linear), svi = best([&] { tree.evaluate(q0.data(), q1.data(), p.data(), h); });
  // Both are the momentum balance of a step: they agree to the order of the methods.
  double gap = 0, size = 0;
  for (int j = 0; j < n; ++j)
    gap = std::max(gap, std::fabs(tree.residual[j] - w.r[j])), size = std::max(size, std::fabs(w.r[j]));

  displace<Action>(w, h, q1.data());
  body_derivatives<Action>(w, h);
  residual(w, step, worst);
  Direction riqn(m), dense(m);
  const auto update = [&](Direction& d) { d.compute(w, h, q0.data(), q1.data(), delta.data()); };
  const double whole = best([&] {
    riqn.begin(Solver::Riqn, w, h, q0.data());
    update(riqn);
  });
  const double abi = best([&] { update(riqn); });
  dense.begin(Solver::Dense, w, h, q0.data());
  const double full = best([&] {
    displace<Action>(w, h, q1.data());
    body_derivatives<Action>(w, h);
    update(dense);
  });
  const double newton = best([&] {
    displace<Action>(w, h, q1.data());
    newton_sweep<Action>(w, step, delta.data());
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
