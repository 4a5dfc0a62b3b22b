// The midpoint action h L((1−α) q + α q', (q' − q)/h) in the coordinates themselves, JM08 (22)–(26), JM09 (19)–(22),
// (43); Ball and Free joints in coordinates local to q. Potentials are implicit, so it suits stiff springs. The
// residual takes O(n) without elements, the exact Newton matrix O(n²) and its factorisation O(n³).
#pragma once

#include <Eigen/LU>

#include "charts.hpp"
#include "element_derivatives.hpp"

namespace symplectree {

template <class T, int N>
using Square = std::array<std::array<T, N>, N>;

// How the middle (q_m, v_m) of a Ball or Free joint moves with increments of the ends, and how components of a force at
// the middle are taken at the ends (see reference/midpoint.py). Blocks of 6 × 6, of which a Ball uses 3 × 3.
template <class T>
struct MiddleBlock {
  Square<T, 6> q0{}, q1{}, v0{}, v1{}, carry0{}, carry1{};
};

template <class T>
void set3(Square<T, 6>& M, int row, int column, const Mat3<T>& B) {
  for (int j = 0; j < 3; ++j) {
    const Vec3<T>& c = B.column(j);
    M[row][column + j] = c.x, M[row + 1][column + j] = c.y, M[row + 2][column + j] = c.z;
  }
}

template <class T>
Mat3<T> scaled(const T& s, const Mat3<T>& B) {
  return {s * B.a, s * B.b, s * B.c};
}

// 3×3 matrix with columns f(e_j).
template <class T, class F>
Mat3<T> columns_of(F&& f) {
  return {f(Vec3<T>{T(1), T(0), T(0)}), f(Vec3<T>{T(0), T(1), T(0)}), f(Vec3<T>{T(0), T(0), T(1)})};
}

// exp(w) for a rotation vector w.
template <class T>
Mat3<T> rotation_matrix(const Vec3<T>& w) {
  const RotationCoefficients<T> k(dot(w, w));
  return columns_of<T>([&](const Vec3<T>& e) {
    const Vec3<T> we = cross(w, e), wwe = cross(w, we);
    return e + (T(1) - dot(w, w) * k.c) * we + k.b * wwe;  // sin θ/θ = 1 − θ² c
  });
}

// d: rotation vector from q to q'; shift: of a Free joint in the axes R_0 of the beginning.
template <class T>
MiddleBlock<T> middle_block(bool free, const Vec3<T>& d, const Vec3<T>& shift, T h, T alpha) {
  MiddleBlock<T> m;
  const Vec3<T> part = alpha * d, rest = (T(1) - alpha) * d;
  const Mat3<T> carry0 = rotation_matrix(-part), carry1 = rotation_matrix(rest);
  const Mat3<T> d0 = columns_of<T>([&](const Vec3<T>& e) { return -right_jacobian_inverse(-d, e); });
  const Mat3<T> d1 = columns_of<T>([&](const Vec3<T>& e) { return right_jacobian_inverse(d, e); });
  const auto turned = [&](const Mat3<T>& B) {
    return columns_of<T>([&](const Vec3<T>& e) { return alpha * right_jacobian(part, B * e); });
  };
  const Mat3<T> q0 = carry0 + turned(d0), q1 = turned(d1);
  const T inverse = T(1) / h;
  set3(m.carry0, 0, 0, carry0), set3(m.carry1, 0, 0, carry1);
  set3(m.q0, 0, 0, q0), set3(m.q1, 0, 0, q1);
  set3(m.v0, 0, 0, scaled(inverse, d0)), set3(m.v1, 0, 0, scaled(inverse, d1));
  if (!free) return m;
  const Vec3<T> v = inverse * (carry0 * shift);  // R_mᵀ (x' − x)/h
  set3(m.carry0, 3, 3, carry0), set3(m.carry1, 3, 3, carry1);
  set3(m.q0, 3, 3, scaled(T(1) - alpha, carry0)), set3(m.q1, 3, 3, scaled(alpha, carry1));
  set3(m.v0, 3, 3, scaled(-inverse, carry0)), set3(m.v1, 3, 3, scaled(inverse, carry1));
  set3(m.v0, 3, 0, columns_of<T>([&](const Vec3<T>& e) { return cross(v, q0 * e); }));
  set3(m.v1, 3, 0, columns_of<T>([&](const Vec3<T>& e) { return cross(v, q1 * e); }));
  return m;
}

// Midpoint, as a scheme for VariationalRun.
class MidpointScheme {
 public:
  static constexpr bool several_roots = false;  // springs are implicit: a guess may be far off and Newton still right

  MidpointScheme(const Model& m, double alpha)
      : m_(m),
        alpha_(alpha),
        d_(m),
        e_(m),
        p0_(m.nv),
        tau_(m.nv),
        inputs_(m.inputs),
        q_(m.nq),
        v_(m.nv),
        dq_(m.nv),
        dv_(m.nv),
        f_(m.nv),
        r_(m.nv),
        scale_(m.nv),
        dqdq_(m.nv, m.nv),
        dqdv_(m.nv, m.nv),
        dvdv_(m.nv, m.nv),
        full_(m.nv, m.nv),
        blocks_(m.size()) {
    elements_ =
        m.has_lines_or_wrenches() || !m.joint_springs.empty() || !m.joint_dampers.empty() || !m.joint_forces.empty();
  }

  void place(const double*) {}
  void drive(const std::vector<char>&) {}
  void set_multipliers(const double*) {}
  void flip() {}
  void learn(double, const double*, const double*) {}

  void begin(double, const double*, const double* p, const double* tau, const double* inputs) {
    std::copy(p, p + m_.nv, p0_.begin());
    std::copy(tau, tau + m_.nv, tau_.begin());
    std::copy(inputs, inputs + m_.inputs, inputs_.begin());
  }

  template <bool WithDerivative>
  double evaluate(double h, const double* q0, const double* q1, int& worst) {
    middle(h, q0, q1);
    lagrangian();
    double largest = 0;
    for (int i = 1; i < m_.size(); ++i) {
      const Body& b = m_.bodies[i];
      for (int k = 0; k < b.nv; ++k) {
        const int j = b.v + k;
        const auto [force, sizes] = end_force(b, i, k, h, false);
        r_[j] = p0_[j] + force;
        scale_[j] = std::fabs(p0_[j]) + sizes + 1e-300;
        const double ratio = std::fabs(r_[j]) / scale_[j];
        if (!(ratio <= largest)) largest = ratio, worst = j;
      }
    }
    return largest;
  }

  bool quick_direction(double, const double*, const double*, double*) { return false; }

  // Momenta carry the rounding of coordinates, M ε |q|/h, and of their own terms.
  bool at_floor(double h, const double* q0, const double* q1, double factor) {
    for (int j = 0; j < m_.nv; ++j) {
      double noise = scale_[j];
      for (int k = 0; k < m_.nv; ++k)
        noise += std::fabs(dvdv_(j, k)) * (std::fabs(v_[k]) + std::max(1e-3, std::fabs(coordinate(q0, q1, k))) / h);
      if (!(std::fabs(r_[j]) <= factor * 2.2e-16 * noise)) return false;
    }
    return true;
  }

  // −∂r/∂q' by JM08 (26), whose second line means ∂²L/∂q̇∂q, and its solution for r.
  void direction(double h, const double* q0, const double* q1, double* delta) {
    const int n = m_.nv;
    // Columns of the middle's motion with the end, q1 and v1, are block diagonal: multiply from the right by blocks.
    Matrix ofq = -h * dqdq_, ofv = -h * dqdv_;  // of D L: along q_m, along v_m
    Matrix pq = -h * dqdv_.transpose(), pv = -h * dvdv_;
    Matrix fq = Matrix::Zero(n, n), fv = fq;
    if (elements_) {
      fq = -0.5 * h * Eigen::Map<const RowMatrix>(e_.out.force_dq.data(), n, n);
      fv = -0.5 * h * Eigen::Map<const RowMatrix>(e_.out.force_dv.data(), n, n);
    }
    full_ = times_blocks(ofq, &MiddleBlock<double>::q1, alpha_) + times_blocks(ofv, &MiddleBlock<double>::v1, 1 / h);
    full_ = blocks_times(&MiddleBlock<double>::q0, 1 - alpha_, full_);
    pq = times_blocks(pq, &MiddleBlock<double>::q1, alpha_) + times_blocks(pv, &MiddleBlock<double>::v1, 1 / h);
    full_ += blocks_times(&MiddleBlock<double>::v0, -1 / h, pq);
    if (elements_) {
      fq = times_blocks(fq, &MiddleBlock<double>::q1, alpha_) + times_blocks(fv, &MiddleBlock<double>::v1, 1 / h);
      full_ += blocks_times(&MiddleBlock<double>::carry0, 1, fq);
    }
    for (int i = 1; i < m_.size(); ++i)
      if (m_.bodies[i].nv > 1) add_chart_change(m_.bodies[i], h, q0, q1);
    Eigen::Map<Eigen::VectorXd>(delta, n) = full_.partialPivLu().solve(Eigen::Map<Eigen::VectorXd>(r_.data(), n));
  }

  // p' = D₂ L_d + f⁺, at the last evaluation.
  void finish(double h, const double* q0, const double* q1, const double* tau, const double* inputs, double* p) {
    std::copy(tau, tau + m_.nv, tau_.begin());
    std::copy(inputs, inputs + m_.inputs, inputs_.begin());
    middle(h, q0, q1);
    lagrangian();
    for (int i = 1; i < m_.size(); ++i)
      for (int k = 0; k < m_.bodies[i].nv; ++k) p[m_.bodies[i].v + k] = end_force(m_.bodies[i], i, k, h, true).first;
  }

  const std::vector<double>& residual() const { return r_; }
  const std::vector<double>& reaction() const { return r_; }
  const std::vector<double>& scale() const { return scale_; }

 private:
  using Matrix = Eigen::MatrixXd;
  using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  using Member = Square<double, 6> MiddleBlock<double>::*;

  double coordinate(const double*, const double* q1, int k) const {
    const Body& b = m_.bodies[m_.body_of[k]];
    return b.nv == 1 ? q1[b.q] : b.kind == Kind::Free && k >= b.v + 3 ? q1[b.q + k - b.v - 3] : 1.0;
  }

  // (q_m, v_m), and the blocks of Ball and Free joints.
  void middle(double h, const double* q0, const double* q1) {
    for (int i = 1; i < m_.size(); ++i) {
      const Body& b = m_.bodies[i];
      if (b.nv == 1) {
        q_[b.q] = q0[b.q] + alpha_ * (q1[b.q] - q0[b.q]);
        v_[b.v] = (q1[b.q] - q0[b.q]) / h;
        continue;
      }
      const bool free = b.kind == Kind::Free;
      Vec3<double> d, shift;
      displacement(b, q0, q1, d, shift);
      blocks_[i] = middle_block<double>(free, d, shift, h, alpha_);
      const double* z0 = q0 + b.q + (free ? 3 : 0);
      Chart at(z0);
      at.centre = load_quaternion(z0);
      at.place(alpha_ * d, &q_[b.q + (free ? 3 : 0)]);
      store3((1 / h) * d, &v_[b.v]);
      if (!free) continue;
      for (int k = 0; k < 3; ++k) q_[b.q + k] = q0[b.q + k] + alpha_ * (q1[b.q + k] - q0[b.q + k]);
      store3((1 / h) * (rotation_matrix(-alpha_ * d) * shift), &v_[b.v + 3]);
    }
  }

  void displacement(const Body& b, const double* q0, const double* q1, Vec3<double>& d, Vec3<double>& shift) const {
    const bool free = b.kind == Kind::Free;
    const Quaternion<double> a = load_quaternion(q0 + b.q + (free ? 3 : 0)),
                             c = load_quaternion(q1 + b.q + (free ? 3 : 0));
    d = rotation_vector(between(a, c));
    if (free) shift = transposed_times(quaternion_matrix(a.w, a.v.x, a.v.y, a.v.z), load3(q1 + b.q) - load3(q0 + b.q));
  }

  // Derivatives of L and of the forces at the middle.
  void lagrangian() {
    const int n = m_.nv;
    d_.place(q_.data());
    dqdq_.setZero(), dqdv_.setZero(), dvdv_.setZero();
    RowMatrix a = dqdq_, b = dqdv_, c = dvdv_;
    lagrangian_derivatives(d_, v_.data(), {dq_.data(), dv_.data(), a.data(), b.data(), c.data()});
    dqdq_ = a, dqdv_ = b, dvdv_ = c;
    f_ = tau_;
    if (!elements_) return;
    element_derivatives(m_, -1, q_.data(), v_.data(), inputs_.data(), e_);
    for (int j = 0; j < n; ++j) dq_[j] -= e_.out.gradient[j], f_[j] += e_.out.force[j];
    dqdq_ -= Eigen::Map<const RowMatrix>(e_.out.hessian.data(), n, n);
  }

  // h (q∓ᵀ D L + v∓ᵀ p) + (h/2) carry∓ᵀ f for coordinate k of body i, and the size of its terms.
  std::pair<double, double> end_force(const Body& b, int i, int k, double h, bool end) const {
    if (b.nv == 1) {
      const double kinetic = end ? dv_[b.v] : -dv_[b.v],
                   rest = h * ((end ? alpha_ : 1 - alpha_) * dq_[b.v] + 0.5 * f_[b.v]);
      return {kinetic + rest, std::fabs(kinetic) + std::fabs(rest)};
    }
    const MiddleBlock<double>& m = blocks_[i];
    double sum = 0, size = 0;
    for (int l = 0; l < b.nv; ++l) {
      const int j = b.v + l;
      const double terms[3] = {h * (end ? m.q1 : m.q0)[l][k] * dq_[j], h * (end ? m.v1 : m.v0)[l][k] * dv_[j],
                               0.5 * h * (end ? m.carry1 : m.carry0)[l][k] * f_[j]};
      for (double t : terms) sum += t, size += std::fabs(t);
    }
    return {sum, size};
  }

  Matrix times_blocks(const Matrix& M, Member block, double plain) const {
    Matrix out = plain * M;
    for (int i = 1; i < m_.size(); ++i) {
      const Body& b = m_.bodies[i];
      if (b.nv > 1) out.middleCols(b.v, b.nv) = M.middleCols(b.v, b.nv) * view(blocks_[i].*block, b.nv);
    }
    return out;
  }

  // blockᵀ M
  Matrix blocks_times(Member block, double plain, const Matrix& M) const {
    Matrix out = plain * M;
    for (int i = 1; i < m_.size(); ++i) {
      const Body& b = m_.bodies[i];
      if (b.nv > 1) out.middleRows(b.v, b.nv) = view(blocks_[i].*block, b.nv).transpose() * M.middleRows(b.v, b.nv);
    }
    return out;
  }

  static Matrix view(const Square<double, 6>& block, int n) {
    Matrix out(n, n);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) out(i, j) = block[i][j];
    return out;
  }

  // −∂/∂q' of the blocks in r, with D L, p and f held, by dual numbers: an increment ε of the end changes d by J_r⁻¹ε
  // and a Free joint's shift by R_0ᵀ R_1 ε.
  void add_chart_change(const Body& b, double h, const double* q0, const double* q1) {
    const bool free = b.kind == Kind::Free;
    Vec3<double> d, shift;
    displacement(b, q0, q1, d, shift);
    const Mat3<double> turn = rotation_matrix(d);
    for (int c = 0; c < b.nv; ++c) {
      const Vec3<double> e{double(c % 3 == 0), double(c % 3 == 1), double(c % 3 == 2)};
      const Vec3<double> dd = c < 3 ? right_jacobian_inverse(d, e) : Vec3<double>{},
                         ds = c < 3 ? Vec3<double>{} : turn * e;
      const Vec3<Dual> x{{d.x, dd.x}, {d.y, dd.y}, {d.z, dd.z}}, s{{shift.x, ds.x}, {shift.y, ds.y}, {shift.z, ds.z}};
      const MiddleBlock<Dual> m = middle_block<Dual>(free, x, s, Dual(h), Dual(alpha_));
      for (int k = 0; k < b.nv; ++k)
        for (int l = 0; l < b.nv; ++l)
          full_(b.v + k, b.v + c) -= h * (m.q0[l][k].slope * dq_[b.v + l] + m.v0[l][k].slope * dv_[b.v + l] +
                                          0.5 * m.carry0[l][k].slope * f_[b.v + l]);
    }
  }

  const Model& m_;
  double alpha_;
  bool elements_;
  DerivativeWorkspace<double> d_;
  ElementWorkspace<double> e_;
  std::vector<double> p0_, tau_, inputs_, q_, v_, dq_, dv_, f_, r_, scale_;
  Matrix dqdq_, dqdv_, dvdv_, full_;
  std::vector<MiddleBlock<double>> blocks_;
};

}  // namespace symplectree
