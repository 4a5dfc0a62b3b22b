// Derivatives of poses and velocities of frames.
#include "dynamics/frame_derivatives.hpp"

#include "kinematics/poses_twists.hpp"

namespace symplectree {

void write_pose_rate(const Mat3<double>& R, const Vec3<double>& u, double* out) {
  const double rows[16] = {R.a.x, R.b.x, R.c.x, u.x, R.a.y, R.b.y, R.c.y, u.y, R.a.z, R.b.z, R.c.z, u.z, 0, 0, 0, 0};
  for (int k = 0; k < 16; ++k) out[k] = rows[k];
}

static Mat3<double> cross_columns(const Vec3<double>& w, const Mat3<double>& R) {
  return {cross(w, R.a), cross(w, R.b), cross(w, R.c)};
}

static void write_row(const Spatial<double>& s, double* out) {
  const double rows[6] = {s.angular.x, s.angular.y, s.angular.z, s.linear.x, s.linear.y, s.linear.z};
  for (int k = 0; k < 6; ++k) out[k] = rows[k];
}

void pose_first(const Columns<double>& c, const FramePose<double>& f, double* out) {
  c.for_path(f.body, [&](int i) { write_pose_rate(cross_columns(c.s[i].angular, f.R), c.at(i, f.x), out + 16 * i); });
}

void pose_second(const Columns<double>& c, const FramePose<double>& f, double* out) {
  c.for_path(f.body, [&](int i) {
    c.for_path(f.body, [&](int j) {
      const int outer = c.at_or_above(j, i) ? j : i, inner = outer == j ? i : j;
      const Vec3<double>& w = c.s[outer].angular;
      Mat3<double> turned = cross_columns(w, cross_columns(c.s[inner].angular, f.R));
      Vec3<double> moved = cross(w, c.at(inner, f.x));
      if (const PoseFormula* own = c.formula(i, j)) {
        turned = turned + cross_columns(c.varying(*own, i, j).angular, f.R);
        moved += c.varying_at(*own, i, j, f.x);
      }
      write_pose_rate(turned, moved, out + 16 * (c.m.nv * i + j));
    });
  });
}

VelocityDerivatives::VelocityDerivatives(DerivativeWorkspace<double>& d, const FramePose<double>& f, const double* v)
    : c_(d.columns), f_(f), v_(v), J_(d.J), above_(d.Z), own_(d.G), path_(d.path) {
  path_.clear();
  c_.for_path(f.body, [&](int j) {
    path_.push_back(j);
    J_[j] = frame_column(c_, j, f);
  });
  for (int i : path_) {
    above_[i] = own_[i] = {};
    for (int k : path_) {
      if (beyond(i, k)) above_[i] += v[k] * J_[k];
      if (const PoseFormula* formula = c_.formula(i, k)) own_[i] += v[k] * varying(*formula, k, i);
    }
  }
}

void VelocityDerivatives::write(double* dq, double* dqdv, double* dqdq, double* dv) const {
  const int n = c_.m.nv;
  for (int i : path_) {
    if (dv) write_row(J_[i], dv + 6 * i);
    write_row(bracket(above_[i], J_[i]) + own_[i], dq + 6 * i);
    for (int j : path_) {
      if (beyond(i, j)) write_row(bracket(J_[j], J_[i]), dqdv + 6 * (n * i + j));
      if (const PoseFormula* formula = c_.formula(i, j)) write_row(varying(*formula, j, i), dqdv + 6 * (n * i + j));
      write_row(second(i, j), dqdq + 6 * (n * i + j));
    }
  }
}

Spatial<double> VelocityDerivatives::in_frame(const Spatial<double>& s, int body) const {
  const Spatial<double> there = shift_motion(s, f_.x - c_.at_q->pose[body].x);
  return {transposed_times(f_.R, there.angular), transposed_times(f_.R, there.linear)};
}

Spatial<double> VelocityDerivatives::second(int i, int j) const {
  Spatial<double> change, total;
  for (int k : path_) {
    if (beyond(i, k) && beyond(j, k)) change += v_[k] * bracket(J_[k], J_[j]);
    if (!beyond(i, k)) continue;
    if (const PoseFormula* formula = c_.formula(j, k)) change += v_[k] * varying(*formula, k, j);
  }
  total = bracket(change, J_[i]);
  if (beyond(j, i)) total += bracket(above_[i], bracket(J_[i], J_[j])) + bracket(own_[i], J_[j]);
  const PoseFormula* formula = c_.formula(i, j);
  if (!formula) return total;
  total += bracket(above_[i], varying(*formula, i, j));
  const int body = c_.m.body_of[i], start = c_.m.bodies[body].v, n = formula->n;
  for (int k = 0; k < n; ++k) {
    const auto& F = c_.at_q->formula.F[formula->second + (n * (j - start) + i - start) * n + k];
    total += v_[start + k] * in_frame(F, body);
  }
  return total;
}

}  // namespace symplectree
