// Functions of one variable, such as the potential of a spring's length or the profile of a cam.
#pragma once

#include <vector>

#include "formula/tape.hpp"

namespace symplectree {

// φ(x) and its first three derivatives, by a tape or by piecewise cubics Σ c_k (x − break)^(3−k). Beyond the ends these
// go on with the end's value, slope and curvature. The NumPy twin is symplectree/elements/table.py.
struct Potential {
  Tape tape;
  std::vector<double> breaks, coefficients;

  void evaluate(double x, double out[4]) const {
    if (tape.code.empty()) return evaluate_cubics(x, out);
    thread_local std::vector<double> work;
    if (work.size() < static_cast<std::size_t>(tape.work_size)) work.resize(tape.work_size);
    tape.run(&x, out, work.data());
  }

 private:
  void evaluate_cubics(double length, double out[4]) const {
    const int pieces = static_cast<int>(breaks.size()) - 1;
    int low = 0, high = pieces - 1;
    while (low < high) {
      const int middle = (low + high + 1) / 2;
      if (breaks[middle] <= length) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    const double* c = &coefficients[4 * low];
    const double inside = length < breaks.front() ? breaks.front() : length > breaks.back() ? breaks.back() : length;
    const double x = inside - breaks[low], beyond = length - inside;
    out[3] = beyond == 0 ? 6 * c[0] : 0;
    out[2] = 6 * c[0] * x + 2 * c[1];
    out[1] = (3 * c[0] * x + 2 * c[1]) * x + c[2];
    out[0] = ((c[0] * x + c[1]) * x + c[2]) * x + c[3];
    out[0] += (out[1] + 0.5 * out[2] * beyond) * beyond;
    out[1] += out[2] * beyond;
  }
};

}  // namespace symplectree
