// Derivatives of the impulses of an impact (contact/impact.hpp), on the pieces that it took.
#pragma once

#include "contact/cone_derivative.hpp"
#include "contact/contact_trace.hpp"
#include "linearization/momentum_kick.hpp"

namespace symplectree {

// How the state before an impact changes, a column for each change: q, p and rates of prescribed coordinates.
struct StateChange {
  const RowMatrix &q, &p, &rates;
};

// dx (rows of the parts × columns); `kick` has begun at the impact. `weak` += parts on the border of two pieces.
RowMatrix impact_derivative(const ContactStage& impact, MomentumKick& kick, const StateChange& change,
                            std::vector<int>& weak);

}  // namespace symplectree
