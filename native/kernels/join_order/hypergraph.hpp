// A query's hypergraph: tables are nodes, and a join predicate is an edge between two sets of tables, both of
// which must be whole before the predicate can join them.
//
// Models      hypergraph::Hypergraph of MySQL 8.0 and later; the order of the edges at a node decides the
//             order of events
// Leaves out  what a predicate says; see plans.hpp for selectivities
// Cost        O(1) to add a simple edge, O(nodes of the edge) for a complex one
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "join_order/node_set.hpp"

namespace engineroom::join_order {

struct Hyperedge {
  NodeSet left;
  NodeSet right;

  bool is_simple() const { return is_single(left) && is_single(right); }
  NodeSet nodes() const { return left | right; }
  /// Whether `a` and `b` are joined by this edge, either way round.
  bool connects(NodeSet a, NodeSet b) const {
    return (is_subset(left, a) && is_subset(right, b)) || (is_subset(left, b) && is_subset(right, a));
  }
};

/// If a join has any table of `if_any`, it must have all tables of `then_all`: what CD-C could not fold into
/// an edge.
struct ConflictRule {
  NodeSet if_any;
  NodeSet then_all;
};

/// Edges are numbered by their place in the input. Each is stored twice, as 2k and, swapped, as 2k+1.
class Hypergraph {
 public:
  struct Node {
    NodeSet simple_neighborhood = 0;
    std::vector<std::uint32_t> simple_edges;   // stored edges whose left is this node
    std::vector<std::uint32_t> complex_edges;  // stored edges whose left contains this node
  };

  /// Refuses more than 64 nodes or none.
  explicit Hypergraph(std::size_t n_nodes);

  /// Refuses empty or overlapping sides and unknown nodes, with the edge's place in the list.
  void add_edge(NodeSet left, NodeSet right, std::vector<ConflictRule> rules = {});
  /// Gives an edge other sides; the order of the edges at its nodes changes as it does in the server.
  void modify_edge(std::size_t edge, NodeSet left, NodeSet right);

  unsigned n_nodes() const { return static_cast<unsigned>(nodes_.size()); }
  std::size_t n_edges() const { return stored_.size() / 2; }
  NodeSet all_nodes() const { return first_nodes(n_nodes()); }
  const Node& node(unsigned i) const { return nodes_[i]; }
  /// A stored edge, by its number 2k or 2k+1.
  const Hyperedge& stored(std::size_t i) const { return stored_[i]; }
  const Hyperedge& edge(std::size_t k) const { return stored_[2 * k]; }
  const std::vector<ConflictRule>& rules(std::size_t k) const { return rules_[k]; }
  bool has_rules() const { return has_rules_; }
  bool has_complex_edges() const;
  /// Whether the rules of edge k allow the join of these tables.
  bool rules_allow(std::size_t k, NodeSet tables) const {
    for (const ConflictRule& rule : rules_[k]) {
      if (overlap(rule.if_any, tables) && !is_subset(rule.then_all, tables)) return false;
    }
    return true;
  }

 private:
  void attach(std::size_t edge);
  void check(NodeSet left, NodeSet right, std::size_t edge) const;

  std::vector<Node> nodes_;
  std::vector<Hyperedge> stored_;
  std::vector<std::vector<ConflictRule>> rules_;
  bool has_rules_ = false;
};

/// The largest sets of nodes that the edges can join, lowest node first: one set when the graph is connected.
std::vector<NodeSet> components(const Hypergraph& graph);
/// Refuses a graph that cannot be joined without a cross product, and names its parts.
void require_connected(const Hypergraph& graph);
/// "{0,3,5}"
std::string to_text(NodeSet set);

}  // namespace engineroom::join_order
