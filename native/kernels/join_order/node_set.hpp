// Sets of at most 64 nodes as the bits of one word, the representation that makes join enumeration cheap.
//
// Models      NodeMap and table_map of MySQL 8.0 and later
// Leaves out  more than 64 nodes
// Cost        one instruction an operation
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace engineroom::join_order {

using NodeSet = std::uint64_t;

constexpr unsigned kMostNodes = 64;

constexpr NodeSet single(unsigned node) { return NodeSet{1} << node; }
/// All nodes with a lower number.
constexpr NodeSet below(unsigned node) { return single(node) - 1; }
/// The nodes 0 to n-1, also for n = 64.
constexpr NodeSet first_nodes(unsigned n) { return n == kMostNodes ? ~NodeSet{0} : below(n); }
constexpr NodeSet lowest(NodeSet set) { return set & (~set + 1); }
constexpr unsigned lowest_node(NodeSet set) { return static_cast<unsigned>(std::countr_zero(set)); }
constexpr unsigned highest_node(NodeSet set) { return 63 - static_cast<unsigned>(std::countl_zero(set)); }
constexpr unsigned size(NodeSet set) { return static_cast<unsigned>(std::popcount(set)); }
constexpr bool is_single(NodeSet set) { return std::has_single_bit(set); }
constexpr bool is_subset(NodeSet part, NodeSet whole) { return (part & ~whole) == 0; }
constexpr bool overlap(NodeSet a, NodeSet b) { return (a & b) != 0; }

/// A set as the place in an array by the set itself.
constexpr std::size_t place_of(NodeSet set) { return static_cast<std::size_t>(set); }

/// The next subset of `all` in the order of binary numbers; 0 after the last.
constexpr NodeSet next_subset(NodeSet subset, NodeSet all) { return (subset - all) & all; }

}  // namespace engineroom::join_order
