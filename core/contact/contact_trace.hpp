// What a step with contact is made of (integrators/contact_run.hpp), for its derivatives: stages one after the other,
// of which most steps have one step and what is done at its end.
#pragma once

#include "contact/impact.hpp"
#include "contact/unilateral.hpp"

namespace symplectree {

struct ContactStage {
  enum class Kind {
    Step,     // what is left of the step, with impulses at its beginning
    Located,  // the same, up to where something touches
    Back,     // back over the last `Located`, without impulses
    Impact,   // impulses of an impact
    End,      // impulses at the end, by velocities there
  };

  Kind kind;
  std::vector<double> q, p;         // where it begins, momenta without impulses of constraints
  double length = 0;                // of a step; End: of the last one
  std::vector<Unilateral> parts{};  // with impulses, held at q
  std::vector<double> x{}, y{};     // impulses, and values of a step or rates after it
  std::vector<Unilateral> met{};    // Located: what touches at its end, one, held there
  ImpactTrace impact{};
  bool bounces = false;  // End: does restitution act in it?
};

using ContactTrace = std::vector<ContactStage>;

}  // namespace symplectree
