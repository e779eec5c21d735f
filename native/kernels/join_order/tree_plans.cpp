#include "join_order/tree_plans.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "join_order/plan_tree.hpp"
#include "join_order/prices.hpp"

namespace engineroom::join_order {

namespace {

/// The tables in an order in which children come after their parents and side by side.
struct Rooted {
  unsigned n = 0;
  std::array<std::uint8_t, kMostNodes> node;         // by place
  std::array<std::uint8_t, kMostNodes> parent;       // place, by place
  std::array<std::uint8_t, kMostNodes> first_child;  // place, by place
  std::array<std::uint8_t, kMostNodes> end_child;
};

Rooted rooted(const Hypergraph& graph, unsigned root) {
  Rooted tree;
  tree.node[0] = static_cast<std::uint8_t>(root);
  tree.parent[0] = 0;
  NodeSet seen = single(root);
  tree.n = 1;
  for (unsigned at = 0; at < tree.n; ++at) {
    tree.first_child[at] = static_cast<std::uint8_t>(tree.n);
    for (NodeSet next = graph.node(tree.node[at]).simple_neighborhood & ~seen; next != 0; next &= next - 1) {
      tree.node[tree.n] = static_cast<std::uint8_t>(lowest_node(next));
      tree.parent[tree.n++] = static_cast<std::uint8_t>(at);
    }
    tree.end_child[at] = static_cast<std::uint8_t>(tree.n);
    seen |= graph.node(tree.node[at]).simple_neighborhood;
  }
  return tree;
}

/// The table without which no part has more than half of the others: with it as the root, what is kept per set of the
/// other families is little.
unsigned middle(const Hypergraph& graph) {
  const Rooted tree = rooted(graph, 0);
  std::array<unsigned, kMostNodes> below{};
  for (unsigned at = tree.n; at-- > 1;) {
    ++below[at];
    below[tree.parent[at]] += below[at];
  }
  unsigned at = 0;
  for (bool moves = true; moves;) {
    moves = false;
    for (unsigned child = tree.first_child[at]; child < tree.end_child[at]; ++child) {
      if (2 * below[child] <= tree.n) continue;
      at = child;
      moves = true;
      break;
    }
  }
  return tree.node[at];
}

template <class Price>
class TreePlanner {
 public:
  TreePlanner(const Hypergraph& graph, const Statistics& statistics) : n_(graph.n_nodes()), families_(n_) {
    const Rooted tree = rooted(graph, middle(graph));
    for (unsigned at = 0; at < n_; ++at) {
      families_[at] = {
          .node = tree.node[at], .first_child = tree.first_child[at], .end_child = tree.end_child[at]};
      place_of_[tree.node[at]] = static_cast<std::uint8_t>(at);
    }
    for (std::size_t k = 0; k < graph.n_edges(); ++k) {
      const unsigned a = place_of_[lowest_node(graph.edge(k).left)];
      const unsigned b = place_of_[lowest_node(graph.edge(k).right)];
      families_[std::max(a, b)].selectivity *= statistics.selectivity[k];  // children come later
    }
    for (unsigned at = n_; at-- > 0;) {
      Family& top = families_[at];
      // Long runs are cheaper: a child with many sets becomes an upper digit.
      std::sort(families_.begin() + top.first_child, families_.begin() + top.end_child,
                [](const Family& a, const Family& b) { return a.size < b.size; });
      for (unsigned child = top.first_child; child < top.end_child; ++child) {
        families_[child].stride = top.size;
        top.size *= families_[child].size + 1;
      }
    }
    for (unsigned at = n_; at-- > 0;) {  // in the order in which they are filled
      families_[at].first = n_sets_;
      n_sets_ += families_[at].size;
    }
    cost_ = std::make_unique_for_overwrite<double[]>(n_sets_);
    rows_ = std::make_unique_for_overwrite<double[]>(n_sets_);
    first_split_.reserve(n_sets_ - families_[0].size + 1);
    first_split_.push_back(0);
    splits_.reserve(4 * (n_sets_ - families_[0].size));
    for (unsigned at = n_; at-- > 0;) fill(at, statistics.rows[families_[at].node]);
  }

  Plan plan() {
    Plan plan{.counters = {n_sets_, n_pairs_, n_pairs_, n_pairs_}, .plans_compared = n_pairs_};
    plan.nodes.reserve(2 * n_ - 1);
    append(0, families_[0].first + families_[0].size - 1, plan.nodes);
    return plan;
  }

 private:
  /// The connected sets of one topmost table. Set `first + place` has, of each child, the digit place / stride %
  /// (size + 1): 0 without it, else one more than the place of its part in the child's family.
  struct Family {
    unsigned node = 0;
    unsigned first_child = 0;
    unsigned end_child = 0;
    std::size_t stride = 1;  // in the parent's family
    std::size_t first = 0;
    std::size_t size = 1;
    double selectivity = 1;  // of the edges to the parent
  };
  /// An edge of a set, removed: the part below it, and how many places of the family the part above it comes earlier,
  /// seen from the parent's family in strides.
  struct Split {
    std::size_t below;
    std::size_t earlier;
  };

  void fill(unsigned at, double rows) {
    const Family& top = families_[at];
    top_ = &top;
    first_ = top.first;
    rows_[first_] = rows;
    for (unsigned child = top.first_child; child < top.end_child; ++child) {
      const Family& c = families_[child];
      for (std::size_t digit = 1; digit <= c.size; ++digit) {
        const double factor = c.selectivity * rows_[c.first + digit - 1];
        const std::size_t to = first_ + digit * c.stride;
        for (std::size_t i = 0; i < c.stride; ++i) rows_[to + i] = rows_[first_ + i] * factor;
      }
    }
    std::fill_n(cost_.get() + first_, top.size, kNoCost);
    if (top.first_child == top.end_child) return finish(first_);
    fill_digits(top.first_child, top.end_child, first_);
  }

  /// All values of the digits of the children before `end`, the others being those of the set `at`.
  void fill_digits(unsigned first_child, unsigned end, std::size_t at) {
    const auto fill_lower = [&](std::size_t set) {
      if (end - 1 == first_child) return finish(set);
      fill_digits(first_child, end - 1, set);
    };
    const Family& child = families_[end - 1];
    part_[end - 1] = kNone;
    fill_lower(at);
    for (std::size_t digit = 1; digit <= child.size; ++digit) {
      const std::size_t below = child.first + digit - 1;
      const std::size_t to = at + digit * child.stride;
      const std::size_t first = first_split_[below];
      const std::size_t last = first_split_[below + 1];
      for (std::size_t i = first; i < last; ++i) {
        const Split& split = splits_[i];
        improve(to, to - split.earlier * child.stride, split.below, child.stride);
      }
      n_pairs_ += (last - first) * child.stride;
      part_[end - 1] = below;
      fill_lower(to);
    }
  }

  /// Joins `n` sets from place `above` on with the same set below them.
  void improve(std::size_t to, std::size_t above, std::size_t below, std::size_t n) {
    const typename Price::Entry lower = Price::entry(cost_[below], rows_[below]);
    double* const cost = cost_.get();
    const double* const rows = rows_.get();
    if (n == 1) {
      const double found = Price::of_pair(lower, Price::entry(cost[above], rows[above]));
      cost[to] = found < cost[to] ? found : cost[to];
      return;
    }
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC ivdep
#endif
    for (std::size_t i = 0; i < n; ++i) {
      const double found = Price::of_pair(lower, Price::entry(cost[above + i], rows[above + i]));
      cost[to + i] = found < cost[to + i] ? found : cost[to + i];
    }
  }

  /// The set's pairs are complete. Sets are finished in the order of their places.
  void finish(std::size_t set) {
    cost_[set] = set == first_ ? 0 : cost_[set] + Price::of_set(rows_[set]);
    if (top_ == &families_[0]) return;
    for (unsigned child = top_->first_child; child < top_->end_child; ++child) {
      if (part_[child] == kNone) continue;
      const std::size_t last = first_split_[part_[child] + 1];
      for (std::size_t i = first_split_[part_[child]]; i < last; ++i) {
        splits_.push_back({splits_[i].below, splits_[i].earlier * families_[child].stride});
      }
    }
    splits_.push_back({set, set - first_ + 1});  // the edge to the parent
    first_split_.push_back(splits_.size());
  }

  template <class Visit>
  void for_each_part(const Family& top, std::size_t set, const Visit& visit) const {
    for (unsigned child = top.first_child; child < top.end_child; ++child) {
      const Family& c = families_[child];
      const std::size_t digit = (set - top.first) / c.stride % (c.size + 1);
      if (digit > 0) visit(child, c.first + digit - 1);
    }
  }

  NodeSet tables(unsigned at, std::size_t set) const {
    NodeSet found = single(families_[at].node);
    for_each_part(families_[at], set,
                  [&](unsigned child, std::size_t part) { found |= tables(child, part); });
    return found;
  }

  unsigned family_of(std::size_t set) const {
    unsigned at = n_ - 1;
    while (set >= families_[at].first + families_[at].size) --at;
    return at;
  }

  std::int32_t append(unsigned at, std::size_t set, std::vector<PlanNode>& nodes) const {
    const Family& top = families_[at];
    PlanNode node{single(top.node), rows_[set], cost_[set], -1, -1};
    if (set > top.first) {
      double least = kNoCost;
      std::size_t above = set;
      std::size_t below = set;
      for_each_part(top, set, [&](unsigned child, std::size_t part) {
        for (std::size_t i = first_split_[part]; i < first_split_[part + 1]; ++i) {
          const Split& split = splits_[i];
          const std::size_t rest = set - split.earlier * families_[child].stride;
          const double found = Price::of_pair(Price::entry(cost_[split.below], rows_[split.below]),
                                              Price::entry(cost_[rest], rows_[rest]));
          if (!(found < least)) continue;
          least = found;
          above = rest;
          below = split.below;
        }
      });
      if (least == kNoCost) refuse_boundless(tables(at, set));
      node.left = append(at, above, nodes);
      node.right = append(family_of(below), below, nodes);
      const auto of = [&](std::int32_t i) { return nodes[static_cast<std::size_t>(i)].tables; };
      node.tables = of(node.left) | of(node.right);
      if (lowest(of(node.right)) < lowest(of(node.left))) std::swap(node.left, node.right);
    }
    if (!std::isfinite(node.cost)) refuse_boundless(node.tables);
    nodes.push_back(node);
    return static_cast<std::int32_t>(nodes.size()) - 1;
  }

  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

  const unsigned n_;
  std::vector<Family> families_;  // children after their parents
  std::array<std::uint8_t, kMostNodes> place_of_;
  std::size_t n_sets_ = 0;
  std::unique_ptr<double[]> cost_;  // by set
  std::unique_ptr<double[]> rows_;
  std::vector<Split> splits_;             // by set, of all families but the root's
  std::vector<std::size_t> first_split_;  // by set
  std::uint64_t n_pairs_ = 0;
  // While a family is filled:
  const Family* top_ = nullptr;
  std::size_t first_ = 0;
  std::array<std::size_t, kMostNodes> part_;  // of the set, by child: in the child's family, or kNone
};

}  // namespace

bool is_tree(const Hypergraph& graph) {
  if (graph.has_complex_edges()) return false;
  unsigned neighbors = 0;
  for (unsigned i = 0; i < graph.n_nodes(); ++i) neighbors += size(graph.node(i).simple_neighborhood);
  return neighbors == 2 * (graph.n_nodes() - 1) && rooted(graph, 0).n == graph.n_nodes();
}

std::uint64_t connected_sets_of_tree(const Hypergraph& graph) {
  const Rooted tree = rooted(graph, 0);
  std::array<std::uint64_t, kMostNodes> sets;
  std::uint64_t all = 0;
  for (unsigned at = tree.n; at-- > 0;) {
    sets[at] = 1;
    for (unsigned child = tree.first_child[at]; child < tree.end_child[at]; ++child) {
      sets[at] = std::min(sets[at] * (sets[child] + 1), kMostSetsOfATree + 1);
    }
    all = std::min(all + sets[at], kMostSetsOfATree + 1);
  }
  return all;
}

template <class Price>
Plan tree_plan(const Hypergraph& tree, const Statistics& statistics) {
  return TreePlanner<Price>(tree, statistics).plan();
}

template Plan tree_plan<ByRows>(const Hypergraph&, const Statistics&);
template Plan tree_plan<ByHashJoin>(const Hypergraph&, const Statistics&);

}  // namespace engineroom::join_order
