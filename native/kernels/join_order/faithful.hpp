// DPhyp with MySQL's events in MySQL's order, one call per pair and edge.
//
// Models      the enumeration of the papers as MySQL 9.7 orders it: both sides of a pair grow by one rule (`grow`), and the
//             border of a set is continued from that of an earlier set (`Borders`), which decides which table stands for a
//             hypernode and with it the order of the events
// Leaves out  more than 61 tables, the server's own limit
// Cost        in proportion to the calls; recursion at most as deep as there are tables
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
      lower_ = below(seed);
      Part left = Borders(graph_, 0).after(Part{}, single(seed), lower_);
      if (pair_up(left, left.border)) return true;
      left.closed |= left.tables;
      if (grow<Left>(left, Left{*this})) return true;
    }
    return false;
  }

  std::uint64_t inner_tests() const { return inner_tests_; }

 private:
  /// A connected set of tables on its way to a larger one.
  struct Part {
    NodeSet tables = 0;
    NodeSet border = 0;  // one table for each hypernode that an edge leads to from here
    NodeSet reach = 0;   // all tables of those hypernodes
    NodeSet closed = 0;  // tables that neither it nor what it grows to may take
  };

  /// The borders of one part after each of its steps. Steps come as binary numbers do, so that a step is often an earlier
  /// one and some tables more: only the edges of those are looked at then. A step with the lowest table is never followed
  /// by such a one, and is not kept.
  class Borders {
   public:
    Borders(const Hypergraph& graph, NodeSet border) : graph_(graph), never_kept_(lowest(border)) {}

    /// `part` with the tables of `step`, and what it may grow by next. Edges of other tables than the step's
    /// end in the part or in what is closed.
    Part after(const Part& part, NodeSet step, NodeSet closed) {
      const bool continues = is_subset(kept_step_, step);
      Part grown{.tables = part.tables | step,
                 .border = continues ? kept_border_ : NodeSet{0},
                 .reach = continues ? kept_reach_ : NodeSet{0},
                 .closed = closed};
      const NodeSet taken = grown.tables | closed;
      for (NodeSet left = continues ? step & ~kept_step_ : step; left != 0; left &= left - 1) {
        const Hypergraph::Node& node = graph_.node(lowest_node(left));
        grown.border |= node.simple_neighborhood;
        for (const std::uint32_t i : node.complex_edges) {
          const Hyperedge& edge = graph_.stored(i);
          const bool leads_out = is_subset(edge.left, grown.tables) && !overlap(edge.right, taken);
          if (!leads_out) continue;
          grown.reach |= edge.right;
          // A table that is in the border already may stand for the hypernode too.
          if (!overlap(edge.right, grown.border)) grown.border |= lowest(edge.right);
        }
      }
      grown.border &= ~taken;
      grown.reach |= grown.border;
      if (!overlap(step, never_kept_)) {
        kept_step_ = step;
        kept_border_ = grown.border;
        kept_reach_ = grown.reach;
      }
      grown.reach |= part.reach;
      return grown;
    }

   private:
    const Hypergraph& graph_;
    const NodeSet never_kept_;
    NodeSet kept_step_ = ~NodeSet{0};
    NodeSet kept_border_ = 0;
    NodeSet kept_reach_ = 0;
  };

  /// What is done with a grown left side: it is paired with all complements. Those may take what is closed to it, save the
  /// tables below its seed.
  struct Left {
    FaithfulEnumerator& all;
    bool operator()(const Part& part, NodeSet step, Borders& borders) const {
      const Part grown = borders.after(part, step, part.closed);
      return all.pair_up(grown, grown.border | (part.closed & ~all.lower_) | part.border);
    }
  };

  /// What is done with a grown right side: it is reported with the left one if an edge joins them.
  struct Right {
    FaithfulEnumerator& all;
    const Part& left;
    bool operator()(const Part& part, NodeSet step, Borders&) const {
      const NodeSet right = part.tables | step;
      return all.report(left.tables, right, right & left.reach);
    }
  };

  /// Every larger set that `part` grows to, `settle` done with each: all sets that are one step away come before any that
  /// is two away. A set that no pair has made yet is not connected, and only grown on.
  template <class Settle>
  bool grow(const Part& part, const Settle& settle) {
    Borders borders(graph_, part.border);
    for (NodeSet step = next_subset(0, part.border); step != 0; step = next_subset(step, part.border)) {
      ++inner_tests_;
      if (receiver_.has_seen(part.tables | step) && settle(part, step, borders)) return true;
    }
    for (NodeSet step = next_subset(0, part.border); step != 0; step = next_subset(step, part.border)) {
      const NodeSet closed = (part.closed | part.border) & ~(part.tables | step);
      if (grow(borders.after(part, step, closed), settle)) return true;
    }
    return false;
  }

  /// `left` with each of its complements, which start from one of `seeds`, the highest first.
  bool pair_up(const Part& left, NodeSet seeds) {
    seeds &= ~left.tables;
    Borders borders(graph_, seeds);
    while (seeds != 0) {
      const NodeSet seed = single(highest_node(seeds));
      seeds &= ~seed;
      ++inner_tests_;
      if (report(left.tables, seed, seed)) return true;
      // With the lower seeds open, a complement with two seeds would be found from both.
      const NodeSet closed = lower_ | left.tables | (forbid_lower_seeds_ ? seeds : NodeSet{0});
      if (grow(borders.after(Part{}, seed, closed), Right{*this, left})) return true;
    }
    return false;
  }

  /// The pair, once for each edge between its sides. `ends`: tables of the right side at which such an edge can end.
  bool report(NodeSet left, NodeSet right, NodeSet ends) {
    for (; ends != 0; ends &= ends - 1) {
      const Hypergraph::Node& node = graph_.node(lowest_node(ends));
      if (overlap(node.simple_neighborhood, left)) {
        for (const std::uint32_t i : node.simple_edges) {
          if (overlap(graph_.stored(i).right, left) && receiver_.pair(left, right, i / 2)) return true;
        }
      }
      for (const std::uint32_t i : node.complex_edges) {
        const Hyperedge& edge = graph_.stored(i);
        // An edge that ends at several tables is told at the lowest.
        const bool is_told_here = lowest(edge.left) == lowest(ends);
        if (is_told_here && is_subset(edge.left, right) && is_subset(edge.right, left) &&
            receiver_.pair(left, right, i / 2)) {
          return true;
        }
      }
    }
    return false;
  }

  const Hypergraph& graph_;
  Receiver& receiver_;
  const bool forbid_lower_seeds_;
  NodeSet lower_ = 0;  // tables below the left side's seed: in none of its pairs
  std::uint64_t inner_tests_ = 0;
};

}  // namespace engineroom::join_order
