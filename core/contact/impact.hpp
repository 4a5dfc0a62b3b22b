// Impacts: impulses at an instant, by which what touches does not approach any more.
//
// Without friction by generalized reflections (Smith, Kaufman, Vouga, Tamstorf, Grinspun 2012): on all that approaches
// the inelastic problem is solved, the velocity is reflected about its solution, v ← v + 2 (v₀ − v), and again, until
// nothing approaches; with restitution e < 1 the result is e of that and 1 − e of the inelastic one, which cannot gain
// energy. With friction by Poisson's two phases: the inelastic problem, then e of its normal impulses once more, under
// friction on the disc that these allow.
#pragma once

#include <vector>

#include "contact/cone_problem.hpp"

namespace symplectree {

struct ImpactPart {
  double friction, restitution;  // with friction a part has three rows, normal first, else one
};

// How the impulses of an impact came about, for their derivatives: those by which what approaches stops, and then,
// without friction, reflections, each of some rows by twice x, of which `restitution` (rows) counts, and of the former
// the rest; or, with friction, `share` of the restitution that parts have.
struct ImpactTrace {
  struct Reflection {
    std::vector<int> rows;
    std::vector<double> x;
  };

  std::vector<ImpactPart> parts;
  std::vector<double> stopped, restitution;
  std::vector<Reflection> reflections;
  double share = 0;
};

class Impact {
 public:
  ImpactTrace trace;  // of the last impact

  // x (rows) ← the impulses, for velocities u (rows) before and u + W x after; false where there are none to be found.
  bool solve(const std::vector<ImpactPart>& parts, const std::vector<double>& W, const std::vector<double>& u,
             std::vector<double>& x);

 private:
  bool inelastic(const std::vector<double>& u, std::vector<double>& x);
  bool reflect(std::vector<double>& u, std::vector<double>& x);
  bool restitute(const std::vector<double>& u, std::vector<double>& x);
  double energy(const std::vector<double>& u, const std::vector<double>& x) const;
  std::vector<double> after(const std::vector<double>& u, const std::vector<double>& x) const;

  const std::vector<ImpactPart>* parts_ = nullptr;
  const std::vector<double>* W_ = nullptr;
  int rows_ = 0;
  double speed_ = 0;  // the largest of approach
  ConeProblem problem_;
};

}  // namespace symplectree
