// The rows of every kind that kinds.hpp names.
#pragma once

#include "model/rows/actuator.hpp"
#include "model/rows/angle_row.hpp"
#include "model/rows/contact_rows.hpp"
#include "model/rows/coordinate_row.hpp"
#include "model/rows/distance_row.hpp"
#include "model/rows/joint_damper.hpp"
#include "model/rows/joint_force.hpp"
#include "model/rows/joint_friction.hpp"
#include "model/rows/joint_limit.hpp"
#include "model/rows/joint_spring.hpp"
#include "model/rows/pair_rows.hpp"
#include "model/rows/point_row.hpp"
#include "model/rows/wrench.hpp"
