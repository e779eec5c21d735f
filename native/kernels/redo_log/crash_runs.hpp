// Crashes of the redo log (crash/crash.hpp): does recovery give back every commit that was reported durable, whole groups
// only, and the same from any checkpoint?
//
// Models      what crash/crash.hpp says
// Leaves out  the pages: what is recovered is compared with what mini-transactions appended
// Cost        each crash reads the log twice
#pragma once

#include <cstdint>
#include <string>

#include "crash/config.hpp"
#include "redo_log/design.hpp"
#include "redo_log/mistakes.hpp"

namespace engineroom::redo_log {

struct CrashReport {
  std::uint64_t runs = 0;
  std::uint64_t crashes = 0;
  std::uint64_t commits = 0;  // reported durable
  std::uint64_t fsyncs = 0;
  std::uint64_t recovered_groups = 0;
  std::uint64_t log_waits = 0;  // mini-transactions that found the log buffer full
  // What must be zero.
  std::uint64_t lost_commits = 0;       // crashes after which a durable commit is missing
  std::uint64_t wrong_groups = 0;       // crashes after which a group is not what its mini-transaction wrote
  std::uint64_t wrong_checkpoints = 0;  // crashes after which a start at a checkpoint finds less
  std::uint64_t disorders = 0;  // LSNs not in their order, or a flush list more disordered than its window
  std::uint64_t hangs = 0;      // runs that did not come to their end
  std::string first_failure;    // seed and what was seen

  bool is_clean() const { return lost_commits + wrong_groups + wrong_checkpoints + disorders + hangs == 0; }
};

/// Refuses a mistake that this design cannot make.
CrashReport crash_runs(Design design, Mistake mistake, const crash::Config& config);

}  // namespace engineroom::redo_log
