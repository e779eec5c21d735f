// Which sets were the union of a pair: one bit a set where that is small or most sets are connected, else a
// table.
//
// Models      HasSeen of the server's receivers
// Leaves out  removal
// Cost        2^n bits for n <= 16 (8 KiB) and for graphs with a node of nearly n neighbours, which has
//             nearly 2^n connected sets anyway; else one table slot a set
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "join_order/hypergraph.hpp"
#include "join_order/set_table.hpp"

namespace engineroom::join_order {

/// Whether an array by the set itself is at most 16 times as large as the connected sets need.
inline bool is_dense(const Hypergraph& graph) {
  constexpr unsigned kMostDense = 24;
  unsigned degree = 0;
  for (unsigned i = 0; i < graph.n_nodes(); ++i)
    degree = std::max(degree, size(graph.node(i).simple_neighborhood));
  return graph.n_nodes() <= kMostDense && graph.n_nodes() <= degree + 4;
}

class SeenSets {
 public:
  explicit SeenSets(const Hypergraph& graph) {
    constexpr unsigned kAlwaysBits = 16;
    if (graph.n_nodes() <= kAlwaysBits || is_dense(graph)) {
      bits_.resize(((std::size_t{1} << graph.n_nodes()) + 63) / 64);
    }
  }

  bool contains(NodeSet set) const {
    return bits_.empty() ? table_.find(set) != nullptr : ((bits_[place_of(set / 64)] >> (set % 64)) & 1) != 0;
  }
  void insert(NodeSet set) {
    if (bits_.empty()) {
      table_.insert(set);
      return;
    }
    std::uint64_t& word = bits_[place_of(set / 64)];
    const std::uint64_t bit = std::uint64_t{1} << (set % 64);
    n_bits_ += (word & bit) == 0;
    word |= bit;
  }
  std::size_t size() const { return bits_.empty() ? table_.size() : n_bits_; }

 private:
  std::vector<std::uint64_t> bits_;
  std::size_t n_bits_ = 0;
  SetTable<char> table_;
};

}  // namespace engineroom::join_order
