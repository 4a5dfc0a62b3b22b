// Dense matrices of doubles, row by row.
#pragma once

#include <Eigen/Core>

namespace symplectree {

using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

}  // namespace symplectree
