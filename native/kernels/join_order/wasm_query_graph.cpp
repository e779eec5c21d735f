// A query graph that a reader draws: its pairs, the search space of four algorithms and the best plan, left
// where JavaScript reads them. A graph of several parts is enumerated part by part and has no plan.
//
// Leaves out  complex edges and conflict rules; more than ten tables
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "join_order/enumerate.hpp"
#include "join_order/hypergraph.hpp"
#include "join_order/plans.hpp"
#include "wasm/exports.hpp"

namespace {

namespace jo = engineroom::join_order;

constexpr std::uint32_t kMostTables = 10;
constexpr std::size_t kTotals = 16;  // in the order of query_graph.js
constexpr std::size_t kMostPlan =
    2 * kMostTables - 1;                         // tables, left, right of a plan's nodes, after the totals
constexpr std::size_t kMostParts = kMostTables;  // after the plan

std::array<std::uint32_t, kTotals + 3 * kMostPlan + kMostParts> values;

}  // namespace

/// The edge between tables a < b is bit b(b-1)/2 + a of `low`, or of `high` from 32 on. Describes the
/// `step`-th pair, or the last. `large` is the table that has a thousand times the rows of the others.
/// Returns the address of `values`.
ENGINEROOM_EXPORT("run")
const std::uint32_t* run(std::uint32_t n, std::uint32_t low, std::uint32_t high, std::uint32_t step,
                         std::uint32_t large) {
  n = std::clamp<std::uint32_t>(n, 1, kMostTables);
  const std::uint64_t drawn = (std::uint64_t{high} << 32) | low;
  jo::Hypergraph graph(n);
  for (std::uint32_t b = 1; b < n; ++b) {
    for (std::uint32_t a = 0; a < b; ++a) {
      if ((drawn >> (b * (b - 1) / 2 + a)) & 1) graph.add_edge(jo::single(a), jo::single(b));
    }
  }
  const std::vector<jo::NodeSet> parts = jo::components(graph);

  const auto counted = [&](jo::Algorithm algorithm) {
    return jo::enumerate(graph, {.algorithm = algorithm, .keep_events = false, .must_be_connected = false})
        .counters;
  };
  const jo::Enumeration found = jo::enumerate(graph, {.must_be_connected = false});
  const jo::Counters& dphyp = found.counters;
  const std::uint64_t at =
      dphyp.csg_cmp_pairs == 0 ? 0 : std::min<std::uint64_t>(step, dphyp.csg_cmp_pairs - 1);
  jo::NodeSet left = 0;
  jo::NodeSet right = 0;
  std::uint64_t passed = 0;  // the reports of a pair follow each other
  for (const jo::Event& event : found.events) {
    if (event.right == 0 || (event.left == left && event.right == right)) continue;
    if (passed++ > at) break;
    left = event.left;
    right = event.right;
  }

  values.fill(0);
  std::vector<jo::PlanNode> plan;
  if (parts.size() == 1) {
    std::vector<double> rows(n, 100);
    if (large < n) rows[large] = 100000;
    const jo::Statistics statistics(graph, rows, std::vector<double>(graph.n_edges(), 0.01));
    plan = jo::fewest_rows_plan(graph, statistics).nodes;
  }
  const std::array<std::uint64_t, 12> totals = {
      dphyp.connected_subgraphs,
      dphyp.csg_cmp_pairs,
      counted(jo::Algorithm::dpsize).inner_tests,
      counted(jo::Algorithm::dpsub).inner_tests,
      counted(jo::Algorithm::dpccp).inner_tests,
      dphyp.inner_tests,
      at,
      left,
      right,
      plan.size(),
      plan.empty() ? 0 : static_cast<std::uint64_t>(std::min(plan.back().cost, 4e9)),
      parts.size()};
  std::transform(totals.begin(), totals.end(), values.begin(),
                 [](std::uint64_t value) { return static_cast<std::uint32_t>(value); });
  std::size_t place = kTotals;
  for (const jo::PlanNode& node : plan) {
    values[place++] = static_cast<std::uint32_t>(node.tables);
    values[place++] = static_cast<std::uint32_t>(node.left);
    values[place++] = static_cast<std::uint32_t>(node.right);
  }
  place = kTotals + 3 * kMostPlan;
  for (const jo::NodeSet part : parts) values[place++] = static_cast<std::uint32_t>(part);
  return values.data();
}
