// Code that was compiled for the steps of one mechanism (symplectree/symbolic/variational_step.py).
#pragma once

namespace symplectree {

// in: sines of the coordinates at both ends and of half their differences (nq each), cosines likewise, q at both ends,
// b (nv), stiffness (nv) and (h, 1/h, h²/2). out: `direction` δ (nv); `check` the residual, the size of its terms, and
// p' without joint loads, rotors and dampers (nv each). `work` numbers of scratch.
struct StepCode {
  using Function = void (*)(const double* const* in, double* const* out, double* work);
  Function direction = nullptr, check = nullptr;
  int work = 0;
};

}  // namespace symplectree
