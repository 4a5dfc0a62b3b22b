// Velocities v = M(q)⁻¹ p as functions of (q, p). With g = ∂c/∂v of a cost c(q, v, u), w = M⁻¹ g and N(v)[:, i] = D_i M
// v,
//
//   D_i (g·v)     = −w·N(v)[:, i]                                        ∂(g·v)/∂p = w
//   D_j D_i (g·v) = −wᵀ(D_j D_i M) v + N(w)ᵀ M⁻¹ N(v) + N(v)ᵀ M⁻¹ N(w)    ∂D_i(g·v)/∂p = −M⁻¹ N(w)[:, i]
//
// where wᵀ(D_j D_i M) v follows from second derivatives of kinetic energy at v + w, v and w.
#pragma once

#include "dense/row_matrix.hpp"
#include "dynamics/state_mechanics.hpp"

namespace symplectree {

class VelocityTerms {
 public:
  explicit VelocityTerms(StateMechanics& mechanics) : mechanics_(mechanics), n_(mechanics.layout().nv) {}

  // gradient (N) and hessian (N × N, N ≥ 2 nv) of a function of (q, v, u), at v = M⁻¹ p, become those in (q, p, u).
  void to_momenta(const double* q, const double* v, double* gradient, RowMatrix& hessian) {
    const int n = n_;
    at(q, v, here_);
    factor_.compute(here_.vv);
    inverse_ = factor_.solve(RowMatrix::Identity(n, n));
    slope_.noalias() = -inverse_ * here_.qv.transpose();
    Eigen::Map<Eigen::VectorXd> of_q(gradient, n), of_v(gradient + n, n);
    const Eigen::VectorXd g = of_v;
    hessian.leftCols(n) += hessian.middleCols(n, n) * slope_;
    hessian.middleCols(n, n) = (hessian.middleCols(n, n) * inverse_).eval();
    hessian.topRows(n) += slope_.transpose() * hessian.middleRows(n, n);
    hessian.middleRows(n, n) = (inverse_ * hessian.middleRows(n, n)).eval();
    of_q += slope_.transpose() * g;
    of_v = inverse_ * g;
    if (!g.isZero(0)) bend(q, v, of_v, hessian);
  }

 private:
  // Second derivatives of L.
  struct Kinetic {
    RowMatrix qq, qv, vv;
  };

  void at(const double* q, const double* v, Kinetic& out) {
    for (RowMatrix* M : {&out.qq, &out.qv, &out.vv}) M->setZero(n_, n_);
    first_.assign(2 * n_, 0.0);
    mechanics_.lagrangian(q, v, {&first_[0], &first_[n_], out.qq.data(), out.qv.data(), out.vv.data()});
  }

  // hessian += second derivatives of g·v in (q, p), w = M⁻¹ g.
  void bend(const double* q, const double* v, const Eigen::VectorXd& w, RowMatrix& hessian) {
    const int n = n_;
    const Eigen::VectorXd sum = w + Eigen::Map<const Eigen::VectorXd>(v, n), zero = Eigen::VectorXd::Zero(n);
    at(q, w.data(), there_);
    RowMatrix bent = here_.qq + there_.qq;
    const RowMatrix across = inverse_ * there_.qv.transpose();  // M⁻¹ N(w)
    const RowMatrix both = here_.qv * across;
    at(q, sum.data(), there_);
    bent -= there_.qq;
    at(q, zero.data(), there_);
    bent += both + both.transpose() - there_.qq;
    hessian.topLeftCorner(n, n) += 0.5 * (bent + bent.transpose());
    hessian.block(n, 0, n, n) -= across;
    hessian.block(0, n, n, n) -= across.transpose();
  }

  StateMechanics& mechanics_;
  int n_;
  Kinetic here_, there_;
  Eigen::LLT<RowMatrix> factor_;
  RowMatrix inverse_, slope_;
  std::vector<double> first_;
};

}  // namespace symplectree
