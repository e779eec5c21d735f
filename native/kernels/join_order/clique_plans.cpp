#include "join_order/clique_plans.hpp"

#include <array>
#include <cstddef>
#include <memory>

#include "join_order/plan_tree.hpp"
#include "join_order/prices.hpp"

namespace engineroom::join_order {

namespace {

template <class Price>
class CliquePlanner {
 public:
  CliquePlanner(const Hypergraph& graph, const Statistics& statistics)
      : n_(graph.n_nodes()),
        cost_(std::make_unique_for_overwrite<double[]>(n_sets())),
        rows_(std::make_unique_for_overwrite<double[]>(n_sets())) {
    find_rows(graph, statistics);
    for (NodeSet set = 1; set < n_sets(); ++set) {
      cost_[place_of(set)] = is_single(set) ? 0 : best(set) + Price::of_set(rows_[place_of(set)]);
    }
  }

  Plan plan() {
    // An unordered pair puts each table on one side, on the other or nowhere, and leaves no side empty.
    std::uint64_t placings = 1;
    for (unsigned i = 0; i < n_; ++i) placings *= 3;
    const std::uint64_t pairs = (placings + 1) / 2 - n_sets();
    Plan plan{.counters = {n_sets() - 1, pairs, pairs, pairs}, .plans_compared = pairs};
    plan.nodes.reserve(2 * n_ - 1);
    append(
        first_nodes(n_), [&](NodeSet set) { return best_left(set); },
        [&](NodeSet set, const PlanNode*, const PlanNode*) {
          return Input{rows_[place_of(set)], cost_[place_of(set)]};
        },
        plan.nodes);
    return plan;
  }

 private:
  std::size_t n_sets() const { return std::size_t{1} << n_; }
  typename Price::Entry entry(NodeSet set) const {
    return Price::entry(cost_[place_of(set)], rows_[place_of(set)]);
  }

  /// A set with one more table has the rows of both, times the selectivities of the table's edges into the set.
  void find_rows(const Hypergraph& graph, const Statistics& statistics) {
    std::array<std::array<double, kMostNodesOfAClique>, kMostNodesOfAClique> selectivity;
    for (auto& row : selectivity) row.fill(1);
    for (std::size_t k = 0; k < graph.n_edges(); ++k) {
      const unsigned a = lowest_node(graph.edge(k).left);
      const unsigned b = lowest_node(graph.edge(k).right);
      selectivity[a][b] *= statistics.selectivity[k];
      selectivity[b][a] = selectivity[a][b];
    }
    // Until the costs are known, their place has the product of a table's selectivities into a set of lower tables.
    double* const into = cost_.get();
    into[0] = 1;
    for (unsigned table = 0; table < n_; ++table) {
      rows_[place_of(single(table))] = statistics.rows[table];
      for (NodeSet set = 1; set < single(table); ++set) {
        into[place_of(set)] = into[place_of(set & (set - 1))] * selectivity[table][lowest_node(set)];
        rows_[place_of(set | single(table))] =
            rows_[place_of(set)] * statistics.rows[table] * into[place_of(set)];
      }
    }
  }

  /// The least that joining two parts of the set costs. One part has the set's highest table, for each pair to come once.
  double best(NodeSet set) const {
    const NodeSet rest = set & ~single(highest_node(set));
    double least = kNoCost;
    for (NodeSet part = lowest(rest); part != 0; part = next_subset(part, rest)) {
      const double found = Price::of_pair(entry(part), entry(set & ~part));
      least = found < least ? found : least;
    }
    return least;
  }

  /// The part with the lowest table, 0 of a single one.
  NodeSet best_left(NodeSet set) const {
    if (is_single(set)) return 0;
    const NodeSet rest = set & ~single(highest_node(set));
    double least = kNoCost;
    NodeSet left = 0;
    for (NodeSet part = lowest(rest); part != 0; part = next_subset(part, rest)) {
      const double found = Price::of_pair(entry(part), entry(set & ~part));
      if (!(found < least)) continue;
      least = found;
      left = part;
    }
    return left == 0 || overlap(left, lowest(set)) ? left : set & ~left;
  }

  const unsigned n_;
  std::unique_ptr<double[]> cost_;  // by set
  std::unique_ptr<double[]> rows_;
};

}  // namespace

bool is_clique(const Hypergraph& graph) {
  if (graph.has_complex_edges()) return false;
  for (unsigned i = 0; i < graph.n_nodes(); ++i) {
    if ((graph.node(i).simple_neighborhood | single(i)) != graph.all_nodes()) return false;
  }
  return true;
}

template <class Price>
Plan clique_plan(const Hypergraph& clique, const Statistics& statistics) {
  return CliquePlanner<Price>(clique, statistics).plan();
}

template Plan clique_plan<ByRows>(const Hypergraph&, const Statistics&);
template Plan clique_plan<ByHashJoin>(const Hypergraph&, const Statistics&);

}  // namespace engineroom::join_order
