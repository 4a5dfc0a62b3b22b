// Doubles that one vector instruction takes side by side, by an extension of C++ that GCC and Clang share.
//
// Operators go lane by lane; a comparison gives a mask, by which `mask ? a : b` chooses. Everything that is not in the
// standard stands here.
#pragma once

#if !defined(__GNUC__) && !defined(__clang__)
#error "The core needs the vector extensions of GCC 12 or later, of Clang, or of clang-cl on Windows."
#endif

namespace symplectree {

template <int W>
struct PackLanes;
template <>
struct PackLanes<2> {
  typedef double type __attribute__((vector_size(16)));
};
template <>
struct PackLanes<4> {
  typedef double type __attribute__((vector_size(32)));
};
template <>
struct PackLanes<8> {
  typedef double type __attribute__((vector_size(64)));
};

using Lanes = PackLanes<4>::type;

// The lanes I... of a and b one after the other, which are numbered through.
template <int... I, class V>
auto shuffled(V a, V b) {
  return __builtin_shufflevector(a, b, I...);
}
template <int... I, class V>
auto shuffled(V a) {
  return __builtin_shufflevector(a, a, I...);
}

}  // namespace symplectree
