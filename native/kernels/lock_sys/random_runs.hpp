// Transactions at random over few records, under random schedules: is what must always hold always so?
//
// Models      sessions that lock, insert, move and give up records at every moment that the machine can choose
// Leaves out  statements: rows.hpp is held against servers instead
// Cost        some thousand events per run, and a look at all locks every few of them
#pragma once

#include <cstdint>
#include <string>

#include "common/described.hpp"
#include "lock_sys/lock_config.hpp"
#include "lock_sys/mistakes.hpp"

namespace engineroom::lock_sys {

struct RandomRuns {
  std::uint64_t seed = 1;
  std::uint64_t runs = 1;
};
constexpr auto described(options::Of<RandomRuns>) {
  using C = RandomRuns;
  return options::list<C>("random runs",
                          {
                              options::option<&C::seed>("of the first run; each has the next one"),
                              options::option<&C::runs>({.least = 1}, "how many there are"),
                          });
}

struct RandomReport {
  std::uint64_t runs = 0;
  std::uint64_t transactions = 0;  // that committed
  std::uint64_t waits = 0;
  std::uint64_t deadlocks = 0;
  std::uint64_t false_positives = 0;
  std::uint64_t inserts = 0;
  std::uint64_t moves = 0;
  std::uint64_t made_explicit = 0;
  // What must be zero.
  std::uint64_t conflicts = 0;  // two granted locks that exclude each other
  std::uint64_t disorders = 0;  // a granted lock behind one that waits, where granted ones go to the front
  std::uint64_t waits_for_nobody = 0;  // a lock waits and nothing is in its way
  std::uint64_t wrong_blockers = 0;    // a waiter is said to wait for somebody for whom it does not
  std::uint64_t phantoms = 0;          // a record in a gap that somebody else has
  std::uint64_t lost_updates = 0;
  std::uint64_t intruders = 0;         // two threads in one queue
  std::uint64_t needless_victims = 0;  // rolled back for a cycle that there was not
  std::uint64_t stale_weights = 0;     // published for a wait that was not in the snapshot
  std::uint64_t hangs = 0;             // runs that did not come to their end
  std::uint64_t leftovers = 0;         // locks that outlived their transactions
  std::string first_failure;           // the seed, and what was seen

  bool is_clean() const {
    return conflicts + disorders + waits_for_nobody + wrong_blockers + phantoms + lost_updates + intruders +
               needless_victims + stale_weights + hangs + leftovers ==
           0;
  }
};

/// Refuses a mistake under one mutex: it is planted in what is sharded.
RandomReport random_runs(const LockConfig& config, Mistake mistake, const RandomRuns& runs);

}  // namespace engineroom::lock_sys
