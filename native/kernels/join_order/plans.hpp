// Which plan is the cheapest: one cost interface, one table of best plans, and the searches that fill it.
//
// Models      the idea of the server's search: a bottom-up table over sets of tables; its old left-deep
//             search with search depth and pruning
// Leaves out  access paths, orders and parameters: one plan is kept a set, where the server keeps a Pareto
//             front
// Cost        inside the fast enumerator, two entries of the table and a comparison per pair; what depends on
//             a set alone is found once a set. Other algorithms, joins and cost functions look up three
//             entries per pair
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "common/described.hpp"
#include "join_order/conflict_rules.hpp"
#include "join_order/counters.hpp"
#include "join_order/hypergraph.hpp"

namespace engineroom::join_order {

/// What a cost function may look at.
struct Input {
  double rows;
  double cost;
};

/// Prices a join of two inputs that returns `rows`: the cost of the whole subtree, children included.
class CostModel {
 public:
  using Function = std::function<double(Input, Input, double)>;

  /// The rows of all intermediate results.
  static CostModel c_out() { return CostModel(Kind::c_out); }
  /// The smaller input is built, the larger one probes, unless the join keeps its sides; constants of 9.7.
  static CostModel hash_join() { return CostModel(Kind::hash_join); }
  static CostModel custom(Function function) {
    CostModel model(Kind::custom);
    model.function_ = std::move(function);
    return model;
  }

  /// Which input a hash join builds, where it may not choose.
  enum class Built { smaller, left, right };

  double operator()(Input left, Input right, double rows, Built built = Built::smaller) const {
    switch (kind_) {
      case Kind::c_out:
        return left.cost + right.cost + rows;
      case Kind::hash_join:
        return hash_inputs(left, right, built) + rows * kReturnRow;
      case Kind::custom:
        return function_(left, right, rows);
    }
    return 0;
  }

  /// What a hash join costs before it returns a row.
  static double hash_inputs(Input left, Input right, Built built = Built::smaller) {
    const bool is_left_built = built == Built::smaller ? left.rows < right.rows : built == Built::left;
    const double build = is_left_built ? left.rows : right.rows;
    const double probe = is_left_built ? right.rows : left.rows;
    return left.cost + right.cost + build * kBuildRow + probe * kProbeRow;
  }

  static constexpr double kBuildRow = 0.338;
  static constexpr double kProbeRow = 0.134;
  static constexpr double kReturnRow = 0.0237;

  enum class Kind { c_out, hash_join, custom };
  Kind kind() const { return kind_; }

 private:
  explicit CostModel(Kind kind) : kind_(kind) {}

  Kind kind_;
  Function function_;
};
/// A function has no name.
constexpr auto named(names::Of<CostModel::Kind>) {
  return names::as_written<CostModel::Kind::hash_join>("cost, where it is no function,");
}

/// Rows of each table, and selectivity and kind of each edge, in the order of the graph; all edges are inner
/// when `kinds` is empty. Refuses other lengths and numbers that are not positive.
struct Statistics {
  Statistics(const Hypergraph& graph, std::vector<double> table_rows, std::vector<double> edge_selectivity,
             std::vector<JoinKind> edge_kinds = {});
  std::vector<double> rows;
  std::vector<double> selectivity;
  std::vector<JoinKind> kinds;
};

/// The rows of a join: an outer join keeps each left row, a semi or anti join at most once.
double rows_joined(JoinKind kind, double left, double right, double selectivity);

/// A subtree of a plan. `left` and `right` are places in the list, -1 for a table.
struct PlanNode {
  NodeSet tables;
  double rows;
  double cost;
  std::int32_t left;
  std::int32_t right;
};

struct Plan {
  std::vector<PlanNode> nodes{};  // children before parents, the root last
  Counters counters{};
  std::uint64_t plans_compared = 0;
};

enum class Algorithm { faithful, fast, dpccp, dpsize, dpsub };
constexpr auto named(names::Of<Algorithm>) { return names::as_written<Algorithm::dpsub>("algorithm"); }

/// The cheapest bushy plan without cross products, found over the pairs of `algorithm`. A join that is not inner
/// keeps its sides, the edge's left side as its left input. As in 9.7.4 a straight join builds the left one, which
/// is read first, and the others build the right one. Refuses unconnected graphs.
Plan best_plan(const Hypergraph& graph, const Statistics& statistics, const CostModel& cost,
               Algorithm algorithm);
/// Whether all joins are inner.
bool is_inner(const Statistics& statistics);
/// The same for `fast` and one cost function each, inside the enumerator; the browser's module takes the
/// first alone. They refuse joins that are not inner.
Plan fewest_rows_plan(const Hypergraph& graph, const Statistics& statistics);
Plan cheapest_hash_joins_plan(const Hypergraph& graph, const Statistics& statistics);
/// Greedy operator ordering: always the join with the fewest rows next.
Plan greedy_plan(const Hypergraph& graph, const Statistics& statistics, const CostModel& cost);

struct LeftDeepOptions {
  unsigned search_depth = 62;  // as optimizer_search_depth: how many tables are looked ahead
  bool prune = true;           // as optimizer_prune_level
};
constexpr auto described(options::Of<LeftDeepOptions>) {
  using C = LeftDeepOptions;
  return options::list<C>(
      "a search for a left-deep plan",
      {options::option<&C::search_depth>("how many tables are looked ahead, as optimizer_search_depth"),
       options::option<&C::prune>("as optimizer_prune_level")});
}
/// The old optimizer's search: left-deep plans, cross products allowed, tables tried in order of their rows.
Plan left_deep_plan(const Hypergraph& graph, const Statistics& statistics, const CostModel& cost,
                    const LeftDeepOptions& options);

}  // namespace engineroom::join_order
