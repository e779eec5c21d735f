// Which bit stands for which node while sets are enumerated.
//
// Models      nothing of a server, which takes tables as they come
// Leaves out  an order that would be best: of orders along the edges some plan a grid a quarter slower than
//             others; chains, stars and cycles hardly differ
// Cost        once per graph, a few operations per node and an edge
#pragma once

#include <array>
#include <cstdint>

#include "join_order/hypergraph.hpp"
#include "join_order/node_set.hpp"

namespace engineroom::join_order {

class Numbering {
 public:
  /// Node i is bit n-1-i.
  static Numbering mirrored(unsigned n_nodes) {
    Numbering numbering(n_nodes);
    for (unsigned i = 0; i < n_nodes; ++i) numbering.put(i, i);
    return numbering;
  }

  /// Mirrored, if every node but the first has a simple edge to a lower one. Otherwise the nodes come breadth
  /// first from one with fewest neighbours, since the sets of such a numbering come again as right sides: a
  /// plan of a chain of 20 that is numbered at random would take two fifths longer.
  static Numbering along_edges(const Hypergraph& graph) {
    const unsigned n = graph.n_nodes();
    const auto neighbors = [&](unsigned node) { return graph.node(node).simple_neighborhood; };
    unsigned first = 0;
    bool is_along = true;
    for (unsigned i = 1; i < n; ++i) {
      is_along = is_along && overlap(neighbors(i), below(i));
      if (size(neighbors(i)) < size(neighbors(first))) first = i;
    }
    if (is_along || graph.has_complex_edges()) return mirrored(n);
    Numbering numbering(n);
    numbering.is_mirrored_ = false;
    numbering.put(first, 0);
    NodeSet taken = single(first);
    for (unsigned at = 0, end = 1; at < end; ++at) {
      for (NodeSet next = neighbors(numbering.node(n - 1 - at)) & ~taken; next != 0; next &= next - 1) {
        numbering.put(lowest_node(next), end++);
        taken |= lowest(next);
      }
    }
    return numbering;
  }

  unsigned bit(unsigned node) const { return bit_of_[node]; }
  unsigned node(unsigned bit) const { return node_of_[bit]; }
  NodeSet bits(NodeSet nodes) const {
    if (is_mirrored_) return join_order::mirrored(nodes, n_nodes_);
    NodeSet found = 0;
    for (; nodes != 0; nodes &= nodes - 1) found |= single(bit(lowest_node(nodes)));
    return found;
  }

 private:
  explicit Numbering(unsigned n_nodes) : n_nodes_(n_nodes) {}
  /// The first has the highest bit.
  void put(unsigned node, unsigned place) {
    bit_of_[node] = static_cast<std::uint8_t>(n_nodes_ - 1 - place);
    node_of_[n_nodes_ - 1 - place] = static_cast<std::uint8_t>(node);
  }

  unsigned n_nodes_;
  bool is_mirrored_ = true;
  std::array<std::uint8_t, kMostNodes> bit_of_;
  std::array<std::uint8_t, kMostNodes> node_of_;
};

}  // namespace engineroom::join_order
