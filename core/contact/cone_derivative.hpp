// How the solution of a problem of contact (cone_problem.hpp) changes, on the pieces that it lies on: what is closed or
// sticks keeps y = 0, what is open or slips keeps its x, and what slides keeps x_t = −µ xₙ y_t/|y_t|.
#pragma once

#include "contact/cone_problem.hpp"
#include "dense/row_matrix.hpp"

namespace symplectree {

class ConeDerivative {
 public:
  static constexpr double kRounding = 1e-13;  // of values and rates [m, rad, m/s or rad/s]

  // Parts that lie on the border of two pieces, to rounding, after `begin`: of the two, what touches without an impulse
  // counts as open, and what can stick sticks.
  std::vector<int> weak;

  // At a solution x with the values y, where ∂y/∂x is S (rows × rows).
  void begin(const std::vector<ConeProblem::Part>& parts, const RowMatrix& S, const std::vector<double>& x,
             const std::vector<double>& y);

  // dx (rows × columns), for changes dy (rows × columns) of y while x stays, and of the bounds of frictions and discs
  // (parts × columns); of least norm where S is singular.
  RowMatrix solve(const RowMatrix& dy, const RowMatrix& bounds) const;

 private:
  // What slides: its part, where its first tangent stands in the system, µ (0 of a disc), µ xₙ or the bound, |y_t| and
  // the direction of y_t.
  struct Slide {
    int part, row;
    double mu, radius, length, d[2];
  };
  // A friction that slips, and which way its impulse acts.
  struct Bounded {
    int part, row;
    double sign;
  };

  double step(int row, int count) const;
  void add_tangents(int part, int row, double radius, double mu);

  RowMatrix S_;
  std::vector<double> x_, y_;
  std::vector<int> rows_;  // whose x is not given
  std::vector<Slide> slides_;
  std::vector<Bounded> bounded_;
  double scale_ = 0;  // of impulses
};

}  // namespace symplectree
