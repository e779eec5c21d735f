// What somebody who looks over the stages' shoulder is told: the crash runs, and the picture of one run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "common/names.hpp"

namespace engineroom::group_commit {

enum class Stage : std::uint8_t { flush, sync, commit };
inline constexpr std::size_t kStages = 3;
constexpr auto named(names::Of<Stage>) {
  return names::table<Stage>("stage",
                             {{"FLUSH", Stage::flush}, {"SYNC", Stage::sync}, {"COMMIT", Stage::commit}});
}

/// How far a transaction has come; each stands for all that lies before the next one.
enum class Step : std::uint8_t {
  begun,
  prepare_in_buffer,
  redo_flushed,
  binlog_partly_written,
  binlog_written,
  binlog_synced,
  engine_committed,
  acknowledged,
};
inline constexpr std::size_t kSteps = 8;
constexpr auto named(names::Of<Step>) {
  return names::table<Step>("step", {{"begun", Step::begun},
                                     {"prepare in the redo buffer", Step::prepare_in_buffer},
                                     {"redo flushed", Step::redo_flushed},
                                     {"binlog partly written", Step::binlog_partly_written},
                                     {"binlog written", Step::binlog_written},
                                     {"binlog synced", Step::binlog_synced},
                                     {"committed in the engine", Step::engine_committed},
                                     {"acknowledged", Step::acknowledged}});
}

/// A transaction between its first change and its answer. Shared: a leader still has it when its session is gone.
struct Ticket {
  std::uint64_t xid = 0;
  std::uint64_t gtid = 0;         // in the order of the binlog, from 1 on
  std::uint64_t prepare_lsn = 0;  // the end of its prepare; 0 until it has one
  std::uint64_t commit_lsn = 0;   // the end of its commit in the engine
  std::uint64_t binlog_file = 0;  // from 0 on
  std::uint64_t binlog_begin = 0;
  std::uint64_t binlog_end = 0;      // position behind its events; 0 until it has some
  std::uint64_t changed_rows = 0;    // in its events; 0: as many as the configuration says
  bool is_pending = true;            // under LOCK_done
  bool has_failed = false;           // the run was stopped first
  std::size_t condition = SIZE_MAX;  // that it waits on, under LOCK_done
};
/// The LSN of what is on its way into the redo buffer.
inline constexpr std::uint64_t kOnItsWay = UINT64_MAX;
using Tickets = std::span<const std::shared_ptr<Ticket>>;

/// Nobody looks.
struct NoWatch {
  void reached(Step, Tickets) const {}
  void leads(Stage, const Ticket&) const {}
  void ends(Stage) const {}
  void follows(Stage, const Ticket&) const {}
  void delays(Tickets) const {}
  void told(const Ticket&) const {}
};

}  // namespace engineroom::group_commit
