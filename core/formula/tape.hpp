// A formula as a list of instructions, and the loop that executes it.
#pragma once

#include <vector>

namespace symplectree {

// In the order of OPERATIONS in symplectree/formula/tape.py.
enum class Op {
  Const,
  Input,
  Output,
  Add,
  Sub,
  Mul,
  Div,
  Neg,
  Sq,
  Twice,
  Inv,
  Sqrt,
  Sin,
  Cos,
  Tan,
  Asin,
  Acos,
  Atan,
  Atan2,
  Sinh,
  Cosh,
  Tanh,
  Exp,
  Log,
  Pow,
  Fabs,
  Sign,
  Fmin,
  Fmax,
  Lt,
  Le,
  Eq,
  Ne,
  Not,
  And,
  Or,
  IfElseZero,
  Assign,
};

struct Instruction {
  Op op;
  int result, first, second;
  double constant;
};

struct Tape {
  std::vector<Instruction> code;
  int work_size = 0, inputs = 0, outputs = 0;
  // Machine code that does the same on numbers (symplectree/symbolic/formula_code.py), where there is some.
  void (*native)(const double** in, double** out, double* work) = nullptr;

  // `work` holds work_size numbers. T: double, or a pack of several (simd_pack.hpp).
  template <class T>
  void run(const T* in, T* out, T* work) const;

  // The same on numbers that carry derivatives up to the second.
  template <class T>
  void run_ad(const T* in, T* out, T* work) const;
};

}  // namespace symplectree
