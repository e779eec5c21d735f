// The redo log of 5.7: two halves of a buffer, so that one is written while mini-transactions fill the other.
//
// Models      mtr_t::Command::execute, log_write_up_to, log_buffer_switch, log_write_flush_to_disk_low
//             (5.7.32)
// Leaves out  checkpoints, MLOG_FILE_NAME records; extending the buffer (log_buffer_extend), so that a mini-transaction of
//             more than half a buffer is refused
// Cost        one mutex pair a mini-transaction; the write holds write_mutex alone, the fsync neither
//
// Order of the latches: write_mutex, mutex, flush_order. A thread that finds an fsync running waits for its end and
// looks again: most find that one of them made the next fsync for all.
#pragma once

#include "redo_log/linear_buffer.hpp"
#include "redo_log/log_config.hpp"
#include "redo_log/recovery.hpp"
#include "redo_log/rules.hpp"
#include "sync/event.hpp"

namespace engineroom::redo_log {

template <Machine M, typename Rules = Sound>
class Log57 {
 public:
  Log57(M& m, typename M::File& file, const LogConfig& config)
      : config_(config),
        file_(file),
        halves_{LinearBuffer(config.buffer_bytes + config.write_ahead_bytes + kBlockBytes),
                LinearBuffer(config.buffer_bytes + config.write_ahead_bytes + kBlockBytes)},
        mutex_(m, "log_sys_mutex", config.latch_spin),
        write_mutex_(m, "log_sys_write_mutex", config.latch_spin),
        flush_order_(m, "log_flush_order_mutex", config.latch_spin),
        flush_lists_(m, config),
        reservation_(m.site("log_reservation")),
        flush_event_(m, "log_flush_event"),
        written_(kStartLsn + kHeaderBytes),
        flushed_(kStartLsn + kHeaderBytes),
        pending_flushes_(0) {
    options::check(config);
    halves_[0].template begin_block<Rules>(0);
    halves_[0].set_first_group();
  }

  /// Threads of its own: none.
  void spawn_threads(M&) {}

  Task<Appended> append(M& m, std::span<const std::byte> group, bool dirties_page) {
    check_room<Log57>(config_, group.size());
    m.enter(reservation_);
    co_await mutex_.lock(m);
    while (halves_[half_].free() + room_for(config_, group.size()) > config_.buffer_bytes) {
      ++counters_.log_waits;
      const Lsn all = lsn_;
      co_await mutex_.unlock(m);
      m.leave();
      co_await write_up_to(m, all, false);
      if (m.stopping()) co_return Appended{};
      m.enter(reservation_);
      co_await mutex_.lock(m);
    }
    m.charge(config_.reserve_ns);
    const Lsn start = lsn_;
    lsn_ = halves_[half_].template append<Rules>(m, start, group);
    const Appended appended{.done = true, .start_lsn = start, .end_lsn = lsn_};
    // Taken over, not dropped: pages enter the flush list in the order of their LSN.
    if (dirties_page) co_await flush_order_.lock(m);
    co_await mutex_.unlock(m);
    m.leave();
    if (dirties_page) {
      co_await flush_lists_.add(m, appended.start_lsn);
      co_await flush_order_.unlock(m);
    }
    co_return appended;
  }

  /// Until the log is in the file up to `lsn`, and flushed when `flush`. False when the run was stopped
  /// first.
  Task<bool> write_up_to(M& m, Lsn lsn, bool flush) {
    for (;;) {
      if (m.stopping()) co_return false;
      const Lsn seen_written = co_await m.load(written_);
      if (!flush && seen_written >= lsn) co_return true;
      co_await write_mutex_.lock(m);
      const Lsn reached = co_await m.load(Rules::awaited(flush, written_, flushed_));
      if (reached >= lsn) {
        co_await write_mutex_.unlock(m);
        co_return true;
      }
      const std::uint64_t pending = co_await m.load(pending_flushes_);
      if (!Rules::waits_for_fsync(flush, pending)) break;
      const bool covers = current_flush_lsn_ >= lsn;
      const std::uint64_t seen = signal_count_;
      co_await write_mutex_.unlock(m);
      const sync::WaitEnd end = co_await flush_event_.wait(m, seen);
      if (covers && end == sync::WaitEnd::signalled) co_return true;
    }
    {
      machine::Scope<M> waits(m, reservation_);
      co_await mutex_.lock(m);
    }
    const Lsn write_lsn = lsn_;
    const Lsn written = co_await m.load(written_);
    const bool has_something = written < write_lsn;
    if (!flush && !has_something) {
      co_await mutex_.unlock(m);
      co_await write_mutex_.unlock(m);
      co_return true;
    }
    if (flush) {
      co_await m.add(pending_flushes_, 1);
      current_flush_lsn_ = write_lsn;
      signal_count_ = co_await flush_event_.reset(m);
    }
    if (!has_something) {
      co_await mutex_.unlock(m);
    } else {
      LinearBuffer& full = halves_[half_];
      switch_halves(m);
      if (Rules::frees_mutex_to_write()) co_await mutex_.unlock(m);
      co_await write(m, full, written, write_lsn);
      if (!Rules::frees_mutex_to_write()) co_await mutex_.unlock(m);
      co_await m.store(written_, write_lsn);
    }
    co_await write_mutex_.unlock(m);
    if (flush) co_await flush_to_disk(m, write_lsn);
    co_return true;
  }

  /// Where the next mini-transaction goes.
  Task<Lsn> end_lsn(M& m) {
    co_await mutex_.lock(m);
    const Lsn end = lsn_;
    co_await mutex_.unlock(m);
    co_return end;
  }

  static std::size_t least_buffer_bytes(const LogConfig& config, std::size_t mtr_bytes) {
    return whole_blocks(std::max(2 * mtr_bytes, kBlockBytes + room_for(config, mtr_bytes)));
  }
  static std::uint64_t least_recent_closed_slots(std::size_t) { return 0; }

  Lsn flushed_lsn(M& m) const { return m.peek(const_cast<typename M::Word&>(flushed_)); }
  FlushLists<M>& flush_lists() { return flush_lists_; }
  const LogCounters& counters() const { return counters_; }

 private:
  static std::size_t room_for(const LogConfig& config, std::size_t bytes) {
    return bytes * 5 / 4 + 4 * kBlockBytes + config.write_ahead_bytes;
  }

  /// log_buffer_switch: the incomplete block goes on at the start of the other half.
  void switch_halves(M& m) {
    LinearBuffer& from = halves_[half_];
    half_ = 1 - half_;
    LinearBuffer& to = halves_[half_];
    to.template begin_block<Rules>(0);
    Rules::carry_over(m, to.at(0), from.at(from.blocks_end() - kBlockBytes));
    to.move_free(from.free() % kBlockBytes);
  }

  Task<> write(M& m, LinearBuffer& buffer, Lsn written, Lsn write_lsn) {
    std::size_t end = buffer.blocks_end();
    m.charge(config_.seal_ns * end / kBlockBytes);
    if (config_.seals_blocks) buffer.seal_blocks(0, end, block_of(written), offset_in_block(write_lsn));
    const std::uint64_t offset = file_offset(block_of(written), config_.capacity_bytes);
    // Zeroes up to the write-ahead unit, the first time it is written: else the device reads before it
    // writes.
    if (config_.write_ahead_bytes > 0 && offset + end > written_ahead_) {
      const std::uint64_t unit = config_.write_ahead_bytes;
      written_ahead_ = (offset + end + unit - 1) / unit * unit;
      const std::size_t padded = static_cast<std::size_t>(written_ahead_ - offset);
      std::memset(buffer.at(end), 0, padded - end);
      end = padded;
    }
    co_await m.pwrite(file_, offset, std::span<const std::byte>(buffer.at(0), end));
  }

  Task<> flush_to_disk(M& m, Lsn lsn) {
    co_await m.fsync(file_);
    co_await flushed(m, lsn);
  }
  Task<> flushed(M& m, Lsn lsn) {
    {
      machine::Scope<M> waits(m, reservation_);
      co_await mutex_.lock(m);
    }
    const Lsn before = co_await m.load(flushed_);
    if (before < lsn) co_await m.store(flushed_, lsn);
    co_await m.add(pending_flushes_, ~std::uint64_t{0});
    co_await flush_event_.set(m);
    co_await mutex_.unlock(m);
  }

  LogConfig config_;
  typename M::File& file_;
  LinearBuffer halves_[2];
  sync::Latch<M> mutex_;
  sync::Latch<M> write_mutex_;
  sync::Latch<M> flush_order_;
  FlushLists<M> flush_lists_;
  machine::Site reservation_;
  sync::Event<M> flush_event_;
  typename M::Word written_;
  typename M::Word flushed_;
  typename M::Word pending_flushes_;
  // Under the mutex.
  std::size_t half_ = 0;
  Lsn lsn_ = kStartLsn + kHeaderBytes;
  LogCounters counters_;
  // Under write_mutex.
  Lsn current_flush_lsn_ = 0;
  std::uint64_t signal_count_ = 0;
  std::uint64_t written_ahead_ = 0;
};

}  // namespace engineroom::redo_log
