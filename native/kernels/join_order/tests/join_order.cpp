#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "common/tests/described_members.hpp"
#include "join_order/conflict_rules.hpp"
#include "join_order/enumerate.hpp"
#include "join_order/hypergraph.hpp"
#include "join_order/numbering.hpp"
#include "join_order/plans.hpp"
#include "join_order/simplify.hpp"

namespace engineroom::join_order {
namespace {

Hypergraph chain(unsigned n) {
  Hypergraph graph(n);
  for (unsigned i = 0; i + 1 < n; ++i) graph.add_edge(single(i), single(i + 1));
  return graph;
}

Hypergraph clique(unsigned n) {
  Hypergraph graph(n);
  for (unsigned i = 0; i < n; ++i) {
    for (unsigned j = i + 1; j < n; ++j) graph.add_edge(single(i), single(j));
  }
  return graph;
}

/// A tree of edges between random parts of what is joined already, so every edge may be complex.
Hypergraph random_tree(unsigned seed) {
  std::mt19937 random(seed);
  const unsigned n = 2 + static_cast<unsigned>(random() % 9);
  Hypergraph graph(n);
  std::vector<NodeSet> parts;
  for (unsigned i = 0; i < n; ++i) parts.push_back(single(i));
  const auto some_of = [&](NodeSet set) {
    const NodeSet some = set & random();
    return some ? some : lowest(set);
  };
  while (parts.size() > 1) {
    std::shuffle(parts.begin(), parts.end(), random);
    const NodeSet a = parts.back();
    parts.pop_back();
    graph.add_edge(some_of(a), some_of(parts.back()));
    parts.back() |= a;
  }
  return graph;
}

/// Up to a thousand rows, and selectivities of a whole number's inverse.
Statistics random_statistics(const Hypergraph& graph, std::mt19937& random) {
  std::vector<double> rows;
  std::vector<double> selectivity;
  for (unsigned i = 0; i < graph.n_nodes(); ++i) rows.push_back(1 + static_cast<double>(random() % 1000));
  for (std::size_t k = 0; k < graph.n_edges(); ++k) {
    selectivity.push_back(1.0 / (1 + static_cast<double>(random() % 100)));
  }
  return Statistics(graph, rows, selectivity);
}

using Triple = std::tuple<NodeSet, NodeSet, std::int32_t>;

std::vector<Triple> sorted_events(const Hypergraph& graph, Algorithm algorithm) {
  std::vector<Triple> events;
  for (const Event& e : enumerate(graph, {.algorithm = algorithm}).events) {
    events.emplace_back(e.left, e.right, e.edge);
  }
  std::sort(events.begin(), events.end());
  return events;
}

TEST(JoinOrder, AllEnumeratorsReportTheSamePairsOfATreeOfEdges) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    const Hypergraph graph = random_tree(seed);
    const auto expected = sorted_events(graph, Algorithm::dpsub);
    for (Algorithm algorithm : {Algorithm::faithful, Algorithm::fast, Algorithm::dpsize}) {
      EXPECT_EQ(sorted_events(graph, algorithm), expected) << "seed " << seed;
    }
  }
}

TEST(JoinOrder, AnEdgeThatIsEnlargedAndShrunkAgainLeavesTheGraphAsItWas) {
  Hypergraph graph = chain(5);
  graph.modify_edge(1, single(0) | single(1), single(2));
  EXPECT_TRUE(graph.has_complex_edges());
  graph.modify_edge(1, single(0) | single(1), single(2) | single(3));
  graph.modify_edge(1, single(1), single(2));
  EXPECT_FALSE(graph.has_complex_edges());
  EXPECT_EQ(sorted_events(graph, Algorithm::faithful), sorted_events(chain(5), Algorithm::faithful));
  EXPECT_THROW(graph.modify_edge(0, single(0), single(0)), std::invalid_argument);
}

TEST(JoinOrder, PlansOfAllAlgorithmsCostTheSameInArrayAndTable) {
  for (unsigned n : {4u, 8u}) {
    for (const Hypergraph& graph : {chain(n), clique(n)}) {
      std::mt19937 random(n);
      const Statistics statistics = random_statistics(graph, random);
      const CostModel cost = CostModel::hash_join();
      const double least = best_plan(graph, statistics, cost, Algorithm::fast).nodes.back().cost;
      for (Algorithm a : {Algorithm::faithful, Algorithm::dpccp, Algorithm::dpsize, Algorithm::dpsub}) {
        EXPECT_NEAR(best_plan(graph, statistics, cost, a).nodes.back().cost, least, 1e-9 * least);
      }
      EXPECT_GE(greedy_plan(graph, statistics, cost).nodes.back().cost, least * (1 - 1e-12));
    }
  }
}

TEST(JoinOrder, PlansReadFromKeptSetsCostTheSameAsThoseThatAreGrown) {
  for (unsigned seed = 0; seed < 24; ++seed) {
    std::mt19937 random(seed);
    const unsigned n = 9 + static_cast<unsigned>(random() % 10);
    std::vector<unsigned> order(n);
    std::iota(order.begin(), order.end(), 0u);
    if (seed % 2 == 1) std::shuffle(order.begin(), order.end(), random);
    Hypergraph graph(n);
    for (unsigned i = 0; i + 1 < n; ++i) graph.add_edge(single(order[i]), single(order[i + 1]));
    if (seed % 3 > 0) graph.add_edge(single(order[n - 1]), single(order[0]));
    if (seed % 3 > 1) {
      graph.add_edge(single(order[0]) | single(order[1]), single(order[n / 2]) | single(order[n / 2 + 1]));
    }
    const Statistics statistics = random_statistics(graph, random);
    for (const CostModel& cost : {CostModel::c_out(), CostModel::hash_join()}) {
      const Plan fast = best_plan(graph, statistics, cost, Algorithm::fast);
      const Plan dpsize = best_plan(graph, statistics, cost, Algorithm::dpsize);
      const double least = dpsize.nodes.back().cost;
      EXPECT_NEAR(fast.nodes.back().cost, least, 1e-9 * least) << "seed " << seed;
      EXPECT_NEAR(fast.nodes.back().rows, dpsize.nodes.back().rows, 1e-9 * dpsize.nodes.back().rows);
      EXPECT_EQ(fast.counters.csg_cmp_pairs, dpsize.counters.csg_cmp_pairs);
    }
  }
}

/// The plan's cost, added up from its tables: what a planner says must be what its tree costs.
double cost_of(const Hypergraph& graph, const Statistics& statistics, const Plan& plan,
               const CostModel& cost) {
  std::vector<Input> inputs;
  for (const PlanNode& node : plan.nodes) {
    double rows = 1;
    for (NodeSet rest = node.tables; rest != 0; rest &= rest - 1) rows *= statistics.rows[lowest_node(rest)];
    for (std::size_t k = 0; k < graph.n_edges(); ++k) {
      if (is_subset(graph.edge(k).nodes(), node.tables)) rows *= statistics.selectivity[k];
    }
    EXPECT_NEAR(node.rows, rows, 1e-9 * rows);
    const auto input = [&](std::int32_t i) { return inputs[static_cast<std::size_t>(i)]; };
    inputs.push_back({rows, node.left < 0 ? 0 : cost(input(node.left), input(node.right), rows)});
  }
  return inputs.back().cost;
}

void costs_as_little_as_any(const Hypergraph& graph, const Statistics& statistics, unsigned seed) {
  for (const CostModel& cost : {CostModel::c_out(), CostModel::hash_join()}) {
    const Plan plan = best_plan(graph, statistics, cost, Algorithm::fast);
    const Plan expected = best_plan(graph, statistics, cost, Algorithm::dpsub);
    const double least = expected.nodes.back().cost;
    EXPECT_NEAR(plan.nodes.back().cost, least, 1e-9 * least) << "seed " << seed;
    EXPECT_NEAR(cost_of(graph, statistics, plan, cost), least, 1e-9 * least) << "seed " << seed;
    EXPECT_EQ(plan.nodes.back().tables, graph.all_nodes());
    EXPECT_EQ(plan.counters.csg_cmp_pairs, expected.counters.csg_cmp_pairs) << "seed " << seed;
    EXPECT_EQ(plan.counters.connected_subgraphs, expected.counters.connected_subgraphs) << "seed " << seed;
  }
}

TEST(JoinOrder, ATreePlannedByRemovingEdgesCostsAsLittleAsAnyPlan) {
  for (unsigned seed = 0; seed < 150; ++seed) {
    std::mt19937 random(seed);
    const unsigned n = 1 + static_cast<unsigned>(random() % 11);
    std::vector<unsigned> order(n);
    std::iota(order.begin(), order.end(), 0u);
    std::shuffle(order.begin(), order.end(), random);
    Hypergraph graph(n);
    for (unsigned i = 1; i < n; ++i) {
      const unsigned other = order[random() % i];
      graph.add_edge(single(order[i]), single(other));
      if (random() % 5 == 0) graph.add_edge(single(other), single(order[i]));
    }
    costs_as_little_as_any(graph, random_statistics(graph, random), seed);
    // Ties everywhere.
    costs_as_little_as_any(
        graph, Statistics(graph, std::vector<double>(n, 100), std::vector<double>(graph.n_edges(), 0.01)),
        seed);
  }
}

TEST(JoinOrder, ACliquePlannedBySubsetsCostsAsLittleAsAnyPlan) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    std::mt19937 random(seed);
    const unsigned n = 3 + seed % 7;
    Hypergraph graph = clique(n);
    if (seed % 2 == 0) graph.add_edge(single(n - 1), single(0));
    costs_as_little_as_any(graph, random_statistics(graph, random), seed);
    costs_as_little_as_any(
        graph, Statistics(graph, std::vector<double>(n, 100), std::vector<double>(graph.n_edges(), 0.5)),
        seed);
  }
}

TEST(JoinOrder, ATreeOfManyTablesIsPlannedIfItsConnectedSetsAreFew) {
  const Hypergraph graph = chain(64);
  std::mt19937 random(1);
  const Statistics statistics = random_statistics(graph, random);
  const Plan plan = best_plan(graph, statistics, CostModel::c_out(), Algorithm::fast);
  const double least = best_plan(graph, statistics, CostModel::c_out(), Algorithm::dpccp).nodes.back().cost;
  EXPECT_NEAR(plan.nodes.back().cost, least, 1e-9 * least);
  EXPECT_EQ(plan.counters.csg_cmp_pairs, (64u * 64 * 64 - 64) / 6);
}

TEST(JoinOrder, ANumberingIsKeptWhenItFollowsTheEdgesAndIsMadeToFollowThemOtherwise) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    const unsigned n = 2 + static_cast<unsigned>(random() % 40);
    std::vector<unsigned> order(n);
    std::iota(order.begin(), order.end(), 0u);
    const bool is_along = seed % 2 == 0;
    if (!is_along) std::shuffle(order.begin(), order.end(), random);
    Hypergraph graph(n);
    for (unsigned i = 1; i < n; ++i) graph.add_edge(single(order[random() % i]), single(order[i]));
    const Numbering numbering = Numbering::along_edges(graph);
    NodeSet before = 0;
    for (unsigned place = 0; place < n; ++place) {
      const unsigned node = numbering.node(n - 1 - place);
      EXPECT_EQ(numbering.bit(node), n - 1 - place);
      EXPECT_TRUE(!is_along || node == place);
      EXPECT_TRUE(place == 0 || overlap(graph.node(node).simple_neighborhood, before)) << "seed " << seed;
      before |= single(node);
    }
    EXPECT_EQ(before, graph.all_nodes());
    const NodeSet some = random() & graph.all_nodes();
    NodeSet bits = 0;
    for (NodeSet rest = some; rest != 0; rest &= rest - 1) bits |= single(numbering.bit(lowest_node(rest)));
    EXPECT_EQ(numbering.bits(some), bits);
  }
}

TEST(JoinOrder, APlanIsAsGoodAndOfTheSameTablesHoweverTheyAreNumbered) {
  for (unsigned seed = 0; seed < 24; ++seed) {
    std::mt19937 random(seed);
    const unsigned n = 3 + static_cast<unsigned>(random() % 9);
    std::vector<unsigned> order(n);
    std::iota(order.begin(), order.end(), 0u);
    std::shuffle(order.begin(), order.end(), random);
    Hypergraph graph(n);
    for (unsigned i = 1; i < n; ++i) graph.add_edge(single(order[random() % i]), single(order[i]));
    const Statistics statistics = random_statistics(graph, random);
    for (const CostModel& cost : {CostModel::c_out(), CostModel::hash_join()}) {
      const Plan plan = best_plan(graph, statistics, cost, Algorithm::fast);
      const double least = best_plan(graph, statistics, cost, Algorithm::dpsub).nodes.back().cost;
      EXPECT_NEAR(plan.nodes.back().cost, least, 1e-9 * least) << "seed " << seed;
      EXPECT_EQ(plan.nodes.back().tables, graph.all_nodes());
      for (const PlanNode& node : plan.nodes) {
        EXPECT_TRUE(node.left >= 0 || node.rows == statistics.rows[lowest_node(node.tables)]);
      }
    }
  }
}

TEST(JoinOrder, AnOuterJoinTakesItsWholeInnerSide) {
  const Hypergraph graph =
      hypergraph_of({{.table = 0},
                     {.table = 1},
                     {.table = 2},
                     {.left = 1, .right = 2, .used = 6, .null_rejected = 6},
                     {.left = 0, .right = 3, .kind = JoinKind::left, .used = 3, .null_rejected = 3}});
  EXPECT_EQ(graph.edge(1).left, 1u);
  EXPECT_EQ(graph.edge(1).right, 6u);
}

TEST(JoinOrder, AStraightJoinTakesAllThatStandsBeforeIt) {
  const Hypergraph graph = hypergraph_of({{.table = 0},
                                          {.table = 1},
                                          {.left = 0, .right = 1, .kind = JoinKind::straight, .used = 3},
                                          {.table = 2},
                                          {.left = 2, .right = 3, .kind = JoinKind::straight, .used = 6}});
  EXPECT_EQ(graph.edge(1).left, 3u);
  EXPECT_EQ(graph.edge(1).right, 4u);
}

TEST(JoinOrder, ASimplifiedGraphHasAsFewCallsAsAskedFor) {
  Hypergraph graph = clique(8);
  std::vector<double> rows;
  for (unsigned i = 0; i < 8; ++i) rows.push_back(10.0 * (i + 1));
  const Statistics statistics(graph, rows, std::vector<double>(graph.n_edges(), 0.1));
  const Simplification done = simplify(graph, statistics, 500);
  EXPECT_TRUE(done.is_below_limit);
  EXPECT_LE(done.calls, 500u);
  EXPECT_EQ(enumerate(graph, {.keep_events = false}).counters.calls, done.calls);
}

TEST(JoinOrderOptions, DescribeEveryMember) { tests::expect_described<LeftDeepOptions>(); }

}  // namespace
}  // namespace engineroom::join_order
