// Join enumeration for the browser: a query graph, one pair of its enumeration, the totals of four
// algorithms, and the best plan. Leaves them where JavaScript reads them.
//
// Leaves out  complex edges and conflict rules; more than eight tables
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

enum Shape : std::uint32_t { chain, cycle, star, clique };

constexpr std::uint32_t kMostTables = 8;
constexpr std::size_t kTotals = 16;     // in the order of join_order.js
constexpr std::size_t kMostEdges = 28;  // two nodes each, after the totals
constexpr std::size_t kMostPlan = 15;   // tables, left, right of a plan's nodes, after the edges

std::array<std::uint32_t, kTotals + 2 * kMostEdges + 3 * kMostPlan> values;

jo::Hypergraph graph_of(std::uint32_t shape, std::uint32_t n, std::uint32_t chords) {
  jo::Hypergraph graph(n);
  const auto add = [&](std::uint32_t a, std::uint32_t b) { graph.add_edge(jo::single(a), jo::single(b)); };
  for (std::uint32_t i = 0; i < n; ++i) {
    if (shape == star && i > 0) add(0, i);
    if ((shape == chain || shape == cycle) && i + 1 < n) add(i, i + 1);
    if (shape == clique) {
      for (std::uint32_t j = i + 1; j < n; ++j) add(i, j);
    }
  }
  if (shape == cycle && n > 2) add(0, n - 1);
  // Further edges, each between the next two tables that none joins yet.
  for (std::uint32_t distance = 2; distance < n && chords > 0; ++distance) {
    for (std::uint32_t i = 0; i + distance < n && chords > 0; ++i) {
      if (jo::overlap(graph.node(i).simple_neighborhood, jo::single(i + distance))) continue;
      add(i, i + distance);
      --chords;
    }
  }
  for (std::uint32_t i = 1; i + 1 < n && chords > 0; ++i) {
    if (jo::overlap(graph.node(i).simple_neighborhood, jo::single(i + 1))) continue;
    add(i, i + 1);
    --chords;
  }
  return graph;
}

jo::NodeSet neighbors(const jo::Hypergraph& graph, jo::NodeSet set) {
  jo::NodeSet found = 0;
  for (jo::NodeSet rest = set; rest != 0; rest &= rest - 1) {
    found |= graph.node(jo::lowest_node(rest)).simple_neighborhood;
  }
  return found & ~set;
}

}  // namespace

/// Enumerates the graph as the server does and describes its `step`-th pair (the last one when there are
/// fewer). `large` is the table that has a thousand times the rows of the others. Returns the address of
/// `values`.
ENGINEROOM_EXPORT("run")
const std::uint32_t* run(std::uint32_t shape, std::uint32_t n, std::uint32_t chords, std::uint32_t step,
                         std::uint32_t large) {
  n = std::min(n, kMostTables);
  const jo::Hypergraph graph = graph_of(shape, n, chords);
  const jo::Enumeration found = jo::enumerate(graph, {});
  std::vector<jo::Event> pairs;
  for (const jo::Event& event : found.events) {
    const bool is_again =
        !pairs.empty() && pairs.back().left == event.left && pairs.back().right == event.right;
    if (event.right != 0 && !is_again) pairs.push_back(event);
  }
  const std::size_t at = std::min<std::size_t>(step, pairs.size() - 1);
  const jo::NodeSet left = pairs[at].left;
  const jo::NodeSet right = pairs[at].right;
  const jo::NodeSet below_left = jo::below(jo::lowest_node(left));
  // The complement grew from its lowest node among the left side's neighbours; lower neighbours were closed
  // to it.
  const jo::NodeSet seeds = neighbors(graph, left) & ~below_left;
  const jo::NodeSet closed = below_left | (seeds & jo::below(jo::lowest_node(seeds & right)));

  const auto tests = [&](jo::Algorithm algorithm) {
    return jo::enumerate(graph, {.algorithm = algorithm, .keep_events = false}).counters.inner_tests;
  };
  std::vector<double> rows(n, 100);
  if (large < n) rows[large] = 100000;
  const jo::Statistics statistics(graph, rows, std::vector<double>(graph.n_edges(), 0.01));
  const jo::Plan plan = jo::fewest_rows_plan(graph, statistics);

  values.fill(0);
  const std::array<std::uint64_t, 12> totals = {found.counters.connected_subgraphs,
                                                found.counters.csg_cmp_pairs,
                                                found.counters.calls,
                                                tests(jo::Algorithm::dpsize),
                                                tests(jo::Algorithm::dpsub),
                                                at,
                                                left,
                                                right,
                                                closed,
                                                graph.n_edges(),
                                                plan.nodes.size(),
                                                static_cast<std::uint64_t>(plan.nodes.back().cost)};
  std::transform(totals.begin(), totals.end(), values.begin(),
                 [](std::uint64_t value) { return static_cast<std::uint32_t>(value); });
  std::size_t place = kTotals;
  for (std::size_t k = 0; k < graph.n_edges(); ++k) {
    values[place++] = jo::lowest_node(graph.edge(k).left);
    values[place++] = jo::lowest_node(graph.edge(k).right);
  }
  place = kTotals + 2 * kMostEdges;
  for (const jo::PlanNode& node : plan.nodes) {
    values[place++] = static_cast<std::uint32_t>(node.tables);
    values[place++] = static_cast<std::uint32_t>(node.left);
    values[place++] = static_cast<std::uint32_t>(node.right);
  }
  return values.data();
}
