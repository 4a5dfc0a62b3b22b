// Linearizers of trees, on their own because they take long to compile.
#include "linearization/tree_linearizer.hpp"

namespace symplectree {
namespace {

template <class BodyAction>
std::unique_ptr<LinearizerInterface> made(const Model& m) {
  if (!TreeLinearizer<BodyAction>::covers(m)) return nullptr;
  return std::make_unique<TreeLinearizer<BodyAction>>(m);
}

}  // namespace

std::unique_ptr<LinearizerInterface> tree_linearizer(const Model& m, Action action) {
  switch (action) {
    case Action::Cayley:
      return made<Cayley>(m);
    case Action::Chord:
      return made<Chord>(m);
    case Action::Exponential:
      return made<Exponential>(m);
    default:
      return nullptr;
  }
}

}  // namespace symplectree
