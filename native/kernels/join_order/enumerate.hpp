// All events or the totals of one enumeration, by the name of the algorithm.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "join_order/counters.hpp"
#include "join_order/hypergraph.hpp"
#include "join_order/plans.hpp"

namespace engineroom::join_order {

struct EnumerateOptions {
  Algorithm algorithm = Algorithm::faithful;
  bool keep_events = true;
  /// `faithful` only: the enumeration ends when a call more than these comes, as with
  /// optimizer_max_subgraph_pairs.
  std::uint64_t most_calls = std::numeric_limits<std::uint64_t>::max();
  /// `faithful` only: false leaves out the line that the first paper forgot.
  bool forbid_lower_seeds = true;
  /// Refuse a graph of several parts; false enumerates each part.
  bool must_be_connected = true;
  /// Called about every four million reports; it ends the enumeration by throwing.
  std::function<void()> poll{};
};

struct Enumeration {
  std::vector<Event> events;
  Counters counters;
  bool is_complete = true;
};

/// Conflict rules are obeyed: a call that they forbid is not reported. Refuses what `algorithm` cannot take.
Enumeration enumerate(const Hypergraph& graph, const EnumerateOptions& options);

}  // namespace engineroom::join_order
