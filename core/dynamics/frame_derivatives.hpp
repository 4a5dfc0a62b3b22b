// Poses and velocities of frames, and their exact derivatives (lagrangian_derivatives.hpp says what D_j is).
#pragma once

#include "dynamics/lagrangian_derivatives.hpp"
#include "model/frame.hpp"

namespace symplectree {

// `at` and `axes` are given in the core's axes of the body.
template <class T>
FramePose<T> frame_pose(const Point& p, const Mat3<double>& axes, const Workspace<T>& w) {
  const BodyPose<T>& at = w.pose[p.body];
  return {p.body, at.R * cast<T>(axes), at.x + at.R * Vec3<T>(p.at)};
}

// The body Jacobian's column j for a frame: (angular, linear) in the frame's axes at its origin.
template <class T>
Spatial<T> frame_column(const Columns<T>& c, int j, const FramePose<T>& f) {
  return {transposed_times(f.R, c.s[j].angular), transposed_times(f.R, c.at(j, f.x))};
}

// A 4×4 matrix [Ω, u; 0, 0] written row by row: here Ω R and u.
void write_pose_rate(const Mat3<double>& R, const Vec3<double>& u, double* out);

// D_i T (nv × 16), JM08 (3): [s_i] T.
void pose_first(const Columns<double>& c, const FramePose<double>& f, double* out);

// D_j D_i T (nv × nv × 16), JM08 (4): the twist nearer the root acts last, [s_j][s_i] T or [s_i][s_j] T; of coordinates
// of one formula ([s_j][s_i] + [E_ij]) T.
void pose_second(const Columns<double>& c, const FramePose<double>& f, double* out);

// The frame's body velocity derivatives, JM08 (7)–(11). With J_i the body Jacobian's columns,
// D_j J_i = [J_i, J_j] when j lies beyond i, E_ij (in the frame) when both belong to one formula, else 0.
//   dq (nv × 6): D_i V;  dqdv (nv × nv × 6): D_i J_j;  dqdq (nv × nv × 6): D_j D_i V.
class VelocityDerivatives {
 public:
  VelocityDerivatives(DerivativeWorkspace<double>& d, const FramePose<double>& f, const double* v);

  // `dv`, the frame's Jacobian by rows, unless it is null.
  void write(double* dq, double* dqdv, double* dqdq, double* dv = nullptr) const;

 private:
  bool beyond(int j, int i) const { return c_.m.body_of[j] > c_.m.body_of[i]; }

  // A twist at the centre of a body, in the frame's axes at its origin.
  Spatial<double> in_frame(const Spatial<double>& s, int body) const;
  Spatial<double> varying(const PoseFormula& formula, int i, int j) const {
    return in_frame(c_.varying(formula, i, j), c_.m.body_of[i]);
  }

  // D_j ([above_i, J_i] + own_i). above_i loses, by j beyond k, [J_k, J_j] v_k, and gains E_kj v_k where j and k belong
  // to one formula; own_i = Σ v_k E_ki.
  Spatial<double> second(int i, int j) const;

  const Columns<double>& c_;
  const FramePose<double> f_;
  const double* v_;
  std::vector<Spatial<double>>&J_, &above_, &own_;  // own: Σ_k v_k E_ki
  std::vector<int>& path_;
};

}  // namespace symplectree
