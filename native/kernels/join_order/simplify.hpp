// Making a query graph smaller when it has too many pairs: the safest join orders are fixed first.
//
// Two neighbouring joins are compared in both orders. The pair whose better order gains most is fixed by
// enlarging the later edge with the earlier edge's tables, so that DPhyp no longer finds the other order. A
// graph of happens-before relations keeps the steps free of contradictions.
//
// Models      Neumann's "Query simplification" (2009) as GraphSimplifier of MySQL 8.0 and later does it
// Leaves out  filters on single tables; the server's tie-breaking between equal gains
// Cost        O(edges) an update of the gains, and one enumeration without costs for each count of pairs
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "join_order/conflict_rules.hpp"
#include "join_order/hypergraph.hpp"
#include "join_order/plans.hpp"

namespace engineroom::join_order {

class Simplifier {
 public:
  /// `kinds`: the join kind of each edge; empty when all are inner. The graph is changed in place.
  Simplifier(Hypergraph& graph, const Statistics& statistics, std::vector<JoinKind> kinds = {});

  /// Applies one more step; false when there is none.
  bool step();
  /// Takes the last step back; the next step() applies the same one again.
  void undo();
  std::size_t steps_done() const { return done_.size(); }

 private:
  struct Status {
    double cost;
    double rows;
  };
  struct Proposal {
    double benefit;
    std::size_t before;
    std::size_t after;
  };
  struct Step {
    std::size_t edge;
    Hyperedge old_ends;
    Hyperedge new_ends;
  };

  Status simulate(Status left, Status right, std::size_t edge) const;
  double rows_of(NodeSet tables) const;
  std::optional<Proposal> compare(std::size_t a, std::size_t b) const;
  Hyperedge enlarged(std::size_t before, std::size_t after) const;
  bool happens_before(std::size_t first, std::size_t second) const;
  bool is_joinable() const;
  std::size_t index(std::size_t a, std::size_t b) const { return a * graph_.n_edges() + b; }

  Hypergraph& graph_;
  const Statistics& statistics_;
  std::vector<JoinKind> kinds_;
  std::vector<std::vector<std::size_t>> later_;  // of each edge, those that must come after it
  std::vector<bool> given_up_;                   // pairs of edges that can no longer be ordered
  std::vector<Step> done_;
  std::vector<Step> undone_;
};

struct Simplification {
  std::size_t steps = 0;
  std::uint64_t calls = 0;  // of the simplified graph
  bool is_below_limit = true;
};

/// Simplifies `graph` until an enumeration needs at most `most_calls`: 1, 2, 4, ... steps until that is so,
/// then a binary search for the fewest. When no step is left and there are still too many, the graph stays as
/// simple as it got.
Simplification simplify(Hypergraph& graph, const Statistics& statistics, std::uint64_t most_calls,
                        std::vector<JoinKind> kinds = {});

}  // namespace engineroom::join_order
