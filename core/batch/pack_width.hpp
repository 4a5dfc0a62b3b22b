// How many runs go side by side: as many as a vector register of the machine that is built for holds.
#pragma once

namespace symplectree {

#if defined(__AVX512F__)
inline constexpr int kPackWidth = 8;
#elif defined(__AVX2__)
inline constexpr int kPackWidth = 4;
#else
inline constexpr int kPackWidth = 2;
#endif

}  // namespace symplectree
