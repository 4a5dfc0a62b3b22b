// Shorter steps where a step has no solution: two halves, each again as two halves where it has none.
#pragma once

namespace symplectree {

// A step, or a part of one, and what is prescribed at its end.
template <class Target>
struct StepPart {
  double start, length;
  Target target;
};

// Takes a step in halves, of which each may be halved further `depth − 1` times; counts in `halvings` what is taken as
// two. halfway(target) is what is prescribed half-way from the present state; attempt(part) takes one part and returns
// whether it could.
template <class Target, class Halfway, class Attempt>
bool take_in_halves(const StepPart<Target>& whole, int depth, long& halvings, Halfway&& halfway, Attempt&& attempt) {
  if (depth == 0) return false;
  ++halvings;
  const double half = whole.length / 2;
  const StepPart<Target> parts[] = {{whole.start, half, halfway(whole.target)},
                                    {whole.start + half, half, whole.target}};
  for (const StepPart<Target>& part : parts)
    if (!attempt(part) && !take_in_halves(part, depth - 1, halvings, halfway, attempt)) return false;
  return true;
}

}  // namespace symplectree
