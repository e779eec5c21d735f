// What committing one mini-transaction costs: the instructions of 5.7 and of 8.0, on real threads, with as
// much computing between two commits as is asked for.
//
// Models      mtr_t::Command::execute: 5.7.32 (log_sys->mutex over reservation and copy) and 8.0.39 / 9.7
//             (log_buffer_reserve, log_buffer_write, recent_written, recent_closed), with the log buffers
//             of 16 MiB
// Leaves out  the disk and the block checksums (what is copied counts as written at once), the flush list
//             of a page that is dirty already, which neither version enters, and page latches
// Cost        it is the measurement
//
// Plain code, no machine and no coroutines: the claim is about tens of nanoseconds.
#pragma once

#include <cstddef>
#include <cstdint>

namespace engineroom::redo_log {

enum class CommitDesign {
  mutex_5_7,  // one mutex over reservation and copy; who finds half the buffer full switches the halves
  links_8_0,  // one fetch_add, copies in parallel, two link buffers; a log_writer thread frees the ring
  links_8_0_no_writer,  // the same; who finds the ring full frees it: innodb_log_writer_threads=OFF
};

struct CommitWork {
  std::size_t threads = 1;
  std::uint64_t commits_per_thread = 1;
  std::size_t mtr_bytes = 100;
  /// Computed before each commit: the mean, drawn evenly between half and one and a half times as much.
  std::uint64_t work_ns = 0;
};

struct CommitCost {
  std::uint64_t elapsed_ns = 0;  // from the first start to the last end
  std::uint64_t cpu_ns = 0;      // of the committing threads, not of the log_writer
  /// The same threads and the same work without a commit, measured in the same call: to be subtracted.
  std::uint64_t work_elapsed_ns = 0;
  std::uint64_t work_cpu_ns = 0;
  std::uint64_t end_sn = 0;        // all bytes are accounted for when this is threads * commits * bytes
  std::uint64_t latch_waits = 0;   // 5.7: commits that did not get the mutex at once
  std::uint64_t buffer_waits = 0;  // commits that had to free or await room
  std::uint64_t atomic_ops = 0;    // of one commit, uncontended: locked instructions
  std::uint64_t plain_stores = 0;  // of one commit, uncontended: stores to shared lines outside the buffer
};

CommitCost measure_commit(CommitDesign design, const CommitWork& work);

}  // namespace engineroom::redo_log
