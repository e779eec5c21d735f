// The mutex and the condition variable of the C library, as the server's own code uses them outside InnoDB: the stages of
// the binlog's group commit.
//
// Models      pthread_mutex_t of glibc (2.25 and later), normal and adaptive (PTHREAD_MUTEX_ADAPTIVE_NP, which
//             MY_MUTEX_INIT_FAST is), and pthread_cond_t
// Leaves out  of the condition: its two groups of waiters and the lock inside, so that a waiter may be woken for no reason
//             where glibc would let it sleep
// Cost        mutex, uncontended: a compare-and-swap to lock, an exchange to unlock, no coroutine. A signal that nobody
//             waits for is one load
//
//   futex word   meaning
//   0            free
//   1            held
//   2            held, and somebody sleeps or is about to: who frees it wakes one
#pragma once

#include <algorithm>
#include <atomic>
#include <coroutine>
#include <cstdint>
#include <string_view>

#include "machine/concept.hpp"
#include "sync/fast_path.hpp"
#include "sync/wait_end.hpp"

namespace engineroom::sync {

using machine::Access;
using machine::Patience;
using machine::Site;

enum class MutexKind : std::uint8_t {
  normal,   // straight to sleep
  adaptive  // looks for a while before
};

template <machine::Machine M>
class PthreadMutex {
 public:
  PthreadMutex(M& m, std::string_view name, MutexKind kind = MutexKind::normal)
      : kind_(kind), site_(m.site(name)) {}

  /// `co_await mutex.lock(m)`.
  auto lock(M& m) { return Lock(*this, m); }
  auto unlock(M& m) { return Unlock(*this, m); }
  /// As pthread_cond_wait takes it for a thread that has slept: others may sleep still, so the thread that frees it wakes one of them.
  Task<> lock_again(M& m) {
    std::uint64_t before = co_await m.xchg(word_, kHasSleepers);
    if (before == kFree) co_return;
    const std::uint64_t start = m.now();
    std::uint64_t parks = 0;
    while (before != kFree) {
      ++parks;
      co_await m.park(word_, kHasSleepers, site_, machine::kForEver, Patience::through_stop);
      before = co_await m.xchg(word_, kHasSleepers);
    }
    m.waited(site_, {m.now() - start, 0, parks});
  }
  Task<bool> try_lock(M& m) {
    std::uint64_t seen = kFree;
    co_return co_await m.cas(word_, seen, kHeld);
  }

  bool is_locked(M& m) { return m.peek(word_) != kFree; }
  Site site() const { return site_; }

 private:
  static constexpr std::uint64_t kFree = 0;
  static constexpr std::uint64_t kHeld = 1;
  static constexpr std::uint64_t kHasSleepers = 2;
  static constexpr std::uint64_t kMostLooks = 100;  // glibc.pthread.mutex_spin_count

  class Lock : public FastPath<PthreadMutex, M> {
   public:
    using FastPath<PthreadMutex, M>::FastPath;
    bool await_ready() {
      return this->begins_at(this->latch_.word_) && this->m_.try_cas(this->latch_.word_, kFree, kHeld);
    }
    bool await_suspend(std::coroutine_handle<> self) {
      return this->goes_on_in(this->latch_.lock_slowly(this->m_, this->has_begun_), self);
    }
  };
  class Unlock : public FastPath<PthreadMutex, M> {
   public:
    using FastPath<PthreadMutex, M>::FastPath;
    bool await_ready() {
      return this->begins_at(this->latch_.word_) &&
             this->m_.try_xchg(this->latch_.word_, kFree) != kHasSleepers;
    }
    bool await_suspend(std::coroutine_handle<> self) {
      return this->goes_on_in(this->latch_.unlock_slowly(this->m_, this->has_begun_), self);
    }
  };

  Task<> lock_slowly(M& m, bool has_tried) {
    if (!has_tried) {
      std::uint64_t seen = kFree;
      const bool is_free = co_await m.cas(word_, seen, kHeld);
      if (is_free) co_return;
    }
    const std::uint64_t start = m.now();
    std::uint64_t looks = 0;
    std::uint64_t parks = 0;
    bool is_mine = false;
    if (kind_ == MutexKind::adaptive) {
      const std::uint64_t usual = usual_looks_.load(std::memory_order_relaxed);
      const std::uint64_t most = std::min(kMostLooks, 2 * usual + 10);
      while (looks < most && !is_mine) {
        const machine::SpinResult spun =
            co_await m.spin_until(word_, machine::equals(kFree), {.rounds = most - looks, .pauses = 1});
        looks += std::max<std::uint64_t>(1, spun.rounds);
        if (!spun.holds) break;
        std::uint64_t seen = kFree;
        is_mine = co_await m.cas(word_, seen, kHeld);
      }
      usual_looks_.store(looks > usual ? usual + (looks - usual) / 8 : usual - (usual - looks) / 8,
                         std::memory_order_relaxed);
    }
    // A thread that has slept leaves 2 behind, since others may sleep still.
    while (!is_mine) {
      const std::uint64_t before = co_await m.xchg(word_, kHasSleepers);
      if (before == kFree) break;
      ++parks;
      co_await m.park(word_, kHasSleepers, site_, machine::kForEver, Patience::through_stop);
    }
    m.waited(site_, {m.now() - start, looks, parks});
  }

  Task<> unlock_slowly(M& m, bool has_freed) {
    if (!has_freed) {
      const std::uint64_t before = co_await m.xchg(word_, kFree);
      if (before != kHasSleepers) co_return;
    }
    co_await m.unpark(word_, 1);
  }

  typename M::Word word_;
  MutexKind kind_;
  Site site_;
  std::atomic<std::uint64_t> usual_looks_ = 0;
};

template <machine::Machine M>
class PthreadCondition {
 public:
  PthreadCondition(M& m, std::string_view name) : words_(2), site_(m.site(name)) {}

  /// Frees the mutex, waits for a signal, and takes the mutex again, which it does in any case. `signalled` may be for no
  /// reason: the caller looks again at what it waits for. Which waits may be lost, none: a signal between the look, under the
  /// mutex, and the sleep is seen.
  Task<WaitEnd> wait(M& m, PthreadMutex<M>& mutex, std::uint64_t timeout_ns = machine::kForEver,
                     Patience patience = Patience::until_stop) {
    const std::uint64_t start = m.now();
    co_await m.add(words_[kWaiters], 1);
    const std::uint64_t signals = co_await m.load(words_[kSignals]);
    co_await mutex.unlock(m);
    const machine::ParkResult result =
        co_await m.park(words_[kSignals], signals, site_, timeout_ns, patience);
    co_await m.add(words_[kWaiters], ~std::uint64_t{0});
    m.waited(site_, {m.now() - start, 0, 1});
    co_await mutex.lock(m);
    co_return end_of(result);
  }

  /// Wakes one that waits.
  Task<> signal(M& m) { return wake(m, 1); }
  /// Wakes all that wait.
  Task<> broadcast(M& m) { return wake(m, machine::kAllWaiters); }

  Site site() const { return site_; }

 private:
  static constexpr std::size_t kSignals = 0;
  static constexpr std::size_t kWaiters = 1;

  Task<> wake(M& m, std::uint64_t n) {
    const std::uint64_t waiters = co_await m.load(words_[kWaiters]);
    if (waiters == 0) co_return;
    // Whoever has looked under the mutex and does not sleep yet finds another number than it saw.
    co_await m.add(words_[kSignals], 1);
    co_await m.unpark(words_[kSignals], n);
  }

  typename M::Words words_;
  Site site_;
};

}  // namespace engineroom::sync
