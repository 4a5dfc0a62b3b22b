// Linearizers of any model, on their own because they take long to compile.
#include "linearization/general_linearizer.hpp"

namespace symplectree {

std::unique_ptr<AnyLinearizer> general_linearizer(const Model& m, int action, double alpha, std::vector<char> driven) {
  return std::make_unique<Linearizer>(m, action, alpha, std::move(driven));
}

}  // namespace symplectree
