// Random histories against an oracle: does every read give what its snapshot says, and is nothing removed that a view needs?
//
// Models      sessions at READ COMMITTED and REPEATABLE READ that read, change, delete, commit and roll back a few rows, beside
//             purge, on machines whose costs and scheduling vary by seed
// Leaves out  deadlocks (rows are locked in one order) and locking reads
// Cost        some 200 events per read
#pragma once

#include <cstdint>
#include <string>

#include "common/described.hpp"
#include "read_views/mistakes.hpp"
#include "transactions/design.hpp"

namespace engineroom::read_views {

struct HistoriesConfig {
  std::uint64_t seed = 1;
  std::uint64_t runs = 100;
  std::uint64_t transactions = 40;  // of each session
};
constexpr auto described(options::Of<HistoriesConfig>) {
  using C = HistoriesConfig;
  return options::list<C>("random histories",
                          {
                              options::option<&C::seed>("of the first run; each has the next"),
                              options::option<&C::runs>({.least = 1}, "histories"),
                              options::option<&C::transactions>({.least = 1}, "of each session"),
                          });
}

struct HistoryReport {
  std::uint64_t runs = 0;
  std::uint64_t reads = 0;
  std::uint64_t reads_of_older = 0;  // that had to build a version from an undo log
  std::uint64_t steps = 0;           // versions built
  std::uint64_t views_made = 0;
  std::uint64_t views_reused = 0;
  std::uint64_t commits = 0;
  std::uint64_t rollbacks = 0;
  std::uint64_t purged = 0;  // undo logs
  // What must be zero.
  std::uint64_t wrong_reads = 0;      // other than the snapshot says
  std::uint64_t missing_history = 0;  // a version was needed that purge had removed
  std::uint64_t wrong_views = 0;      // limits or ids of a view that contradict each other
  std::uint64_t purge_too_far = 0;    // purge's limit beyond an open view's, at the moment it was taken
  std::uint64_t wrongly_active = 0;   // who changed a row and has ended is found among the active ones
  std::uint64_t leftovers = 0;        // at the end: an active id, a view, an undo log that nobody needs
  std::string first_failure;

  bool is_clean() const {
    return wrong_reads + missing_history + wrong_views + purge_too_far + wrongly_active + leftovers == 0;
  }
};

/// Refuses mistakes that this design cannot make.
HistoryReport run_histories(transactions::Latches latches, transactions::Views views, Mistake mistake,
                            const HistoriesConfig& config);

}  // namespace engineroom::read_views
