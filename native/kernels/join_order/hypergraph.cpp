#include "join_order/hypergraph.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "common/require.hpp"

namespace engineroom::join_order {

namespace {

/// The server's way to take an edge out of a list: the last one takes its place.
void remove(std::vector<std::uint32_t>& edges, std::size_t edge) {
  const auto at = std::find(edges.begin(), edges.end(), static_cast<std::uint32_t>(edge));
  *at = edges.back();
  edges.pop_back();
}

}  // namespace

Hypergraph::Hypergraph(std::size_t n_nodes) : nodes_(std::min<std::size_t>(n_nodes, kMostNodes)) {
  if (n_nodes == 0 || n_nodes > kMostNodes) {
    refuse("a graph has 1 to 64 nodes, got " + std::to_string(n_nodes));
  }
}

void Hypergraph::check(NodeSet left, NodeSet right, std::size_t edge) const {
  const std::string which =
      "edge " + std::to_string(edge) + " joins " + to_text(left) + " with " + to_text(right);
  if (left == 0 || right == 0)
    refuse(which + ": a side is empty; an edge needs at least one node on each side");
  if (overlap(left, right)) {
    refuse(which + ": node " + std::to_string(lowest_node(left & right)) +
           " is on both sides; leave it out on one of them");
  }
  if (!is_subset(left | right, all_nodes())) {
    refuse(which + ": there is no node " + std::to_string(highest_node(left | right)) +
           "; the nodes are 0 to " + std::to_string(n_nodes() - 1));
  }
}

void Hypergraph::add_edge(NodeSet left, NodeSet right, std::vector<ConflictRule> rules) {
  check(left, right, n_edges());
  stored_.push_back({left, right});
  stored_.push_back({right, left});
  has_rules_ = has_rules_ || !rules.empty();
  rules_.push_back(std::move(rules));
  attach(n_edges() - 1);
}

void Hypergraph::attach(std::size_t edge) {
  for (std::size_t i : {2 * edge, 2 * edge + 1}) {
    const Hyperedge& e = stored_[i];
    const auto number = static_cast<std::uint32_t>(i);
    if (e.is_simple()) {
      Node& node = nodes_[lowest_node(e.left)];
      node.simple_neighborhood |= e.right;
      node.simple_edges.push_back(number);
    } else {
      for (NodeSet rest = e.left; rest != 0; rest &= rest - 1) {
        nodes_[lowest_node(rest)].complex_edges.push_back(number);
      }
    }
  }
}

void Hypergraph::modify_edge(std::size_t edge, NodeSet left, NodeSet right) {
  check(left, right, edge);
  const Hyperedge old = stored_[2 * edge];
  const Hyperedge changed{left, right};
  if (!old.is_simple() && !changed.is_simple()) {
    // A complex edge that stays complex keeps its place at the nodes that it keeps.
    for (std::size_t swapped : {std::size_t{0}, std::size_t{1}}) {
      const std::size_t i = 2 * edge + swapped;
      const NodeSet before = swapped ? old.right : old.left;
      const NodeSet after = swapped ? right : left;
      for (NodeSet gone = before & ~after; gone != 0; gone &= gone - 1) {
        remove(nodes_[lowest_node(gone)].complex_edges, i);
      }
      for (NodeSet come = after & ~before; come != 0; come &= come - 1) {
        nodes_[lowest_node(come)].complex_edges.push_back(static_cast<std::uint32_t>(i));
      }
    }
  } else {
    for (std::size_t i : {2 * edge, 2 * edge + 1}) {
      for (NodeSet rest = stored_[i].left; rest != 0; rest &= rest - 1) {
        Node& node = nodes_[lowest_node(rest)];
        remove(old.is_simple() ? node.simple_edges : node.complex_edges, i);
        if (!old.is_simple()) continue;
        // Another edge may join the same two nodes.
        node.simple_neighborhood = 0;
        for (std::uint32_t other : node.simple_edges) node.simple_neighborhood |= stored_[other].right;
      }
    }
  }
  stored_[2 * edge] = {left, right};
  stored_[2 * edge + 1] = {right, left};
  if (old.is_simple() || changed.is_simple()) attach(edge);
}

bool Hypergraph::has_complex_edges() const {
  return std::any_of(nodes_.begin(), nodes_.end(),
                     [](const Node& node) { return !node.complex_edges.empty(); });
}

std::vector<NodeSet> components(const Hypergraph& graph) {
  std::array<NodeSet, kMostNodes> part;  // of each node, the set it is in
  for (unsigned i = 0; i < graph.n_nodes(); ++i) part[i] = single(i);
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t k = 0; k < graph.n_edges(); ++k) {
      const Hyperedge& e = graph.edge(k);
      const NodeSet left = part[lowest_node(e.left)];
      const NodeSet right = part[lowest_node(e.right)];
      if (left == right || !is_subset(e.left, left) || !is_subset(e.right, right)) continue;
      for (NodeSet rest = left | right; rest != 0; rest &= rest - 1) part[lowest_node(rest)] = left | right;
      changed = true;
    }
  }
  std::vector<NodeSet> found;
  for (unsigned i = 0; i < graph.n_nodes(); ++i) {
    if (lowest_node(part[i]) == i) found.push_back(part[i]);
  }
  return found;
}

void require_connected(const Hypergraph& graph) {
  const std::vector<NodeSet> parts = components(graph);
  if (parts.size() == 1) return;
  std::string text;
  for (NodeSet part : parts) {
    if (!text.empty()) text += ' ';
    text += to_text(part);
  }
  refuse("the graph is not connected, its parts are " + text +
         "; add an edge between parts, which stands for a cross product");
}

std::string to_text(NodeSet set) {
  std::string text = "{";
  for (NodeSet rest = set; rest != 0; rest &= rest - 1) {
    if (text.size() > 1) text += ',';
    text += std::to_string(lowest_node(rest));
  }
  text += '}';
  return text;
}

}  // namespace engineroom::join_order
