// The redo log of 8.0: a range is reserved by one addition, bytes are copied in parallel, threads of its own
// write.
//
// Models      log_buffer_reserve, log_buffer_write, log_buffer_write_completed, log_writer, log_flusher,
//             both notifiers, log_write_up_to, log_self_write_up_to (8.0.26 to 9.7.4)
// Leaves out  resizing the buffer, so that a mini-transaction that is larger is refused; checkpoints, the archiver, several
//             files
// Cost        one addition and, for each piece of 512 bytes, a link; a commit with the log threads hops to
//             the writer, to the flusher and back
#pragma once

#include <atomic>
#include <bit>
#include <memory>
#include <vector>

#include "redo_log/cpu_gate.hpp"
#include "redo_log/link_buffer.hpp"
#include "redo_log/log_config.hpp"
#include "redo_log/recovery.hpp"
#include "redo_log/rules.hpp"
#include "sync/event.hpp"

namespace engineroom::redo_log {

template <Machine M, typename Rules = Sound>
class Log80 {
 public:
  Log80(M& m, typename M::File& file, const LogConfig& config)
      : config_(config),
        file_(file),
        ring_(config.buffer_bytes),
        write_ahead_(kBlockBytes + config.write_ahead_bytes),
        recent_written_(config.recent_written_slots, kFirstLsn),
        recent_closed_(config.recent_closed_slots, kFirstLsn),
        flush_lists_(m, config),
        gate_(m, config),
        writer_mutex_(m, "log_writer_mutex", config.latch_spin),
        flusher_mutex_(m, "log_flusher_mutex", config.latch_spin),
        closer_mutex_(m, "log_closer_mutex", config.latch_spin),
        writer_event_(m, "log_writer_event"),
        flusher_event_(m, "log_flusher_event"),
        write_notifier_event_(m, "log_write_notifier_event"),
        flush_notifier_event_(m, "log_flush_notifier_event"),
        closer_event_(m, "log_closer_event"),
        flush_over_(m, "log_old_flush_event"),
        sn_(kStartSn),
        buf_limit_sn_(sn_of(kFirstLsn) + buffer_sn() - Rules::ring_margin()),
        written_(kFirstLsn),
        flushed_(kFirstLsn),
        awaited_ready_(0),
        flushing_(0),
        recent_written_wait_(m.site("log_recent_written_wait")),
        recent_closed_wait_(m.site("log_recent_closed_wait")),
        reservation_(m.site("log_reservation")) {
    options::check(config);
    for (std::uint64_t i = 0; i < config.events; ++i) {
      write_events_.push_back(std::make_unique<sync::Event<M>>(m, "log_write_events"));
      flush_events_.push_back(std::make_unique<sync::Event<M>>(m, "log_flush_events"));
    }
    first_group(block_of(kFirstLsn)).store(big_endian(kHeaderBytes), std::memory_order_relaxed);
  }

  void spawn_threads(M& m) {
    if (!config_.writer_threads) return;
    m.spawn("log_writer", [this, &m] { return writer(m); });
    m.spawn("log_flusher", [this, &m] { return flusher(m); });
    m.spawn("log_write_notifier",
            [this, &m] { return notifier(m, written_, write_notifier_event_, write_events_); });
    m.spawn("log_flush_notifier",
            [this, &m] { return notifier(m, flushed_, flush_notifier_event_, flush_events_); });
    m.spawn("cpu_sampler", [this, &m] { return gate_.sample(m); });
  }

  Task<Appended> append(M& m, std::span<const std::byte> group, bool dirties_page) {
    return append_late(m, group, 0, dirties_page);
  }
  /// The same for a thread that is away for `late_ns` between its reservation and its copy.
  Task<Appended> append_late(M& m, std::span<const std::byte> group, std::uint64_t late_ns,
                             bool dirties_page = false) {
    check_room<Log80>(config_, group.size());
    machine::Scope<M> doing(m, reservation_);
    // The order of the log is the order of these additions; all else happens at the same time.
    const Sn start_sn = co_await m.add(sn_, group.size());
    const Sn end_sn = start_sn + group.size();
    m.charge(config_.reserve_ns);
    const Appended range{.done = true, .start_lsn = lsn_of(start_sn), .end_lsn = lsn_of(end_sn)};
    for (;;) {
      const Sn limit = co_await m.load(buf_limit_sn_);
      if (end_sn <= limit) break;
      if (m.stopping()) co_return Appended{};
      ++counters_.log_waits;
      // So much must be written that our last byte does not meet one that is not.
      co_await write_up_to(m, lsn_of(end_sn + Rules::ring_margin() - buffer_sn()), false);
    }
    if (late_ns > 0) co_await m.sleep(late_ns);
    for (std::size_t done = 0; done < group.size();) {
      const Piece piece = piece_at(range, group, done);
      copy(m, piece, range);
      const bool is_reported = co_await report(m, piece.start_lsn, piece.end_lsn);
      if (!is_reported) co_return Appended{};
      done += piece.bytes.size();
    }
    const bool has_slot = co_await wait_for_slot(m, recent_closed_, range.start_lsn, recent_closed_wait_);
    if (!has_slot) co_return Appended{};
    if (dirties_page) co_await flush_lists_.add(m, range.start_lsn);
    co_await recent_closed_.add_link_advance_tail(m, range.start_lsn, range.end_lsn);
    co_return range;
  }

  /// Until the log is in the file up to `lsn`, and flushed when `flush`. False when the run was stopped
  /// first.
  Task<bool> write_up_to(M& m, Lsn lsn, bool flush) {
    typename M::Word& reached = Rules::awaited(flush, written_, flushed_);
    Lsn seen_lsn = co_await m.load(reached);
    if (seen_lsn >= lsn) co_return true;
    if (!config_.writer_threads) {
      const bool is_done = co_await self_write_up_to(m, lsn, reached);
      co_return is_done;
    }
    co_await gate_.requested(m);
    const std::uint64_t rounds = co_await gate_.user_rounds(m, flush);
    if (rounds > 0) {
      co_await writer_event_.set(m);
      const machine::SpinResult spun =
          co_await m.spin_until(reached, machine::at_least(lsn), machine::Spin{rounds, 1});
      if (spun.holds) co_return true;
    }
    auto& events = &reached == &flushed_ ? flush_events_ : write_events_;
    sync::Event<M>& event = *events[slot_of(lsn)];
    for (;;) {
      const std::uint64_t seen = co_await event.reset(m);
      seen_lsn = co_await m.load(reached);
      if (seen_lsn >= lsn) co_return true;
      if (m.stopping()) co_return false;
      co_await writer_event_.set(m);
      co_await event.wait(m, seen, config_.user_timeout_ns);
    }
  }

  /// The end of what is reserved.
  Task<Lsn> end_lsn(M& m) {
    const Sn end = co_await m.load(sn_);
    co_return lsn_of(end);
  }

  static std::size_t least_buffer_bytes(const LogConfig&, std::size_t mtr_bytes) {
    const std::size_t sn = mtr_bytes + static_cast<std::size_t>(Sound::ring_margin());
    return (sn + kDataBytes - 1) / kDataBytes * kBlockBytes;
  }
  static std::uint64_t least_recent_closed_slots(std::size_t mtr_bytes) {
    return std::bit_ceil(2 * mtr_bytes);
  }

  Lsn flushed_lsn(M& m) const { return m.peek(const_cast<typename M::Word&>(flushed_)); }
  Lsn written_lsn(M& m) const { return m.peek(const_cast<typename M::Word&>(written_)); }
  Lsn ready_lsn(M& m) { return m.peek(recent_written_.tail_word()); }
  Lsn link_at(M& m, Lsn start) { return recent_written_.link_at(m, start); }
  Lsn current_lsn(M& m) { return lsn_of(m.peek(sn_)); }
  /// For a test that takes away all timeouts: the writer is woken by looking from time to time, so somebody
  /// must.
  Task<> poke_writer(M& m) { co_await writer_event_.set(m); }
  FlushLists<M>& flush_lists() { return flush_lists_; }
  const LogCounters& counters() const { return counters_; }

 private:
  static constexpr Lsn kFirstLsn = kStartLsn + kHeaderBytes;
  /// A block of the mini-transaction's private log (dyn_buf): copied and reported by itself.
  static constexpr std::size_t kPieceBytes = 512;
  static constexpr std::uint64_t kStepsBeforeYield = 1024;
  using Links = LinkBuffer<M, Rules>;
  using Events = std::vector<std::unique_ptr<sync::Event<M>>>;

  Sn buffer_sn() const { return ring_.size() / kBlockBytes * kDataBytes; }
  std::size_t slot_of(Lsn lsn) const {
    return static_cast<std::size_t>((lsn - 1) / kBlockBytes & (config_.events - 1));
  }
  static std::uint16_t big_endian(std::size_t offset) {
    return static_cast<std::uint16_t>(offset << 8 | offset >> 8);
  }
  /// The only field of a header that mini-transactions write. Atomic since the writer may read it meanwhile:
  /// what it misses it finds when it writes the block again.
  std::atomic_ref<std::uint16_t> first_group(Lsn block_lsn) {
    return std::atomic_ref<std::uint16_t>(
        *reinterpret_cast<std::uint16_t*>(&ring_[static_cast<std::size_t>(block_lsn % ring_.size()) + 6]));
  }

  Task<> set_limit(M& m, Lsn written) {
    co_await m.store(buf_limit_sn_, sn_of(written) + buffer_sn() - Rules::ring_margin());
  }

  struct Piece {
    Lsn start_lsn;
    Lsn end_lsn;
    std::span<const std::byte> bytes;
  };
  static Piece piece_at(const Appended& range, std::span<const std::byte> group, std::size_t at) {
    const Sn start_sn = sn_of(range.start_lsn) + at;
    const auto bytes = group.subspan(at, std::min(group.size() - at, kPieceBytes));
    return {lsn_of(start_sn), lsn_of(start_sn + bytes.size()), bytes};
  }

  /// log_buffer_write: around headers and trailers, into the ring. Behind its last piece the block of a group's end knows
  /// where the next group begins.
  void copy(M& m, const Piece& piece, const Appended& range) {
    Lsn lsn = piece.start_lsn;
    for (std::size_t done = 0; done < piece.bytes.size();) {
      const std::size_t room = kBlockBytes - kTrailerBytes - offset_in_block(lsn);
      const std::size_t size = std::min(piece.bytes.size() - done, room);
      Rules::copy(m, &ring_[static_cast<std::size_t>(lsn % ring_.size())], &piece.bytes[done], size);
      done += size;
      lsn += size;
      if (size == room) {
        lsn += kTrailerBytes + kHeaderBytes;
        if (Rules::forgets_earlier_group()) first_group(block_of(lsn)).store(0, std::memory_order_relaxed);
      }
    }
    if (lsn == range.end_lsn && Rules::begins_in_block(range.start_lsn, lsn)) {
      first_group(block_of(lsn)).store(big_endian(offset_in_block(lsn)), std::memory_order_relaxed);
    }
  }

  /// log_buffer_write_completed: false when the run is stopped first.
  Task<bool> report(M& m, Lsn start, Lsn end) {
    const bool has_slot = co_await wait_for_slot(m, recent_written_, start, recent_written_wait_);
    if (!has_slot) co_return false;
    co_await recent_written_.add_link_advance_tail(m, start, end);
    co_await Rules::behind_a_link([&] { return tell_who_awaits_ready(m); });
    co_return true;
  }

  /// Waits for a slot; false when the run is stopped first.
  Task<bool> wait_for_slot(M& m, Links& links, Lsn start, machine::Site site) {
    bool has_slot = co_await Rules::has_space(m, links, start);
    if (has_slot) co_return true;
    const std::uint64_t from = m.now();
    while (!has_slot) {
      if (m.stopping()) co_return false;
      if (config_.writer_threads) co_await writer_event_.set(m);
      co_await m.sleep(20'000);
      has_slot = co_await links.has_space(m, start);
    }
    m.waited(site, {m.now() - from, 0, 1});
    co_return true;
  }

  /// Every thread that may have moved the tail calls this behind it: whoever moved it past the awaited LSN
  /// sees that it is awaited, or who awaits it sees the tail.
  Task<> tell_who_awaits_ready(M& m) {
    Lsn awaited = co_await m.load(awaited_ready_);
    if (awaited == 0) co_return;
    co_await recent_written_.advance(m);
    const Lsn ready = co_await recent_written_.tail(m);
    if (ready < awaited) co_return;
    co_await closer_mutex_.lock(m);
    co_await m.store(awaited_ready_, 0);
    co_await closer_event_.set(m);
    co_await closer_mutex_.unlock(m);
  }

  Task<bool> wait_until_ready(M& m, Lsn lsn) {
    for (;;) {
      co_await recent_written_.advance(m);
      co_await tell_who_awaits_ready(m);
      Lsn ready = co_await recent_written_.tail(m);
      if (ready >= lsn) co_return true;
      if (m.stopping()) co_return false;
      co_await closer_mutex_.lock(m);
      const std::uint64_t seen = co_await closer_event_.reset(m);
      const Lsn awaited = co_await m.load(awaited_ready_);
      if (awaited == 0 || lsn < awaited) co_await m.store(awaited_ready_, lsn);
      co_await closer_mutex_.unlock(m);
      co_await recent_written_.advance(m);
      ready = co_await recent_written_.tail(m);
      if (ready < lsn) co_await closer_event_.wait(m, seen, config_.longest_timeout_ns);
    }
  }

  /// log_self_write_up_to: the log threads are paused, a user does their work.
  Task<bool> self_write_up_to(M& m, Lsn lsn, typename M::Word& reached) {
    const bool is_ready = co_await wait_until_ready(m, lsn);
    if (!is_ready) co_return false;
    co_await writer_mutex_.lock(m);
    for (std::uint64_t step = 1;; ++step) {
      const Lsn written = co_await m.load(written_);
      if (written >= lsn) break;
      co_await write_step(m);
      if (step % kStepsBeforeYield == 0) {
        co_await writer_mutex_.unlock(m);
        co_await m.yield();
        co_await writer_mutex_.lock(m);
      }
    }
    co_await writer_mutex_.unlock(m);
    for (;;) {
      const Lsn now = co_await m.load(reached);
      if (now >= lsn) break;
      if (m.stopping()) co_return false;
      const std::uint64_t seen = co_await flush_over_.reset(m);
      const std::uint64_t flushing = co_await m.load(flushing_);
      if (flushing != 0) {
        co_await flush_over_.wait(m, seen);
        continue;
      }
      co_await flusher_mutex_.lock(m);
      const Lsn flushed = co_await m.load(flushed_);
      if (flushed < lsn) {
        co_await m.store(flushing_, 1);
        co_await flush(m);
        co_await m.store(flushing_, 0);
        co_await flush_over_.set(m);
      }
      co_await flusher_mutex_.unlock(m);
    }
    co_return true;
  }

  /// One write of what is ready. False when nothing is.
  Task<bool> write_step(M& m) {
    const Lsn from = co_await m.load(written_);
    co_await recent_written_.advance(m, from + config_.write_max_bytes);
    if (!config_.writer_threads) co_await tell_who_awaits_ready(m);
    const Lsn ready = co_await Rules::ready(m, recent_written_, sn_);
    if (ready <= from) co_return false;
    const Write next =
        block_of(ready) > block_of(from) ? whole_blocks(m, from, ready) : incomplete_block(m, from, ready);
    co_await m.pwrite(file_, next.offset, next.bytes);
    co_await m.store(written_, next.end_lsn);
    co_await set_limit(m, next.end_lsn);
    if (config_.writer_threads) {
      co_await flusher_event_.set(m);
      co_await tell(m, from, next.end_lsn, write_events_, write_notifier_event_);
    }
    co_return true;
  }

  struct Write {
    Lsn end_lsn;
    std::uint64_t offset;
    std::span<const std::byte> bytes;
  };
  /// Straight from the ring, up to its end at most.
  Write whole_blocks(M& m, Lsn from, Lsn ready) {
    const auto at = static_cast<std::size_t>(block_of(from) % ring_.size());
    const std::size_t size =
        std::min(static_cast<std::size_t>(block_of(ready) - block_of(from)), ring_.size() - at);
    m.charge(config_.seal_ns * size / kBlockBytes);
    if (config_.seals_blocks) {
      for (std::size_t i = 0; i < size; i += kBlockBytes) {
        seal(Block(&ring_[at + i], kBlockBytes), block_of(from) + i, kBlockBytes, 0);
      }
    }
    const std::uint64_t offset = file_offset(block_of(from), config_.capacity_bytes);
    written_ahead_ = std::max(written_ahead_, offset + size);
    return {block_of(from) + size + kHeaderBytes, offset, {&ring_[at], size}};
  }
  /// From a buffer of its own, since mini-transactions write behind `ready` in the same block: its data is copied before
  /// it is sealed. Zeroes follow up to the write-ahead unit, the first time it is written.
  Write incomplete_block(M& m, Lsn from, Lsn ready) {
    const auto at = static_cast<std::size_t>(block_of(from) % ring_.size());
    const std::uint64_t offset = file_offset(block_of(from), config_.capacity_bytes);
    std::size_t size = kBlockBytes;
    const std::uint64_t unit = config_.write_ahead_bytes;
    if (unit > 0 && offset + kBlockBytes > written_ahead_) {
      written_ahead_ = (offset + kBlockBytes + unit - 1) / unit * unit;
      size = static_cast<std::size_t>(written_ahead_ - offset);
    }
    std::memset(write_ahead_.data(), 0, size);
    m.copy(&write_ahead_[kHeaderBytes], &ring_[at + kHeaderBytes], offset_in_block(ready) - kHeaderBytes);
    const std::uint16_t group = first_group(block_of(from)).load(std::memory_order_relaxed);
    std::memcpy(&write_ahead_[6], &group, 2);
    m.charge(config_.seal_ns);
    if (config_.seals_blocks) {
      seal(Block(write_ahead_.data(), kBlockBytes), block_of(from), offset_in_block(ready), 0);
    }
    return {ready, offset, {write_ahead_.data(), size}};
  }

  Task<> flush(M& m) {
    const Lsn from = co_await m.load(flushed_);
    const Lsn written_before = co_await m.load(written_);
    if (written_before <= from) co_return;
    const std::uint64_t start = m.now();
    co_await m.fsync(file_);
    const Lsn flushed = co_await Rules::made_durable(m, written_before, written_);
    co_await m.store(flushed_, flushed);
    co_await gate_.flush_took(m, m.now() - start);
    if (config_.writer_threads) co_await tell(m, from, flushed, flush_events_, flush_notifier_event_);
  }

  /// Sets the one event of the range, or wakes the notifier when it is in several blocks.
  Task<> tell(M& m, Lsn from, Lsn to, Events& events, sync::Event<M>& notifier_event) {
    if (from / kBlockBytes == (to - 1) / kBlockBytes) {
      co_await events[slot_of(to)]->set(m);
    } else {
      co_await notifier_event.set(m);
    }
  }

  Task<> writer(M& m) {
    while (!m.stopping()) {
      co_await wait_for(m, recent_written_.tail_word(), written_, writer_event_, true);
      co_await writer_mutex_.lock(m);
      for (std::uint64_t step = 1;; ++step) {
        const bool has_written = co_await write_step(m);
        if (!has_written) break;

        if (step % kStepsBeforeYield == 0) {
          co_await writer_mutex_.unlock(m);
          co_await m.yield();
          co_await writer_mutex_.lock(m);
        }
        if (m.stopping()) break;
      }
      co_await writer_mutex_.unlock(m);
    }
  }

  Task<> flusher(M& m) {
    while (!m.stopping()) {
      co_await wait_for(m, written_, flushed_, flusher_event_, false);
      if (m.stopping()) break;
      co_await flusher_mutex_.lock(m);
      co_await flush(m);
      co_await flusher_mutex_.unlock(m);
    }
  }

  /// Log_thread_waiting: until `word` is above `reached`.
  Task<> wait_for(M& m, typename M::Word& word, typename M::Word& reached, sync::Event<M>& event,
                  bool is_writer) {
    const Lsn from = co_await m.load(reached);
    if (is_writer) co_await recent_written_.advance(m, from + config_.write_max_bytes);
    Lsn now = co_await m.load(word);
    if (now > from) co_return;
    const std::uint64_t rounds = co_await gate_.log_thread_rounds(m);
    if (rounds > 0) {
      const machine::SpinResult spun =
          co_await m.spin_until(word, machine::at_least(from + 1), machine::Spin{rounds, 1});
      if (spun.holds) co_return;
    }
    Backoff backoff{.first_ns = config_.log_thread_timeout_ns, .longest_ns = config_.longest_timeout_ns};
    while (!m.stopping()) {
      const std::uint64_t seen = co_await event.reset(m);
      if (is_writer) co_await recent_written_.advance(m, from + config_.write_max_bytes);
      now = co_await m.load(word);
      if (now > from) co_return;
      co_await event.wait(m, seen, backoff.timeout_ns);
      backoff.again();
    }
  }

  /// Sets the events of all blocks that were passed since it looked last.
  Task<> notifier(M& m, typename M::Word& reached, sync::Event<M>& event, Events& events) {
    Lsn told = kFirstLsn;
    while (!m.stopping()) {
      const std::uint64_t seen = co_await event.reset(m);
      const Lsn now = co_await m.load(reached);
      if (now <= told) {
        co_await event.wait(m, seen, config_.longest_timeout_ns);
        continue;
      }
      const Lsn last = (now - 1) / kBlockBytes;
      Lsn block = told / kBlockBytes;
      if (last - block >= config_.events) block = last - config_.events + 1;
      for (; block <= last; ++block) {
        co_await events[static_cast<std::size_t>(block & (config_.events - 1))]->set(m);
      }
      told = now;
    }
  }

  LogConfig config_;
  typename M::File& file_;
  std::vector<std::byte> ring_;
  std::vector<std::byte> write_ahead_;  // under writer_mutex
  std::uint64_t written_ahead_ = 0;     // under writer_mutex
  Links recent_written_;
  Links recent_closed_;
  FlushLists<M> flush_lists_;
  CpuGate<M> gate_;
  sync::Latch<M> writer_mutex_;
  sync::Latch<M> flusher_mutex_;
  sync::Latch<M> closer_mutex_;
  sync::Event<M> writer_event_;
  sync::Event<M> flusher_event_;
  sync::Event<M> write_notifier_event_;
  sync::Event<M> flush_notifier_event_;
  sync::Event<M> closer_event_;
  sync::Event<M> flush_over_;
  Events write_events_;
  Events flush_events_;
  typename M::Word sn_;
  typename M::Word buf_limit_sn_;
  typename M::Word written_;
  typename M::Word flushed_;
  typename M::Word awaited_ready_;  // 0: nobody awaits an LSN that is not ready
  typename M::Word flushing_;
  machine::Site recent_written_wait_;
  machine::Site recent_closed_wait_;
  machine::Site reservation_;
  LogCounters counters_;
};

}  // namespace engineroom::redo_log
