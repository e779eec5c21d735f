// The cheapest plan of tables that are joined as a tree, by removing one edge after the other.
//
// Idea        a connected set of tables of a tree has one topmost table and falls apart into two connected sets
//             wherever one of its edges is removed: these are all its pairs, and nothing need be grown or looked up.
//             The sets of one topmost table are numbered without gaps, each child's sets being a digit: so their costs
//             are a dense array, and removing an edge below a child is one subtraction from the place, the same for all
//             values of the digits below
// Models      nothing of a server, which enumerates a tree as any other graph
// Leaves out  hyperedges, cycles, joins that are not inner
// Cost        16 bytes per connected set and about a nanosecond per pair; the best left sides are not kept but found
//             again for the sets of the plan
#pragma once

#include <cstdint>

#include "join_order/hypergraph.hpp"
#include "join_order/plans.hpp"

namespace engineroom::join_order {

/// Whether simple edges join the tables, and no two ways lead from one to another. Edges between the same two tables
/// count as one.
bool is_tree(const Hypergraph& graph);

/// So many connected sets are planned at most.
inline constexpr std::uint64_t kMostSetsOfATree = std::uint64_t{1} << 24;
/// The connected sets of a tree, or more than kMostSetsOfATree.
std::uint64_t connected_sets_of_tree(const Hypergraph& tree);

/// For trees of at most kMostSetsOfATree connected sets; Price is of prices.hpp.
template <class Price>
Plan tree_plan(const Hypergraph& tree, const Statistics& statistics);

}  // namespace engineroom::join_order
