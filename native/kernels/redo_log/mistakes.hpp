// Mistakes that a log of one's own easily makes: the rules with one of them broken. The crash runs plant them, one at a
// time, and must find each.
#pragma once

#include <coroutine>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>

#include "common/names.hpp"
#include "redo_log/design.hpp"
#include "redo_log/rules.hpp"

namespace engineroom::redo_log {

enum class Mistake : std::uint8_t {
  none,
  durable_before_fsync,  // a commit returns when the log is written
  first_group_not_set,   // recovery that starts at a checkpoint finds no group boundary
  // A block that one group fills and that lies where an earlier one lay says that a group begins in it: recovery that
  // starts at a checkpoint there reads from the middle of a group.
  earlier_group_not_forgotten,
  copy_outside_mutex,      // the place is reserved, and the bytes come later
  last_block_left_behind,  // switching halves forgets the incomplete block
  followers_fsync_too,     // nobody waits for the running fsync: no group, though nothing is lost
  written_under_mutex,     // the mutex is held while the file is written, as in 5.6: nothing is lost but time
  ring_filled_to_the_brim,  // the ring is filled up to what is not written: into its block, which is written again
  write_past_gap,           // the writer takes everything that is reserved
  link_before_copy,         // as copy_outside_mutex, where no mutex is
  window_ignored,           // no wait for a slot of the link buffers
  claim_unchecked,          // a link of a later round is taken for this one's
  flushed_read_after_fsync,  // what is written when the fsync ends is taken for flushed
  closer_not_told,           // a thread that closes a gap does not wake those who wait for it
};

constexpr auto named(names::Of<Mistake>) { return names::as_written<Mistake::closer_not_told>("mistake"); }

/// Whether a design has what the mistake breaks.
constexpr bool is_possible(Design design, Mistake mistake) {
  switch (mistake) {
    case Mistake::none:
    case Mistake::durable_before_fsync:
    case Mistake::first_group_not_set:
    case Mistake::earlier_group_not_forgotten:
      return true;
    case Mistake::copy_outside_mutex:
    case Mistake::last_block_left_behind:
      return design == Design::log_5_6 || design == Design::log_5_7;
    case Mistake::followers_fsync_too:
    case Mistake::written_under_mutex:
      return design == Design::log_5_7;
    case Mistake::ring_filled_to_the_brim:
    case Mistake::write_past_gap:
    case Mistake::link_before_copy:
    case Mistake::window_ignored:
    case Mistake::claim_unchecked:
    case Mistake::flushed_read_after_fsync:
    case Mistake::closer_not_told:
      return design == Design::log_8_0 || design == Design::log_8_0_no_writer_threads;
  }
  return false;
}

/// One of two awaits, chosen at run time: it costs what that one does.
template <typename One, typename Other>
class Either {
 public:
  Either(One one) : one_(std::move(one)) {}          // NOLINT: a rule returns one or the other
  Either(Other other) : other_(std::move(other)) {}  // NOLINT

  bool await_ready() { return one_ ? one_->await_ready() : other_->await_ready(); }
  void await_suspend(std::coroutine_handle<> self) {
    one_ ? one_->await_suspend(self) : other_->await_suspend(self);
  }
  auto await_resume() { return one_ ? one_->await_resume() : other_->await_resume(); }

 private:
  std::optional<One> one_;
  std::optional<Other> other_;
};

/// The rules with one of them broken: at run time, so that all mistakes are one more program and not one each.
struct Broken : Sound {
  /// What this thread breaks.
  static constinit inline thread_local Mistake mistake = Mistake::none;

  template <typename T>
  static T& awaited(bool flush, T& written, T& flushed) {
    return Sound::awaited(flush && mistake != Mistake::durable_before_fsync, written, flushed);
  }
  template <machine::Machine M>
  static auto made_durable(M& m, Lsn written_before, typename M::Word& written) {
    using Both = Either<machine::Ready<Lsn>, decltype(m.load(written))>;
    if (mistake == Mistake::flushed_read_after_fsync) return Both(m.load(written));
    return Both(Sound::made_durable(m, written_before, written));
  }
  static bool begins_in_block(Lsn start, Lsn end) {
    return mistake != Mistake::first_group_not_set && Sound::begins_in_block(start, end);
  }
  template <machine::Machine M>
  static void copy(M& m, std::byte* to, const std::byte* from, std::size_t bytes) {
    if (mistake != Mistake::copy_outside_mutex && mistake != Mistake::link_before_copy) {
      return Sound::copy(m, to, from, bytes);
    }
    m.spawn("late copy", [&m, to, from, bytes]() -> machine::Task<> {
      co_await m.yield();
      m.copy(to, from, bytes);
    });
  }
  static bool forgets_earlier_group() { return mistake != Mistake::earlier_group_not_forgotten; }

  template <machine::Machine M>
  static void carry_over(M& m, std::byte* to, const std::byte* incomplete_block) {
    if (mistake != Mistake::last_block_left_behind) return Sound::carry_over(m, to, incomplete_block);
    std::memset(to, 0, kHeaderBytes);
  }
  static bool waits_for_fsync(bool flush, std::uint64_t pending_flushes) {
    return mistake != Mistake::followers_fsync_too && Sound::waits_for_fsync(flush, pending_flushes);
  }
  static bool frees_mutex_to_write() { return mistake != Mistake::written_under_mutex; }

  static Sn ring_margin() { return mistake == Mistake::ring_filled_to_the_brim ? 0 : Sound::ring_margin(); }
  template <machine::Machine M, typename Links>
  static auto ready(M& m, Links& recent_written, typename M::Word& reserved) {
    using Both = Either<decltype(recent_written.tail(m)), machine::Task<Lsn>>;
    if (mistake == Mistake::write_past_gap) return Both(past_the_gap(m, recent_written, reserved));
    return Both(Sound::ready(m, recent_written, reserved));
  }
  template <machine::Machine M, typename Links>
  static auto has_space(M& m, Links& links, Lsn start) {
    using Both = Either<machine::Ready<bool>, decltype(links.has_space(m, start))>;
    if (mistake == Mistake::window_ignored) return Both(machine::Ready<bool>{true});
    return Both(Sound::has_space(m, links, start));
  }
  template <typename Tell>
  static auto behind_a_link(const Tell& tell) {
    using Both = Either<machine::Ready<>, decltype(tell())>;
    if (mistake == Mistake::closer_not_told) return Both(machine::Ready<>{});
    return Both(Sound::behind_a_link(tell));
  }
  static bool is_of_a_later_round(Lsn end, Lsn position, std::uint64_t slots) {
    return mistake != Mistake::claim_unchecked && Sound::is_of_a_later_round(end, position, slots);
  }

 private:
  /// It looks, and goes on all the same.
  template <machine::Machine M, typename Links>
  static machine::Task<Lsn> past_the_gap(M& m, Links& recent_written, typename M::Word& reserved) {
    co_await recent_written.tail(m);
    const Sn sn = co_await m.load(reserved);
    co_return lsn_of(sn);
  }
};

}  // namespace engineroom::redo_log
