// Crashes of a server with both logs (crash/crash.hpp): does what recovery decides agree with what was acknowledged, and the
// engine with the binlog?
//
// Models      what crash/crash.hpp says; a loss of power, or a kill of the process, which leaves all that it had written
// Leaves out  the pages: a transaction is its state in the redo and its events in the binlog
// Cost        each crash reads both logs
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "crash/config.hpp"
#include "group_commit/design.hpp"
#include "group_commit/mistakes.hpp"
#include "group_commit/records.hpp"
#include "group_commit/watch.hpp"
#include "redo_log/design.hpp"

namespace engineroom::group_commit {

/// What is left of a transaction's events.
enum class Left : std::uint8_t { none, part, whole };
inline constexpr std::size_t kLefts = 3;
inline constexpr std::size_t kStates = 4;
constexpr auto named(names::Of<Left>) { return names::as_written<Left::whole>("left"); }

/// What a setting lets a crash do.
struct Risks {
  bool loses = false;           // acknowledged, and rolled back
  bool only_in_binlog = false;  // a replica has it, the server has not
  bool only_in_engine = false;  // the server has it, no replica will
};

struct CrashSettings {
  Design design = Design::one_redo_flush;
  redo_log::Design redo = redo_log::Design::log_5_7;
  std::uint64_t sync_binlog = 1;
  std::uint64_t flush_log_at_trx_commit = 1;
  bool order_commits = true;
  Mistake mistake = Mistake::none;

  /// What the chapter's table says. In 5.5 a session waits for the engine's own commit, which stays without the binlog.
  Risks risks(bool is_kill) const {
    const bool redo_stays = flush_log_at_trx_commit == 1 || (is_kill && flush_log_at_trx_commit == 2);
    const bool binlog_stays = sync_binlog == 1 || is_kill;
    return {.loses = !redo_stays || (!binlog_stays && design != Design::serialised),
            .only_in_binlog = !redo_stays,
            .only_in_engine = !binlog_stays};
  }
};

struct CrashReport {
  std::uint64_t runs = 0;
  std::uint64_t crashes = 0;
  std::uint64_t commits = 0;  // acknowledged
  std::uint64_t rotations = 0;
  std::uint64_t largest_group = 0;
  // Transactions, summed over the crashes.
  std::uint64_t lost = 0;
  std::uint64_t only_in_binlog = 0;
  std::uint64_t only_in_engine = 0;
  std::uint64_t crashes_with_loss = 0;
  // By how far it had come, its state in the redo, what is left of its events, and whether recovery commits it.
  using Outcomes = std::array<std::array<std::array<std::array<std::uint64_t, 2>, kLefts>, kStates>, kSteps>;
  Outcomes outcomes{};
  // What must be zero.
  std::uint64_t impossible = 0;      // crashes that did what the settings exclude
  std::uint64_t wrong_outcomes = 0;  // transactions that recovery does not treat as the table says
  std::uint64_t disorders =
      0;  // the binlog, the GTIDs and the engine do not agree on an order; stages misused
  std::uint64_t hangs = 0;
  std::string first_failure;

  bool is_clean() const { return impossible + wrong_outcomes + disorders + hangs == 0; }
};

/// Refuses a mistake that this design cannot make.
CrashReport crash_runs(const CrashSettings& settings, const crash::Config& config);

}  // namespace engineroom::group_commit
