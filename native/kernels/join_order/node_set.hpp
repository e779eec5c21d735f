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
/// Not by std::popcount, which calls a function where the processor may lack the instruction.
constexpr bool is_single(NodeSet set) { return set != 0 && (set & (set - 1)) == 0; }
constexpr bool is_subset(NodeSet part, NodeSet whole) { return (part & ~whole) == 0; }
constexpr bool overlap(NodeSet a, NodeSet b) { return (a & b) != 0; }

/// A set as the place in an array by the set itself.
constexpr std::size_t place_of(NodeSet set) { return static_cast<std::size_t>(set); }

/// The set with node i as node n-1-i, for sets of the first n nodes; its own inverse. Never inlined: it is
/// for what is done once per graph, and would take room in loops that are unrolled into themselves.
[[gnu::noinline]] constexpr NodeSet mirrored(NodeSet set, unsigned n) {
  constexpr NodeSet kEvery[] = {0x5555555555555555u, 0x3333333333333333u, 0x0F0F0F0F0F0F0F0Fu};
  for (unsigned i = 0; i < 3; ++i) {
    const unsigned by = 1u << i;
    set = ((set >> by) & kEvery[i]) | ((set & kEvery[i]) << by);
  }
  set = __builtin_bswap64(set);
  return set >> (kMostNodes - n);
}

/// The next subset of `all` in the order of binary numbers; 0 after the last.
constexpr NodeSet next_subset(NodeSet subset, NodeSet all) { return (subset - all) & all; }

}  // namespace engineroom::join_order
