// Linearizers of any model, on their own because they take long to compile.
#include "linearization/general_linearizer.hpp"

namespace symplectree {

std::unique_ptr<LinearizerInterface> general_linearizer(const Model& m, const StepLayout& layout, Action action,
                                                        double alpha, std::vector<char> prescribed) {
  return std::make_unique<Linearizer>(m, layout, action, alpha, std::move(prescribed));
}

}  // namespace symplectree
