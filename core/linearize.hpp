// Exact derivatives of one variational step, by implicit differentiation of its equations E(x, y) = 0 with outputs
// O(x, y): dy = −E_y⁻¹ E_x dx (design section 10). All Jacobians come from running step_equations.hpp on jets, eight
// directions at a time; second derivatives from running them on duals of jets along the directions (dx, dy):
//
//   d²y = −E_y⁻¹ (dE_x + dE_y Y),   d²O = dO_x + dO_y Y + O_y d²y.
#pragma once

#include <Eigen/LU>
#include <Eigen/QR>

#include "jet.hpp"
#include "step_equations.hpp"

namespace symplectree {

using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// Where a step was taken: everything that its equations are evaluated at. λ are impulses; v and μ, with which p' goes
// along the constraints, count when there are constraints or prescribed coordinates.
struct StepPoint {
  double h;
  std::vector<double> q0, q1, lambda, tau, inputs, v, mu;
};

// The unknowns and parameters z = (q, q', λ, forces, v, μ) in a row, and what belongs to what.
struct StepLayout {
  int nv, rows, forces;  // forces: inputs of the model, or its velocities when it has none
  bool inputs;           // are these inputs?
  bool projected;
  int q0 = 0, q1, lambda, force, v, mu, size;
  int equations, outputs;

  StepLayout(const Model& m, bool driven)
      : nv(m.nv),
        rows(m.rows),
        forces(m.inputs ? m.inputs : m.nv),
        inputs(m.inputs > 0),
        projected(m.rows > 0 || driven) {
    q1 = nv, lambda = q1 + nv, force = lambda + rows, v = force + forces, mu = v + (projected ? nv : 0);
    size = mu + (projected ? rows : 0);
    equations = (nv + rows) * (projected ? 2 : 1);
    outputs = nv;  // p'; q' is an unknown
  }
};

// E and O of a step in numbers T, of a model in numbers R.
template <class T, class R = double>
class StepSystem {
 public:
  StepSystem(const ModelOf<R>& m, const StepLayout& layout, int action, double alpha)
      : m_(m), l_(layout), rows_(m), moving_(m) {
    switch (action) {
      case 0:
        cayley_ = std::make_unique<TreeEquations<Cayley, T, R>>(m);
        break;
      case 1:
        chord_ = std::make_unique<TreeEquations<Chord, T, R>>(m);
        break;
      case 2:
        exponential_ = std::make_unique<TreeEquations<Exponential, T, R>>(m);
        break;
      default:
        middle_ = std::make_unique<MiddleEquations<T, R>>(m, alpha);
    }
    for (auto* a : {&q0_, &q1_}) a->resize(m.nq);
    tau_.resize(m.nv), inputs_.resize(m.inputs), p1_.resize(m.nv);
  }

  // z and h differ by `dz` and `dh` (whose values are zero) from the point.
  void evaluate(const StepPoint& at, const T* dz, T* E, T* O, const T& dh = T(0)) {
    retract_lifted(m_, at.q0.data(), dz + l_.q0, q0_.data());
    retract_lifted(m_, at.q1.data(), dz + l_.q1, q1_.data());
    sum(at.lambda, dz + l_.lambda, lambda_);
    for (int j = 0; j < m_.nv; ++j) tau_[j] = T(at.tau[j]);
    for (int j = 0; j < m_.inputs; ++j) inputs_[j] = T(at.inputs[j]);
    for (int k = 0; k < l_.forces; ++k) (l_.inputs ? inputs_ : tau_)[k] += dz[l_.force + k];
    const StepArguments<T> a{T(at.h) + dh, q0_.data(),     q1_.data(),  dz + l_.q0,
                             dz + l_.q1,   lambda_.data(), tau_.data(), inputs_.data()};
    T* p1 = l_.projected ? p1_.data() : O;
    if (cayley_) step(*cayley_, at, a, dz, E, p1, O);
    if (chord_) step(*chord_, at, a, dz, E, p1, O);
    if (exponential_) step(*exponential_, at, a, dz, E, p1, O);
    if (middle_) step(*middle_, at, a, dz, E, p1, O);
  }

 private:
  template <class Equations>
  void step(Equations& eq, const StepPoint& at, const StepArguments<T>& a, const T* dz, T* E, T* p1, T* O) {
    eq.evaluate(a, E, p1);
    if (m_.rows > 0) {
      rows_.add_impulses(a.q0, a.d0, a.lambda, eq.start, E);
      rows_.values(a.q0, a.q1, a.d1, eq.end, E + l_.nv);
    }
    if (!l_.projected) return;
    sum(at.v, dz + l_.v, v_);
    sum(at.mu, dz + l_.mu, mu_);
    // M v + Dhᵀ μ − p' = 0 and Dh v = 0, at q'
    momenta(m_, a.q1, v_.data(), O, moving_);
    T* balance = E + l_.nv + l_.rows;
    for (int j = 0; j < l_.nv; ++j) balance[j] = O[j] - p1[j];
    if (m_.rows == 0) return;
    rows_.add_impulses(a.q1, a.d1, mu_.data(), moving_, balance);
    rows_.rates(a.q1, a.d1, v_.data(), moving_, balance + l_.nv);
  }

  void sum(const std::vector<double>& value, const T* d, std::vector<T>& out) {
    out.resize(value.size());
    for (std::size_t k = 0; k < value.size(); ++k) out[k] = T(value[k]) + d[k];
  }

  const ModelOf<R>& m_;
  const StepLayout& l_;
  RowEquations<T, R> rows_;
  Workspace<T> moving_;  // poses and twists at the end; of those in the equations twists stay zero
  std::unique_ptr<TreeEquations<Cayley, T, R>> cayley_;
  std::unique_ptr<TreeEquations<Chord, T, R>> chord_;
  std::unique_ptr<TreeEquations<Exponential, T, R>> exponential_;
  std::unique_ptr<MiddleEquations<T, R>> middle_;
  std::vector<T> q0_, q1_, lambda_, tau_, inputs_, v_, mu_, p1_;
};

// Derivatives of steps of one model and method. Inputs in a row: increments of q, p, forces, and positions of
// prescribed coordinates at the end.
class AnyLinearizer {
 public:
  virtual ~AnyLinearizer() = default;
  virtual int inputs() const = 0;
  virtual bool projected() const = 0;  // is p' taken along constraints or prescribed coordinates?
  virtual bool has_second() const = 0;
  // out (2 nv × inputs) ← derivatives of (q', p'), multipliers (rows × inputs) ← those of λ.
  virtual void first(const StepPoint& at, double* out, double* multipliers) = 0;
  // out (2 nv × inputs × inputs) ← second derivatives, after `first`: [i, b, c].
  virtual void second(const StepPoint& at, double* out) = 0;
};

// Those of any model.
class Linearizer final : public AnyLinearizer {
 public:
  Linearizer(const Model& m, int action, double alpha, std::vector<char> driven)
      : m_(m),
        driven_(std::move(driven)),
        layout_(m, std::find(driven_.begin(), driven_.end(), char(1)) != driven_.end()),
        first_(m, layout_, action, alpha),
        action_(action),
        alpha_(alpha) {
    const auto free = [this](int j) { return !driven_[j]; };
    const StepLayout& l = layout_;
    for (int j = 0; j < l.nv; ++j) (free(j) ? unknown_ : prescribed_).push_back(l.q1 + j);
    for (int k = 0; k < l.rows; ++k) unknown_.push_back(l.lambda + k);
    for (int j = 0; j < l.nv; ++j)
      if (free(j)) equation_.push_back(j);
    for (int k = 0; k < l.rows; ++k) equation_.push_back(l.nv + k);
    if (!l.projected) return;
    const int second = l.nv + l.rows;
    for (int j = 0; j < l.nv; ++j)
      if (free(j)) unknown_.push_back(l.v + j), equation_.push_back(second + j);
    for (int k = 0; k < l.rows; ++k) unknown_.push_back(l.mu + k), equation_.push_back(second + l.nv + k);
  }

  bool projected() const override { return layout_.projected; }
  bool has_second() const override { return true; }
  int inputs() const override { return 2 * layout_.nv + layout_.forces + static_cast<int>(prescribed_.size()); }

  void first(const StepPoint& at, double* out, double* multipliers) override {
    const StepLayout& l = layout_;
    jacobians(at);
    factorize();
    const int n = inputs(), u = static_cast<int>(unknown_.size());
    Ex_ = RowMatrix::Zero(u, n);
    for (int e = 0; e < u; ++e) {
      for (int c = 0; c < n; ++c)
        if (const int z = direction(c); z >= 0) Ex_(e, c) = E_(equation_[e], z);
      if (equation_[e] < l.nv) Ex_(e, l.nv + equation_[e]) += 1;  // r + p
    }
    Y_ = -solve(Ex_);
    Eigen::Map<RowMatrix> result(out, 2 * l.nv, n);
    write(Y_, result, multipliers);
    for (std::size_t k = 0; k < prescribed_.size(); ++k)
      result(prescribed_[k] - l.q1, n - static_cast<int>(prescribed_.size()) + static_cast<int>(k)) = 1;
    result.bottomRows(l.nv) = outputs(O_, Y_);
  }

  // Changes dE of the equations and dO of the outputs, a column each: out (2 nv × columns) ← how (q', p') follow, and
  // multipliers how λ does, after `first`. Returns a column that nothing can follow, because redundant constraints
  // would come apart; −1 when there is none.
  int follow(const RowMatrix& dE, const RowMatrix& dO, double* out, double* multipliers) const {
    const int u = static_cast<int>(unknown_.size());
    RowMatrix moved(u, dE.cols()), Ey(u, u);
    for (int e = 0; e < u; ++e) {
      moved.row(e) = dE.row(equation_[e]);
      for (int k = 0; k < u; ++k) Ey(e, k) = E_(equation_[e], unknown_[k]);
    }
    const RowMatrix Y = -solve(moved);
    Eigen::Map<RowMatrix> result(out, 2 * layout_.nv, dE.cols());
    write(Y, result, multipliers);
    result.bottomRows(layout_.nv) = columns(O_, unknown_) * Y + dO;
    const RowMatrix open = (moved + Ey * Y).cwiseAbs(), size = moved.cwiseAbs() + Ey.cwiseAbs() * Y.cwiseAbs();
    const Eigen::RowVectorXd largest = moved.cwiseAbs().colwise().maxCoeff();
    for (int e = 0; e < u; ++e) {
      const double rounding = 1e-12 * kind_size(equation_[e]);
      for (int c = 0; c < dE.cols(); ++c)
        if (open(e, c) > 1e-6 * size(e, c) + 1e-9 * largest[c] + rounding) return c;
    }
    return -1;
  }

  void second(const StepPoint& at, double* out) override {
    const StepLayout& l = layout_;
    const int n = inputs(), u = static_cast<int>(unknown_.size());
    if (!second_) second_ = std::make_unique<StepSystem<DualOf<Jet>>>(m_, layout_, action_, alpha_);
    RowMatrix dE(l.equations, l.size), dO(l.outputs, l.size), Ey(u, u), Ex(u, n), result(2 * l.nv, n);
    for (int c = 0; c < n; ++c) {
      along(at, c, dE, dO);
      for (int e = 0; e < u; ++e) {
        for (int k = 0; k < u; ++k) Ey(e, k) = dE(equation_[e], unknown_[k]);
        for (int k = 0; k < n; ++k) Ex(e, k) = direction(k) < 0 ? 0.0 : dE(equation_[e], direction(k));
      }
      const RowMatrix dY = -solve(Ex + Ey * Y_);
      result.setZero();
      write(dY, result, nullptr);
      result.bottomRows(l.nv) = outputs(dO, Y_) + columns(O_, unknown_) * dY;
      for (int i = 0; i < 2 * l.nv; ++i)
        for (int b = 0; b < n; ++b) out[(static_cast<std::size_t>(i) * n + b) * n + c] = result(i, b);
    }
  }

 private:
  // The place in z of input c; −1 for p, which the equations only add.
  int direction(int c) const {
    const StepLayout& l = layout_;
    if (c < l.nv) return l.q0 + c;
    if (c < 2 * l.nv) return -1;
    if (c < 2 * l.nv + l.forces) return l.force + c - 2 * l.nv;
    return prescribed_[c - 2 * l.nv - l.forces];
  }

  static RowMatrix columns(const RowMatrix& M, const std::vector<int>& which) {
    RowMatrix out(M.rows(), which.size());
    for (std::size_t k = 0; k < which.size(); ++k) out.col(static_cast<int>(k)) = M.col(which[k]);
    return out;
  }

  // O_x + O_y Y
  RowMatrix outputs(const RowMatrix& O, const RowMatrix& Y) const {
    RowMatrix out = columns(O, unknown_) * Y;
    for (int c = 0; c < inputs(); ++c)
      if (const int z = direction(c); z >= 0) out.col(c) += O.col(z);
    return out;
  }

  // Rows of unknowns that are q' to the result, and of λ to the multipliers.
  void write(const RowMatrix& Y, Eigen::Ref<RowMatrix> result, double* multipliers) const {
    const StepLayout& l = layout_;
    result.topRows(l.nv).setZero();
    for (std::size_t k = 0; k < unknown_.size(); ++k) {
      const int z = unknown_[k];
      if (z < l.lambda) {
        result.row(z - l.q1) = Y.row(static_cast<int>(k));
      } else if (multipliers && z < l.force) {
        std::copy_n(Y.row(static_cast<int>(k)).data(), Y.cols(), multipliers + (z - l.lambda) * Y.cols());
      }
    }
  }

  // E_ and O_ ← derivatives of all equations and outputs in all of z.
  void jacobians(const StepPoint& at) {
    const StepLayout& l = layout_;
    E_.resize(l.equations, l.size), O_.resize(l.outputs, l.size);
    dz_.resize(l.size), e_.resize(l.equations), o_.resize(l.outputs);
    for (int start = 0; start < l.size; start += Jet::width) {
      const int count = std::min(Jet::width, l.size - start);
      for (Jet& x : dz_) x = Jet();
      for (int k = 0; k < count; ++k) dz_[start + k].slope.set(k, 1);
      first_.evaluate(at, dz_.data(), e_.data(), o_.data());
      for (int k = 0; k < count; ++k) {
        for (int e = 0; e < l.equations; ++e) E_(e, start + k) = e_[e].slope[k];
        for (int o = 0; o < l.outputs; ++o) O_(o, start + k) = o_[o].slope[k];
      }
    }
  }

  // dE, dO ← how these change along input c, with the unknowns following.
  void along(const StepPoint& at, int c, RowMatrix& dE, RowMatrix& dO) {
    using Second = DualOf<Jet>;
    const StepLayout& l = layout_;
    std::vector<double> way(l.size);
    if (const int z = direction(c); z >= 0) way[z] = 1;
    for (std::size_t k = 0; k < unknown_.size(); ++k) way[unknown_[k]] = Y_(static_cast<int>(k), c);
    std::vector<Second> dz(l.size), e(l.equations), o(l.outputs);
    for (int start = 0; start < l.size; start += Jet::width) {
      const int count = std::min(Jet::width, l.size - start);
      for (int z = 0; z < l.size; ++z) dz[z] = Second(Jet(), Jet(way[z]));
      for (int k = 0; k < count; ++k) dz[start + k].value.slope.set(k, 1);
      second_->evaluate(at, dz.data(), e.data(), o.data());
      for (int k = 0; k < count; ++k) {
        for (int i = 0; i < l.equations; ++i) dE(i, start + k) = e[i].slope.slope[k];
        for (int i = 0; i < l.outputs; ++i) dO(i, start + k) = o[i].slope.slope[k];
      }
    }
  }

  // Is it the derivative of a constraint, at the step's end or for velocities?
  bool constraint(int equation) const { return equation % (layout_.nv + layout_.rows) >= layout_.nv; }

  // The largest derivative of all equations of the same kind.
  double kind_size(int equation) const {
    const int block = layout_.nv + layout_.rows, start = equation - equation % block;
    const bool row = constraint(equation);
    return E_.middleRows(start + (row ? layout_.nv : 0), row ? layout_.rows : layout_.nv).cwiseAbs().maxCoeff();
  }

  // Constraints that no motion changes, as out of the plane of a planar loop, have derivatives of rounding only, which
  // must not be scaled up to count: these rows and columns ← 0.
  void drop_idle(RowMatrix& Ey) const {
    const int u = static_cast<int>(unknown_.size());
    const StepLayout& l = layout_;
    const auto impulse = [&l](int z) { return (z >= l.lambda && z < l.force) || z >= l.mu; };
    double largest_row = 0, largest_column = 0;
    for (int e = 0; e < u; ++e) {
      if (constraint(equation_[e])) largest_row = std::max(largest_row, Ey.row(e).norm());
      if (impulse(unknown_[e])) largest_column = std::max(largest_column, Ey.col(e).norm());
    }
    for (int e = 0; e < u; ++e) {
      if (constraint(equation_[e]) && Ey.row(e).norm() < 1e-12 * largest_row) Ey.row(e).setZero();
      if (impulse(unknown_[e]) && Ey.col(e).norm() < 1e-12 * largest_column) Ey.col(e).setZero();
    }
  }

  // The matrix E_y: without constraints by LU; with these least norms, because some may be redundant, after scaling.
  void factorize() {
    const int u = static_cast<int>(unknown_.size());
    RowMatrix Ey(u, u);
    for (int e = 0; e < u; ++e)
      for (int k = 0; k < u; ++k) Ey(e, k) = E_(equation_[e], unknown_[k]);
    if (layout_.rows == 0) {
      lu_.compute(Ey);
      return;
    }
    drop_idle(Ey);
    left_ = Eigen::VectorXd::Ones(u), right_ = Eigen::VectorXd::Ones(u);
    for (int pass = 0; pass < 3; ++pass) {  // rows and columns of about unit norm
      for (int e = 0; e < u; ++e) {
        const double norm = Ey.row(e).norm();
        if (norm > 0) left_[e] /= std::sqrt(norm), Ey.row(e) /= std::sqrt(norm);
      }
      for (int k = 0; k < u; ++k) {
        const double norm = Ey.col(k).norm();
        if (norm > 0) right_[k] /= std::sqrt(norm), Ey.col(k) /= std::sqrt(norm);
      }
    }
    orthogonal_.setThreshold(1e-11);
    orthogonal_.compute(Ey);
  }

  RowMatrix solve(const RowMatrix& b) const {
    if (layout_.rows == 0) return lu_.solve(b);
    return right_.asDiagonal() * RowMatrix(orthogonal_.solve(left_.asDiagonal() * b));
  }

  const Model& m_;
  std::vector<char> driven_;
  StepLayout layout_;
  StepSystem<Jet> first_;
  std::unique_ptr<StepSystem<DualOf<Jet>>> second_;
  int action_;
  double alpha_;
  std::vector<int> unknown_, equation_, prescribed_;  // places in z, and rows of E
  RowMatrix E_, O_, Ex_, Y_;
  std::vector<Jet> dz_, e_, o_;
  Eigen::PartialPivLU<RowMatrix> lu_;
  Eigen::CompleteOrthogonalDecomposition<RowMatrix> orthogonal_;
  Eigen::VectorXd left_, right_;
};

}  // namespace symplectree
