// Impulses of unilateral constraints, dry friction and contact with Coulomb's exact cone, one linear problem:
//
//   y = W x + y₀,
//   limit:     0 ≤ x ⟂ y ≥ 0,
//   friction:  |x| ≤ bound, and −y in the normal cone of that interval at x,
//   disc:      (two tangents) |x| ≤ bound, and −y in the normal cone of that disc at x,
//   contact:   (normal, two tangents) 0 ≤ xₙ ⟂ yₙ ≥ 0, |xₜ| ≤ µ xₙ, and −yₜ in the normal cone of that disc at xₜ.
//
// Solved by a semismooth Newton method on x = proj(x − ρ y) (Alart and Curnier 1991), from the last impulses, else from
// sweeps of projected Gauss–Seidel. Where that cycles, by proximal steps: the problem with some compliance about the
// present impulses, c · diag(W) (x − x₀) added to y, has one solution if c is large; it is solved again and again about
// the last solution, with c as small as Newton's method allows. W may be singular, as under a table with four legs:
// then impulses are those nearest to where the iteration began.
#pragma once

#include <vector>

#include "contact/grouped_lu.hpp"
#include "contact/row_groups.hpp"

namespace symplectree {

class ConeProblem {
 public:
  enum class Kind { Limit, Friction, Disc, Contact };
  struct Part {
    Kind kind;
    double bound;  // of friction and discs [unit of x]; of a contact µ
  };

  // Parts in the order of their rows: a contact has three, a disc two, others one. Groups are whole parts.
  void begin(const std::vector<Part>& parts, const RowGroups& groups);
  void begin(const std::vector<Part>& parts);  // one group
  int rows() const { return rows_; }
  const RowGroups& groups() const { return groups_; }

  std::vector<double> W;   // rows × rows, row by row; what couples no groups is zero, and not to be written
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

  // The last factors, which serve the next problem of the same groups as far as they help.
  template <class Memory>
  void carry(Memory& memory) {
    memory(groups_.first, groups_.start, groups_.others);
    if (memory.reading()) make_room();
    lu_.carry(memory);
    memory(held_, held_slips_, factored_, compliance_);
  }
  int iterations = 0;  // of Newton's method in the last solve

 private:
  struct Row {
    Kind kind;
    int first, group;
    double bound;
  };

  // What slides: the first of its two tangents, where that stands in the system, µ (0 of a disc), µ xₙ or the bound,
  // this over |z_t|, and the direction of z_t.
  struct Slip {
    int row, place, group;
    double mu, radius, turn, d[2];
  };

  // Compliance c · diag(W) about a centre; none without a centre.
  struct Compliance {
    double c = 0;
    const double* centre = nullptr;
  };

  void make_room();
  static int size(Kind kind) { return kind == Kind::Contact ? 3 : kind == Kind::Disc ? 2 : 1; }
  static int tangent(const Row& p) { return p.kind == Kind::Disc ? p.first : p.first + 1; }
  double radius(const Row& p, const double* at) const;
  // r(row, x − proj(x − ρ y)) of every row.
  template <class F>
  void for_residuals(const double* y, const double* at, F&& r) const;
  // y_ ← y at `at`; its residual.
  double measure(const std::vector<double>& at, Compliance soft);
  void choose_pieces(const std::vector<double>& at, std::vector<double>& next);
  void assemble(double compliance);
  bool factorize(double compliance);
  void solve_whole(double compliance);
  void slide(const Slip& s);
  bool newton_step(double compliance, bool keep, const std::vector<double>& at, std::vector<double>& next);
  bool newton(Compliance soft, double tolerance, double stalled, int most, std::vector<double>& at);
  void sweep(int count, std::vector<double>& at);
  bool approach(double least, std::vector<double>& at);

  std::vector<Row> parts_;
  RowGroups groups_;
  int rows_ = 0;
  double scale_ = 0;
  std::vector<double> rho_, y_, rhs_, jump_, tried_, next_, best_, centre_, at_, start_, found_;
  GroupedLu lu_;
  bool factored_ = false;         // is lu_ that of the last pieces, with
  double compliance_ = 0;         // this compliance? of this problem, or of one before
  std::vector<int> free_, held_;  // rows whose x is not given, each group from its first row on; those in lu_
  std::vector<Slip> slips_;
  std::size_t held_slips_ = 0;
};

}  // namespace symplectree
