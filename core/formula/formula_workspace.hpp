// Scratch memory for poses that are given by formulas (pose_formula.hpp).
#pragma once

#include <memory>
#include <type_traits>
#include <vector>

#include "spatial/twist_wrench.hpp"

namespace symplectree {

template <class T>
struct DualOf;
struct PoseFormula;

// Memory for running the formulas of a model, and what they give.
template <class T>
struct FormulaWorkspace {
  std::vector<T> raw;          // outputs of the last tape
  std::vector<double> q, out;  // of a tape on numbers, for dual ones
  std::vector<std::conditional_t<std::is_same_v<T, DualOf<double>>, double, T>> work;
  std::vector<Spatial<T>> E, F;  // of all formulas; see PoseFormula

  void reserve(const std::vector<std::shared_ptr<PoseFormula>>& formulas);
};

}  // namespace symplectree
