#include "join_order/conflict_rules.hpp"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>

#include "common/require.hpp"

namespace engineroom::join_order {

namespace {

class Builder {
 public:
  explicit Builder(const std::vector<Operator>& tree) : tree_(tree), tables_(tree.size()) { find_tables(); }

  Hypergraph build() {
    Hypergraph graph(size(tables_.back()));
    for (std::size_t i = 0; i < tree_.size(); ++i) {
      if (tree_[i].left >= 0) add(i, graph);
    }
    return graph;
  }

 private:
  void find_tables() {
    if (tree_.empty()) refuse("the tree of joins is empty; give at least one table");
    std::vector<bool> is_used(tree_.size());
    for (std::size_t i = 0; i < tree_.size(); ++i) {
      const Operator& op = tree_[i];
      const std::string where = "operator " + std::to_string(i);
      if ((op.left < 0) != (op.right < 0)) refuse(where + " has one input; a join has two and a table none");
      if (op.left < 0) {
        if (op.table >= kMostNodes) refuse(where + " is table " + std::to_string(op.table) + "; at most 63");
        tables_[i] = single(op.table);
        continue;
      }
      for (std::int32_t input : {op.left, op.right}) {
        const auto at = static_cast<std::size_t>(input);
        if (at >= i || is_used[at])
          refuse(where + " has input " + std::to_string(input) + ", which is not a tree's");
        is_used[at] = true;
      }
      const NodeSet left = tables_[static_cast<std::size_t>(op.left)];
      const NodeSet right = tables_[static_cast<std::size_t>(op.right)];
      if (overlap(left, right))
        refuse(where + " joins table " + std::to_string(lowest_node(left & right)) + " twice");
      tables_[i] = left | right;
      if (!is_subset(op.used, tables_[i])) {
        refuse(where + " has a condition on " + to_text(op.used & ~tables_[i]) + ", which is not below it");
      }
    }
    if (std::count(is_used.begin(), is_used.end(), false) != 1 ||
        tables_.back() != first_nodes(size(tables_.back()))) {
      refuse("the operators are not one tree over the tables 0 to n-1, but end with " +
             to_text(tables_.back()));
    }
  }

  NodeSet tables(std::int32_t i) const { return tables_[static_cast<std::size_t>(i)]; }
  const Operator& op(std::int32_t i) const { return tree_[static_cast<std::size_t>(i)]; }

  /// The tables of a side that a condition uses, all of them when it uses none.
  static NodeSet used_of(NodeSet used, NodeSet side) { return overlap(used, side) ? used & side : side; }

  bool associative(const Operator& first, const Operator& second) const {
    return is_associative(first.kind, second.kind, overlap(second.null_rejected, tables(second.left)));
  }

  void each_below(std::int32_t i, const std::function<void(const Operator&)>& visit) const {
    const Operator& o = op(i);
    if (o.left < 0) return;
    each_below(o.left, visit);
    each_below(o.right, visit);
    visit(o);
  }

  /// Grows the set by all rules that always apply, and drops the rules that can no longer forbid anything.
  static NodeSet absorb(NodeSet needed, std::vector<ConflictRule>& rules) {
    for (NodeSet before = 0; before != needed;) {
      before = needed;
      for (const ConflictRule& rule : rules) {
        if (overlap(rule.if_any, needed)) needed |= rule.then_all;
      }
      std::erase_if(rules, [needed](const ConflictRule& rule) { return is_subset(rule.then_all, needed); });
    }
    return needed;
  }

  void add(std::size_t i, Hypergraph& graph) const {
    const Operator& o = tree_[i];
    std::vector<ConflictRule> rules;
    each_below(o.left, [&](const Operator& child) {
      if (!associative(child, o)) {
        rules.push_back({tables(child.right), used_of(child.used, tables(child.left))});
      }
      if (!is_left_asscom(child.kind, o.kind)) {
        rules.push_back({tables(child.left), used_of(child.used, tables(child.right))});
      }
    });
    each_below(o.right, [&](const Operator& child) {
      if (!associative(o, child)) {
        rules.push_back({tables(child.left), used_of(child.used, tables(child.right))});
      }
      if (!is_right_asscom(o.kind, child.kind)) {
        rules.push_back({tables(child.right), used_of(child.used, tables(child.left))});
      }
    });
    NodeSet needed = absorb(o.used, rules);
    // An edge needs two ends: a condition on one side only, or none, takes the whole other side. Some orders
    // are lost.
    for (NodeSet side : {tables(o.left), tables(o.right)}) {
      if (!overlap(needed, side)) needed = absorb(needed | side, rules);
    }
    graph.add_edge(needed & tables(o.left), needed & tables(o.right), std::move(rules));
  }

  const std::vector<Operator>& tree_;
  std::vector<NodeSet> tables_;  // below and including each operator
};

}  // namespace

bool is_associative(JoinKind first, JoinKind second, bool second_rejects_nulls_of_its_left) {
  if (first == JoinKind::straight || second == JoinKind::straight) return false;
  if (first == JoinKind::left && second == JoinKind::left) return second_rejects_nulls_of_its_left;
  return first == JoinKind::inner;
}

bool is_left_asscom(JoinKind first, JoinKind second) {
  return first != JoinKind::straight && second != JoinKind::straight;
}

bool is_right_asscom(JoinKind first, JoinKind second) {
  return first == JoinKind::inner && second == JoinKind::inner;
}

Hypergraph hypergraph_of(const std::vector<Operator>& tree) { return Builder(tree).build(); }

}  // namespace engineroom::join_order
