#include "elements/activation.hpp"

#include "model/rows/all_rows.hpp"

namespace symplectree {

std::vector<int> active_actuators(const Model& m) {
  std::vector<int> out;
  for (std::size_t k = 0; k < m.actuators.size(); ++k)
    if (m.actuators[k].dynamics != kDirect) out.push_back(static_cast<int>(k));
  return out;
}

}  // namespace symplectree
