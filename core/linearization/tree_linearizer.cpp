// Linearizers of trees, on their own because they take long to compile.
#include "linearization/tree_linearizer.hpp"

namespace symplectree {
namespace {

template <class Action>
std::unique_ptr<AnyLinearizer> made(const Model& m) {
  if (!TreeLinearizer<Action>::covers(m)) return nullptr;
  return std::make_unique<TreeLinearizer<Action>>(m);
}

}  // namespace

std::unique_ptr<AnyLinearizer> tree_linearizer(const Model& m, int action) {
  return action == 0 ? made<Cayley>(m) : action == 1 ? made<Chord>(m) : action == 2 ? made<Exponential>(m) : nullptr;
}

}  // namespace symplectree
