// Exact derivatives of one variational step, by implicit differentiation of its equations E(x, y) = 0 with outputs
// O(x, y): dy = −E_y⁻¹ E_x dx (design section 10). All Jacobians come from running step_equations.hpp on jets, eight
// directions at a time. With W the derivatives of z = (x, y) in the inputs, second derivatives in inputs b and c are
//
//   d²y = −E_y⁻¹ E_zz(W_b, W_c),   d²O = O_zz(W_b, W_c) + O_y d²y,
//
// by running the equations on duals of jets along W; contracted with weights w_y, w_O they are Wᵀ σ_zz W with
// σ = w_O·O + m·E and multipliers m = −E_y⁻ᵀ (w_y + O_yᵀ w_O), so that only one sum is differentiated twice.
#include "dense/scaled_solver.hpp"
#include "linearization/hessian_interface.hpp"
#include "linearization/linearizer_interface.hpp"
#include "linearization/step_system.hpp"

namespace symplectree {
namespace {

class Linearizer final : public LinearizerInterface {
 public:
  Linearizer(const Model& m, const StepLayout& layout, Action action, double alpha, std::vector<char> prescribed)
      : m_(m), marks_(std::move(prescribed)), layout_(layout), first_(step_system<Jet>(m, layout_, action, alpha)),
        action_(action), alpha_(alpha) {
    const auto free = [this](int j) { return !marks_[j]; };
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
  int inputs() const override { return 2 * layout_.nv + layout_.forces + 2 * static_cast<int>(prescribed_.size()); }

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
    Y_ = -solver_.solve(Ex_);
    collect();
    Eigen::Map<RowMatrix> result(out, 2 * l.nv, n);
    write(Y_, result, multipliers);
    for (std::size_t k = 0; k < prescribed_.size(); ++k)
      result(prescribed_[k] - l.q1, 2 * l.nv + l.forces + static_cast<int>(k)) = 1;
    result.bottomRows(l.nv) = outputs(O_, Y_);
  }

  int follow(const RowMatrix& dE, const RowMatrix& dO, double* out, double* multipliers) const override {
    const int u = static_cast<int>(unknown_.size());
    RowMatrix moved(u, dE.cols()), Ey(u, u);
    for (int e = 0; e < u; ++e) {
      moved.row(e) = dE.row(equation_[e]);
      for (int k = 0; k < u; ++k) Ey(e, k) = E_(equation_[e], unknown_[k]);
    }
    const RowMatrix Y = -solver_.solve(moved);
    Eigen::Map<RowMatrix> result(out, 2 * layout_.nv, dE.cols());
    write(Y, result, multipliers);
    result.bottomRows(layout_.nv) = product(columns(O_, unknown_), Y) + dO;
    const RowMatrix open = (moved + product(Ey, Y)).cwiseAbs(),
                    size = moved.cwiseAbs() + product(Ey.cwiseAbs(), Y.cwiseAbs());
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
    const int n = inputs();
    if (!second_) second_ = step_system<DualOf<Jet>>(m_, layout_, action_, alpha_);
    const RowMatrix Oy = columns(O_, unknown_);
    RowMatrix bentE, bentO, result(2 * l.nv, n);
    const int own = plain_forces() ? 2 * l.nv : n;  // inputs beyond act as momenta do
    for (int c = 0; c < own; ++c) {
      bend(at, c, own, bentE, bentO);
      const RowMatrix dY = -solver_.solve(bentE);
      result.resize(2 * l.nv, own - c);
      result.setZero();
      write(dY, result, nullptr);
      result.bottomRows(l.nv) = bentO + product(Oy, dY);
      for (int i = 0; i < 2 * l.nv; ++i)
        for (int b = c; b < own; ++b)
          out[(static_cast<std::size_t>(i) * n + b) * n + c] = out[(static_cast<std::size_t>(i) * n + c) * n + b] =
              result(i, b - c);
    }
    if (own < n)
      for (int i = 0; i < 2 * l.nv; ++i)
        widen(m_, 0.5 * at.h, Eigen::Map<RowMatrix>(out + static_cast<std::size_t>(i) * n * n, n, n));
  }

  void contracted(const StepPoint& at, const double* weights, double* out) override {
    const StepLayout& l = layout_;
    const int n = inputs(), u = static_cast<int>(unknown_.size());
    if (l.damped) return contract_all(at, weights, out);
    if (!hessian_) hessian_ = step_hessian(m_, layout_, action_, alpha_);
    const Eigen::Map<const Eigen::VectorXd> of_p(weights + l.nv, l.nv);
    Eigen::VectorXd given = transposed_vector_product(columns(O_, unknown_), of_p);
    for (int k = 0; k < u; ++k)
      if (const int z = unknown_[k]; z < l.lambda) given[k] += weights[z - l.q1];
    weigh(-solver_.solve_transposed(given), of_p);
    bent_.resize(l.size, l.size);
    hessian_->evaluate(at, weights_, bent_.data());
    Eigen::Map<RowMatrix>(out, n, n) = transposed_product(W_, product(bent_, W_));
  }

 private:
  // As `contracted`, from all second derivatives: those of strong dampers are not written out.
  void contract_all(const StepPoint& at, const double* weights, double* out) {
    const std::size_t square = static_cast<std::size_t>(inputs()) * inputs();
    std::vector<double> all(2 * layout_.nv * square);
    second(at, all.data());
    std::fill(out, out + square, 0.0);
    for (int i = 0; i < 2 * layout_.nv; ++i)
      for (std::size_t k = 0; k < square; ++k) out[k] += weights[i] * all[i * square + k];
  }

  // The place in z of input c; −1 for p, which the equations only add.
  int direction(int c) const {
    const StepLayout& l = layout_;
    if (c < l.nv) return l.q0 + c;
    if (c < 2 * l.nv) return -1;
    if (c < 2 * l.nv + l.forces) return l.force + c - 2 * l.nv;
    const int k = c - 2 * l.nv - l.forces, count = static_cast<int>(prescribed_.size());
    return k < count ? prescribed_[k] : l.v + prescribed_[k - count] - l.q1;  // where they end, and their rates there
  }

  static RowMatrix columns(const RowMatrix& M, const std::vector<int>& which) {
    RowMatrix out(M.rows(), which.size());
    for (std::size_t k = 0; k < which.size(); ++k) out.col(static_cast<int>(k)) = M.col(which[k]);
    return out;
  }

  // O_x + O_y Y
  RowMatrix outputs(const RowMatrix& O, const RowMatrix& Y) const {
    RowMatrix out = product(columns(O, unknown_), Y);
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
      first_->evaluate(at, dz_.data(), e_.data(), o_.data());
      for (int k = 0; k < count; ++k) {
        for (int e = 0; e < l.equations; ++e) E_(e, start + k) = e_[e].slope[k];
        for (int o = 0; o < l.outputs; ++o) O_(o, start + k) = o_[o].slope[k];
      }
    }
  }

  // E_zz(W_b, W_c) of the equations that count, and O_zz(W_b, W_c), for all inputs b from c to `end`.
  void bend(const StepPoint& at, int c, int end, RowMatrix& of_E, RowMatrix& of_O) {
    using Second = DualOf<Jet>;
    const StepLayout& l = layout_;
    const int u = static_cast<int>(equation_.size());
    of_E.resize(u, end - c), of_O.resize(l.outputs, end - c);
    std::vector<Second> dz(l.size), e(l.equations), o(l.outputs);
    for (int first = c; first < end; first += Jet::width) {
      const int count = std::min(Jet::width, end - first);
      for (int z = 0; z < l.size; ++z) {
        dz[z] = Second(Jet(), Jet(W_(z, c)));
        for (int k = 0; k < count; ++k) dz[z].value.slope.set(k, W_(z, first + k));
      }
      second_->evaluate(at, dz.data(), e.data(), o.data());
      for (int k = 0; k < count; ++k) {
        for (int i = 0; i < u; ++i) of_E(i, first - c + k) = e[equation_[i]].slope.slope[k];
        for (int i = 0; i < l.outputs; ++i) of_O(i, first - c + k) = o[i].slope.slope[k];
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

  // Do all forces act as half a step's impulse on p, and as another half on p'? Loads do not, nor those that are taken
  // at the middle of a turning joint.
  bool plain_forces() const {
    return !layout_.projected && m_.wrenches.empty() && (action_ != Action::Midpoint || m_.quaternions.empty());
  }

  // W_ ← derivatives of z in the inputs.
  void collect() {
    W_ = RowMatrix::Zero(layout_.size, inputs());
    for (int c = 0; c < inputs(); ++c)
      if (const int z = direction(c); z >= 0) W_(z, c) = 1;
    for (std::size_t k = 0; k < unknown_.size(); ++k) W_.row(unknown_[k]) = Y_.row(static_cast<int>(k));
  }

  // weights_ ← those of equations and outputs.
  void weigh(const Eigen::VectorXd& multipliers, const Eigen::VectorXd& of_p) {
    const StepLayout& l = layout_;
    std::vector<double> all(l.equations);
    for (std::size_t e = 0; e < equation_.size(); ++e) all[equation_[e]] = multipliers[static_cast<int>(e)];
    const auto part = [&all](int start, int count) {
      return std::vector<double>(all.begin() + start, all.begin() + start + count);
    };
    weights_.start = part(0, l.nv), weights_.rows = part(l.nv, l.rows);
    weights_.end.assign(of_p.data(), of_p.data() + l.nv);
    if (!l.projected) return;
    const int second = l.nv + l.rows;
    weights_.momentum = part(second, l.nv), weights_.rates = part(second + l.nv, l.rows);
    for (int j = 0; j < l.nv; ++j) weights_.end[j] = -weights_.momentum[j], weights_.momentum[j] += of_p[j];
  }

  // The matrix E_y.
  void factorize() {
    const int u = static_cast<int>(unknown_.size());
    RowMatrix Ey(u, u);
    for (int e = 0; e < u; ++e)
      for (int k = 0; k < u; ++k) Ey(e, k) = E_(equation_[e], unknown_[k]);
    if (layout_.rows > 0) drop_idle(Ey);
    solver_.compute(Ey, layout_.rows > 0);
  }

  const Model& m_;
  std::vector<char> marks_;  // of each velocity: its coordinate is prescribed
  StepLayout layout_;
  std::unique_ptr<StepSystem<Jet>> first_;
  std::unique_ptr<StepSystem<DualOf<Jet>>> second_;
  std::unique_ptr<HessianInterface> hessian_;
  StepWeights weights_;
  Action action_;
  double alpha_;
  std::vector<int> unknown_, equation_, prescribed_;  // places in z, and rows of E
  RowMatrix E_, O_, Ex_, Y_, W_, bent_;
  std::vector<Jet> dz_, e_, o_;
  ScaledSolver solver_;
};

}  // namespace

std::unique_ptr<LinearizerInterface> general_linearizer(const Model& m, const StepLayout& layout, Action action,
                                                        double alpha, std::vector<char> prescribed) {
  return std::make_unique<Linearizer>(m, layout, action, alpha, std::move(prescribed));
}

}  // namespace symplectree
