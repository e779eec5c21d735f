// Our own enumerator: one report a pair with the set of edges that join it, a node at a time.
//
// Where DPhyp tries all subsets of a neighbourhood in two loops, this one decides about one node after the
// other, leaving it out first. That alone puts every subset before its supersets, needs no second loop and no
// neighbourhood cache, and the neighbourhood of a grown set is one OR. While a set grows along simple edges
// it is connected for certain, so only sets that were grown over a complex edge are looked up. The joining
// edges of two sets are the AND of the bit sets of the edges at their nodes.
//
// Inside, and for the receiver, sets are of bits, the first node's the highest: node i is bit n-1-i, if the
// receiver does not choose. Sets then come in nearly ascending order, and their unions in a few ascending
// series, so an array by set is read and written in streams.
//
// Models      nothing of a server; the same pairs as `faithful`
// Leaves out  conflict rules (filter them in the receiver)
// Cost        under ten nanoseconds per pair on simple graphs, no memory beyond the recursion there; with
//             complex edges one table slot a connected set
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "common/require.hpp"
#include "join_order/counters.hpp"
#include "join_order/hypergraph.hpp"
#include "join_order/numbering.hpp"
#include "join_order/set_table.hpp"

namespace engineroom::join_order {

/// A set of at most 64 * Words edges, by their place in the list. With 0 words it is always empty: for a
/// receiver that does not ask for edges.
template <std::size_t Words>
struct EdgeSet {
  std::array<std::uint64_t, Words> words{};

  void add(std::size_t edge) {
    if constexpr (Words > 0) words[edge / 64] |= std::uint64_t{1} << (edge % 64);
  }
  bool empty() const {
    std::uint64_t any = 0;
    for (std::uint64_t word : words) any |= word;
    return any == 0;
  }
  friend EdgeSet operator|(EdgeSet a, const EdgeSet& b) {
    for (std::size_t i = 0; i < Words; ++i) a.words[i] |= b.words[i];
    return a;
  }
  friend EdgeSet operator&(EdgeSet a, const EdgeSet& b) {
    for (std::size_t i = 0; i < Words; ++i) a.words[i] &= b.words[i];
    return a;
  }
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (std::size_t i = 0; i < Words; ++i) {
      for (std::uint64_t rest = words[i]; rest != 0; rest &= rest - 1) {
        visit(64 * i + static_cast<std::size_t>(std::countr_zero(rest)));
      }
    }
  }
};

/// `Receiver` has `void node(unsigned)`, with the node's bit, and `void pair(NodeSet left, NodeSet
/// right, const EdgeSet<Words>&)`. With `Complex` also `bool has_seen(NodeSet)`, which must be true for every
/// set that was the union of a reported pair. It may have a type `Carried` of a number that goes with a left
/// set while it grows: `Carried first(unsigned)` of a node, `Carried grown(Carried, NodeSet, unsigned)` of a
/// set and the bit that joins it, and `void subgraph(NodeSet, Carried)`, called before the pairs whose left
/// the set is. Such a receiver keeps the sets that it was told of, and is asked for the right sides among
/// them where that spares growing them again, all of a seed's, or so few that most need not fit: `std::size_t
/// n_kept(unsigned seed)` is how many there are between `first(seed)` and the next seed, and `std::size_t
/// pairs_with_kept(unsigned seed, NodeSet left, NodeSet allowed, joins)` takes the subsets of `allowed` among
/// them for which `joins(set)`, in their order, and returns how many it tried.
template <std::size_t Words, bool Complex, class Receiver>
class FastEnumerator {
 public:
  using Edges = EdgeSet<Words>;

  /// `look_up_all`, with `Complex`: connected is only what the receiver has seen, for a receiver that refuses
  /// pairs.
  FastEnumerator(const Hypergraph& graph, Receiver& receiver, bool look_up_all = false)
      : FastEnumerator(graph, receiver, Numbering::mirrored(graph.n_nodes()), look_up_all) {}
  /// The numbering must outlive the constructor.
  FastEnumerator(const Hypergraph& graph, Receiver& receiver, const Numbering& numbering,
                 bool look_up_all = false)
      : receiver_(receiver), look_up_all_(look_up_all), n_nodes_(graph.n_nodes()) {
    const auto turned = [&](const Hyperedge& e) {
      return Hyperedge{numbering.bits(e.left), numbering.bits(e.right)};
    };
    for (unsigned bit = 0; bit < n_nodes_; ++bit) {
      const Hypergraph::Node& node = graph.node(numbering.node(bit));
      adjacent_[bit] = numbering.bits(node.simple_neighborhood);
      for (std::uint32_t edge : node.simple_edges) edges_at_[bit].add(edge / 2);
      if constexpr (Complex) {
        first_complex_[bit] = static_cast<std::uint32_t>(complex_at_.size());
        for (std::uint32_t edge : node.complex_edges) complex_at_.push_back(turned(graph.stored(edge)));
      }
    }
    if constexpr (Complex) {
      first_complex_[n_nodes_] = static_cast<std::uint32_t>(complex_at_.size());
      for (std::size_t k = 0; k < graph.n_edges(); ++k) {
        if (!graph.edge(k).is_simple()) complex_.push_back({turned(graph.edge(k)), k});
      }
    }
  }

  void run() {
    for (unsigned seed = 0; seed < n_nodes_; ++seed) {
      receiver_.node(seed);
      base_ = below(seed);
      Carried carried{};
      if constexpr (kCarries) carried = receiver_.first(seed);
      grow_subgraph(single(seed), candidates(single(seed), seed, 0, base_), base_, adjacent_[seed],
                    edges_at_[seed], true, carried);
    }
  }

  std::uint64_t connected_subgraphs() const { return connected_subgraphs_; }
  std::uint64_t inner_tests() const { return inner_tests_; }

 private:
  struct Nothing {};
  template <class R>
  static auto carried_by(int) -> typename R::Carried;
  template <class R>
  static auto carried_by(long) -> Nothing;
  using Carried = decltype(carried_by<Receiver>(0));
  static constexpr bool kCarries = !std::is_same_v<Carried, Nothing>;

  struct ComplexEdge {
    Hyperedge ends;
    std::size_t edge;
  };

  /// The undecided nodes after `node` joined `set`: those from before and the node's neighbours, as far as
  /// allowed.
  NodeSet candidates(NodeSet set, unsigned node, NodeSet before, NodeSet allowed) const {
    NodeSet found = (before | adjacent_[node]) & allowed;
    if constexpr (Complex) {
      for (std::uint32_t i = first_complex_[node]; i < first_complex_[node + 1]; ++i) {
        const Hyperedge& e = complex_at_[i];
        if (is_subset(e.left, set) && is_subset(e.right, allowed) && !overlap(e.right, found)) {
          found |= lowest(e.right);
        }
      }
    }
    return found;
  }

  /// `undecided` may still join the set; `allowed` is what is neither in it nor left out; `neighbors` are all
  /// simple neighbours of the set's nodes. `connected` when that is known without a look into the table.
  void grow_subgraph(NodeSet set, NodeSet undecided, NodeSet allowed, NodeSet neighbors, const Edges& edges,
                     bool connected, Carried carried) {
    ++inner_tests_;
    if constexpr (Complex) connected = (connected && !look_up_all_) || receiver_.has_seen(set);
    if (connected) {
      ++connected_subgraphs_;
      if constexpr (kCarries) receiver_.subgraph(set, carried);
      complements(set, neighbors, edges);
    }
    const NodeSet all = undecided;
    while (undecided != 0) {
      const unsigned node = lowest_node(undecided);
      const NodeSet bit = single(node);
      undecided &= ~bit;
      const NodeSet still_allowed = allowed & ~(undecided | bit);
      Carried more{};
      if constexpr (kCarries) more = receiver_.grown(carried, set, node);
      grow_subgraph(set | bit, candidates(set | bit, node, all, still_allowed), still_allowed,
                    neighbors | adjacent_[node], edges | edges_at_[node],
                    connected && overlap(adjacent_[node], set), more);
    }
  }

  void complements(NodeSet set, NodeSet neighbors, const Edges& edges) {
    left_ = set;
    left_edges_ = edges;
    if constexpr (Complex) left_neighbors_ = neighbors;
    const NodeSet allowed = base_ & ~set;
    NodeSet seeds = neighbors & allowed;
    if constexpr (Complex) {
      for (const ComplexEdge& e : complex_) {
        for (const auto& [from, to] : {e.ends, Hyperedge{e.ends.right, e.ends.left}}) {
          if (is_subset(from, set) && is_subset(to, allowed) && !overlap(to, seeds)) seeds |= lowest(to);
        }
      }
    }
    while (seeds != 0) {
      const unsigned seed = lowest_node(seeds);
      const NodeSet bit = single(seed);
      seeds &= ~bit;
      const NodeSet still_allowed = allowed & ~(seeds | bit);
      const NodeSet undecided = candidates(bit, seed, 0, still_allowed);
      if constexpr (kCarries) {
        // Without higher nodes it would only grow again what grew from this seed as a left side.
        if (undecided != 0 && still_allowed < bit &&
            (still_allowed == below(seed) || receiver_.n_kept(seed) <= n_nodes_)) {
          inner_tests_ += receiver_.pairs_with_kept(seed, set, still_allowed | bit,
                                                    [&](NodeSet right) { return joins(right); });
          continue;
        }
      }
      grow_complement(bit, undecided, still_allowed, edges_at_[seed], true);
    }
  }

  /// Whether an edge joins a connected set with the left one.
  bool joins([[maybe_unused]] NodeSet right) const {
    if constexpr (Complex) {
      return overlap(left_neighbors_, right) ||
             std::any_of(complex_.begin(), complex_.end(),
                         [&](const ComplexEdge& e) { return e.ends.connects(left_, right); });
    }
    return true;
  }

  void grow_complement(NodeSet set, NodeSet undecided, NodeSet allowed, const Edges& edges, bool connected) {
    ++inner_tests_;
    if constexpr (Complex) {
      connected = (connected && !look_up_all_) || receiver_.has_seen(set);
      if (connected) {
        bool joined = overlap(left_neighbors_, set);
        Edges joining = left_edges_ & edges;
        for (const ComplexEdge& e : complex_) {
          if (!e.ends.connects(left_, set)) continue;
          joined = true;
          joining.add(e.edge);
        }
        if (joined) receiver_.pair(left_, set, joining);
      }
    } else {
      receiver_.pair(left_, set, left_edges_ & edges);
    }
    const NodeSet all = undecided;
    while (undecided != 0) {
      const unsigned node = lowest_node(undecided);
      const NodeSet bit = single(node);
      undecided &= ~bit;
      const NodeSet still_allowed = allowed & ~(undecided | bit);
      grow_complement(set | bit, candidates(set | bit, node, all, still_allowed), still_allowed,
                      edges | edges_at_[node], connected && overlap(adjacent_[node], set));
    }
  }

  Receiver& receiver_;
  const bool look_up_all_;
  const unsigned n_nodes_;
  std::array<NodeSet, kMostNodes> adjacent_{};
  std::array<Edges, kMostNodes> edges_at_{};
  std::array<std::uint32_t, kMostNodes + 1> first_complex_{};
  std::vector<Hyperedge> complex_at_;  // by node of their left
  std::vector<ComplexEdge> complex_;
  NodeSet base_ = 0;  // the nodes above the seed, which are the bits below it
  NodeSet left_ = 0;
  NodeSet left_neighbors_ = 0;
  Edges left_edges_{};
  std::uint64_t connected_subgraphs_ = 0;
  std::uint64_t inner_tests_ = 0;
};

/// Calls `run` with the narrowest edge set and the simplest form that fit the graph. In the browser, where a
/// module is to be small and graphs are drawn by hand, at most 64 edges.
template <class Run>
void with_fast_form(const Hypergraph& graph, Run&& run) {
  const auto by_words = [&]<std::size_t Words>() {
    if (graph.has_complex_edges()) {
      run.template operator()<Words, true>();
    } else {
      run.template operator()<Words, false>();
    }
  };
  const std::size_t n = graph.n_edges();
  if (n <= 64) {
    by_words.template operator()<1>();
    return;
  }
  if constexpr (sizeof(void*) > 4) {
    if (n <= 128) {
      by_words.template operator()<2>();
    } else if (n <= 256) {
      by_words.template operator()<4>();
    } else {
      by_words.template operator()<64>();
    }
  } else {
    refuse("at most 64 edges fit here, got " + std::to_string(n));
  }
}

}  // namespace engineroom::join_order
