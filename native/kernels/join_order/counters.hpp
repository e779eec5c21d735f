// What every enumerator counts, and the event it reports.
#pragma once

#include <cstdint>

#include "join_order/node_set.hpp"

namespace engineroom::join_order {

struct Counters {
  std::uint64_t connected_subgraphs = 0;  // sets of tables for which a plan is kept, single tables included
  std::uint64_t csg_cmp_pairs = 0;        // unordered pairs of such sets that an edge joins
  std::uint64_t calls = 0;        // reports: one per pair and edge in `faithful`, one per pair elsewhere
  std::uint64_t inner_tests = 0;  // candidates that the innermost loop looked at, useful or not
};

/// A single node (right is 0, edge is -1), or a pair and one edge that joins it.
struct Event {
  NodeSet left;  // holds the lowest node of the pair
  NodeSet right;
  std::int32_t edge;
  std::uint32_t padding = 0;
};

}  // namespace engineroom::join_order
