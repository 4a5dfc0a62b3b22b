// What a motion costs: weights on states and controls, poses, formulas, with exact first and second derivatives in
// increments of (q, p, u).
//
// Costs of the way count dt times at each state but the last, those of the end once at the last.
#pragma once

#include "control/velocity_terms.hpp"
#include "formula/tape.hpp"

namespace symplectree {

// Rows of targets, one for all states or one for each.
struct TargetRows {
  std::vector<double> numbers;
  int width = 0;

  const double* row(int k) const {
    const int last = width ? static_cast<int>(numbers.size()) / width - 1 : 0;
    return numbers.data() + static_cast<std::size_t>(std::min(k, last)) * width;
  }
};

// State k of a motion, with the controls of the step that begins there. v counts where a cost needs it.
struct CostPoint {
  int k;
  const double *q, *p, *v, *u;
};

// Scratch memory of one thread.
struct CostScratch {
  DerivativeWorkspace<double> workspace;
  StateMechanics mechanics;
  VelocityTerms velocities;
  std::vector<double> v, e, work, out, gradient;
  std::vector<double> pose_first, pose_second;
  RowMatrix hessian;

  CostScratch(const Model& tree, const CoordinateMap* map)
      : workspace(tree), mechanics(tree, map, workspace), velocities(mechanics), v(mechanics.layout().nv),
        e(mechanics.layout().nv) {}
};

// Where derivatives are added, in (q, p, u) or in (q, v, u): gradient (N) and Hessian (N × N).
struct CostDerivatives {
  double* gradient;
  Eigen::Map<RowMatrix> hessian;

  CostDerivatives(double* g, double* H, int size) : gradient(g), hessian(H, size, size) {}
};

class CostPart {
 public:
  enum class Second { None, Momentum, Velocity };  // what it depends on besides q and u
  double scale = 1;
  bool at_end = false;
  Second second = Second::None;

  virtual ~CostPart() = default;
  virtual double value(const CostPoint& at, CostScratch& s) const = 0;
  // Adds `factor` times its derivatives.
  virtual void add_derivatives(const CostPoint& at, double factor, CostScratch& s, CostDerivatives& to) const = 0;
};

// ½ eᵀ W_q e + ½ (v − v*)ᵀ W_v (v − v*) with e = local(q*, q). `curved`: for joints of three and six velocities with a
// quaternion, the tape (q*, q, weights w) → (e, ∂e, ∂²(w·e)) in increments of q, matrices column by column.
class QuadraticPart final : public CostPart {
 public:
  RowMatrix Wq, Wv;
  TargetRows q, v;
  const Model* layout = nullptr;
  std::vector<Tape> curved;

  double value(const CostPoint& at, CostScratch& s) const override;
  void add_derivatives(const CostPoint& at, double factor, CostScratch& s, CostDerivatives& to) const override;
};

// ½ (u − u*)ᵀ W (u − u*)
class EffortPart final : public CostPart {
 public:
  RowMatrix W;
  TargetRows u;

  double value(const CostPoint& at, CostScratch& s) const override;
  void add_derivatives(const CostPoint& at, double factor, CostScratch& s, CostDerivatives& to) const override;
};

// ½ (x − x*)ᵀ W (x − x*) + r (1 − cos θ) of a frame's origin x and the angle θ of its rotation from R*.
class PosePart final : public CostPart {
 public:
  Frame frame;
  RowMatrix W, R;  // (3 × 3) each
  TargetRows position;
  double r = 0;

  double value(const CostPoint& at, CostScratch& s) const override;
  void add_derivatives(const CostPoint& at, double factor, CostScratch& s, CostDerivatives& to) const override;
};

// A formula of (q, v, u) or (q, p, u): its value, and gradient and Hessian in increments, as tapes.
class FormulaPart final : public CostPart {
 public:
  Tape of_value, of_derivatives;
  int nq = 0, nv = 0, nu = 0;

  double value(const CostPoint& at, CostScratch& s) const override;
  void add_derivatives(const CostPoint& at, double factor, CostScratch& s, CostDerivatives& to) const override;

 private:
  void run(const Tape& tape, const CostPoint& at, CostScratch& s) const;
};

class TotalCost {
 public:
  const Model& tree;
  const CoordinateMap* map;
  double dt = 0;
  int steps = 0, nu = 0;
  std::vector<std::unique_ptr<CostPart>> parts;

  TotalCost(const Model& of_tree, const CoordinateMap* of_map) : tree(of_tree), map(of_map) {}
  TotalCost(const TotalCost&) = delete;

  int nv() const { return (map ? map->layout : tree).nv; }
  int size() const { return 2 * nv() + nu; }
  // Do the costs at state k depend on velocities?
  bool needs_velocity(int k) const;
  // Of state k, whose velocity is found where it is needed. Costs that `per_time` count without dt, those of the end
  // not at all.
  double value(int k, const double* q, const double* p, const double* u, CostScratch& s, bool per_time = false) const;
  // gradient (N) and hessian (N × N) ← derivatives at state k; false when one is not finite.
  bool derivatives(int k, const double* q, const double* p, const double* u, CostScratch& s, double* gradient,
                   double* hessian) const;

 private:
  double factor(const CostPart& part, int k) const {
    if (part.at_end) return k == steps ? part.scale : 0;
    return k == steps ? 0 : part.scale * dt;
  }
};

}  // namespace symplectree
