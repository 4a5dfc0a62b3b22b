// Joints whose pose is a formula.
#include <algorithm>

#include "kinematics/poses_twists.hpp"
#include "scalar/jet.hpp"

namespace symplectree {

template <class T>
void FormulaWorkspace<T>::reserve(const std::vector<std::shared_ptr<PoseFormula>>& formulas) {
  std::size_t outputs = 0, scratch = 0, first = 0, second = 0;
  for (const auto& f : formulas) {
    outputs = std::max<std::size_t>(outputs, f->outputs(2));
    for (const Tape& tape : f->tapes) scratch = std::max<std::size_t>(scratch, tape.work_size);
    first += f->n * f->n, second += f->n * f->n * f->n;
  }
  raw.resize(outputs), out.resize(outputs), work.resize(scratch), q.resize(6);
  E.resize(first), F.resize(second);
}

namespace {

// w.raw ← pose, S and derivatives up to `order` at q, for one configuration or several side by side.
template <class T>
void run_formula(const PoseFormula& f, int order, const T* q, FormulaWorkspace<T>& w) {
  if constexpr (carries_derivatives<T>) {
    f.tapes[order].run_ad(q, w.raw.data(), w.work.data());
  } else {
    f.tapes[order].run(q, w.raw.data(), w.work.data());
  }
}

// The same for dual numbers: the slopes of what is asked for are made of the next order, those of the pose of S.
void run_formula(const PoseFormula& f, int order, const Dual* q, FormulaWorkspace<Dual>& w) {
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

}  // namespace

template <class R, class T>
void place_formula(const BodyOf<R>& body, const T* q, int order, const JointBase<T>& joint, BodyPose<T>& out,
                   Workspace<T>& w) {
  const auto& [base, origin] = joint;
  const PoseFormula& f = *body.formula;
  run_formula(f, order, q + body.q, w.formula);
  const T* p = w.formula.raw.data();
  out.R = base * Mat3<T>{{p[0], p[1], p[2]}, {p[3], p[4], p[5]}, {p[6], p[7], p[8]}};
  const Vec3<T> d = out.R * Vec3<T>(body.centre);
  for (int j = 0; j < f.n; ++j) w.S[body.v + j] = carried_twist(p + PoseFormula::kPose + 6 * j, out.R, d);
  if (order > 0) carry_derivatives(f, order, out.R, d, w.formula);
  out.r = origin + base * Vec3<T>{p[9], p[10], p[11]} + d;
  out.x = w.pose[body.parent].x + out.r;
}

#define SYMPLECTREE_PLACE_FORMULA(R, T) \
  template void place_formula(const BodyOf<R>&, const T*, int, const JointBase<T>&, BodyPose<T>&, Workspace<T>&);
SYMPLECTREE_PLACE_FORMULA(double, double)
SYMPLECTREE_PLACE_FORMULA(double, Dual)
SYMPLECTREE_PLACE_FORMULA(double, Jet)
SYMPLECTREE_PLACE_FORMULA(double, DualOf<Jet>)
SYMPLECTREE_PLACE_FORMULA(double, Pack<2>)
SYMPLECTREE_PLACE_FORMULA(double, Pack<4>)
SYMPLECTREE_PLACE_FORMULA(double, Pack<8>)
SYMPLECTREE_PLACE_FORMULA(Jet, Jet)

template struct FormulaWorkspace<double>;
template struct FormulaWorkspace<Dual>;
template struct FormulaWorkspace<Jet>;
template struct FormulaWorkspace<DualOf<Jet>>;
template struct FormulaWorkspace<Pack<2>>;
template struct FormulaWorkspace<Pack<4>>;
template struct FormulaWorkspace<Pack<8>>;

}  // namespace symplectree
