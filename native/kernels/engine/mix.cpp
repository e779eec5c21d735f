#include "engine/mix.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "common/require.hpp"

namespace engineroom::engine {

namespace {
// Behind all rows that can be drawn.
constexpr std::uint64_t kFirstInserted = std::uint64_t{1} << 40;
}  // namespace

Mix::Mix(std::vector<MixTransaction> transactions) : transactions_(std::move(transactions)) {
  for (const MixTransaction& each : transactions_) {
    weights_ += each.weight;
    if (each.statements.empty()) refuse("a transaction of the mix has no statement; leave it out");
    std::vector<RowDraw>& draws = draws_.emplace_back();
    for (const MixDraw& one : each.draws) {
      draws.emplace_back(LoadConfig{
          .rows = one.rows, .distribution = one.distribution, .pareto_percent = one.pareto_percent});
    }
    for (const MixStatement& statement : each.statements) {
      const bool draws_row = statement.access == Access::locks || statement.access == Access::changes;
      if (!draws_row || statement.draw < each.draws.size()) continue;
      refuse("a statement's row is draw " + std::to_string(statement.draw) + " of " +
             std::to_string(each.draws.size()) + "; count from 0");
    }
  }
  if (weights_ == 0) refuse("the weights of the mix's transactions sum up to 0; give one that is positive");
}

void Mix::draw(machine::Random& random, Script& script) {
  std::uint64_t at = random.below(weights_);
  std::size_t kind = 0;
  while (at >= transactions_[kind].weight) at -= transactions_[kind++].weight;
  const MixTransaction& chosen = transactions_[kind];
  drawn_.clear();
  for (const RowDraw& draw_row : draws_[kind]) drawn_.push_back(draw_row(random));

  script.rolls_back = false;
  script.sends_commit = chosen.sends_commit;
  script.commit_demand = &chosen.commit;
  script.steps.clear();
  for (const MixStatement& statement : chosen.statements) {
    Step step{.demand = &statement.demand,
              .reads = statement.access == Access::reads,
              .locks = statement.access == Access::locks || statement.access == Access::changes,
              .changes = statement.access == Access::changes || statement.access == Access::inserts,
              .inserts = statement.access == Access::inserts,
              .mode = statement.shared ? lock_sys::Mode::s : lock_sys::Mode::x,
              .table = static_cast<Table>(statement.table)};
    const bool has_rows = step.locks || step.inserts;
    const std::uint64_t rows = has_rows ? statement.rows : 1;
    std::uint64_t& inserted = inserted_[static_cast<std::size_t>(statement.table)];
    for (std::uint64_t i = 0; i < rows; ++i) {
      step.is_next_of_statement = i > 0;
      if (step.locks) step.row = drawn_[static_cast<std::size_t>(statement.draw)] + i;
      if (step.inserts) step.row = kFirstInserted + inserted++;
      script.steps.push_back(step);
    }
  }
}

std::size_t Mix::most_mtr_bytes() const {
  std::uint64_t most = 1;
  for (const MixTransaction& each : transactions_) {
    most = std::max(most, each.commit.mtr_bytes);
    for (const MixStatement& statement : each.statements) most = std::max(most, statement.demand.mtr_bytes);
  }
  return static_cast<std::size_t>(most);
}

}  // namespace engineroom::engine
