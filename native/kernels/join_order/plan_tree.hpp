// A plan's tree, read off a table of best plans.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "common/require.hpp"
#include "join_order/hypergraph.hpp"
#include "join_order/plans.hpp"

namespace engineroom::join_order {

inline constexpr double kNoCost = std::numeric_limits<double>::infinity();

[[noreturn]] inline void refuse_boundless(NodeSet set) {
  refuse("every plan of the tables " + to_text(set) +
         " costs more than a double holds; give fewer rows or a cost function that stays finite");
}

/// A plan's tree from the best left sides of its sets. `left_of` is 0 for a table; `describe` gives rows and
/// cost of a set, from its inputs when it has some.
template <class LeftOf, class Describe>
std::int32_t append(NodeSet set, const LeftOf& left_of, const Describe& describe,
                    std::vector<PlanNode>& nodes) {
  PlanNode node{set, 0, 0, -1, -1};
  if (!is_single(set)) {
    const NodeSet best_left = left_of(set);
    if (best_left == 0) refuse_boundless(set);
    node.left = append(best_left, left_of, describe, nodes);
    node.right = append(set & ~best_left, left_of, describe, nodes);
  }
  const auto input = [&](std::int32_t i) { return i < 0 ? nullptr : &nodes[static_cast<std::size_t>(i)]; };
  const Input found = describe(set, input(node.left), input(node.right));
  node.rows = found.rows;
  node.cost = found.cost;
  if (!std::isfinite(node.cost)) refuse_boundless(set);
  nodes.push_back(node);
  return static_cast<std::int32_t>(nodes.size()) - 1;
}

}  // namespace engineroom::join_order
