// What the three logs have in common: their parameters, what appending gives back, the flush list.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/require.hpp"
#include "machine/concept.hpp"
#include "redo_log/block.hpp"
#include "sync/latch.hpp"

namespace engineroom::redo_log {

using machine::Machine;
using machine::Task;

/// Mistakes that a log of one's own easily makes. The tests plant them, one at a time, and must find each.
enum class Mistake {
  none,
  // any version
  durable_before_fsync,  // a commit returns when the log is written, not when it is flushed
  first_group_not_set,   // recovery that starts at a checkpoint finds no group boundary
  // 5.6 and 5.7
  copy_outside_mutex,      // the place is reserved under the mutex, the bytes come later
  last_block_left_behind,  // switching halves forgets the incomplete block
  followers_fsync_too,     // nobody waits for the running fsync: no group, though nothing is lost
  // 8.0
  write_past_gap,            // the writer takes everything that is reserved
  link_before_copy,          // recent_written is told before the bytes are there
  window_ignored,            // no wait for a slot of recent_written
  claim_unchecked,           // a link of a later round is taken for this one's
  flushed_read_after_fsync,  // flushed_to_disk_lsn becomes what is written when the fsync ends
  closer_not_told,           // who closes a gap does not wake who waits for it
};

struct LogConfig {
  std::size_t buffer_bytes = std::size_t{16} << 20;       // innodb_log_buffer_size, a multiple of 512
  std::uint64_t capacity_bytes = std::uint64_t{1} << 40;  // of the file; a run must not go round it
  std::size_t write_ahead_bytes = 8192;                   // innodb_log_write_ahead_size; 0 in 5.6
  /// Whether blocks are sealed for recovery; figures that count need not.
  bool seals_blocks = true;

  // What the instructions take that are not shared words and not copies: on real threads what they take
  // there.
  std::uint64_t seal_ns = 60;        // the checksum of a block
  std::uint64_t reserve_ns = 10;     // sizes, conversions, headers, under the mutex in 5.x
  std::uint64_t flush_list_ns = 30;  // adding a page to the flush list
  sync::SpinParams latch_spin{};

  // 8.0
  bool writer_threads = true;  // innodb_log_writer_threads
  bool has_cpu_gate = true;    // off: log threads and users always spin
  std::uint64_t recent_written_slots = std::uint64_t{1} << 20;
  std::uint64_t recent_closed_slots = std::uint64_t{2} << 20;
  std::uint64_t events = 2048;
  std::uint64_t write_max_bytes = 4096;            // innodb_log_write_max_size
  std::uint64_t user_spin_rounds = 25'000;         // innodb_log_wait_for_write_spin_delay and ..._flush_...
  std::uint64_t log_thread_spin_rounds = 250'000;  // innodb_log_writer_spin_delay and ..._flusher_...
  std::uint64_t user_timeout_ns = 1'000'000;
  std::uint64_t log_thread_timeout_ns = 10'000;  // doubled every four waits in a row
  std::uint64_t longest_timeout_ns = 100'000'000;
  std::uint64_t cpu_sample_ns = 100'000'000;
  std::uint64_t cpu_abs_lwm_percent = 80;     // innodb_log_spin_cpu_abs_lwm, of one core
  std::uint64_t cpu_pct_hwm_percent = 50;     // innodb_log_spin_cpu_pct_hwm, of the machine
  std::uint64_t flush_spin_hwm_ns = 400'000;  // innodb_log_wait_for_flush_spin_hwm
  std::uint64_t frequent_ns = 1'000'000;      // log threads spin when requests come faster than this

  Mistake mistake = Mistake::none;
};

inline void check(const LogConfig& config) {
  if (config.buffer_bytes % kBlockBytes != 0 || config.buffer_bytes < 16 * kBlockBytes) {
    refuse("buffer_bytes is " + std::to_string(config.buffer_bytes) +
           ": pass a multiple of 512 from 8192 on");
  }
  for (const std::uint64_t slots : {config.recent_written_slots, config.recent_closed_slots, config.events}) {
    if (slots == 0 || (slots & (slots - 1)) != 0) {
      refuse("slots and events are " + std::to_string(slots) + ": pass a power of two");
    }
  }
}

/// What a mini-transaction's commit gives back. Not done: the run was stopped first.
struct Appended {
  bool done = false;
  Lsn start_lsn = 0;
  Lsn end_lsn = 0;
};

/// What is counted, in the server's words.
struct LogCounters {
  std::atomic<std::uint64_t> log_waits = 0;  // no room in the buffer
};

/// The dirty pages in the order in which they were added, by the LSN of their first change.
template <Machine M>
class FlushList {
 public:
  FlushList(M& m, const LogConfig& config)
      : latch_(m, "flush_list_mutex", config.latch_spin),
        site_(m.site("flush_list")),
        add_ns_(config.flush_list_ns) {}

  Task<> add(M& m, Lsn start_lsn) {
    machine::Scope<M> doing(m, site_);
    co_await latch_.lock(m);
    m.charge(add_ns_);
    if (keeps_) added_.push_back(start_lsn);
    co_await latch_.unlock(m);
  }
  void keep(bool keeps) { keeps_ = keeps; }
  const std::vector<Lsn>& added() const { return added_; }

 private:
  sync::Latch<M> latch_;
  machine::Site site_;
  std::uint64_t add_ns_;
  bool keeps_ = false;
  std::vector<Lsn> added_;
};

}  // namespace engineroom::redo_log
