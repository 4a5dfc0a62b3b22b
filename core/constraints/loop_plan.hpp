// In which order the bodies of a tree are eliminated, and which rows hold on to each.
#pragma once

#include <algorithm>
#include <vector>

#include "constraints/row_evaluation.hpp"

namespace symplectree {

struct LoopPlan {
  std::vector<int> order;  // of bodies, the deepest first
  // Of body i, entries touch_start[i] … touch_start[i + 1] − 1: the rows that hold on to it or to its coordinates; the
  // latter (touch_joint 1) need its joint to be eliminated.
  std::vector<int> touch_start, touch_row, touch_joint;
  std::vector<int> touched;  // of each row: how many bodies

  LoopPlan(const Model& m, const RowStructure& s) {
    order_bodies(m);
    list_touches(m, s);
  }

 private:
  void order_bodies(const Model& m) {
    std::vector<int> depth(m.size());
    for (int i = 1; i < m.size(); ++i) depth[i] = depth[m.bodies[i].parent] + 1;
    for (int i = m.size() - 1; i > 0; --i) order.push_back(i);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return depth[a] > depth[b]; });
  }

  void list_touches(const Model& m, const RowStructure& s) {
    touch_start.assign(m.size() + 1, 0);
    std::vector<std::vector<int>> rows(m.size()), joints(m.size());
    touched.assign(s.rows(), 0);
    for (int k = 0; k < s.rows(); ++k) {
      if (s.idle[k]) continue;
      std::vector<int> bodies;
      for (int e = s.pull_start[k]; e < s.pull_start[k + 1]; ++e) bodies.push_back(s.pull_body[e]);
      std::vector<char> joint(m.size());
      for (int e = s.coefficient_start[k]; e < s.coefficient_start[k + 1]; ++e) {
        bodies.push_back(m.body_of[s.coefficient_v[e]]);
        joint[bodies.back()] = 1;
      }
      std::sort(bodies.begin(), bodies.end());
      bodies.erase(std::unique(bodies.begin(), bodies.end()), bodies.end());
      for (int i : bodies)
        if (i > 0) rows[i].push_back(k), joints[i].push_back(joint[i]), ++touched[k];
    }
    for (int i = 0; i < m.size(); ++i) {
      touch_row.insert(touch_row.end(), rows[i].begin(), rows[i].end());
      touch_joint.insert(touch_joint.end(), joints[i].begin(), joints[i].end());
      touch_start[i + 1] = static_cast<int>(touch_row.size());
    }
  }
};

}  // namespace symplectree
