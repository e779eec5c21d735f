// The cheapest plan of tables that are all joined with each other, by trying every subset.
//
// Idea        every set of tables of a clique is connected and so is every part of it: there is nothing to test. Sets
//             come in the order of binary numbers, and a set's parts are its subsets in the same order, by one
//             subtraction each; costs are an array by set
// Models      nothing of a server. Such queries are common: equalities between the same column of many tables make each
//             table joinable with each other
// Leaves out  any graph that lacks an edge
// Cost        16 bytes per set and about a nanosecond per pair; the best left sides are not kept but found again for
//             the sets of the plan
#pragma once

#include "join_order/hypergraph.hpp"
#include "join_order/plans.hpp"

namespace engineroom::join_order {

/// Arrays by set are made for so many tables at most.
inline constexpr unsigned kMostNodesOfAClique = 24;

/// Whether a simple edge joins each table with each other.
bool is_clique(const Hypergraph& graph);

/// For cliques of at most kMostNodesOfAClique tables; Price is of prices.hpp.
template <class Price>
Plan clique_plan(const Hypergraph& clique, const Statistics& statistics);

}  // namespace engineroom::join_order
