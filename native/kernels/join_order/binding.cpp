// engineroom._native.join_order: query graphs, their enumeration, plans, conflict rules and simplification.
#include <pybind11/functional.h>
#include <pybind11/typing.h>

#include <variant>

#include "bindings/arguments.hpp"
#include "bindings/arrays.hpp"
#include "join_order/conflict_rules.hpp"
#include "join_order/enumerate.hpp"
#include "join_order/plans.hpp"
#include "join_order/simplify.hpp"

namespace engineroom::bindings {

namespace {

namespace jo = join_order;
using Nodes = std::vector<std::int64_t>;
using Counts = py::typing::Dict<py::str, py::int_>;
using Rule = std::pair<Nodes, Nodes>;
using Cost = std::variant<jo::CostModel::Kind, std::function<double(double, double, double, double, double)>>;

constexpr const char* kGraphDoc = R"(A query's hypergraph.

nodes: how many tables, 1 to 64. edges: pairs of lists of nodes; an edge's number is its place in the list.
rules: for each edge a list of pairs of lists of nodes: a join along the edge that has any node of the first has all of the
second. None: no rules.

Raises ValueError for an empty side, a node on both sides and a node that does not exist.)";

constexpr const char* kEnumerateDoc = R"(Find all pairs of connected sets that an edge joins.

times: do it so often, for a bench. progress: called about every four million reports with their number; it ends the enumeration by
raising. take: called with about a million events each time, all of a pair's together, instead of keeping them.

Raises ValueError for a graph that is not connected, and for one that the algorithm cannot take. Ctrl-C stops it.)";

constexpr const char* kBestPlanDoc = R"(The cheapest bushy plan without cross products.

rows: of each table. selectivity: of each edge. cost: "c_out" (rows of all intermediate results), "hash_join", or a function
of left rows, left cost, right rows, right cost and the join's rows that returns the cost of the whole subtree.
algorithm: whose pairs fill the table. times: do it so often, for a bench.
kinds: of each edge, for its rows, and since a join that is not inner keeps its sides: the edge's left one is the left input, which
"hash_join" builds of a straight join; of the others it builds the right one. None: all inner.
A pair that the graph's conflict rules forbid is no part of the plan. Raises ValueError for numbers of another count or out of
range, and where the rules leave no plan.)";

jo::NodeSet set_of(const Nodes& nodes, std::size_t n_nodes, const std::string& where) {
  jo::NodeSet set = 0;
  for (std::int64_t node : nodes) {
    if (node < 0 || static_cast<std::size_t>(node) >= n_nodes) {
      throw py::value_error(where + " has node " + std::to_string(node) + "; the nodes are 0 to " +
                            std::to_string(n_nodes - 1));
    }
    set |= jo::single(static_cast<unsigned>(node));
  }
  return set;
}

Nodes nodes_of(jo::NodeSet set) {
  Nodes nodes;
  for (; set != 0; set &= set - 1) nodes.push_back(jo::lowest_node(set));
  return nodes;
}

jo::Hypergraph make_graph(std::int64_t nodes, const std::vector<std::pair<Nodes, Nodes>>& edges,
                          const std::optional<std::vector<std::vector<Rule>>>& rules) {
  if (rules && rules->size() != edges.size()) {
    throw py::value_error("rules has " + std::to_string(rules->size()) + " entries; the graph has " +
                          std::to_string(edges.size()) + " edges");
  }
  if (nodes < 1) throw py::value_error("a graph has 1 to 64 nodes, got " + std::to_string(nodes));
  const auto n = static_cast<std::size_t>(nodes);
  jo::Hypergraph graph(n);
  for (std::size_t k = 0; k < edges.size(); ++k) {
    const std::string where = "edge " + std::to_string(k);
    std::vector<jo::ConflictRule> of_edge;
    if (rules) {
      for (const auto& [if_any, then_all] : (*rules)[k]) {
        of_edge.push_back({set_of(if_any, n, where), set_of(then_all, n, where)});
      }
    }
    graph.add_edge(set_of(edges[k].first, n, where), set_of(edges[k].second, n, where), std::move(of_edge));
  }
  return graph;
}

jo::CostModel cost_of(const Cost& cost) {
  if (const auto* kind = std::get_if<jo::CostModel::Kind>(&cost)) {
    return *kind == jo::CostModel::Kind::c_out ? jo::CostModel::c_out() : jo::CostModel::hash_join();
  }
  return jo::CostModel::custom([function = std::get<1>(cost)](jo::Input left, jo::Input right, double rows) {
    const py::gil_scoped_acquire locked;
    return function(left.rows, left.cost, right.rows, right.cost, rows);
  });
}

using Kinds = std::optional<std::vector<jo::JoinKind>>;

Counts counters_of(const jo::Counters& counters) {
  Counts out;
  out["connected_subgraphs"] = counters.connected_subgraphs;
  out["csg_cmp_pairs"] = counters.csg_cmp_pairs;
  out["calls"] = counters.calls;
  out["inner_tests"] = counters.inner_tests;
  return out;
}

struct PythonEnumeration {
  py::array events;
  Counts counters;
  bool is_complete;
};

struct PythonPlan {
  py::array nodes;
  Counts counters;
  std::uint64_t plans_compared;
  double cost;
  double rows;
};

PythonPlan to_python(jo::Plan&& plan) {
  const double cost = plan.nodes.back().cost;
  const double rows = plan.nodes.back().rows;
  return {to_array(std::move(plan.nodes)), counters_of(plan.counters), plan.plans_compared, cost, rows};
}

PythonEnumeration enumerate(const jo::EnumerateOptions& given, const jo::Hypergraph& graph,
                            std::int64_t times,
                            const std::optional<std::function<void(std::uint64_t)>>& progress,
                            const std::optional<std::function<void(py::array)>>& take) {
  jo::EnumerateOptions options = given;
  options.poll = [&progress](std::uint64_t reports) {
    const py::gil_scoped_acquire locked;
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    if (progress) (*progress)(reports);
  };
  if (take) {
    options.take = [&take](std::vector<jo::Event>&& events) {
      const py::gil_scoped_acquire locked;
      (*take)(to_array(std::move(events)));
    };
  }
  const std::uint64_t n_times = at_least(times, 1, "times");
  jo::Enumeration found;
  {
    const py::gil_scoped_release unlocked;
    for (std::uint64_t left = n_times; left > 0; --left) found = jo::enumerate(graph, options);
  }
  return {to_array(std::move(found.events)), counters_of(found.counters), found.is_complete};
}

using Join = std::tuple<jo::JoinKind, std::int32_t, std::int32_t, Nodes, Nodes>;

jo::Hypergraph hypergraph_of(const std::vector<std::variant<std::int64_t, Join>>& operators) {
  std::vector<jo::Operator> tree;
  for (const auto& item : operators) {
    if (const auto* table = std::get_if<std::int64_t>(&item)) {
      if (*table < 0 || *table >= jo::kMostNodes) {
        throw py::value_error("tables are 0 to 63, got " + std::to_string(*table));
      }
      tree.push_back({.table = static_cast<std::uint32_t>(*table)});
      continue;
    }
    const auto& [kind, left, right, used, null_rejected] = std::get<Join>(item);
    const std::string where = "operator " + std::to_string(tree.size());
    if (left < 0 || right < 0) throw py::value_error(where + " has a negative input");
    tree.push_back({.left = left,
                    .right = right,
                    .kind = kind,
                    .used = set_of(used, jo::kMostNodes, where),
                    .null_rejected = set_of(null_rejected, jo::kMostNodes, where)});
  }
  return jo::hypergraph_of(tree);
}

/// The graph that a Simplifier changes lives as long as it does.
struct PythonSimplifier {
  PythonSimplifier(const jo::Hypergraph& source, std::vector<double> rows, std::vector<double> selectivity,
                   std::vector<jo::JoinKind> kinds)
      : graph(source),
        statistics(graph, std::move(rows), std::move(selectivity)),
        simplifier(graph, statistics, std::move(kinds)) {}
  PythonSimplifier(const PythonSimplifier&) = delete;
  PythonSimplifier& operator=(const PythonSimplifier&) = delete;

  jo::Hypergraph graph;
  jo::Statistics statistics;
  jo::Simplifier simplifier;
};

void bind_graph(py::module_& m) {
  py::class_<jo::Hypergraph>(m, "Graph", kGraphDoc)
      .def(py::init(&make_graph), py::arg("nodes"), py::arg("edges"), py::arg("rules") = py::none())
      .def_property_readonly("n_nodes", &jo::Hypergraph::n_nodes)
      .def_property_readonly(
          "edges",
          [](const jo::Hypergraph& graph) {
            std::vector<std::pair<Nodes, Nodes>> edges;
            for (std::size_t k = 0; k < graph.n_edges(); ++k) {
              edges.emplace_back(nodes_of(graph.edge(k).left), nodes_of(graph.edge(k).right));
            }
            return edges;
          },
          "The two sides of each edge.")
      .def_property_readonly(
          "rules",
          [](const jo::Hypergraph& graph) {
            std::vector<std::vector<Rule>> rules(graph.n_edges());
            for (std::size_t k = 0; k < graph.n_edges(); ++k) {
              for (const jo::ConflictRule& rule : graph.rules(k)) {
                rules[k].emplace_back(nodes_of(rule.if_any), nodes_of(rule.then_all));
              }
            }
            return rules;
          },
          "Of each edge, the conflict rules that its sides do not express.")
      .def_property_readonly(
          "components",
          [](const jo::Hypergraph& graph) {
            std::vector<Nodes> parts;
            for (jo::NodeSet part : jo::components(graph)) parts.push_back(nodes_of(part));
            return parts;
          },
          "The largest sets that the edges can join; one when the graph is connected.");
}

}  // namespace

void bind_join_order(py::module_& module) {
  PYBIND11_NUMPY_DTYPE(jo::Event, left, right, edge);
  PYBIND11_NUMPY_DTYPE(jo::PlanNode, tables, rows, cost, left, right);
  py::module_ m = module.def_submodule("join_order", "Join enumeration, join order and what restricts it.");
  bind_graph(m);

  py::class_<PythonEnumeration>(m, "Enumeration", "What an enumeration found.")
      .def_readonly("events", &PythonEnumeration::events,
                    "left and right as bit sets, and the edge; right 0 and edge -1 for a single node")
      .def_readonly("counters", &PythonEnumeration::counters)
      .def_readonly("is_complete", &PythonEnumeration::is_complete, "False when most_calls ended it.");
  def_with_options(m, "enumerate", &enumerate, kEnumerateDoc, py::arg("graph"), py::kw_only(),
                   py::arg("times") = 1, py::arg("progress") = py::none(), py::arg("take") = py::none());

  py::class_<PythonPlan>(m, "Plan", "A join tree.")
      .def_readonly("nodes", &PythonPlan::nodes,
                    "tables as a bit set, rows, cost, and the places of left and right input, -1 for a "
                    "table; the root is last")
      .def_readonly("counters", &PythonPlan::counters)
      .def_readonly("plans_compared", &PythonPlan::plans_compared)
      .def_readonly("cost", &PythonPlan::cost)
      .def_readonly("rows", &PythonPlan::rows);
  m.def(
      "best_plan",
      [](const jo::Hypergraph& graph, std::vector<double> rows, std::vector<double> selectivity,
         const Cost& cost, jo::Algorithm algorithm, std::int64_t times, const Kinds& kinds) {
        const std::uint64_t n_times = at_least(times, 1, "times");
        const jo::Statistics statistics(graph, std::move(rows), std::move(selectivity),
                                        kinds.value_or(std::vector<jo::JoinKind>{}));
        const jo::CostModel model = cost_of(cost);
        jo::Plan plan;
        {
          const py::gil_scoped_release unlocked;
          for (std::uint64_t left = n_times; left > 0; --left)
            plan = jo::best_plan(graph, statistics, model, algorithm);
        }
        return to_python(std::move(plan));
      },
      kBestPlanDoc, py::arg("graph"), py::arg("rows"), py::arg("selectivity"), py::kw_only(),
      py::arg("cost") = Cost(jo::CostModel::Kind::c_out), py::arg("algorithm") = jo::Algorithm::fast,
      py::arg("times") = 1, py::arg("kinds") = py::none());
  m.def(
      "greedy_plan",
      [](const jo::Hypergraph& graph, std::vector<double> rows, std::vector<double> selectivity,
         const Cost& cost) {
        return to_python(jo::greedy_plan(
            graph, jo::Statistics(graph, std::move(rows), std::move(selectivity)), cost_of(cost)));
      },
      "Greedy operator ordering: always the join with the fewest rows next.", py::arg("graph"),
      py::arg("rows"), py::arg("selectivity"), py::kw_only(),
      py::arg("cost") = Cost(jo::CostModel::Kind::c_out));
  def_with_options(
      m, "left_deep_plan",
      +[](const jo::LeftDeepOptions& options, const jo::Hypergraph& graph, std::vector<double> rows,
          std::vector<double> selectivity, const Cost& cost) {
        return to_python(jo::left_deep_plan(
            graph, jo::Statistics(graph, std::move(rows), std::move(selectivity)), cost_of(cost), options));
      },
      "The old optimizer's search for a left-deep plan; cross products allowed.", py::arg("graph"),
      py::arg("rows"), py::arg("selectivity"), py::kw_only(),
      py::arg("cost") = Cost(jo::CostModel::Kind::c_out));

  m.def("hypergraph_of", &hypergraph_of,
        "The hypergraph of a tree of joins: one edge a join, with conflict rules (CD-C) folded "
        "in.\n\noperators: a table's number, or (kind, place of left input, place of right input, tables of "
        "the condition, tables whose\nNULLs the condition rejects); inputs come before their join. kind is "
        "'inner', 'left', 'semi', 'anti' or 'straight'.",
        py::arg("operators"));

  py::class_<PythonSimplifier>(m, "Simplifier",
                               "Fixes the safest join orders of a copy of the graph, one step at a time.")
      .def(py::init([](const jo::Hypergraph& graph, std::vector<double> rows, std::vector<double> selectivity,
                       const Kinds& kinds) {
             return std::make_unique<PythonSimplifier>(graph, std::move(rows), std::move(selectivity),
                                                       kinds.value_or(std::vector<jo::JoinKind>{}));
           }),
           py::arg("graph"), py::arg("rows"), py::arg("selectivity"), py::kw_only(),
           py::arg("kinds") = py::none())
      .def(
          "step", [](PythonSimplifier& self) { return self.simplifier.step(); },
          "Apply one more step; False when there is none.")
      .def(
          "undo", [](PythonSimplifier& self) { self.simplifier.undo(); }, "Take the last step back.")
      .def_property_readonly("steps_done",
                             [](const PythonSimplifier& self) { return self.simplifier.steps_done(); })
      .def_property_readonly("graph",
                             [](const PythonSimplifier& self) { return jo::Hypergraph(self.graph); });
  m.def(
      "simplify",
      [](const jo::Hypergraph& graph, std::vector<double> rows, std::vector<double> selectivity,
         std::int64_t most_calls, const Kinds& kinds) {
        jo::Hypergraph simple = graph;
        const jo::Statistics statistics(simple, std::move(rows), std::move(selectivity));
        const std::uint64_t limit = at_least(most_calls, 1, "most_calls");
        const jo::Simplification done = without_gil([&] {
          return jo::simplify(simple, statistics, limit, kinds.value_or(std::vector<jo::JoinKind>{}));
        });
        return std::make_tuple(simple, done.steps, done.calls, done.is_below_limit);
      },
      "The graph after the fewest steps that leave at most most_calls calls, the steps, the calls, and "
      "whether that is below the limit.",
      py::arg("graph"), py::arg("rows"), py::arg("selectivity"), py::kw_only(), py::arg("most_calls"),
      py::arg("kinds") = py::none());
}

}  // namespace engineroom::bindings
