// The three older ways to find all pairs: by size (DPsize), by subsets (DPsub), and by neighbours on simple
// graphs (DPccp). All report the same pairs; they differ in how many candidates they look at to find them.
//
// Models      the algorithms of Moerkotte and Neumann's comparison; DPsize is System R's
// Leaves out  everything that would make DPsize or DPsub fast: their useless tests are what is counted
// Cost        DPsize: tests as the product of the sets by size; DPsub: the sum of 2^|S| over all connected
//             sets, and a pass over all 2^n sets; DPccp: in proportion to the pairs
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/require.hpp"
#include "join_order/counters.hpp"
#include "join_order/hypergraph.hpp"
#include "join_order/set_table.hpp"

namespace engineroom::join_order {

/// Whether some edge joins the two sets.
inline bool joined(const Hypergraph& graph, NodeSet a, NodeSet b) {
  for (std::size_t k = 0; k < graph.n_edges(); ++k) {
    if (graph.edge(k).connects(a, b)) return true;
  }
  return false;
}

/// `Receiver` has `void node(unsigned)` and `bool pair(NodeSet left, NodeSet right)`, left with the lowest
/// node; here and below. Returning false says that the pair is refused (a conflict rule) and that its union
/// has no plan from it.
template <class Receiver>
Counters dpsize(const Hypergraph& graph, Receiver& receiver) {
  Counters counters;
  const unsigned n = graph.n_nodes();
  std::vector<std::vector<NodeSet>> of_size(n + 1);
  SetTable<char> known;
  for (unsigned i = 0; i < n; ++i) {
    receiver.node(i);
    known.insert(single(i));
    of_size[1].push_back(single(i));
  }
  for (unsigned s = 2; s <= n; ++s) {
    for (unsigned s1 = 1; s1 <= s / 2; ++s1) {
      const unsigned s2 = s - s1;
      for (std::size_t i = 0; i < of_size[s1].size(); ++i) {
        for (std::size_t j = s1 == s2 ? i + 1 : 0; j < of_size[s2].size(); ++j) {
          ++counters.inner_tests;
          const NodeSet a = of_size[s1][i];
          const NodeSet b = of_size[s2][j];
          if (overlap(a, b) || !joined(graph, a, b)) continue;
          if (!(lowest(a) < lowest(b) ? receiver.pair(a, b) : receiver.pair(b, a))) continue;
          ++counters.csg_cmp_pairs;
          if (known.insert(a | b).second) of_size[s].push_back(a | b);
        }
      }
    }
  }
  counters.connected_subgraphs = known.size();
  counters.calls = counters.csg_cmp_pairs;
  return counters;
}

template <class Receiver>
Counters dpsub(const Hypergraph& graph, Receiver& receiver) {
  Counters counters;
  const unsigned n = graph.n_nodes();
  SetTable<char> known;
  for (unsigned i = 0; i < n; ++i) {
    receiver.node(i);
    known.insert(single(i));
  }
  for (NodeSet set = 1;; ++set) {
    // A set is connected when one of its splits is a pair, so all splits of an unconnected set are looked at,
    // too; only those of connected sets are counted, as in the papers, where the test of connectedness comes
    // first.
    std::uint64_t tests = 0;
    bool connected = false;
    for (NodeSet part = next_subset(0, set); part != set; part = next_subset(part, set)) {
      ++tests;
      const NodeSet rest = set & ~part;
      if (lowest(part) > lowest(rest)) continue;  // the same split was seen the other way round
      if (!known.find(part) || !known.find(rest) || !joined(graph, part, rest)) continue;
      if (!receiver.pair(part, rest)) continue;
      ++counters.csg_cmp_pairs;
      connected = true;
    }
    if (connected) {
      counters.inner_tests += tests;
      known.insert(set);
    }
    if (set == graph.all_nodes()) break;
  }
  counters.connected_subgraphs = known.size();
  counters.calls = counters.csg_cmp_pairs;
  return counters;
}

/// Refuses what it does not know: edges between sets of tables, and conflict rules.
template <class Receiver>
class Dpccp {
 public:
  Dpccp(const Hypergraph& graph, Receiver& receiver) : graph_(graph), receiver_(receiver) {
    if (graph.has_complex_edges()) {
      refuse(
          "dpccp knows edges between two tables only, and this graph has one of sets; take fast or faithful");
    }
    if (graph.has_rules()) {
      refuse("dpccp knows no conflict rules, and this graph has some; take fast or faithful");
    }
  }

  Counters run() {
    for (unsigned seed = graph_.n_nodes(); seed-- > 0;) {
      receiver_.node(seed);
      ++counters_.connected_subgraphs;
      subgraph(single(seed));
      grow_subgraph(single(seed), below(seed) | single(seed));
    }
    counters_.calls = counters_.csg_cmp_pairs;
    return counters_;
  }

 private:
  NodeSet neighbors(NodeSet set, NodeSet forbidden) const {
    NodeSet found = 0;
    for (NodeSet rest = set; rest != 0; rest &= rest - 1)
      found |= graph_.node(lowest_node(rest)).simple_neighborhood;
    return found & ~(set | forbidden);
  }

  void grow_subgraph(NodeSet set, NodeSet forbidden) {
    const NodeSet around = neighbors(set, forbidden);
    for (NodeSet grow = next_subset(0, around); grow != 0; grow = next_subset(grow, around)) {
      ++counters_.connected_subgraphs;
      subgraph(set | grow);
    }
    for (NodeSet grow = next_subset(0, around); grow != 0; grow = next_subset(grow, around)) {
      grow_subgraph(set | grow, forbidden | around);
    }
  }

  void subgraph(NodeSet set) {
    const NodeSet forbidden = below(lowest_node(set)) | set;
    NodeSet seeds = neighbors(set, forbidden);
    while (seeds != 0) {
      const unsigned seed = highest_node(seeds);
      seeds &= ~single(seed);
      pair(set, single(seed));
      grow_complement(set, single(seed), forbidden | seeds | single(seed));
    }
  }

  void grow_complement(NodeSet set, NodeSet complement, NodeSet forbidden) {
    const NodeSet around = neighbors(complement, forbidden);
    for (NodeSet grow = next_subset(0, around); grow != 0; grow = next_subset(grow, around)) {
      pair(set, complement | grow);
    }
    for (NodeSet grow = next_subset(0, around); grow != 0; grow = next_subset(grow, around)) {
      grow_complement(set, complement | grow, forbidden | around);
    }
  }

  void pair(NodeSet left, NodeSet right) {
    ++counters_.inner_tests;
    if (receiver_.pair(left, right)) ++counters_.csg_cmp_pairs;
  }

  const Hypergraph& graph_;
  Receiver& receiver_;
  Counters counters_;
};

}  // namespace engineroom::join_order
