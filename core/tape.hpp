// A formula as a list of instructions, and the loop that executes it.
#pragma once

#include <cmath>
#include <vector>

namespace symplectree {

// In the order of OPERATIONS in symplectree/symbolic/tape.py.
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

  // `work` holds work_size numbers.
  void run(const double* in, double* out, double* work) const {
    for (const Instruction& i : code) {
      if (i.op == Op::Const) {
        work[i.result] = i.constant;
      } else if (i.op == Op::Input) {
        work[i.result] = in[i.first];
      } else if (i.op == Op::Output) {
        out[i.result] = work[i.first];
      } else {
        work[i.result] = apply(i.op, work[i.first], work[i.second]);
      }
    }
  }

 private:
  static double apply(Op op, double a, double b) {
    switch (op) {
      case Op::Add:
        return a + b;
      case Op::Sub:
        return a - b;
      case Op::Mul:
        return a * b;
      case Op::Div:
        return a / b;
      case Op::Neg:
        return -a;
      case Op::Sq:
        return a * a;
      case Op::Twice:
        return 2 * a;
      case Op::Inv:
        return 1 / a;
      case Op::Sqrt:
        return std::sqrt(a);
      case Op::Sin:
        return std::sin(a);
      case Op::Cos:
        return std::cos(a);
      case Op::Tan:
        return std::tan(a);
      case Op::Asin:
        return std::asin(a);
      case Op::Acos:
        return std::acos(a);
      case Op::Atan:
        return std::atan(a);
      case Op::Atan2:
        return std::atan2(a, b);
      case Op::Sinh:
        return std::sinh(a);
      case Op::Cosh:
        return std::cosh(a);
      case Op::Tanh:
        return std::tanh(a);
      case Op::Exp:
        return std::exp(a);
      case Op::Log:
        return std::log(a);
      case Op::Pow:
        return std::pow(a, b);
      case Op::Fabs:
        return std::fabs(a);
      case Op::Sign:
        return a > 0 ? 1 : a < 0 ? -1 : 0;
      case Op::Fmin:
        return std::fmin(a, b);
      case Op::Fmax:
        return std::fmax(a, b);
      case Op::Lt:
        return a < b;
      case Op::Le:
        return a <= b;
      case Op::Eq:
        return a == b;
      case Op::Ne:
        return a != b;
      case Op::Not:
        return a == 0;
      case Op::And:
        return a != 0 && b != 0;
      case Op::Or:
        return a != 0 || b != 0;
      case Op::IfElseZero:
        return a != 0 ? b : 0;
      default:
        return a;  // Assign
    }
  }
};

}  // namespace symplectree
