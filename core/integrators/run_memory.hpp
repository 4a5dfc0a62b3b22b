// All that the next steps of a run depend on, as numbers: written when a run is saved, read when it goes back there.
#pragma once

#include <stdexcept>
#include <type_traits>
#include <vector>

namespace symplectree {

template <int W>
struct Pack;

class RunMemory {
 public:
  // To write,
  RunMemory() = default;
  // and to read what was written.
  RunMemory(const double* numbers, std::size_t count) : numbers(numbers, numbers + count), reading_(true) {}

  std::vector<double> numbers;

  // Each is appended, or read back into its place, in the order of the calls.
  template <class... Each>
  void operator()(Each&... each) {
    (carry(each), ...);
  }
  bool reading() const { return reading_; }
  // Has all been read?
  bool at_end() const { return at_ == numbers.size(); }

 private:
  template <class T>
  void carry(T& x) {
    if constexpr (std::is_arithmetic_v<T>) {
      if (!reading_) return numbers.push_back(static_cast<double>(x));
      if (at_ == numbers.size()) throw std::invalid_argument("too few numbers");
      x = static_cast<T>(numbers[at_++]);
    } else {
      std::size_t size = x.size();
      carry(size);
      if (reading_ && size != x.size()) resize(x, size);
      for (auto& each : x) carry(each);
    }
  }
  template <int W>
  void carry(Pack<W>& x) {
    for (int i = 0; i < W; ++i) {
      double lane = x[i];
      carry(lane);
      x.set(i, lane);
    }
  }

  // Vectors that are made when they are needed may be empty.
  template <class T>
  void resize(std::vector<T>& x, std::size_t size) {
    if (size > numbers.size()) throw std::invalid_argument("too few numbers");
    x.resize(size);
  }
  template <class T>
  void resize(T&, std::size_t) {
    throw std::invalid_argument("numbers of another run");
  }

  std::size_t at_ = 0;
  bool reading_ = false;
};

}  // namespace symplectree
