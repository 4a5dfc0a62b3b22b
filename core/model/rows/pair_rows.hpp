// The elements between two bodies that kinds.hpp names.
#pragma once

#include "model/rows/kinds.hpp"
#include "model/rows/line.hpp"
#include "model/rows/rotary_spring.hpp"
