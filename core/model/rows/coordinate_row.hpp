// A constraint c₁ q₁ (or c₁ φ(q₁)) + c₂ q₂ − constant = 0 on two coordinates.
#pragma once

#include "model/rows/row_fields.hpp"

namespace symplectree {

template <class R>
struct CoordinateRowOf {
  int q1, v1;
  R c1;
  int q2, v2;
  R c2;
  int function;  // -1: none
  R constant;
  int row, owner;

  static constexpr auto fields() {
    using Row = CoordinateRowOf;
    return std::tuple{Field{"owner", &Row::owner},
                      Field{"row", &Row::row},
                      Field{"q1", &Row::q1},
                      Field{"v1", &Row::v1},
                      Field{"c1", &Row::c1},
                      Field{"q2", &Row::q2},
                      Field{"v2", &Row::v2},
                      Field{"c2", &Row::c2},
                      Field{"function", &Row::function},
                      Field{"constant", &Row::constant}};
  }
};
using CoordinateRow = CoordinateRowOf<double>;

}  // namespace symplectree
