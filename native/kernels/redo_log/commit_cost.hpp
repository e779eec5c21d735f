// What committing one mini-transaction costs: the instructions of 5.7 and of 8.0, on real threads, with as
// much computing between two commits as is asked for.
//
// Models      mtr_t::Command::execute: 5.7.32 (log_sys->mutex over reservation and copy) and 8.0.39 / 9.7
//             (log_buffer_reserve, log_buffer_write, recent_written, recent_closed)
// Leaves out  the disk and the block checksums (what is copied counts as written at once), the flush list
//             of a page that is dirty already, which neither version enters, and page latches
// Cost        it is the measurement
//
// Plain code, no machine and no coroutines: the claim is about tens of nanoseconds.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/described.hpp"
#include "common/interrupt.hpp"
#include "redo_log/design.hpp"

namespace engineroom::redo_log {

struct CommitWork {
  std::size_t threads = 1;
  std::uint64_t commits_per_thread = 1;
  std::size_t mtr_bytes = 100;
  std::uint64_t work_ns = 0;
  std::size_t log_buffer_bytes = std::size_t{16} << 20;
};
constexpr auto described(options::Of<CommitWork>) {
  using C = CommitWork;
  return options::list<C>(
      "a commit's work",
      {
          options::option<&C::threads>({.least = 1}, "that commit at the same time"),
          options::option<&C::commits_per_thread>({.least = 1}, "how many mini-transactions each commits"),
          options::option<&C::mtr_bytes>({.least = 1},
                                         "redo of a mini-transaction, at most a sixteenth of the log buffer"),
          options::option<&C::work_ns>("computed before each commit: the mean, drawn evenly between half and "
                                       "one and a half times as much"),
          options::option<&C::log_buffer_bytes>(
              {.least = 64 << 10, .most = std::size_t{1} << 30},
              "innodb_log_buffer_size, 16 MiB by default in 5.7 and 8.0: what is written to a smaller one is "
              "in a cache of the processor"),
      });
}
void check_together(const CommitWork& work);

struct CommitCost {
  std::uint64_t elapsed_ns = 0;  // from the first start to the last end
  std::uint64_t cpu_ns = 0;      // of the committing threads, not of the log_writer
  /// The same threads and the same work without a commit, measured in the same call: to be subtracted.
  std::uint64_t work_elapsed_ns = 0;
  std::uint64_t work_cpu_ns = 0;
  std::uint64_t end_sn = 0;        // all bytes are accounted for when this is threads * commits * bytes
  std::uint64_t latch_waits = 0;   // 5.7: commits that did not get the mutex at once
  std::uint64_t buffer_waits = 0;  // commits that had to free or await room
};

/// What commits of one thread do to words that threads share, the log buffer left out.
struct CommitCounts {
  std::uint64_t locked_ops = 0;     // atomic read-modify-writes: locked instructions on x86
  std::uint64_t atomic_stores = 0;  // stores without a lock: of a position that other threads read
};

/// 5.7: one mutex over reservation and copy; whoever finds half the buffer full switches the halves. 8.0: one fetch_add,
/// copies in parallel, two link buffers; a log_writer thread frees the ring, or with the writer threads off whoever finds
/// it full. 5.6 is refused: its mini-transactions do what those of 5.7 do.
/// `interrupt` is asked on the calling thread, twenty times per second; what it throws ends all threads first.
CommitCost measure_commit(Design design, const CommitWork& work, const Interrupt& interrupt = {});

/// The same commits, `commits_per_thread` of them, on the calling thread: counted and not measured.
CommitCounts count_commits(Design design, const CommitWork& work);

}  // namespace engineroom::redo_log
