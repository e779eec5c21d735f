// The mutex of InnoDB: compare-and-swap, then spin, then yield, then sleep on an event that unlocking sets.
//
// Models      TTASEventMutex::enter and exit with their sync array cell (5.7 to 9.7); 5.6 differs in names
//             only
// Leaves out  the sync array's own mutex, unless the machine asks for it (os_event.hpp), the 1 s monitor, recursion
// Cost        uncontended: one compare-and-swap to lock, one exchange and a load to unlock, no coroutine
//
//   lock word  waiters   meaning
//   0          0         free
//   1          0         held
//   1          1         held, and somebody sleeps or is about to
//   0          1         just freed: who freed it will set the event, which wakes all; they race for it again
#pragma once

#include <coroutine>
#include <cstdint>
#include <string_view>

#include "machine/concept.hpp"
#include "sync/event.hpp"
#include "sync/fast_path.hpp"

namespace engineroom::sync {

using machine::Access;

/// innodb_sync_spin_loops, innodb_spin_wait_delay and innodb_spin_wait_pause_multiplier.
struct SpinParams {
  std::uint64_t rounds = 30;
  std::uint64_t wait_delay = 6;  // between two looks a number drawn from 0 to this, times the multiplier
  std::uint64_t pause_multiplier = 50;

  machine::Spin looks(std::uint64_t at_most) const {
    return {at_most, wait_delay > 0 ? pause_multiplier : 0, wait_delay};
  }
};
/// Straight to sleep.
constexpr SpinParams kNoSpin{.rounds = 0, .wait_delay = 0, .pause_multiplier = 0};

/// A machine may want to know which latches are asked for, and in which order.
template <machine::Machine M>
void tell_of(M& m, Site latch) {
  if constexpr (requires { m.asked_for(latch); }) m.asked_for(latch);
}

template <machine::Machine M>
class Latch {
 public:
  Latch(M& m, std::string_view name, SpinParams spin = {}) : words_(2), event_(m, name), spin_(spin) {}

  /// `co_await latch.lock(m)`.
  auto lock(M& m) { return Lock(*this, m); }
  auto unlock(M& m) { return Unlock(*this, m); }

  Task<bool> try_lock(M& m) {
    std::uint64_t seen = 0;
    co_return co_await m.cas(words_[kLock], seen, 1);
  }

  bool is_locked(M& m) { return m.peek(words_[kLock]) != 0; }
  Site site() const { return event_.site(); }

 private:
  static constexpr std::size_t kLock = 0;
  static constexpr std::size_t kWaiters = 1;
  static constexpr int kTriesBeforeSleep = 4;

  class Lock : public FastPath<Latch, M> {
   public:
    using FastPath<Latch, M>::FastPath;
    bool await_ready() {
      tell_of(this->m_, this->latch_.site());
      return this->begins_at(this->latch_.words_[kLock]) &&
             this->m_.try_cas(this->latch_.words_[kLock], 0, 1);
    }
    bool await_suspend(std::coroutine_handle<> self) {
      return this->goes_on_in(this->latch_.lock_slowly(this->m_, this->has_begun_), self);
    }
  };
  class Unlock : public FastPath<Latch, M> {
   public:
    using FastPath<Latch, M>::FastPath;
    bool await_ready() {
      if (!this->begins_at(this->latch_.words_[kLock])) return false;
      this->m_.try_xchg(this->latch_.words_[kLock], 0);
      return this->m_.reach(this->latch_.words_[kWaiters], Access::read) &&
             this->m_.try_load(this->latch_.words_[kWaiters]) == 0;
    }
    bool await_suspend(std::coroutine_handle<> self) {
      return this->goes_on_in(this->latch_.unlock_slowly(this->m_, this->has_begun_), self);
    }
  };

  Task<> lock_slowly(M& m, bool has_tried) {
    std::uint64_t seen = 0;
    if (!has_tried) {
      const bool is_free = co_await m.cas(words_[kLock], seen, 1);
      if (is_free) co_return;
    }
    const std::uint64_t start = m.now();
    std::uint64_t rounds = 0;
    std::uint64_t parks = 0;
    for (bool is_mine = false; !is_mine;) {
      for (std::uint64_t left = spin_.rounds; left > 0 && !is_mine;) {
        const machine::SpinResult spun =
            co_await m.spin_until(words_[kLock], machine::equals(0), spin_.looks(left));
        rounds += spun.rounds;
        if (!spun.holds) break;
        left -= spun.rounds < left ? spun.rounds : left;
        seen = 0;
        is_mine = co_await m.cas(words_[kLock], seen, 1);
        if (!is_mine && left > 0) --left;
      }
      if (is_mine) break;
      co_await m.yield();
      const std::uint64_t signal_count = co_await event_.reserve(m);
      co_await m.store(words_[kWaiters], 1);
      for (int i = 0; i < kTriesBeforeSleep && !is_mine; ++i) {
        seen = 0;
        is_mine = co_await m.cas(words_[kLock], seen, 1);
      }
      if (is_mine && event_.is_reserved()) co_await event_.give_up(m);
      if (is_mine) break;
      ++parks;
      co_await event_.wait_uncounted(m, signal_count);
    }
    m.waited(site(), {m.now() - start, rounds, parks});
  }

  Task<> unlock_slowly(M& m, bool has_freed) {
    if (!has_freed) {
      co_await m.xchg(words_[kLock], 0);
    }
    const std::uint64_t waiters = co_await m.load(words_[kWaiters]);
    if (waiters == 0) co_return;
    co_await m.store(words_[kWaiters], 0);
    co_await event_.set(m);
  }

  typename M::Words words_;
  Event<M> event_;
  SpinParams spin_;
};

}  // namespace engineroom::sync
