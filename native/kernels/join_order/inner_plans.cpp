// Dynamic programming for inner joins, whose rows do not depend on how a set is split. In a file of its own,
// so that the compiler has room to inline the enumerator's recursion into itself with the prices in it.
#include <algorithm>
#include <array>
#include <utility>

#include "common/require.hpp"
#include "join_order/clique_plans.hpp"
#include "join_order/fast.hpp"
#include "join_order/plan_entries.hpp"
#include "join_order/plan_tree.hpp"
#include "join_order/plans.hpp"
#include "join_order/prices.hpp"
#include "join_order/tree_plans.hpp"

namespace engineroom::join_order {

namespace {

/// Dynamic programming inside the enumerator, for inner joins: a set's rows and its own part of the cost are
/// found once, when its pairs are complete and it becomes a left side. A pair costs two entries and a
/// comparison. Sets are of bits, as the enumerator's.
template <class Price, template <class> class Entries>
class Planner {
  using Entry = typename Price::Entry;

 public:
  using Carried = double;

  Planner(const Hypergraph& graph, const Statistics& statistics, const Numbering& numbering)
      : n_nodes_(graph.n_nodes()), numbering_(numbering), entries_(graph) {
    subgraphs_.reserve(n_nodes_ * n_nodes_ / 2);
    factors_.reserve(4 * graph.n_edges());
    for (unsigned bit = 0; bit < n_nodes_; ++bit) {
      const unsigned own = numbering.node(bit);
      const Hypergraph::Node& node = graph.node(own);
      rows_[bit] = statistics.rows[own];
      first_factor_[bit] = static_cast<std::uint32_t>(factors_.size());
      for (const auto* edges : {&node.simple_edges, &node.complex_edges}) {
        for (std::uint32_t i : *edges) {
          const NodeSet others = graph.stored(i).nodes() & ~single(own);
          factors_.push_back(
              {is_single(others) ? single(numbering.bit(lowest_node(others))) : numbering.bits(others),
               {1, statistics.selectivity[i / 2]}});
        }
      }
    }
    first_factor_[n_nodes_] = static_cast<std::uint32_t>(factors_.size());
  }

  double first(unsigned bit) {
    first_subgraph_[bit] = subgraphs_.size();
    first_subgraph_[bit + 1] = subgraphs_.size();
    keeps_subgraphs_ = bit + 1 < n_nodes_;  // the last seed's sets are in no right side
    return rows_[bit];
  }
  /// The rows of a set when one more table joins it: times its rows and all selectivities that become
  /// applicable.
  double grown(double rows, NodeSet set, unsigned bit) const {
    rows *= rows_[bit];
    for (std::uint32_t i = first_factor_[bit]; i < first_factor_[bit + 1]; ++i) {
      rows *= factors_[i].by[is_subset(factors_[i].others, set)];
    }
    return rows;
  }

  void node(unsigned bit) { entries_.entry(entries_.made(single(bit))).cost = 0; }
  bool has_seen(NodeSet set) const { return entries_.contains(set); }
  void subgraph(NodeSet set, double rows) {
    Entry& entry = entries_.entry(entries_.known(set));
    if (!is_single(set)) entry.cost += Price::of_set(rows);
    entry.keep_rows(rows);
    left_ = entry;
    if (keeps_subgraphs_) subgraphs_.push_back({set, entry});
  }
  void pair(NodeSet left, NodeSet right, const EdgeSet<0>&) {
    price(left, right, entries_.entry(entries_.known(right)));
  }
  std::size_t n_kept(unsigned seed) const { return first_subgraph_[seed + 1] - first_subgraph_[seed]; }
  template <class Joins>
  std::size_t pairs_with_kept(unsigned seed, NodeSet left, NodeSet allowed, const Joins& joins) {
    const std::size_t end = first_subgraph_[seed + 1];
    for (std::size_t i = first_subgraph_[seed]; i < end; ++i) {
      const Subgraph& right = subgraphs_[i];
      if (is_subset(right.set, allowed) && joins(right.set)) price(left, right.set, right.entry);
    }
    return n_kept(seed);
  }
  std::uint64_t n_pairs() const { return n_pairs_; }

  Plan plan() {
    Plan plan{.plans_compared = n_pairs_};
    plan.nodes.reserve(2 * n_nodes_ - 1);
    append(
        first_nodes(n_nodes_), [&](NodeSet set) { return entries_.left(entries_.known(set)); },
        [&](NodeSet set, const PlanNode* left, const PlanNode* right) {
          const double rows = left == nullptr ? rows_[lowest_node(set)] : rows_of(*left, *right);
          return Input{rows, entries_.entry(entries_.known(set)).cost};
        },
        plan.nodes);
    for (PlanNode& node : plan.nodes) {  // inputs first
      const auto tables = [&](std::int32_t i) { return plan.nodes[static_cast<std::size_t>(i)].tables; };
      node.tables = node.left < 0 ? single(numbering_.node(lowest_node(node.tables)))
                                  : tables(node.left) | tables(node.right);
    }
    return plan;
  }

 private:
  static bool is_larger(NodeSet a, NodeSet b) {
    for (; b != 0; b &= b - 1) {
      if (a == 0) return false;
      a &= a - 1;
    }
    return a != 0;
  }

  struct Subgraph {
    NodeSet set;
    Entry entry;
  };
  struct Factor {
    NodeSet others;
    std::array<double, 2> by;  // 1, and the selectivity, without a branch that would be guessed wrong
  };

  void price(NodeSet left, NodeSet right, const Entry& of_right) {
    ++n_pairs_;
    const double cost = Price::of_pair(left_, of_right);
    const std::size_t joined = entries_.made(left | right);
    double& least = entries_.entry(joined).cost;
    NodeSet& best_left = entries_.left(joined);
    best_left ^= (best_left ^ left) & (NodeSet{0} - static_cast<NodeSet>(cost < least));
    least = std::min(least, cost);
  }

  /// Times the selectivities of all edges within the two and not within one.
  double rows_of(const PlanNode& left, const PlanNode& right) const {
    NodeSet few = left.tables;
    NodeSet many = right.tables;
    if (is_larger(few, many)) std::swap(few, many);
    double rows = left.rows * right.rows;
    for (NodeSet rest = few; rest != 0; rest &= rest - 1) {
      const unsigned bit = lowest_node(rest);
      for (std::uint32_t i = first_factor_[bit]; i < first_factor_[bit + 1]; ++i) {
        const NodeSet others = factors_[i].others;
        // An edge that has several nodes in `few` counts at the lowest.
        if (is_subset(others, few | many) && overlap(others, many) && !overlap(others & few, below(bit))) {
          rows *= factors_[i].by[1];
        }
      }
    }
    return rows;
  }

  const unsigned n_nodes_;
  const Numbering& numbering_;
  std::array<double, kMostNodes> rows_;  // by bit
  std::vector<Factor> factors_;          // by bit
  std::array<std::uint32_t, kMostNodes + 1> first_factor_;
  Entries<Entry> entries_;
  Entry left_{};
  std::vector<Subgraph> subgraphs_;  // by seed, which is their highest bit; their costs are final
  std::array<std::size_t, kMostNodes + 1> first_subgraph_;
  bool keeps_subgraphs_ = true;
  std::uint64_t n_pairs_ = 0;
};

template <class Price, template <class> class Entries, bool Complex>
Plan planned(const Hypergraph& graph, const Statistics& statistics) {
  const Numbering numbering = Numbering::along_edges(graph);
  Planner<Price, Entries> planner(graph, statistics, numbering);
  FastEnumerator<0, Complex, Planner<Price, Entries>> enumerator(graph, planner, numbering);
  enumerator.run();
  Plan plan = planner.plan();
  plan.counters = {enumerator.connected_subgraphs(), planner.n_pairs(), planner.n_pairs(),
                   enumerator.inner_tests()};
  return plan;
}

/// Sets that simple edges connect, counted by growing them as the enumerator does, up to `most`.
std::size_t connected_sets(const Hypergraph& graph, std::size_t most) {
  std::size_t found = 0;
  const auto grow = [&](const auto& self, NodeSet undecided, NodeSet allowed) -> void {
    ++found;
    for (const NodeSet all = undecided; undecided != 0 && found < most;) {
      const NodeSet bit = lowest(undecided);
      undecided &= ~bit;
      const NodeSet still_allowed = allowed & ~(undecided | bit);
      self(self, (all | graph.node(lowest_node(bit)).simple_neighborhood) & still_allowed, still_allowed);
    }
  };
  for (unsigned i = 0; i < graph.n_nodes() && found < most; ++i) {
    grow(grow, graph.node(i).simple_neighborhood & below(i), below(i));
  }
  return found;
}

/// Whether an array by set is no larger than the table would be at first, or has few entries for each
/// connected set: 64 as long as it fits a processor's cache, then 16. A graph whose tables have two
/// neighbours each is known not to.
[[maybe_unused]] bool is_worth_an_array(const Hypergraph& graph) {
  constexpr unsigned kMostNodesOfArray = 24;
  const unsigned n = graph.n_nodes();
  if (n > kMostNodesOfArray) return false;
  if (std::size_t{1} << n <= places_for(graph)) return true;
  unsigned degree = 0;
  for (unsigned i = 0; i < n; ++i) degree = std::max(degree, size(graph.node(i).simple_neighborhood));
  if (degree < 3) return false;
  constexpr unsigned kMostNodesInCache = 20;
  const std::size_t enough = (std::size_t{1} << n) / (n <= kMostNodesInCache ? 64 : 16);
  return connected_sets(graph, enough) >= enough;
}

template <class Price>
Plan planned(const Hypergraph& graph, const Statistics& statistics) {
  // In the browser graphs are small and the module is to be, too.
  if constexpr (sizeof(void*) > 4) {
    if (is_tree(graph) && connected_sets_of_tree(graph) <= kMostSetsOfATree) {
      return tree_plan<Price>(graph, statistics);
    }
    if (graph.n_nodes() <= kMostNodesOfAClique && is_clique(graph)) {
      return clique_plan<Price>(graph, statistics);
    }
    if (is_worth_an_array(graph)) {
      return graph.has_complex_edges() ? planned<Price, ByPlace, true>(graph, statistics)
                                       : planned<Price, ByPlace, false>(graph, statistics);
    }
    if (!graph.has_complex_edges()) return planned<Price, InTable, false>(graph, statistics);
  }
  return planned<Price, InTable, true>(graph, statistics);
}

}  // namespace

bool is_inner(const Statistics& statistics) {
  return std::all_of(statistics.kinds.begin(), statistics.kinds.end(),
                     [](JoinKind kind) { return kind == JoinKind::inner; });
}

Plan fewest_rows_plan(const Hypergraph& graph, const Statistics& statistics) {
  require_connected(graph);
  if (!is_inner(statistics)) refuse("this plan is of inner joins only; take best_plan");
  return planned<ByRows>(graph, statistics);
}

Plan cheapest_hash_joins_plan(const Hypergraph& graph, const Statistics& statistics) {
  require_connected(graph);
  if (!is_inner(statistics)) refuse("this plan is of inner joins only; take best_plan");
  return planned<ByHashJoin>(graph, statistics);
}

}  // namespace engineroom::join_order
