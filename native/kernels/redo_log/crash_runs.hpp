// Crashes of a simulated server at any event: does recovery give back every commit that was reported durable?
//
// Models      power loss under load: what was flushed is there, each sector written since is there or not
// Leaves out  sectors that are torn themselves, which InnoDB does not survive either
// Cost        a run of some hundred commits is about a millisecond; each crash reads the log twice
//
// Costs and scheduling are random by seed and timeouts never come, so that the run also finds lost wake-ups.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "redo_log/log_config.hpp"

namespace engineroom::redo_log {

enum class Design { log_5_6, log_5_7, log_8_0, log_8_0_no_writer_threads };
inline constexpr Design kDesigns[] = {Design::log_5_6, Design::log_5_7, Design::log_8_0,
                                      Design::log_8_0_no_writer_threads};
std::string_view name_of(Design design);

struct CrashReport {
  std::uint64_t runs = 0;
  std::uint64_t crashes = 0;
  std::uint64_t commits = 0;  // reported durable
  std::uint64_t fsyncs = 0;
  std::uint64_t recovered_groups = 0;
  // What must be zero.
  std::uint64_t lost_commits = 0;       // crashes after which a durable commit is missing
  std::uint64_t wrong_groups = 0;       // crashes after which a group is not what its mini-transaction wrote
  std::uint64_t wrong_checkpoints = 0;  // crashes after which a start at a checkpoint finds less
  std::uint64_t disorders = 0;  // LSNs not in their order, or a flush list more disordered than its window
  std::uint64_t hangs = 0;      // runs that did not come to their end
  std::string first_failure;    // seed and what was seen

  bool is_clean() const { return lost_commits + wrong_groups + wrong_checkpoints + disorders + hangs == 0; }
};

/// `runs` runs from `seed` on, each with about `crashes_per_run` crashes at random events.
CrashReport crash_runs(Design design, Mistake mistake, std::uint64_t seed, std::uint64_t runs,
                       std::uint64_t crashes_per_run);

}  // namespace engineroom::redo_log
