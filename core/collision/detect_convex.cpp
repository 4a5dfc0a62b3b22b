// Any two convex shapes.
#include "collision/pair_collector.hpp"

namespace symplectree {

void detect_convex(PairCollector&) {}

}  // namespace symplectree
