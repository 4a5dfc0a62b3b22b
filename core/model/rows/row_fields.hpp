// Rows of numbers from Python, read by the names of their fields.
//
// Every kind of row is a struct with a list `fields()` of names and members; the class of the same kind in
// symplectree/elements/rows.py has the same names in the same order. A row comes as one array of numbers: indices and
// switches as one number each, vectors as three, rotation matrices as nine by rows, points and directions as the body
// and three numbers.
#pragma once

#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "model/body.hpp"
#include "scalar/dual.hpp"

namespace symplectree {

template <class Row, class Member>
struct Field {
  const char* name;
  Member Row::* member;
};
template <class Row, class Member>
Field(const char*, Member Row::*) -> Field<Row, Member>;

// How many numbers a member takes in an array.
template <class Member>
inline constexpr int kNumbers = 1;
template <class T>
inline constexpr int kNumbers<Vec3<T>> = 3;
template <class T>
inline constexpr int kNumbers<Mat3<T>> = 9;
template <class R>
inline constexpr int kNumbers<PointOf<R>> = 4;
template <>
inline constexpr int kNumbers<Axis> = 4;
template <class T, std::size_t N>
inline constexpr int kNumbers<T[N]> = N * kNumbers<T>;

template <class Row, class Member>
constexpr int numbers_of(const Field<Row, Member>&) {
  return kNumbers<Member>;
}

// How many numbers a row has.
template <class Row>
constexpr int row_width() {
  return std::apply([](const auto&... field) { return (0 + ... + numbers_of(field)); }, Row::fields());
}

template <class T, class R>
T number_at(const R& x) {
  if constexpr (std::is_same_v<T, R>) {
    return x;
  } else {
    return static_cast<T>(value_of(x));
  }
}

template <class T, class R>
Vec3<T> vector_at(const R* p) {
  return {number_at<T>(p[0]), number_at<T>(p[1]), number_at<T>(p[2])};
}

// A rotation matrix from rows `stride` apart.
template <class R>
Mat3<double> rotation_at(const R* p, int stride) {
  return transposed(
      Mat3<double>{vector_at<double>(p), vector_at<double>(p + stride), vector_at<double>(p + 2 * stride)});
}

template <class R, class T>
void read(const R* p, T& x) {
  x = number_at<T>(*p);
}
template <class R, class T>
void read(const R* p, Vec3<T>& x) {
  x = vector_at<T>(p);
}
template <class R>
void read(const R* p, Mat3<double>& x) {
  x = rotation_at(p, 3);
}
template <class R>
void read(const R* p, PointOf<R>& x) {
  read(p, x.body), read(p + 1, x.at);
}
template <class R>
void read(const R* p, Axis& x) {
  read(p, x.body), read(p + 1, x.along);
}
template <class R, class T, std::size_t N>
void read(const R* p, T (&x)[N]) {
  for (std::size_t k = 0; k < N; ++k) read(p + k * kNumbers<T>, x[k]);
}

// Row of the model from its numbers in the user's link frames.
template <class Row, class R>
Row read_row(const R* p, const BodiesOf<R>& bodies) {
  Row row{};
  const auto next = [&](const auto& field) {
    read(p, row.*field.member);
    p += numbers_of(field);
  };
  std::apply([&](const auto&... field) { (next(field), ...); }, Row::fields());
  if constexpr (requires { row.place(bodies); }) row.place(bodies);
  return row;
}

// What Python's declaration of a field must say.
struct FieldDescription {
  std::string name;
  int count;
  bool index;  // a whole number, which no parameter changes
};

template <class Member>
void describe(const std::string& name, std::vector<FieldDescription>& out) {
  if constexpr (requires(Member x) { x.body, x.at; }) {
    out.push_back({name + ".body", 1, true}), out.push_back({name + ".at", 3, false});
  } else if constexpr (requires(Member x) { x.body, x.along; }) {
    out.push_back({name + ".body", 1, true}), out.push_back({name + ".along", 3, false});
  } else {
    out.push_back({name, kNumbers<Member>, std::is_integral_v<std::remove_all_extents_t<Member>>});
  }
}

template <class Row>
std::vector<FieldDescription> describe_row() {
  std::vector<FieldDescription> out;
  const auto each = [&]<class Member>(const Field<Row, Member>& field) { describe<Member>(field.name, out); };
  std::apply([&](const auto&... field) { (each(field), ...); }, Row::fields());
  return out;
}

}  // namespace symplectree
