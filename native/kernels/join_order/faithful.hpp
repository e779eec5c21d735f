// DPhyp as MySQL runs it: the same events in the same order, one call a pair and edge.
//
// Models      EnumerateAllConnectedPartitions and what it calls, MySQL 9.7, with its one-element
//             neighbourhood cache, which decides which node stands for a hypernode and with it the order of
//             the events
// Leaves out  more than 61 tables, the server's own limit
// Cost        in proportion to the calls; recursion at most as deep as there are nodes
#pragma once

#include <cstdint>

#include "join_order/counters.hpp"
#include "join_order/hypergraph.hpp"

namespace engineroom::join_order {

constexpr unsigned kMostTablesOfServer = 61;

/// `Receiver` has `void node(unsigned)`, `bool has_seen(NodeSet)`, which says whether the set was reported as
/// a union before, and `bool pair(NodeSet left, NodeSet right, std::size_t edge)`, which ends the enumeration
/// by returning true.
template <class Receiver>
class FaithfulEnumerator {
 public:
  /// `forbid_lower_seeds` false leaves out the line that the paper forgot; then some pairs are reported
  /// twice.
  FaithfulEnumerator(const Hypergraph& graph, Receiver& receiver, bool forbid_lower_seeds = true)
      : graph_(graph), receiver_(receiver), forbid_lower_seeds_(forbid_lower_seeds) {}

  /// Reports everything; true when the receiver ended it.
  bool run() {
    for (unsigned seed = graph_.n_nodes(); seed-- > 0;) {
      receiver_.node(seed);
      lowest_ = seed;
      const NodeSet start = single(seed);
      NodeSet reach = 0;
      Cache cache(0);
      const NodeSet neighborhood = neighbors(start, below(seed), start, cache, reach);
      if (complements_to(start, reach, neighborhood)) return true;
      if (expand_subgraph(start, reach, neighborhood, below(seed) | start)) return true;
    }
    return false;
  }

  std::uint64_t inner_tests() const { return inner_tests_; }

 private:
  /// The neighbourhood of the last set grown by; a superset's search continues from it. Supersets follow in
  /// the order of binary numbers, so one with the lowest bit has no superset next and must not take the
  /// place.
  struct Cache {
    explicit Cache(NodeSet neighborhood) : never_with(lowest(neighborhood)) {}
    NodeSet never_with;
    NodeSet grown_by = ~NodeSet{0};
    NodeSet neighborhood = 0;
    NodeSet reach = 0;
  };

  /// The nodes by which `set` may grow, one for each set of nodes that an edge leads to. `reach` takes up all
  /// nodes of those sets. Only edges at `grown_by` are looked at: the others' ends are in the set or
  /// forbidden.
  NodeSet neighbors(NodeSet set, NodeSet forbidden, NodeSet grown_by, Cache& cache, NodeSet& reach) const {
    NodeSet found = 0;
    NodeSet search = grown_by;
    if (is_subset(cache.grown_by, grown_by)) {
      reach |= cache.reach;
      found = cache.neighborhood;
      search &= ~cache.grown_by;
    }
    for (; search != 0; search &= search - 1) {
      const Hypergraph::Node& node = graph_.node(lowest_node(search));
      found |= node.simple_neighborhood;
      for (std::uint32_t i : node.complex_edges) {
        const Hyperedge& e = graph_.stored(i);
        if (!is_subset(e.left, set) || overlap(e.right, set | forbidden)) continue;
        reach |= e.right;
        // Any node may stand for the hypernode, so one that is already there will do.
        if (!overlap(e.right, found)) found |= lowest(e.right);
      }
    }
    found &= ~(set | forbidden);
    reach |= found;
    if (!overlap(grown_by, cache.never_with)) {
      cache.grown_by = grown_by;
      cache.neighborhood = found;
      cache.reach = reach;
    }
    return found;
  }

  /// EmitCsg of the paper: all complements of a connected set, from the highest seed down.
  bool complements_to(NodeSet set, NodeSet reach, NodeSet neighborhood) {
    const NodeSet forbidden = below(lowest_);  // reset: what was forbidden to the set may be in a complement
    neighborhood &= ~set;
    Cache cache(neighborhood);
    for (NodeSet left = neighborhood; left != 0;) {
      const unsigned seed = highest_node(left);
      const NodeSet start = single(seed);
      left &= ~start;
      ++inner_tests_;
      const Hypergraph::Node& node = graph_.node(seed);
      if (overlap(node.simple_neighborhood, set)) {
        for (std::uint32_t i : node.simple_edges) {
          if (overlap(graph_.stored(i).right, set) && receiver_.pair(set, start, i / 2)) return true;
        }
      }
      for (std::uint32_t i : node.complex_edges) {
        const Hyperedge& e = graph_.stored(i);
        if (e.left == start && is_subset(e.right, set) && receiver_.pair(set, start, i / 2)) return true;
      }
      // Without the lower seeds among the forbidden, a complement with two seeds would be found from both.
      const NodeSet closed = forbidden | set | (forbid_lower_seeds_ ? left : NodeSet{0});
      NodeSet unused = 0;
      const NodeSet next = neighbors(start, closed, start, cache, unused);
      if (expand_complement(set, reach, start, next, closed)) return true;
    }
    return false;
  }

  /// EnumerateCsgRec of the paper. Two loops: all complements of the smaller sets come before any larger set.
  bool expand_subgraph(NodeSet set, NodeSet reach, NodeSet neighborhood, NodeSet forbidden) {
    Cache cache(neighborhood);
    for (NodeSet grow = next_subset(0, neighborhood); grow != 0; grow = next_subset(grow, neighborhood)) {
      ++inner_tests_;
      const NodeSet grown = set | grow;
      if (!receiver_.has_seen(grown)) continue;
      NodeSet grown_reach = reach;
      NodeSet next = neighbors(grown, forbidden, grow, cache, grown_reach);
      // A complement may take what is forbidden to the set, save what lies below its lowest node.
      next |= (forbidden & ~below(lowest_)) | neighborhood;
      if (complements_to(grown, grown_reach, next)) return true;
    }
    for (NodeSet grow = next_subset(0, neighborhood); grow != 0; grow = next_subset(grow, neighborhood)) {
      const NodeSet grown = set | grow;
      const NodeSet closed = (forbidden | neighborhood) & ~grown;
      NodeSet grown_reach = reach;
      const NodeSet next = neighbors(grown, closed, grow, cache, grown_reach);
      if (expand_subgraph(grown, grown_reach, next, closed)) return true;
    }
    return false;
  }

  /// EnumerateCmpRec of the paper.
  bool expand_complement(NodeSet set, NodeSet reach, NodeSet complement, NodeSet neighborhood,
                         NodeSet forbidden) {
    for (NodeSet grow = next_subset(0, neighborhood); grow != 0; grow = next_subset(grow, neighborhood)) {
      ++inner_tests_;
      const NodeSet grown = complement | grow;
      if (receiver_.has_seen(grown) && connect(set, reach, grown)) return true;
    }
    Cache cache(neighborhood);
    for (NodeSet grow = next_subset(0, neighborhood); grow != 0; grow = next_subset(grow, neighborhood)) {
      const NodeSet grown = complement | grow;
      const NodeSet closed = (forbidden | neighborhood) & ~grown;
      NodeSet unused = 0;
      const NodeSet next = neighbors(grown, closed, grow, cache, unused);
      if (expand_complement(set, reach, grown, next, closed)) return true;
    }
    return false;
  }

  /// Reports the pair once for each edge that joins it. Such an edge ends inside what the set reaches.
  bool connect(NodeSet set, NodeSet reach, NodeSet complement) {
    for (NodeSet rest = complement & reach; rest != 0; rest &= rest - 1) {
      const Hypergraph::Node& node = graph_.node(lowest_node(rest));
      if (overlap(node.simple_neighborhood, set)) {
        for (std::uint32_t i : node.simple_edges) {
          if (overlap(graph_.stored(i).right, set) && receiver_.pair(set, complement, i / 2)) return true;
        }
      }
      for (std::uint32_t i : node.complex_edges) {
        const Hyperedge& e = graph_.stored(i);
        // The lowest node speaks for the edge, so that it is reported once.
        if (lowest(e.left) == lowest(rest) && is_subset(e.left, complement) && is_subset(e.right, set) &&
            receiver_.pair(set, complement, i / 2)) {
          return true;
        }
      }
    }
    return false;
  }

  const Hypergraph& graph_;
  Receiver& receiver_;
  const bool forbid_lower_seeds_;
  unsigned lowest_ = 0;
  std::uint64_t inner_tests_ = 0;
};

}  // namespace engineroom::join_order
