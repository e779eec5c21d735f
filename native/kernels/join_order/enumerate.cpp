#include "join_order/enumerate.hpp"

#include <limits>
#include <string>
#include <utility>

#include "common/require.hpp"
#include "join_order/comparators.hpp"
#include "join_order/faithful.hpp"
#include "join_order/fast.hpp"
#include "join_order/seen_sets.hpp"

namespace engineroom::join_order {

namespace {

constexpr std::uint64_t kReportsBetweenPolls = std::uint64_t{1} << 22;
constexpr std::size_t kEventsInAPiece = std::size_t{1} << 20;

/// Before a node's or a pair's first event.
void make_room(Enumeration& out, const EnumerateOptions& options) {
  if (out.events.size() < kEventsInAPiece || !options.take) return;
  options.take(std::move(out.events));
  out.events.clear();
}

struct FaithfulReceiver {
  const Hypergraph& graph;
  const EnumerateOptions& options;
  Enumeration& out;
  const std::uint64_t most_calls = options.most_calls.value_or(std::numeric_limits<std::uint64_t>::max());
  SeenSets seen{graph};
  NodeSet last_left = 0;
  NodeSet last_right = 0;

  void node(unsigned i) {
    seen.insert(single(i));
    if (options.keep_events) out.events.push_back({single(i), 0, -1});
  }
  bool has_seen(NodeSet set) const { return seen.contains(set); }
  bool pair(NodeSet left, NodeSet right, std::size_t edge) {
    if (graph.has_rules() && !graph.rules_allow(edge, left | right)) return false;
    if (out.counters.calls == most_calls) {
      out.is_complete = false;
      return true;
    }
    if (++out.counters.calls % kReportsBetweenPolls == 0 && options.poll) options.poll(out.counters.calls);
    // The calls of one pair follow each other.
    if (left != last_left || right != last_right) {
      ++out.counters.csg_cmp_pairs;
      make_room(out, options);
    }
    last_left = left;
    last_right = right;
    seen.insert(left | right);
    if (options.keep_events) out.events.push_back({left, right, static_cast<std::int32_t>(edge)});
    return false;
  }
};

template <std::size_t Words, bool Complex>
struct FastReceiver {
  const Hypergraph& graph;
  const EnumerateOptions& options;
  Enumeration& out;
  const std::uint64_t most_calls = options.most_calls.value_or(std::numeric_limits<std::uint64_t>::max());
  SeenSets seen{graph};

  void node(unsigned bit) {
    if constexpr (Complex) seen.insert(single(bit));
    if (options.keep_events) out.events.push_back({single(graph.n_nodes() - 1 - bit), 0, -1});
  }
  bool has_seen(NodeSet set) const { return seen.contains(set); }
  void pair(NodeSet left, NodeSet right, const EdgeSet<Words>& edges) {
    const auto turned = [&](NodeSet set) { return mirrored(set, graph.n_nodes()); };
    if (graph.has_rules()) {
      bool any = false;
      edges.for_each([&](std::size_t edge) { any = any || graph.rules_allow(edge, turned(left | right)); });
      if (!any) return;
    }
    if (++out.counters.csg_cmp_pairs % kReportsBetweenPolls == 0 && options.poll) {
      options.poll(out.counters.csg_cmp_pairs);
    }
    if constexpr (Complex) seen.insert(left | right);
    if (!options.keep_events) return;
    make_room(out, options);
    edges.for_each([&](std::size_t edge) {
      if (!graph.has_rules() || graph.rules_allow(edge, turned(left | right))) {
        out.events.push_back({turned(left), turned(right), static_cast<std::int32_t>(edge)});
      }
    });
  }
};

struct PairReceiver {
  const Hypergraph& graph;
  const EnumerateOptions& options;
  Enumeration& out;
  std::uint64_t reports = 0;

  void node(unsigned i) {
    if (options.keep_events) out.events.push_back({single(i), 0, -1});
  }
  bool pair(NodeSet left, NodeSet right) {
    if (++reports % kReportsBetweenPolls == 0 && options.poll) options.poll(reports);
    bool any = !graph.has_rules() && !options.keep_events;
    if (any) return true;
    make_room(out, options);
    for (std::size_t k = 0; k < graph.n_edges(); ++k) {
      if (!graph.edge(k).connects(left, right) || !graph.rules_allow(k, left | right)) continue;
      any = true;
      if (options.keep_events) out.events.push_back({left, right, static_cast<std::int32_t>(k)});
    }
    return any;
  }
};

}  // namespace

Enumeration enumerate(const Hypergraph& graph, const EnumerateOptions& options) {
  if (options.must_be_connected) require_connected(graph);
  Enumeration out;
  PairReceiver pairs{graph, options, out};
  switch (options.algorithm) {
    case Algorithm::faithful: {
      if (graph.n_nodes() > kMostTablesOfServer) {
        refuse("the server joins at most 61 tables and so does faithful, got " +
               std::to_string(graph.n_nodes()) + "; take fast");
      }
      FaithfulReceiver receiver{graph, options, out};
      FaithfulEnumerator<FaithfulReceiver> enumerator(graph, receiver, options.forbid_lower_seeds);
      enumerator.run();
      out.counters.connected_subgraphs = receiver.seen.size();
      out.counters.inner_tests = enumerator.inner_tests();
      break;
    }
    case Algorithm::fast:
      if (graph.has_rules() && !graph.has_complex_edges()) {
        // Rules can make a set unreachable that its edges join, so what was seen must be looked up.
        FastReceiver<64, true> receiver{graph, options, out};
        FastEnumerator<64, true, FastReceiver<64, true>> enumerator(graph, receiver, true);
        enumerator.run();
        out.counters.connected_subgraphs = receiver.seen.size();
        out.counters.inner_tests = enumerator.inner_tests();
      } else {
        with_fast_form(graph, [&]<std::size_t Words, bool Complex>() {
          FastReceiver<Words, Complex> receiver{graph, options, out};
          FastEnumerator<Words, Complex, FastReceiver<Words, Complex>> enumerator(graph, receiver,
                                                                                  graph.has_rules());
          enumerator.run();
          out.counters.connected_subgraphs =
              Complex ? receiver.seen.size() : enumerator.connected_subgraphs();
          out.counters.inner_tests = enumerator.inner_tests();
        });
      }
      out.counters.calls = out.counters.csg_cmp_pairs;
      break;
    case Algorithm::dpccp:
      out.counters = Dpccp<PairReceiver>(graph, pairs).run();
      break;
    case Algorithm::dpsize:
      out.counters = dpsize(graph, pairs);
      break;
    case Algorithm::dpsub:
      if (graph.n_nodes() > 30) {
        refuse("dpsub looks at 2^n sets; at most 30 nodes, got " + std::to_string(graph.n_nodes()) +
               "; take fast or faithful");
      }
      out.counters = dpsub(graph, pairs);
      break;
  }
  if (options.take) {
    options.take(std::move(out.events));
    out.events.clear();
  }
  return out;
}

}  // namespace engineroom::join_order
