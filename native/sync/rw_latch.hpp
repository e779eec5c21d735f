// The read-write latch of InnoDB: shared (s), exclusive (x), and shared-exclusive (sx), which lets readers in
// but no other writer.
//
// Models      rw_lock_t with its lock word (5.7 to 9.7)
// Leaves out  recursion, upgrades, the debug lists
// Cost        one compare-and-swap to enter or leave when nobody is in the way
//
// The word counts what is taken: InnoDB's lock_word is X minus it.
//
//   word (readers r)                   meaning
//   0                                  free
//   r                                  s by r readers
//   X/2 + r                            sx, and s by r readers
//   X                                  x
//   X + r                              a writer waits for r readers to leave; nobody else gets in
#pragma once

#include <cstdint>
#include <string_view>

#include "machine/concept.hpp"
#include "sync/event.hpp"
#include "sync/latch.hpp"

namespace engineroom::sync {

template <machine::Machine M>
class RwLatch {
 public:
  RwLatch(M& m, std::string_view name, SpinParams spin = {})
      : words_(2), event_(m, name), writer_event_(m, name), spin_(spin) {}

  Task<> s_lock(M& m) { return take(m, 1, kX); }
  Task<> sx_lock(M& m) { return take(m, kHalf, kHalf); }
  Task<> x_lock(M& m) {
    co_await take(m, kX, kHalf);
    co_await wait_for_readers(m);
  }

  Task<> s_unlock(M& m) {
    const std::uint64_t before = co_await m.add(words_[kTaken], ~std::uint64_t{0});
    // The last reader wakes the writer that has closed the door already.
    if (before - 1 == kX) co_await writer_event_.set(m);
  }
  Task<> sx_unlock(M& m) { return give_back(m, kHalf); }
  Task<> x_unlock(M& m) { return give_back(m, kX); }

  Site site() const { return event_.site(); }

 private:
  static constexpr std::size_t kTaken = 0;
  static constexpr std::size_t kWaiters = 1;
  static constexpr std::uint64_t kX = 0x20000000;
  static constexpr std::uint64_t kHalf = kX / 2;

  /// Adds `amount` if less than `limit` is taken.
  Task<bool> try_take(M& m, std::uint64_t amount, std::uint64_t limit) {
    std::uint64_t seen = co_await m.load(words_[kTaken]);
    while (seen < limit) {
      const bool is_taken = co_await m.cas(words_[kTaken], seen, seen + amount);
      if (is_taken) co_return true;
    }
    co_return false;
  }

  Task<> take(M& m, std::uint64_t amount, std::uint64_t limit) {
    bool is_mine = co_await try_take(m, amount, limit);
    if (is_mine) co_return;
    const std::uint64_t start = m.now();
    std::uint64_t rounds = 0;
    std::uint64_t parks = 0;
    for (;;) {
      const machine::SpinResult spun =
          co_await m.spin_until(words_[kTaken], machine::below(limit), spin_.looks(spin_.rounds));
      rounds += spun.rounds;
      if (!spun.holds) co_await m.yield();
      is_mine = co_await try_take(m, amount, limit);
      if (is_mine) break;
      if (spun.holds) continue;
      const std::uint64_t signal_count = co_await event_.reset(m);
      co_await m.store(words_[kWaiters], 1);
      // Between the reset and the store the latch may have become free without anybody to tell.
      is_mine = co_await try_take(m, amount, limit);
      if (is_mine) break;
      ++parks;
      co_await event_.wait_uncounted(m, signal_count, machine::kForEver, Patience::through_stop);
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
      const std::uint64_t signal_count = co_await writer_event_.reset(m);
      taken = co_await m.load(words_[kTaken]);
      if (taken == kX) break;
      ++parks;
      co_await writer_event_.wait_uncounted(m, signal_count, machine::kForEver, Patience::through_stop);
    }
    m.waited(site(), {m.now() - start, rounds, parks});
  }

  Task<> give_back(M& m, std::uint64_t amount) {
    co_await m.add(words_[kTaken], ~amount + 1);
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
