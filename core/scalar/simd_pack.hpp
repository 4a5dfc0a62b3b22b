// A pack of numbers that go through a kernel side by side, one vector instruction for all.
#pragma once

#include <cmath>

#include "scalar/lanes.hpp"
#include "scalar/sincos.hpp"

namespace symplectree {

template <int W>
struct Pack {
  using Lanes = typename PackLanes<W>::type;
  static constexpr int width = W;
  Lanes lanes;

  Pack() : lanes{} {}
  Pack(double x) : lanes(Lanes{} + x) {}
  explicit Pack(Lanes l) : lanes(l) {}

  double operator[](int k) const { return lanes[k]; }
  void set(int k, double x) { lanes[k] = x; }

  Pack& operator+=(const Pack& b) {
    lanes += b.lanes;
    return *this;
  }
  Pack& operator-=(const Pack& b) {
    lanes -= b.lanes;
    return *this;
  }
  friend Pack operator-(const Pack& a) { return Pack(-a.lanes); }
  friend Pack operator+(const Pack& a, const Pack& b) { return Pack(a.lanes + b.lanes); }
  friend Pack operator-(const Pack& a, const Pack& b) { return Pack(a.lanes - b.lanes); }
  friend Pack operator*(const Pack& a, const Pack& b) { return Pack(a.lanes * b.lanes); }
  friend Pack operator/(const Pack& a, const Pack& b) { return Pack(a.lanes / b.lanes); }
  // The larger of a and |b|, part by part; NaN stays.
  friend Pack larger(const Pack& a, const Pack& b) {
    const Lanes size = b.lanes < 0 ? -b.lanes : b.lanes;
    return Pack(size <= a.lanes ? a.lanes : size);
  }
  friend Pack sqrt(const Pack& a) {
    Pack out;
    for (int k = 0; k < W; ++k) out.lanes[k] = std::sqrt(a.lanes[k]);
    return out;
  }
  friend Pack atan2(const Pack& y, const Pack& x) {
    Pack out;
    for (int k = 0; k < W; ++k) out.lanes[k] = std::atan2(y.lanes[k], x.lanes[k]);
    return out;
  }
  friend Pack round(const Pack& a) {
    Pack out;
    for (int k = 0; k < W; ++k) out.lanes[k] = std::round(a.lanes[k]);
    return out;
  }
};

// The largest size of the lanes; NaN may be lost.
inline double largest_size(double x) { return std::fabs(x); }
inline double largest_size(const Pack<2>& x) { return std::fmax(std::fabs(x[0]), std::fabs(x[1])); }
inline double largest_size(const Pack<4>& x) {
  const Pack<2> low(shuffled<0, 1>(x.lanes)), high(shuffled<2, 3>(x.lanes));
  return largest_size(larger(larger(Pack<2>(), low), high));
}
inline double largest_size(const Pack<8>& x) {
  const Pack<4> low(shuffled<0, 1, 2, 3>(x.lanes)), high(shuffled<4, 5, 6, 7>(x.lanes));
  return largest_size(larger(larger(Pack<4>(), low), high));
}

// f of each lane of packs on its own; of other numbers, just f.
template <class F, class T, class... More>
T lane_by_lane(F&& f, const T& x, const More&... more) {
  return f(x, more...);
}
template <class F, int W, class... More>
Pack<W> lane_by_lane(F&& f, const Pack<W>& x, const More&... more) {
  Pack<W> out;
  for (int k = 0; k < W; ++k) out.set(k, f(x[k], more[k]...));
  return out;
}

// Packs lie in memory as plain numbers, so that one loop over these serves.
template <int W>
void sines_and_cosines(const Pack<W>* x, int n, Pack<W>* sine, Pack<W>* cosine) {
  sines_and_cosines(reinterpret_cast<const double*>(x), n * W, reinterpret_cast<double*>(sine),
                    reinterpret_cast<double*>(cosine));
}

}  // namespace symplectree
