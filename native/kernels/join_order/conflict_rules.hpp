// From a tree of inner, left, semi and anti joins to a hypergraph in which every enumerated order is a legal
// one.
//
// Each operator is compared with every operator below it. Where the two may not change places, a rule says
// which tables must be there first; a rule that always applies is folded into the operator's edge, so that
// the enumerator never produces the illegal orders, and the few others stay with the edge. A straight join
// changes places with none.
//
// Models      CD-C of Moerkotte, Fender and Eich (2013) as MySQL 8.0 and later use it
// Leaves out  full outer joins, lateral references
// Cost        O(operators^2)
#pragma once

#include <cstdint>
#include <vector>

#include "common/names.hpp"
#include "join_order/hypergraph.hpp"

namespace engineroom::join_order {

enum class JoinKind { inner, left, semi, anti, straight };
constexpr auto named(names::Of<JoinKind>) { return names::as_written<JoinKind::straight>("a join"); }

/// A leaf has `table` (its node) and no inputs; an operator has two inputs, which stand before it in the
/// list.
struct Operator {
  std::int32_t left = -1;
  std::int32_t right = -1;
  std::uint32_t table = 0;
  JoinKind kind = JoinKind::inner;
  NodeSet used = 0;           // tables of the join condition
  NodeSet null_rejected = 0;  // tables whose NULLs alone make the condition false or unknown
};

/// (a x b) y c = a x (b y c)?
bool is_associative(JoinKind first, JoinKind second, bool second_rejects_nulls_of_its_left);
/// (a x b) y c = (a y c) x b?
bool is_left_asscom(JoinKind first, JoinKind second);
/// a x (b y c) = b y (a x c)?
bool is_right_asscom(JoinKind first, JoinKind second);

/// One edge an operator, in the order of the list. Refuses lists that are not a tree over the tables 0 to
/// n-1.
Hypergraph hypergraph_of(const std::vector<Operator>& tree);

}  // namespace engineroom::join_order
