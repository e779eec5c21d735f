// All events or the totals of one enumeration, by the name of the algorithm.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "common/described.hpp"
#include "join_order/counters.hpp"
#include "join_order/hypergraph.hpp"
#include "join_order/plans.hpp"

namespace engineroom::join_order {

struct EnumerateOptions {
  Algorithm algorithm = Algorithm::faithful;
  bool keep_events = true;
  /// `faithful` only: the enumeration ends when a call more than these comes, as with
  /// optimizer_max_subgraph_pairs.
  std::optional<std::uint64_t> most_calls = {};
  /// `faithful` only: false leaves out the line that the first paper forgot.
  bool forbid_lower_seeds = true;
  /// Refuse a graph of several parts; false enumerates each part.
  bool must_be_connected = true;
  /// Called about every four million reports with their number; it ends the enumeration by throwing.
  std::function<void(std::uint64_t)> poll{};
  /// Gets the events in pieces of about a million, a pair's events together, so that none are kept.
  std::function<void(std::vector<Event>&&)> take{};
};
constexpr auto described(options::Of<EnumerateOptions>) {
  using C = EnumerateOptions;
  return options::list<C>(
      "an enumeration",
      {options::option<&C::algorithm>("'faithful' has MySQL's events in its order, 'fast' is ours"),
       options::option<&C::keep_events>("events", "False counts only"),
       options::option<&C::most_calls>(
           {.least = 1}, "faithful only; end when a call more than these comes; None for no bound"),
       options::option<&C::forbid_lower_seeds>(
           "faithful only; False leaves out the line without which pairs are found twice")});
}

struct Enumeration {
  std::vector<Event> events;
  Counters counters;
  bool is_complete = true;
};

/// Conflict rules are obeyed: a call that they forbid is not reported. Refuses what `algorithm` cannot take.
Enumeration enumerate(const Hypergraph& graph, const EnumerateOptions& options);

}  // namespace engineroom::join_order
