#include "join_order/plans.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include "common/require.hpp"
#include "join_order/comparators.hpp"
#include "join_order/faithful.hpp"
#include "join_order/fast.hpp"
#include "join_order/plan_tree.hpp"
#include "join_order/set_table.hpp"

namespace engineroom::join_order {

namespace {

/// In the browser a refusal traps without words, and its module stays free of the library's printing of
/// doubles.
std::string number([[maybe_unused]] double value) {
#if defined(__cpp_exceptions)
  return std::to_string(value);
#else
  return {};
#endif
}

/// The rows of a set by the set alone, so that no search depends on the pair that it found first: the set's
/// joins in the order of the graph's edges, which is the statement's, each after those within one of its
/// sides. Of inner joins any order gives the same; of outer joins it does not.
class RowsOfSets {
 public:
  RowsOfSets(const Hypergraph& graph, const Statistics& statistics) : graph_(graph), statistics_(statistics) {
    std::vector<bool> is_placed(graph.n_edges());
    const auto place = [&](const auto& self, std::size_t k) -> void {
      if (is_placed[k]) return;
      is_placed[k] = true;
      const Hyperedge& e = graph.edge(k);
      for (std::size_t j = 0; j < graph.n_edges(); ++j) {
        if (is_subset(graph.edge(j).nodes(), e.left) || is_subset(graph.edge(j).nodes(), e.right)) {
          self(self, j);
        }
      }
      order_.push_back(k);
    };
    for (std::size_t k = 0; k < graph.n_edges(); ++k) place(place, k);
  }

  double of(NodeSet set) const {
    std::vector<Part> parts;
    for (NodeSet rest = set; rest != 0; rest &= rest - 1) {
      parts.push_back({lowest(rest), statistics_.rows[lowest_node(rest)]});
    }
    for (std::size_t k : order_) {
      const Hyperedge& e = graph_.edge(k);
      if (!is_subset(e.nodes(), set)) continue;
      const double selectivity = statistics_.selectivity[k];
      const Part left = taken(parts, e.left);
      const bool is_cycle = overlap(left.tables, e.right);
      const Part right = taken(parts, e.right & ~left.tables);
      parts.push_back(
          {left.tables | right.tables, is_cycle ? left.rows * right.rows * selectivity
                                                : rows_joined(kind(k), left.rows, right.rows, selectivity)});
    }
    return taken(parts, set).rows;
  }

 private:
  struct Part {
    NodeSet tables;
    double rows;
  };

  JoinKind kind(std::size_t k) const {
    return statistics_.kinds.empty() ? JoinKind::inner : statistics_.kinds[k];
  }

  /// Takes the parts that have any of these tables out of the list, as their cross product.
  static Part taken(std::vector<Part>& parts, NodeSet tables) {
    Part whole{0, 1};
    std::erase_if(parts, [&](const Part& part) {
      if (!overlap(part.tables, tables)) return false;
      whole = {whole.tables | part.tables, whole.rows * part.rows};
      return true;
    });
    return whole;
  }

  const Hypergraph& graph_;
  const Statistics& statistics_;
  std::vector<std::size_t> order_;
};

/// The table of best plans for any cost function and any kind of join. It takes pairs from any enumerator.
class PlanTable {
 public:
  PlanTable(const Hypergraph& graph, const Statistics& statistics, const CostModel& cost)
      : graph_(graph),
        kinds_(is_inner(statistics) ? nullptr : &statistics.kinds),
        cost_(cost),
        rows_(graph, statistics) {}

  void node(unsigned i) { *table_.insert(single(i)).first = {rows_.of(single(i)), 0, 0}; }
  bool has_seen(NodeSet set) const { return table_.find(set) != nullptr; }
  const Hypergraph& graph() const { return graph_; }

  /// False for a pair that the conflict rules of all its edges forbid; it is no part of a plan.
  bool pair(NodeSet left, NodeSet right) {
    CostModel::Built built = CostModel::Built::smaller;
    if (graph_.has_rules() || kinds_ != nullptr) {
      const std::optional<Sides> sides = sides_of(left, right);
      if (!sides) return false;
      if (sides->are_swapped) std::swap(left, right);
      built = sides->built;
    }
    const Best& l = *table_.find(left);
    const Best& r = *table_.find(right);
    const Input left_input{l.rows, l.cost};
    const Input right_input{r.rows, r.cost};
    const auto [best, is_new] = table_.insert(left | right);
    if (is_new) *best = {rows_.of(left | right), kNoCost, 0};
    ++compared_;
    const double cost = cost_(left_input, right_input, best->rows, built);
    if (cost < best->cost) {
      best->cost = cost;
      best->left = left;
    }
    return true;
  }

  Plan plan(const Counters& counters) const {
    if (!has_seen(graph_.all_nodes())) refuse("the conflict rules leave no order that joins all tables");
    Plan plan{.counters = counters, .plans_compared = compared_};
    append(
        graph_.all_nodes(), [&](NodeSet set) { return table_.find(set)->left; },
        [&](NodeSet set, const PlanNode*, const PlanNode*) {
          const Best& best = *table_.find(set);
          return Input{best.rows, best.cost};
        },
        plan.nodes);
    return plan;
  }

 private:
  struct Best {
    double rows;
    double cost;
    NodeSet left;
  };

  struct Sides {
    bool are_swapped = false;
    CostModel::Built built = CostModel::Built::smaller;
  };

  /// How two sets are joined: in any way where an allowed inner edge does it, else as another edge has its sides.
  /// Nothing where the rules forbid the pair.
  std::optional<Sides> sides_of(NodeSet left, NodeSet right) const {
    std::optional<Sides> found;
    for (std::size_t k = 0; k < graph_.n_edges(); ++k) {
      const Hyperedge& e = graph_.edge(k);
      if (!e.connects(left, right) || !graph_.rules_allow(k, left | right)) continue;
      if (kinds_ == nullptr || (*kinds_)[k] == JoinKind::inner) return Sides{};
      using Built = CostModel::Built;
      found =
          Sides{!is_subset(e.left, left), (*kinds_)[k] == JoinKind::straight ? Built::left : Built::right};
    }
    return found;
  }

  const Hypergraph& graph_;
  const std::vector<JoinKind>* kinds_;  // none where all are inner
  const CostModel& cost_;
  const RowsOfSets rows_;
  SetTable<Best> table_;
  std::uint64_t compared_ = 0;
};

/// Pairs of the fast enumerator for the table that takes all.
struct FastPairs {
  PlanTable& table;
  unsigned n_nodes;
  std::uint64_t n_pairs = 0;

  void node(unsigned bit) { table.node(n_nodes - 1 - bit); }
  bool has_seen(NodeSet set) const { return table.has_seen(mirrored(set, n_nodes)); }
  void pair(NodeSet left, NodeSet right, const EdgeSet<0>&) {
    n_pairs += table.pair(mirrored(left, n_nodes), mirrored(right, n_nodes));
  }
};

struct FaithfulPairs {
  PlanTable& table;
  Counters counters;
  NodeSet last_left = 0;
  NodeSet last_right = 0;

  void node(unsigned i) {
    ++counters.connected_subgraphs;
    table.node(i);
  }
  bool has_seen(NodeSet set) { return table.has_seen(set); }
  bool pair(NodeSet left, NodeSet right, std::size_t edge) {
    if (!table.graph().rules_allow(edge, left | right)) return false;
    ++counters.calls;
    if (left == last_left && right == last_right) return false;
    last_left = left;
    last_right = right;
    ++counters.csg_cmp_pairs;
    if (!table.has_seen(left | right)) ++counters.connected_subgraphs;
    table.pair(left, right);
    return false;
  }
};

/// A rule forbids pairs, which these searches do not ask about: the plan could answer another question.
void require_no_rules(const Hypergraph& graph) {
  if (graph.has_rules()) {
    refuse("the graph has conflict rules, which this plan would break; take best_plan");
  }
}

Plan chain_plan(const Hypergraph& graph, const Statistics& statistics, const CostModel& cost,
                const std::vector<unsigned>& order);

}  // namespace

Statistics::Statistics(const Hypergraph& graph, std::vector<double> table_rows,
                       std::vector<double> edge_selectivity, std::vector<JoinKind> edge_kinds)
    : rows(std::move(table_rows)), selectivity(std::move(edge_selectivity)), kinds(std::move(edge_kinds)) {
  if (!kinds.empty() && kinds.size() != graph.n_edges()) {
    refuse("kinds has " + std::to_string(kinds.size()) + " entries; the graph has " +
           std::to_string(graph.n_edges()) + " edges");
  }
  if (rows.size() != graph.n_nodes()) {
    refuse("rows has " + std::to_string(rows.size()) + " numbers; the graph has " +
           std::to_string(graph.n_nodes()) + " nodes");
  }
  if (selectivity.size() != graph.n_edges()) {
    refuse("selectivity has " + std::to_string(selectivity.size()) + " numbers; the graph has " +
           std::to_string(graph.n_edges()) + " edges");
  }
  for (double value : rows) {
    if (!(value > 0) || !std::isfinite(value)) refuse("rows must be positive, got " + number(value));
  }
  for (double value : selectivity) {
    if (!(value > 0) || !(value <= 1)) {
      refuse("selectivity must be above 0 and at most 1, got " + number(value));
    }
  }
}

double rows_joined(JoinKind kind, double left, double right, double selectivity) {
  const double matches = right * selectivity;  // of one left row
  switch (kind) {
    case JoinKind::left:
      return left * std::max(matches, 1.0);
    case JoinKind::semi:
      return left * std::min(matches, 1.0);
    case JoinKind::anti:
      return left * std::max(1.0 - std::min(matches, 1.0), 0.1);
    default:
      return left * matches;
  }
}

Plan best_plan(const Hypergraph& graph, const Statistics& statistics, const CostModel& cost,
               Algorithm algorithm) {
  if (algorithm == Algorithm::fast && !graph.has_rules() && cost.kind() != CostModel::Kind::custom &&
      is_inner(statistics)) {
    return cost.kind() == CostModel::Kind::c_out ? fewest_rows_plan(graph, statistics)
                                                 : cheapest_hash_joins_plan(graph, statistics);
  }
  require_connected(graph);
  PlanTable table(graph, statistics, cost);
  Counters counters;
  switch (algorithm) {
    case Algorithm::fast: {
      FastPairs pairs{table, graph.n_nodes()};
      FastEnumerator<0, true, FastPairs> enumerator(graph, pairs, true);
      enumerator.run();
      counters = {enumerator.connected_subgraphs(), pairs.n_pairs, pairs.n_pairs, enumerator.inner_tests()};
      break;
    }
    case Algorithm::faithful: {
      FaithfulPairs receiver{table, {}};
      FaithfulEnumerator<FaithfulPairs> enumerator(graph, receiver);
      enumerator.run();
      counters = receiver.counters;
      counters.inner_tests = enumerator.inner_tests();
      break;
    }
    case Algorithm::dpccp:
      counters = Dpccp<PlanTable>(graph, table).run();
      break;
    case Algorithm::dpsize:
      counters = dpsize(graph, table);
      break;
    case Algorithm::dpsub:
      counters = dpsub(graph, table);
      break;
  }
  return table.plan(counters);
}

namespace {

/// The selectivity of all edges that lie in the union and in neither side.
double joining_selectivity(const Hypergraph& graph, const Statistics& statistics, NodeSet left,
                           NodeSet right) {
  double product = 1;
  for (std::size_t k = 0; k < graph.n_edges(); ++k) {
    const NodeSet nodes = graph.edge(k).nodes();
    if (is_subset(nodes, left | right) && !is_subset(nodes, left) && !is_subset(nodes, right)) {
      product *= statistics.selectivity[k];
    }
  }
  return product;
}

Plan chain_plan(const Hypergraph& graph, const Statistics& statistics, const CostModel& cost,
                const std::vector<unsigned>& order) {
  Plan plan;
  for (unsigned table : order) {
    plan.nodes.push_back({single(table), statistics.rows[table], 0, -1, -1});
    if (plan.nodes.size() == 1) continue;
    const auto right = static_cast<std::int32_t>(plan.nodes.size()) - 1;
    const PlanNode l = plan.nodes[static_cast<std::size_t>(right) - 1];
    const PlanNode r = plan.nodes.back();
    const double rows = l.rows * r.rows * joining_selectivity(graph, statistics, l.tables, r.tables);
    plan.nodes.push_back(
        {l.tables | r.tables, rows, cost({l.rows, l.cost}, {r.rows, r.cost}, rows), right - 1, right});
    if (!std::isfinite(plan.nodes.back().cost)) refuse_boundless(plan.nodes.back().tables);
  }
  return plan;
}

}  // namespace

Plan greedy_plan(const Hypergraph& graph, const Statistics& statistics, const CostModel& cost) {
  require_no_rules(graph);
  require_connected(graph);
  Plan plan;
  std::vector<std::int32_t> open;  // subtrees without a parent
  for (unsigned i = 0; i < graph.n_nodes(); ++i) {
    plan.nodes.push_back({single(i), statistics.rows[i], 0, -1, -1});
    open.push_back(static_cast<std::int32_t>(i));
  }
  plan.counters.connected_subgraphs = open.size();
  const auto at = [&](std::int32_t i) -> PlanNode& { return plan.nodes[static_cast<std::size_t>(i)]; };
  while (open.size() > 1) {
    double fewest = std::numeric_limits<double>::infinity();
    std::size_t best_i = 0;
    std::size_t best_j = 0;
    for (std::size_t i = 0; i < open.size(); ++i) {
      for (std::size_t j = i + 1; j < open.size(); ++j) {
        ++plan.counters.inner_tests;
        const PlanNode& a = at(open[i]);
        const PlanNode& b = at(open[j]);
        if (!joined(graph, a.tables, b.tables)) continue;
        const double rows = a.rows * b.rows * joining_selectivity(graph, statistics, a.tables, b.tables);
        ++plan.plans_compared;
        if (rows < fewest) {
          fewest = rows;
          best_i = i;
          best_j = j;
        }
      }
    }
    if (best_i == best_j) refuse_boundless(graph.all_nodes());
    const std::int32_t left = open[best_i];
    const std::int32_t right = open[best_j];
    const PlanNode l = at(left);
    const PlanNode r = at(right);
    plan.nodes.push_back(
        {l.tables | r.tables, fewest, cost({l.rows, l.cost}, {r.rows, r.cost}, fewest), left, right});
    open.erase(open.begin() + static_cast<std::ptrdiff_t>(best_j));
    if (!std::isfinite(plan.nodes.back().cost)) refuse_boundless(plan.nodes.back().tables);
    open[best_i] = static_cast<std::int32_t>(plan.nodes.size()) - 1;
    ++plan.counters.csg_cmp_pairs;
    ++plan.counters.connected_subgraphs;
  }
  plan.counters.calls = plan.counters.csg_cmp_pairs;
  return plan;
}

namespace {

class LeftDeepSearch {
 public:
  LeftDeepSearch(const Hypergraph& graph, const Statistics& statistics, const CostModel& cost,
                 const LeftDeepOptions& options)
      : graph_(graph), statistics_(statistics), cost_(cost), options_(options), tables_(graph.n_nodes()) {
    std::iota(tables_.begin(), tables_.end(), 0u);
    std::stable_sort(tables_.begin(), tables_.end(),
                     [&](unsigned a, unsigned b) { return statistics_.rows[a] < statistics_.rows[b]; });
  }

  std::vector<unsigned> run() {
    const unsigned n = graph_.n_nodes();
    const unsigned depth = options_.search_depth == 0 ? n : options_.search_depth;
    std::vector<unsigned> order;
    State state{0, {1, 0}};
    while (order.size() < n) {
      best_cost_ = std::numeric_limits<double>::infinity();
      best_.clear();
      current_.clear();
      const auto remaining = n - static_cast<unsigned>(order.size());
      extend(state, std::min(depth, remaining));
      if (best_.empty()) refuse_boundless(graph_.all_nodes());
      // With all tables in sight the whole extension is final, else only its first table.
      const std::size_t taken = depth >= remaining ? best_.size() : 1;
      for (std::size_t i = 0; i < taken; ++i) {
        state = extended(state, best_[i]);
        order.push_back(best_[i]);
      }
    }
    return order;
  }

  std::uint64_t partial_plans() const { return partial_plans_; }

 private:
  struct State {
    NodeSet tables;
    Input input;
  };

  State extended(const State& from, unsigned table) const {
    const double right_rows = statistics_.rows[table];
    if (from.tables == 0) return {single(table), {right_rows, 0}};
    const double rows =
        from.input.rows * right_rows * joining_selectivity(graph_, statistics_, from.tables, single(table));
    return {from.tables | single(table), {rows, cost_(from.input, {right_rows, 0}, rows)}};
  }

  void extend(const State& from, unsigned depth) {
    double fewest_rows = std::numeric_limits<double>::infinity();
    double least_cost = std::numeric_limits<double>::infinity();
    for (unsigned table : tables_) {
      if (overlap(single(table), from.tables)) continue;
      ++partial_plans_;
      const State next = extended(from, table);
      if (next.input.cost >= best_cost_) continue;
      if (options_.prune) {
        // A neighbour was better in both respects: the heuristic gives this one up.
        if (next.input.rows >= fewest_rows && next.input.cost >= least_cost) continue;
        if (next.input.rows <= fewest_rows && next.input.cost <= least_cost) {
          fewest_rows = next.input.rows;
          least_cost = next.input.cost;
        }
      }
      current_.push_back(table);
      if (depth > 1) {
        extend(next, depth - 1);
      } else if (next.input.cost < best_cost_) {
        best_cost_ = next.input.cost;
        best_ = current_;
      }
      current_.pop_back();
    }
  }

  const Hypergraph& graph_;
  const Statistics& statistics_;
  const CostModel& cost_;
  const LeftDeepOptions options_;
  std::vector<unsigned> tables_;
  std::vector<unsigned> current_;
  std::vector<unsigned> best_;
  double best_cost_ = 0;
  std::uint64_t partial_plans_ = 0;
};

}  // namespace

Plan left_deep_plan(const Hypergraph& graph, const Statistics& statistics, const CostModel& cost,
                    const LeftDeepOptions& options) {
  require_no_rules(graph);
  LeftDeepSearch search(graph, statistics, cost, options);
  Plan plan = chain_plan(graph, statistics, cost, search.run());
  plan.counters.inner_tests = search.partial_plans();
  plan.plans_compared = search.partial_plans();
  return plan;
}

}  // namespace engineroom::join_order
