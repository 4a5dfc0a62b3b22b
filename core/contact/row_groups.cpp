#include "contact/row_groups.hpp"

#include "dense/sum_of_products.hpp"

namespace symplectree {

RowGroups RowGroups::whole(int rows) {
  RowGroups groups;
  if (rows > 0) groups.first = {0, rows}, groups.start = {0, 1}, groups.others = {0};
  return groups;
}

RowGroups RowGroups::of(const double* W, const std::vector<int>& sizes) {
  RowGroups groups;
  for (const int size : sizes) groups.first.push_back(groups.rows() + size);
  const int n = groups.rows();
  const auto meet = [&](int g, int h) {
    if (g == h) return true;
    for (int i = groups.first[g]; i < groups.first[g + 1]; ++i)
      for (int j = groups.first[h]; j < groups.first[h + 1]; ++j)
        if (W[static_cast<std::size_t>(n) * i + j] != 0 || W[static_cast<std::size_t>(n) * j + i] != 0) return true;
    return false;
  };
  for (int g = 0; g < groups.size(); ++g) {
    for (int h = 0; h < groups.size(); ++h)
      if (meet(g, h)) groups.others.push_back(h);
    groups.start.push_back(static_cast<int>(groups.others.size()));
  }
  return groups;
}

void RowGroups::copy(const double* from, double factor, double* to) const {
  const std::size_t n = rows();
  for (int g = 0; g < size(); ++g)
    for (int i = first[g]; i < first[g + 1]; ++i)
      for_columns(g, [&](int j, int end) {
        for (; j < end; ++j) to[n * i + j] = factor * from[n * i + j];
      });
}

void RowGroups::multiply(const double* W, const double* x, const double* y0, double* y) const {
  const int n = rows();
  for (int g = 0; g < size(); ++g)
    for (int i = first[g]; i < first[g + 1]; ++i) {
      const double* row = W + static_cast<std::size_t>(n) * i;
      double sum = y0[i];
      for_columns(g, [&](int j, int end) { sum += sum_of_products(row + j, x + j, end - j); });
      y[i] = sum;
    }
}

}  // namespace symplectree
