#include "integrators/firm_dampers.hpp"

#include "integrators/end_damping.hpp"
#include "model/rows/all_rows.hpp"

namespace symplectree {
namespace {

constexpr double kFirm = 1e11;  // 1/s

// The dampers of all pairs, kind by kind as for_damped_pairs has them.
std::vector<double*> dampers(Model& m) {
  std::vector<double*> out;
#define SYMPLECTREE_DAMPER(Row, name) \
  for (auto& row : m.name)            \
    if (row.damping != 0) out.push_back(&row.damping);
  SYMPLECTREE_PAIR_KINDS(SYMPLECTREE_DAMPER)
#undef SYMPLECTREE_DAMPER
  return out;
}

struct OwnModel {
  Model model;
};

// The model is made before the run that is of it, and outlives it.
class FirmDampersRun final : private OwnModel, public WrappedRun {
 public:
  FirmDampersRun(const Model& limited, const std::function<std::unique_ptr<Run>(const Model&)>& make)
      : OwnModel{limited}, WrappedRun(make(model)) {}
};

}  // namespace

std::unique_ptr<Run> run_with_firm_dampers(const Model& m,
                                           const std::function<std::unique_ptr<Run>(const Model&)>& make) {
  if (!has_damped_pairs(m)) return make(m);
  const std::vector<double> inverse = DampedInertia<double>(m).of_pair;
  Model limited = m;
  const std::vector<double*> damping = dampers(limited);
  bool changed = false;
  for (std::size_t k = 0; k < damping.size(); ++k) {
    const double rate = std::fabs(*damping[k]) * inverse[k];
    if (!(rate > kFirm)) continue;
    *damping[k] *= kFirm / rate;
    changed = true;
  }
  if (!changed) return make(m);
  return std::make_unique<FirmDampersRun>(limited, make);
}

}  // namespace symplectree
