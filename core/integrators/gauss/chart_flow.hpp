// Hamilton's equations in canonical coordinates z = (c, π) (see so3_charts.hpp), for one state or for several side by
// side; beside them Ġ = exp(w) N of each rotation.
#pragma once

#include <vector>

#include "kinematics/so3_charts.hpp"
#include "model/joint_state.hpp"
#include "model/workspace.hpp"
#include "scalar/simd_pack.hpp"

namespace symplectree {

// The charts of all joints with a quaternion.
class Charts {
 public:
  explicit Charts(const Model& m) : m_(m), charts_(m.size()) {}

  // A step begins at (q, p): z ← (c, π) there, but for rotations, of which `centre` says that.
  void begin(const double* q, const double* p, double* z);
  // Centre the charts for a step with these changes of z and of G (see Chart), and say where it begins in them.
  void centre(const double* change, double* z);
  // (q, p) at the end z of a step with these changes.
  void finish(const double* change, const double* z, double* q, double* p) const;

  // (q, p) of z = (c, π).
  template <class T>
  void state(const T* z, T* q, T* p) const;
  // rate ← (ċ, π̇, Ġ) at z, of which (q, p) is the state, v the velocity and f the rate of momentum without the chart.
  template <class T>
  void rates(const T* z, const T* q, const T* p, const T* v, const T* f, T* rate) const;

  // cdot ← ċ of the velocity v at z, of which q is the configuration.
  template <class T>
  void chart_velocity(const T* z, const T* q, const T* v, T* cdot) const;
  // v ← the velocity of ċ.
  template <class T>
  void joint_velocity(const T* z, const T* q, const T* cdot, T* v) const;
  // rate (of π) and push (of G) ← what forces f on the velocities add to these.
  template <class T>
  void chart_force(const T* z, const T* q, const T* f, T* rate, T* push) const;

 private:
  template <class T, class Map>
  void each_joint(const T* in, T* out, Map&& map) const;

  const Model& m_;
  std::vector<Chart> charts_;  // of each body
};

// The larger of a and |b|; NaN stays.
inline double larger(double a, double b) { return exceeds(std::fabs(b), a) ? std::fabs(b) : a; }

inline bool all_finite(const double* x, int n) {
  double spoiled = 0;  // 0, or not a number
  for (int k = 0; k < n; ++k) spoiled += 0 * x[k];
  return spoiled == 0;
}

// The flow: scratch memory for as many states as T holds, a number or a pack of 2, 4 or 8.
template <class T>
struct ChartFlow {
  const Model& m;
  Workspace<T> w;
  std::vector<T> q, p, v, force;

  explicit ChartFlow(const Model& model) : m(model), w(m), q(m.nq), p(m.nv), v(m.nv), force(m.nv) {}

  // q, p and v at z.
  void place(const Charts& charts, const T* z);
  // rate ← ż at z, after `place` there, under these forces.
  void rates(const Charts& charts, const T* z, AppliedForces<double> forces, T* rate);

  // v ← M(q)⁻¹ p.
  void velocity(const T* q, const T* p, T* v);
  // pᵀ M⁻¹ p, where `place` was called last.
  T twice_kinetic_energy(const T* p);

  // The size of v_j, or if larger of what p_j would give to joint j alone: v = M⁻¹p is the difference of such, and
  // rounded as they are.
  T speed(int j) const { return larger(larger(T(0), v[j]), p[j] * w.pivot_inverse[j]); }
};

}  // namespace symplectree
