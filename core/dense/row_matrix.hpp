// Eigen, and its dense matrices of doubles, row by row, with products that are compiled once.
#pragma once

// Intrinsics of AVX-512 leave lanes undefined on purpose, which GCC warns of wherever Eigen uses them.
#if defined(__AVX512F__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#include <immintrin.h>
#pragma GCC diagnostic pop
#endif

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <Eigen/QR>

namespace symplectree {

using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using RowBlock = Eigen::Ref<const RowMatrix, 0, Eigen::OuterStride<>>;

// A B, Aᵀ B and Aᵀ x.
RowMatrix product(const RowBlock& A, const RowBlock& B);
RowMatrix transposed_product(const RowBlock& A, const RowBlock& B);
Eigen::VectorXd transposed_vector_product(const RowBlock& A, const Eigen::VectorXd& x);

int rank(const RowMatrix& A);

}  // namespace symplectree
