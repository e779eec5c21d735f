// The read-write latch of InnoDB: shared (s) or exclusive (x).
//
// Models      rw_lock_t with its lock word (5.7 to 9.7); try_s and try_x are its nowait calls, x_is_wanted is
//             is_x_blocked_by_s, has_writer rw_lock_get_writer
// Leaves out  shared-exclusive (sx), recursion, upgrades, the debug lists
// Cost        a load and a compare-and-swap to enter when nobody is in the way, an addition to leave; no coroutine then
//
// The word counts what is taken: InnoDB's lock_word is X minus it.
//
//   word (readers r)                   meaning
//   0                                  free
//   r                                  s by r readers
//   X                                  x
//   X + r                              a writer waits for r readers to leave; nobody else gets in
#pragma once

#include <coroutine>
#include <cstdint>
#include <string_view>
#include <utility>

#include "machine/concept.hpp"
#include "sync/event.hpp"
#include "sync/fast_path.hpp"
#include "sync/latch.hpp"

namespace engineroom::sync {

template <machine::Machine M>
class RwLatch {
 public:
  RwLatch(M& m, std::string_view name, SpinParams spin = {})
      : words_(2), event_(m, name), writer_event_(m, name), spin_(spin) {}

  /// `co_await latch.s_lock(m)`, and so on.
  auto s_lock(M& m) { return Lock<1>(*this, m); }
  auto x_lock(M& m) { return Lock<kX>(*this, m); }
  auto s_unlock(M& m) { return UnlockS(*this, m); }
  auto x_unlock(M& m) { return UnlockX(*this, m); }

  /// False when somebody is in the way: nobody is waited for.
  Task<bool> try_s(M& m) { return try_take(m, 1, {}); }
  Task<bool> try_x(M& m) {
    std::uint64_t seen = 0;
    co_return co_await m.cas(words_[kTaken], seen, kX);
  }
  /// Whether a writer waits for readers to leave, as one of them asks that has more to do: `co_await`.
  auto x_is_wanted(M& m) { return IsWanted{m.load(words_[kTaken])}; }
  /// Whether somebody has x or waits for readers to leave, as one asks that has nothing: `co_await`.
  auto has_writer(M& m) { return IsWanted{m.load(words_[kTaken]), kX}; }

  Site site() const { return event_.site(); }

 private:
  static constexpr std::size_t kTaken = 0;
  static constexpr std::size_t kWaiters = 1;
  static constexpr std::uint64_t kX = 0x20000000;

  /// What a fast path has seen in the word before it gave up; nothing when it had no look.
  struct Look {
    bool has_looked = false;
    std::uint64_t taken = 0;
  };

  /// Adds `amount` if there are but readers: x then waits for them to leave.
  template <std::uint64_t amount>
  class Lock : public FastPath<RwLatch, M> {
   public:
    using FastPath<RwLatch, M>::FastPath;
    bool await_ready() {
      M& m = this->m_;
      tell_of(m, this->latch_.site());
      const auto word = this->latch_.words_[kTaken];
      if (!m.reach(word, Access::read)) return false;
      look_ = {true, m.try_load(word)};
      if (look_.taken >= kX || !m.reach(word, Access::write)) return false;
      is_taken_ = m.try_cas(word, look_.taken, look_.taken + amount);
      if (!is_taken_) look_ = {};
      return is_taken_ && !has_readers_to_wait_for();
    }
    bool await_suspend(std::coroutine_handle<> self) {
      return is_taken_ ? this->goes_on_in(this->latch_.wait_for_readers(this->m_), self)
                       : this->goes_on_in(this->latch_.take(this->m_, amount, look_), self);
    }

   private:
    bool has_readers_to_wait_for() const { return amount == kX && look_.taken > 0; }

    Look look_;
    bool is_taken_ = false;
  };

  class UnlockS : public FastPath<RwLatch, M> {
   public:
    using FastPath<RwLatch, M>::FastPath;
    bool await_ready() {
      return this->begins_at(this->latch_.words_[kTaken]) &&
             !is_last(this->m_.try_add(this->latch_.words_[kTaken], ~std::uint64_t{0}));
    }
    bool await_suspend(std::coroutine_handle<> self) {
      return this->goes_on_in(this->latch_.leave(this->m_, this->has_begun_), self);
    }
  };

  class UnlockX : public FastPath<RwLatch, M> {
   public:
    using FastPath<RwLatch, M>::FastPath;
    bool await_ready() {
      M& m = this->m_;
      if (!this->begins_at(this->latch_.words_[kTaken])) return false;
      m.try_add(this->latch_.words_[kTaken], ~kX + 1);
      return m.reach(this->latch_.words_[kWaiters], Access::read) &&
             m.try_load(this->latch_.words_[kWaiters]) == 0;
    }
    bool await_suspend(std::coroutine_handle<> self) {
      return this->goes_on_in(this->latch_.give_back(this->m_, this->has_begun_), self);
    }
  };

  struct IsWanted {
    decltype(std::declval<M&>().load(std::declval<typename M::Ref>())) load;
    std::uint64_t at_least = kX + 1;

    bool await_ready() { return load.await_ready(); }
    void await_suspend(std::coroutine_handle<> self) { load.await_suspend(self); }
    bool await_resume() { return load.await_resume() >= at_least; }
  };

  /// The last reader that a writer waits for, by what was taken before it left.
  static bool is_last(std::uint64_t taken_before) { return taken_before - 1 == kX; }

  Task<bool> try_take(M& m, std::uint64_t amount, Look look) {
    std::uint64_t seen = look.taken;
    if (!look.has_looked) seen = co_await m.load(words_[kTaken]);
    while (seen < kX) {
      const bool is_taken = co_await m.cas(words_[kTaken], seen, seen + amount);
      if (is_taken) co_return true;
    }
    co_return false;
  }

  Task<> take(M& m, std::uint64_t amount, Look look) {
    const bool is_free = co_await try_take(m, amount, look);
    if (!is_free) co_await wait_to_take(m, amount);
    if (amount == kX) co_await wait_for_readers(m);
  }

  Task<> wait_to_take(M& m, std::uint64_t amount) {
    const std::uint64_t start = m.now();
    std::uint64_t rounds = 0;
    std::uint64_t parks = 0;
    for (;;) {
      const machine::SpinResult spun =
          co_await m.spin_until(words_[kTaken], machine::below(kX), spin_.looks(spin_.rounds));
      rounds += spun.rounds;
      if (!spun.holds) co_await m.yield();
      bool is_mine = co_await try_take(m, amount, {});
      if (is_mine) break;
      if (spun.holds) continue;
      const std::uint64_t signal_count = co_await event_.reserve(m);
      co_await m.store(words_[kWaiters], 1);
      // Between the reset and the store the latch may have become free without anybody to tell.
      is_mine = co_await try_take(m, amount, {});
      if (is_mine && event_.is_reserved()) co_await event_.give_up(m);
      if (is_mine) break;
      ++parks;
      co_await event_.wait_uncounted(m, signal_count);
    }
    m.waited(site(), {m.now() - start, rounds, parks});
  }

  Task<> wait_for_readers(M& m) {
    std::uint64_t taken = co_await m.load(words_[kTaken]);
    if (taken == kX) co_return;
    const std::uint64_t start = m.now();
    std::uint64_t rounds = 0;
    std::uint64_t parks = 0;
    for (;;) {
      const machine::SpinResult spun =
          co_await m.spin_until(words_[kTaken], machine::equals(kX), spin_.looks(spin_.rounds));
      rounds += spun.rounds;
      if (spun.holds) break;
      const std::uint64_t signal_count = co_await writer_event_.reserve(m);
      taken = co_await m.load(words_[kTaken]);
      if (taken == kX && writer_event_.is_reserved()) co_await writer_event_.give_up(m);
      if (taken == kX) break;
      ++parks;
      co_await writer_event_.wait_uncounted(m, signal_count);
    }
    m.waited(site(), {m.now() - start, rounds, parks});
  }

  /// The last reader wakes the writer that has closed the door already.
  Task<> leave(M& m, bool has_left) {
    if (!has_left) {
      const std::uint64_t before = co_await m.add(words_[kTaken], ~std::uint64_t{0});
      if (!is_last(before)) co_return;
    }
    co_await writer_event_.set(m);
  }

  Task<> give_back(M& m, bool has_given_back) {
    if (!has_given_back) co_await m.add(words_[kTaken], ~kX + 1);
    const std::uint64_t waiters = co_await m.load(words_[kWaiters]);
    if (waiters == 0) co_return;
    co_await m.store(words_[kWaiters], 0);
    co_await event_.set(m);
  }

  typename M::Words words_;
  Event<M> event_;
  Event<M> writer_event_;
  SpinParams spin_;
};

}  // namespace engineroom::sync
