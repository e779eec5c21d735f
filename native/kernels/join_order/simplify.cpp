#include "join_order/simplify.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "common/require.hpp"
#include "join_order/enumerate.hpp"

namespace engineroom::join_order {

namespace {

bool is_part_of(const Hyperedge& a, const Hyperedge& b) { return is_subset(a.nodes(), b.nodes()); }

/// One end lies within the other.
bool nested(NodeSet a, NodeSet b) { return is_subset(a, b) || is_subset(b, a); }

}  // namespace

Simplifier::Simplifier(Hypergraph& graph, const Statistics& statistics, std::vector<JoinKind> kinds)
    : graph_(graph), statistics_(statistics), kinds_(std::move(kinds)) {
  const std::size_t n = graph_.n_edges();
  if (kinds_.empty()) kinds_.assign(n, JoinKind::inner);
  if (kinds_.size() != n) {
    refuse("kinds has " + std::to_string(kinds_.size()) + " entries; the graph has " + std::to_string(n) +
           " edges");
  }
  later_.resize(n);
  given_up_.assign(n * n, false);
  for (std::size_t a = 0; a < n; ++a) {
    for (std::size_t b = 0; b < n; ++b) {
      // Edges over the same tables are part of each other; one order of them is enough.
      if (a != b && is_part_of(graph_.edge(a), graph_.edge(b)) && !happens_before(b, a))
        later_[a].push_back(b);
    }
  }
}

/// What the inner input itself costs is not added: the server's traces come out so, and not with it.
Simplifier::Status Simplifier::simulate(Status left, Status right, std::size_t edge) const {
  const bool commutes = kinds_[edge] == JoinKind::inner;
  if (commutes && left.rows < right.rows) std::swap(left, right);
  const double rows = rows_joined(kinds_[edge], left.rows, right.rows, statistics_.selectivity[edge]);
  return {left.cost + right.rows * CostModel::kBuildRow + left.rows * CostModel::kProbeRow +
              rows * CostModel::kReturnRow,
          rows};
}

/// Joins what can be joined within the tables; parts that stay apart are multiplied as if a tenth of the rows
/// matched.
double Simplifier::rows_of(NodeSet tables) const {
  struct Part {
    NodeSet tables;
    double rows;
  };
  std::vector<Part> parts;
  for (NodeSet rest = tables; rest != 0; rest &= rest - 1) {
    parts.push_back({lowest(rest), std::max(1.0, statistics_.rows[lowest_node(rest)])});
  }
  for (bool changed = true; changed && parts.size() > 1;) {
    changed = false;
    for (std::size_t k = 0; k < graph_.n_edges() && parts.size() > 1; ++k) {
      const Hyperedge& e = graph_.edge(k);
      const auto holds = [](NodeSet end) {
        return [end](const Part& part) { return is_subset(end, part.tables); };
      };
      const auto left = std::find_if(parts.begin(), parts.end(), holds(e.left));
      const auto right = std::find_if(parts.begin(), parts.end(), holds(e.right));
      if (left == parts.end() || right == parts.end() || left == right) continue;
      left->rows = rows_joined(kinds_[k], left->rows, right->rows, statistics_.selectivity[k]);
      left->tables |= right->tables;
      for (std::size_t other = 0; other < graph_.n_edges(); ++other) {
        // Further edges of a cycle filter the same join.
        const NodeSet nodes = graph_.edge(other).nodes();
        if (other != k && kinds_[other] == JoinKind::inner && is_subset(nodes, left->tables) &&
            overlap(nodes, right->tables) && !is_subset(nodes, right->tables) &&
            !is_subset(nodes, left->tables & ~right->tables)) {
          left->rows *= statistics_.selectivity[other];
        }
      }
      parts.erase(right);
      changed = true;
    }
  }
  double rows = parts[0].rows;
  for (std::size_t i = 1; i < parts.size(); ++i) rows *= parts[i].rows * 0.1;
  return rows;
}

std::optional<Simplifier::Proposal> Simplifier::compare(std::size_t a, std::size_t b) const {
  const Hyperedge& e1 = graph_.edge(a);
  const Hyperedge& e2 = graph_.edge(b);
  if (is_part_of(e1, e2) || is_part_of(e2, e1)) return std::nullopt;
  const auto base = [](double rows) { return Status{0, rows}; };
  const Status left1 = base(rows_of(e1.left));
  const Status right1 = base(rows_of(e1.right));
  const Status left2 = base(rows_of(e2.left));
  const Status right2 = base(rows_of(e2.right));
  // Of two ends that meet, the server's traces come out with the rows of both added, not with those of the larger.
  const auto both = [&](const Status& x, const Status& y) { return base(x.rows + y.rows); };
  double a_first = 0;
  double b_first = 0;
  if (nested(e1.left, e2.left)) {
    const Status common = both(left1, left2);
    a_first = simulate(simulate(common, right1, a), right2, b).cost;
    b_first = simulate(simulate(common, right2, b), right1, a).cost;
  } else if (nested(e1.left, e2.right)) {
    const Status common = both(left1, right2);
    a_first = simulate(left2, simulate(common, right1, a), b).cost;
    b_first = simulate(simulate(left2, common, b), right1, a).cost;
  } else if (nested(e1.right, e2.right)) {
    const Status common = both(right1, right2);
    a_first = simulate(left2, simulate(left1, common, a), b).cost;
    b_first = simulate(left1, simulate(left2, common, b), a).cost;
  } else if (nested(e1.right, e2.left)) {
    const Status common = both(right1, left2);
    a_first = simulate(simulate(left1, common, a), right2, b).cost;
    b_first = simulate(left1, simulate(common, right2, b), a).cost;
  } else {
    return std::nullopt;
  }
  return a_first > b_first ? Proposal{a_first / b_first, b, a} : Proposal{b_first / a_first, a, b};
}

/// The later edge with the earlier one's tables at the end where they meet.
Hyperedge Simplifier::enlarged(std::size_t before, std::size_t after) const {
  const Hyperedge& e1 = graph_.edge(before);
  Hyperedge e2 = graph_.edge(after);
  if (nested(e1.left, e2.left) || nested(e1.right, e2.left)) {
    e2.left |= e1.nodes() & ~e2.right;
  } else {
    e2.right |= e1.nodes() & ~e2.left;
  }
  return e2;
}

bool Simplifier::happens_before(std::size_t first, std::size_t second) const {
  std::vector<bool> visited(later_.size());
  std::vector<std::size_t> open{first};
  while (!open.empty()) {
    const std::size_t edge = open.back();
    open.pop_back();
    if (edge == second) return true;
    if (visited[edge]) continue;
    visited[edge] = true;
    open.insert(open.end(), later_[edge].begin(), later_[edge].end());
  }
  return false;
}

bool Simplifier::is_joinable() const {
  if (!graph_.has_rules()) return components(graph_).size() == 1;
  // With rules left, joining parts greedily decides as the server does: a part grows only where the rules
  // allow it.
  std::vector<NodeSet> part(graph_.n_nodes());
  for (unsigned i = 0; i < graph_.n_nodes(); ++i) part[i] = single(i);
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t k = 0; k < graph_.n_edges(); ++k) {
      const Hyperedge& e = graph_.edge(k);
      const NodeSet left = part[lowest_node(e.left)];
      const NodeSet right = part[lowest_node(e.right)];
      if (left == right || !is_subset(e.left, left) || !is_subset(e.right, right)) continue;
      if (!graph_.rules_allow(k, left | right)) continue;
      for (NodeSet rest = left | right; rest != 0; rest &= rest - 1) part[lowest_node(rest)] = left | right;
      changed = true;
    }
  }
  return part[0] == graph_.all_nodes();
}

bool Simplifier::step() {
  if (!undone_.empty()) {
    const Step again = undone_.back();
    undone_.pop_back();
    graph_.modify_edge(again.edge, again.new_ends.left, again.new_ends.right);
    done_.push_back(again);
    return true;
  }
  for (;;) {
    std::optional<Proposal> best;
    for (std::size_t a = 0; a < graph_.n_edges(); ++a) {
      for (std::size_t b = a + 1; b < graph_.n_edges(); ++b) {
        if (given_up_[index(a, b)]) continue;
        const std::optional<Proposal> proposal = compare(a, b);
        if (proposal && (!best || proposal->benefit > best->benefit)) best = proposal;
      }
    }
    if (!best) return false;
    // The order that would pay may contradict what is fixed already; then the other one is true and is made
    // explicit.
    if (happens_before(best->after, best->before)) std::swap(best->before, best->after);
    const Hyperedge old_ends = graph_.edge(best->after);
    const Hyperedge new_ends = enlarged(best->before, best->after);
    graph_.modify_edge(best->after, new_ends.left, new_ends.right);
    if (is_joinable()) {
      later_[best->before].push_back(best->after);
      done_.push_back({best->after, old_ends, new_ends});
      return true;
    }
    graph_.modify_edge(best->after, old_ends.left, old_ends.right);
    if (happens_before(best->before, best->after)) {
      given_up_[index(std::min(best->before, best->after), std::max(best->before, best->after))] = true;
    } else {
      later_[best->after].push_back(best->before);
    }
  }
}

void Simplifier::undo() {
  if (done_.empty()) refuse("no simplification step was done that could be taken back");
  const Step last = done_.back();
  done_.pop_back();
  graph_.modify_edge(last.edge, last.old_ends.left, last.old_ends.right);
  undone_.push_back(last);
}

Simplification simplify(Hypergraph& graph, const Statistics& statistics, std::uint64_t most_calls,
                        std::vector<JoinKind> kinds) {
  if (most_calls == 0) refuse("most_calls must be at least 1, got 0");
  require_connected(graph);
  Simplifier simplifier(graph, statistics, std::move(kinds));
  std::uint64_t calls = 0;
  const auto is_simple_enough = [&] {
    const Enumeration counted = enumerate(graph, {.keep_events = false, .most_calls = most_calls});
    if (counted.is_complete) calls = counted.counters.calls;
    return counted.is_complete;
  };
  if (is_simple_enough()) return {0, calls, true};
  std::size_t too_few = 0;
  std::size_t enough = 1;
  for (;;) {
    while (simplifier.steps_done() < enough && simplifier.step()) {
    }
    if (is_simple_enough()) break;
    if (simplifier.steps_done() < enough) {
      const Enumeration rest = enumerate(graph, {.keep_events = false});
      return {simplifier.steps_done(), rest.counters.calls, false};
    }
    too_few = enough;
    enough *= 2;
  }
  enough = std::min(enough, simplifier.steps_done());
  const auto set_steps = [&](std::size_t steps) {
    while (simplifier.steps_done() < steps) simplifier.step();
    while (simplifier.steps_done() > steps) simplifier.undo();
  };
  while (enough - too_few > 1) {
    const std::size_t middle = (too_few + enough) / 2;
    set_steps(middle);
    (is_simple_enough() ? enough : too_few) = middle;
  }
  set_steps(enough);
  is_simple_enough();
  return {enough, calls, true};
}

}  // namespace engineroom::join_order
