// What a statement asks of the transaction system: latches and values of the counter, by the design.
//
// Models      one session whose statement is repeated, and another that commits one write between where the name says so
// Leaves out  waiting: nobody else is there
// Cost        some microseconds a call
#pragma once

#include <cstdint>

#include "common/names.hpp"
#include "transactions/design.hpp"

namespace engineroom::read_views {

enum class Kind : std::uint8_t {
  select,
  select_behind_a_write,
  update,
  update_behind_a_write,  // of the same row by another session
  two_selects,
  two_selects_around_a_write,
  select_update_select,
};
constexpr auto named(names::Of<Kind>) { return names::as_written<Kind::select_update_select>("statement"); }

enum class Level : std::uint8_t { read_committed, repeatable_read };
constexpr auto named(names::Of<Level>) {
  return names::table<Level>(
      "level", {{"READ COMMITTED", Level::read_committed}, {"REPEATABLE READ", Level::repeatable_read}});
}

/// Of all repetitions together.
struct StatementCost {
  std::uint64_t mutex = 0;
  std::uint64_t serialisation = 0;
  std::uint64_t shards = 0;
  std::uint64_t counter_values = 0;  // of the other session's write, too
};

StatementCost statement_cost(transactions::Latches latches, transactions::Views views, Kind kind, Level level,
                             bool has_binlog, std::uint64_t repeats);

}  // namespace engineroom::read_views
