// The pose of a joint as a formula of its coordinates, executed from tapes (symplectree/formula/pose_formula.py).
//
// Derivatives of its twists S_i(q), carried to world axes at the body's centre: E_ij = Ad ∂_j S_i, F_kji = Ad ∂_k ∂_j
// S_i. Twists of a formula about a fixed point change with its own coordinates by D_j s_i = [s_j, s_i] + E_ij; of all
// other joints E and F are zero.
#pragma once

#include <algorithm>
#include <memory>
#include <type_traits>
#include <vector>

#include "formula/tape.hpp"
#include "formula/tape_ad.hpp"
#include "scalar/dual.hpp"
#include "spatial/twist_wrench.hpp"

namespace symplectree {

struct PoseFormula {
  int n = 0;       // coordinates
  int first = 0;   // where its E begin in a workspace, n² of them: ∂_j S_i at [j, i]
  int second = 0;  // where its F begin, n³ of them: ∂_k ∂_j S_i at [k, j, i]
  Tape tapes[3];   // pose and S; these and ∂S; these and ∂∂S for k ≤ j

  static constexpr int kPose = 12;
  int outputs(int order) const {
    return kPose + 6 * n + (order > 0 ? 6 * n * n : 0) + (order > 1 ? 3 * n * (n + 1) * n : 0);
  }
};

// Memory for running the formulas of a model, and what they give.
template <class T>
struct FormulaWorkspace {
  std::vector<T> raw;          // outputs of the last tape
  std::vector<double> q, out;  // of a tape on numbers, for dual ones
  std::vector<std::conditional_t<std::is_same_v<T, Dual>, double, T>> work;
  std::vector<Spatial<T>> E, F;  // of all formulas; see PoseFormula

  void reserve(const std::vector<std::shared_ptr<PoseFormula>>& formulas) {
    std::size_t outputs = 0, scratch = 0, first = 0, second = 0;
    for (const auto& f : formulas) {
      outputs = std::max<std::size_t>(outputs, f->outputs(2));
      for (const Tape& tape : f->tapes) scratch = std::max<std::size_t>(scratch, tape.work_size);
      first += f->n * f->n, second += f->n * f->n * f->n;
    }
    raw.resize(outputs), out.resize(outputs), work.resize(scratch), q.resize(6);
    E.resize(first), F.resize(second);
  }
};

// w.raw ← pose, S and derivatives up to `order` at q, for one configuration or several side by side.
template <class T>
void run_formula(const PoseFormula& f, int order, const T* q, FormulaWorkspace<T>& w) {
  if constexpr (carries_derivatives<T>) {
    run_tape_ad(f.tapes[order], q, w.raw.data(), w.work.data());
  } else {
    f.tapes[order].run(q, w.raw.data(), w.work.data());
  }
}

// The same for dual numbers: the slopes of what is asked for are made of the next order, those of the pose of S.
inline void run_formula(const PoseFormula& f, int order, const Dual* q, FormulaWorkspace<Dual>& w) {
  const int n = f.n, width = 6 * n;
  for (int k = 0; k < n; ++k) w.q[k] = q[k].value;
  f.tapes[order + 1].run(w.q.data(), w.out.data(), w.work.data());
  const double *o = w.out.data(), *S = o + PoseFormula::kPose, *dS = S + width;
  for (int k = 0; k < f.outputs(order); ++k) w.raw[k] = o[k];
  double t[6] = {};
  for (int j = 0; j < n; ++j) {
    for (int k = 0; k < 6; ++k) t[k] += q[j].slope * S[6 * j + k];
    for (int k = 0; k < width; ++k) w.raw[PoseFormula::kPose + k].slope += q[j].slope * dS[width * j + k];
  }
  const auto column = [&](int c) { return Vec3<double>{o[3 * c], o[3 * c + 1], o[3 * c + 2]}; };
  const Vec3<double> a = column(0), b = column(1), c = column(2), moved = t[3] * a + t[4] * b + t[5] * c;
  // R' = R [ω]
  const Vec3<double> slopes[4] = {t[2] * b - t[1] * c, t[0] * c - t[2] * a, t[1] * a - t[0] * b, moved};
  for (int k = 0; k < 4; ++k)
    w.raw[3 * k].slope = slopes[k].x, w.raw[3 * k + 1].slope = slopes[k].y, w.raw[3 * k + 2].slope = slopes[k].z;
  if (order == 0) return;
  const double* ddS = dS + n * width;
  for (int k = 0; k < n; ++k)
    for (int j = k; j < n; ++j, ddS += width)
      for (int i = 0; i < width; ++i) {
        const int at = PoseFormula::kPose + width;
        w.raw[at + width * j + i].slope += q[k].slope * ddS[i];
        if (j != k) w.raw[at + width * k + i].slope += q[j].slope * ddS[i];
      }
}

// A twist of the moving frame, in its axes at its origin, in world axes at the point d beyond the origin.
template <class T>
Spatial<T> carried_twist(const T* p, const Mat3<T>& R, const Vec3<T>& d) {
  const Vec3<T> turn = R * Vec3<T>{p[0], p[1], p[2]};
  return {turn, R * Vec3<T>{p[3], p[4], p[5]} + cross(turn, d)};
}

// E and, with order 2, F after run_formula.
template <class T>
void carry_derivatives(const PoseFormula& f, int order, const Mat3<T>& R, const Vec3<T>& d, FormulaWorkspace<T>& w) {
  const int n = f.n;
  const T* p = w.raw.data() + PoseFormula::kPose + 6 * n;
  for (int k = 0; k < n * n; ++k, p += 6) w.E[f.first + k] = carried_twist(p, R, d);
  if (order < 2) return;
  for (int k = 0; k < n; ++k)
    for (int j = k; j < n; ++j)
      for (int i = 0; i < n; ++i, p += 6)
        w.F[f.second + (n * k + j) * n + i] = w.F[f.second + (n * j + k) * n + i] = carried_twist(p, R, d);
}

}  // namespace symplectree
