// Impulses of unilateral constraints, dry friction and contact with Coulomb's exact cone, one linear problem:
//
//   y = W x + y₀,
//   limit:     0 ≤ x ⟂ y ≥ 0,
//   friction:  |x| ≤ bound, and −y in the normal cone of that interval at x,
//   disc:      (two tangents) |x| ≤ bound, and −y in the normal cone of that disc at x,
//   contact:   (normal, two tangents) 0 ≤ xₙ ⟂ yₙ ≥ 0, |xₜ| ≤ µ xₙ, and −yₜ in the normal cone of that disc at xₜ.
//
// Solved by a semismooth Newton method on x = proj(x − ρ y) (Alart and Curnier 1991), from the last impulses, else from
// sweeps of projected Gauss–Seidel, else along a path of falling compliance, else of rising friction. W may be singular,
// as under a table with four legs: then impulses are those nearest to where the iteration began, by proximal steps.
#pragma once

#include <vector>

namespace symplectree {

class ConeProblem {
 public:
  enum class Kind { Limit, Friction, Disc, Contact };
  struct Part {
    Kind kind;
    double bound;  // of friction and discs [unit of x]; of a contact µ
  };

  // Parts in the order of their rows: a contact has three, a disc two, others one.
  void begin(const std::vector<Part>& parts);
  int rows() const { return rows_; }

  std::vector<double> W;   // rows × rows, row by row
  std::vector<double> y0;  // rows
  std::vector<double> x;   // rows: where to begin, and the solution

  // Solves for x to rounding; false when nothing helps, and x is then the best that was found.
  bool solve();

  // The steps ρ and the scale of impulses, from W, y₀ and x; `solve` does so itself.
  void prepare();
  // The largest |x − proj(x − ρ y)| for given y, relative to `scale`: zero at a solution.
  double residual(const double* y, const double* at) const;
  // The largest |x − proj(x − ρ y)|/ρ: what is left, as a value of y.
  double violation(const double* y, const double* at) const;
  // Is |x − proj(x − ρ y)| of every row at most what is allowed (rows)?
  bool is_within(const double* y, const double* at, const double* allowed) const;
  double step(int row) const { return rho_[row]; }

  double scale() const { return scale_; }  // of impulses
  int iterations = 0;                      // of Newton's method in the last solve

 private:
  struct Row {
    Kind kind;
    int first;
    double bound;
  };

  // What slides: the first of its two tangents, where that stands in the system, µ (0 of a disc), µ xₙ or the bound, this
  // over |z_t|, and the direction of z_t.
  struct Slip {
    int row, place;
    double mu, radius, turn, d[2];
  };

  static int tangent(const Row& p) { return p.kind == Kind::Disc ? p.first : p.first + 1; }
  double radius(const Row& p, const double* at) const;
  // r(row, x − proj(x − ρ y)) of every row.
  template <class F>
  void for_residuals(const double* y, const double* at, F&& r) const;
  void slide(const Slip& s, int n, const std::vector<double>& at);
  void multiply(const double* at, double compliance, const double* centre, double* y) const;
  double measure(const std::vector<double>& at, double compliance, const std::vector<double>& centre);
  bool newton_step(double compliance, const std::vector<double>& at, std::vector<double>& next);
  bool newton(double compliance, const std::vector<double>& centre, double tolerance, int most, std::vector<double>& at);
  bool proximal(std::vector<double>& at);
  void sweep(double compliance, int count, std::vector<double>& at);
  void follow_compliance(std::vector<double>& at);
  void follow_friction(std::vector<double>& at);

  std::vector<Row> parts_;
  int rows_ = 0;
  double scale_ = 0, friction_ = 1;  // friction_: fraction of µ that counts
  std::vector<double> rho_, y_, natural_, A_, rhs_, trial_, next_, best_, centre_, zero_;
  std::vector<int> free_;  // rows whose x is not given
  std::vector<Slip> slips_;
};

}  // namespace symplectree
