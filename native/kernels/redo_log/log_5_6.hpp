// The redo log of 5.6: one mutex over everything, the write to the file included.
//
// Models      mtr_log_reserve_and_write, log_write_up_to, log_group_write_buf (5.6.41)
// Leaves out  checkpoints, log groups; extending the buffer (log_buffer_extend), so that a mini-transaction of half a
//             buffer or more is refused
// Cost        two mutex pairs a mini-transaction; who wants durability writes and flushes alone, the others
//             wait
#pragma once

#include "redo_log/linear_buffer.hpp"
#include "redo_log/log_config.hpp"
#include "redo_log/recovery.hpp"
#include "redo_log/rules.hpp"
#include "sync/event.hpp"

namespace engineroom::redo_log {

template <Machine M, typename Rules = Sound>
class Log56 {
 public:
  Log56(M& m, typename M::File& file, const LogConfig& config)
      : config_(config),
        file_(file),
        buffer_(config.buffer_bytes + 2 * kBlockBytes),
        mutex_(m, "log_sys_mutex", config.latch_spin),
        flush_order_(m, "log_flush_order_mutex", config.latch_spin),
        flush_lists_(m, config),
        reservation_(m.site("log_reservation")),
        no_flush_(m, "log_no_flush_event"),
        flushed_(kStartLsn + kHeaderBytes) {
    options::check(config);
    buffer_.template begin_block<Rules>(0);
    buffer_.set_first_group();
  }

  /// Threads of its own: none.
  void spawn_threads(M&) {}

  Task<Appended> append(M& m, std::span<const std::byte> group, bool dirties_page) {
    check_room<Log56>(config_, group.size());
    m.enter(reservation_);
    // The margin to the oldest change that is not in its page, which always is wide enough here.
    co_await mutex_.lock(m);
    m.charge(config_.reserve_ns);
    co_await mutex_.unlock(m);
    co_await mutex_.lock(m);
    while (buffer_.free() + room_for(group.size()) > config_.buffer_bytes) {
      ++counters_.log_waits;
      const Lsn all = lsn_;
      co_await mutex_.unlock(m);
      m.leave();
      // log_buffer_flush_to_disk: the room is free when the file is flushed, too.
      co_await write_up_to(m, all, true);
      if (m.stopping()) co_return Appended{};
      m.enter(reservation_);
      co_await mutex_.lock(m);
    }
    m.charge(config_.reserve_ns);
    const Lsn start = lsn_;
    lsn_ = buffer_.template append<Rules>(m, start, group);
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
      {
        machine::Scope<M> waits(m, reservation_);
        co_await mutex_.lock(m);
      }
      Lsn flushed = co_await m.load(flushed_);
      if (Rules::awaited(flush, written_lsn_, flushed) >= lsn) {
        co_await mutex_.unlock(m);
        co_return true;
      }
      if (!is_writing_) break;
      // One write and flush at a time: this one may cover us, else the next is ours or covers us.
      const bool covers = flush && current_flush_lsn_ >= lsn;
      const std::uint64_t seen = signal_count_;
      co_await mutex_.unlock(m);
      const sync::WaitEnd end = co_await no_flush_.wait(m, seen);
      if (covers && end == sync::WaitEnd::signalled) co_return true;
    }
    const bool has_something = written_lsn_ < lsn_;
    if (!flush && !has_something) {
      co_await mutex_.unlock(m);
      co_return true;
    }
    is_writing_ = true;
    signal_count_ = co_await no_flush_.reset(m);
    const Lsn write_lsn = lsn_;
    if (flush) current_flush_lsn_ = write_lsn;
    const std::size_t from = next_to_write_;
    const std::size_t to = buffer_.blocks_end();
    const std::size_t last = offset_in_block(lsn_);
    // The incomplete block goes on one block further, so that nobody changes what is being written.
    Rules::carry_over(m, buffer_.at(to), buffer_.at(to - kBlockBytes));
    buffer_.move_free(to + last);
    m.charge(config_.seal_ns * (to - from) / kBlockBytes);
    if (config_.seals_blocks) buffer_.seal_blocks(from, to, block_of(written_lsn_), last);
    co_await m.pwrite(file_, file_offset(block_of(written_lsn_), config_.capacity_bytes),
                      std::span<const std::byte>(buffer_.at(from), to - from));
    written_lsn_ = write_lsn;
    next_to_write_ = to;
    co_await mutex_.unlock(m);
    if (flush) co_await m.fsync(file_);
    co_await mutex_.lock(m);
    if (flush) co_await m.store(flushed_, write_lsn);
    if (next_to_write_ > max_buf_free() / 2) {
      const std::size_t left = buffer_.free() - next_to_write_;
      std::memmove(buffer_.at(0), buffer_.at(next_to_write_), buffer_.blocks_end() - next_to_write_);
      m.charge(left / 32);
      buffer_.move_free(left);
      next_to_write_ = 0;
    }
    is_writing_ = false;
    co_await no_flush_.set(m);
    co_await mutex_.unlock(m);
    co_return true;
  }

  /// Where the next mini-transaction goes.
  Task<Lsn> end_lsn(M& m) {
    co_await mutex_.lock(m);
    const Lsn end = lsn_;
    co_await mutex_.unlock(m);
    co_return end;
  }

  static std::size_t least_buffer_bytes(const LogConfig&, std::size_t mtr_bytes) {
    return whole_blocks(std::max(2 * mtr_bytes + 1, kBlockBytes + room_for(mtr_bytes)));
  }
  static std::uint64_t least_recent_closed_slots(std::size_t) { return 0; }

  Lsn flushed_lsn(M& m) const { return m.peek(const_cast<typename M::Word&>(flushed_)); }
  FlushLists<M>& flush_lists() { return flush_lists_; }
  const LogCounters& counters() const { return counters_; }

 private:
  static constexpr std::size_t kWriteMargin = 4 * kBlockBytes;  // LOG_BUF_WRITE_MARGIN
  static constexpr std::size_t kFlushMargin =
      kWriteMargin + 4 * (16U << 10);  // LOG_BUF_FLUSH_MARGIN: four pages

  static constexpr std::size_t room_for(std::size_t bytes) { return bytes * 5 / 4 + kWriteMargin; }
  /// What is written leaves the buffer when it ends behind half of this. A buffer so small that no server has it (they begin
  /// at 256 KiB) is moved each time: what is written never keeps a mini-transaction from the room it needs.
  std::size_t max_buf_free() const {
    const std::size_t half = config_.buffer_bytes / 2;  // LOG_BUF_FLUSH_RATIO
    return half > kFlushMargin ? half - kFlushMargin : 0;
  }

  LogConfig config_;
  typename M::File& file_;
  LinearBuffer buffer_;
  sync::Latch<M> mutex_;
  sync::Latch<M> flush_order_;
  FlushLists<M> flush_lists_;
  machine::Site reservation_;
  sync::Event<M> no_flush_;
  typename M::Word flushed_;
  // Under the mutex.
  Lsn lsn_ = kStartLsn + kHeaderBytes;
  Lsn written_lsn_ = kStartLsn + kHeaderBytes;
  Lsn current_flush_lsn_ = 0;
  std::size_t next_to_write_ = 0;  // the block that holds written_lsn_
  std::uint64_t signal_count_ = 0;
  bool is_writing_ = false;
  LogCounters counters_;
};

}  // namespace engineroom::redo_log
