// The locks that studies of synchronization compare, on any machine.
//
// Models      test-and-set with and without backoff, test-and-test-and-set, ticket, the queue of Mellor-Crummey and Scott,
//             and the mutex of the C library
// Leaves out  locks that know sockets, and locks that change their mind about how to wait
// Cost        an event per attempt or hand-over, and what the machine charges for a spin
//
// acquire() is false only when the run is stopped meanwhile: the thread does not hold the lock then, and ends.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "machine/concept.hpp"
#include "machine/random.hpp"
#include "sync/pthread.hpp"

namespace engineroom::validation {

using machine::Machine;
using machine::Task;

/// What a thread does between two looks at a word that is not yet what it waits for.
struct Waiting {
  std::uint64_t pauses = 1;  // PAUSE instructions
  bool yields = false;       // gives the processor away instead
  std::uint64_t attempt_ns =
      0;  // computing between two attempts that write: test-and-set, a failed compare-and-swap
  bool is_exponential = false;  // it is drawn, with this mean
  std::uint64_t backoff_most_ns =
      0;  // up to here that time doubles, and a random part of it is taken; 0: it is constant
};

/// Looks until the word is what it should be. False when the run is stopped.
template <Machine M>
Task<bool> wait_for(M& m, typename M::Ref word, machine::Until until, const Waiting& how) {
  if (!how.yields) {
    const machine::SpinResult spun =
        co_await m.spin_until(word, until, {machine::Spin::kForEver, how.pauses});
    co_return spun.holds;
  }
  for (;;) {
    const std::uint64_t value = co_await m.load(word);
    if (until.holds(value)) co_return true;
    if (m.stopping()) co_return false;
    co_await m.yield();
  }
}

/// The time between attempts: constant, drawn, or random parts of a doubling one.
class Backoff {
 public:
  explicit Backoff(const Waiting& how)
      : ns_(how.attempt_ns), most_ns_(how.backoff_most_ns), is_exponential_(how.is_exponential) {}
  template <Machine M>
  void wait(M& m) {
    if (most_ns_ == 0) return m.work(is_exponential_ ? machine::exponential(m.random(), ns_) : ns_);
    m.work(m.random() % (ns_ + 1));
    ns_ = std::min(2 * ns_, most_ns_);
  }

 private:
  std::uint64_t ns_;
  std::uint64_t most_ns_;
  bool is_exponential_;
};

template <Machine M>
class TestAndSetLock {
 public:
  TestAndSetLock(M&, std::uint32_t, const Waiting& waiting) : waiting_(waiting) {}

  Task<bool> acquire(M& m, std::uint32_t) {
    for (Backoff backoff(waiting_);; backoff.wait(m)) {
      const std::uint64_t before = co_await m.xchg(word_, 1);
      if (before == 0) co_return true;
      if (m.stopping()) co_return false;
    }
  }
  Task<> release(M& m, std::uint32_t) { co_await m.store(word_, 0); }

 private:
  typename M::Word word_;
  Waiting waiting_;
};

template <Machine M>
class TestAndTestAndSetLock {
 public:
  TestAndTestAndSetLock(M&, std::uint32_t, const Waiting& waiting) : waiting_(waiting) {}

  Task<bool> acquire(M& m, std::uint32_t) {
    for (;;) {
      const bool looks_free = co_await wait_for(m, word_, machine::equals(0), waiting_);
      if (!looks_free) co_return false;
      const std::uint64_t before = co_await m.xchg(word_, 1);
      if (before == 0) co_return true;
    }
  }
  Task<> release(M& m, std::uint32_t) { co_await m.store(word_, 0); }

 private:
  typename M::Word word_;
  Waiting waiting_;
};

/// The words lie on a line each, or both on one.
template <Machine M>
class TicketLock {
 public:
  TicketLock(M&, std::uint32_t threads, const Waiting& waiting, bool on_one_line)
      : words_(2 * M::Words::kPerLine),
        serving_(on_one_line ? 1 : M::Words::kPerLine),
        mine_(threads),
        waiting_(waiting) {}

  Task<bool> acquire(M& m, std::uint32_t thread) {
    const std::uint64_t ticket = co_await m.add(words_[kNext], 1);
    mine_[thread] = ticket;
    const bool is_mine = co_await wait_for(m, words_[serving_], machine::equals(ticket), waiting_);
    co_return is_mine;
  }
  Task<> release(M& m, std::uint32_t thread) { co_await m.store(words_[serving_], mine_[thread] + 1); }

 private:
  static constexpr std::size_t kNext = 0;
  typename M::Words words_;
  std::size_t serving_;
  std::vector<std::uint64_t> mine_;  // each entry is one thread's
  Waiting waiting_;
};

/// Each thread waits on a node of its own, one line each, which names who comes after it. 0 is nobody, i + 1 thread i.
template <Machine M>
class McsLock {
 public:
  McsLock(M&, std::uint32_t threads, const Waiting& waiting)
      : nodes_(threads * M::Words::kPerLine), waiting_(waiting) {}

  Task<bool> acquire(M& m, std::uint32_t thread) {
    const std::uint64_t before = co_await m.xchg(tail_, thread + 1);
    if (before == 0) co_return true;
    co_await m.store(waits(thread), 1);
    co_await m.store(next(static_cast<std::uint32_t>(before - 1)), thread + 1);
    const bool is_mine = co_await wait_for(m, waits(thread), machine::equals(0), waiting_);
    co_return is_mine;
  }
  Task<> release(M& m, std::uint32_t thread) {
    std::uint64_t after = co_await m.load(next(thread));
    if (after == 0) {
      std::uint64_t seen = thread + 1;
      const bool was_last = co_await m.cas(tail_, seen, 0);
      if (was_last) co_return;
      // Somebody is in the tail and about to say so here.
      const bool is_known = co_await wait_for(m, next(thread), machine::differs_from(0), waiting_);
      if (!is_known) co_return;
      after = co_await m.load(next(thread));
    }
    co_await m.store(waits(static_cast<std::uint32_t>(after - 1)), 0);
    co_await m.store(next(thread), 0);
  }

 private:
  typename M::Ref next(std::uint32_t thread) { return nodes_[thread * M::Words::kPerLine]; }
  typename M::Ref waits(std::uint32_t thread) { return nodes_[thread * M::Words::kPerLine + 1]; }
  typename M::Word tail_;
  typename M::Words nodes_;
  Waiting waiting_;
};

/// The C library's mutex: who finds it taken sleeps at once.
template <Machine M>
class FutexLock {
 public:
  FutexLock(M& m, std::uint32_t, const Waiting&) : mutex_(m, "mutex") {}

  Task<bool> acquire(M& m, std::uint32_t) {
    co_await mutex_.lock(m);
    co_return true;
  }
  Task<> release(M& m, std::uint32_t) { co_await mutex_.unlock(m); }

 private:
  sync::PthreadMutex<M> mutex_;
};

}  // namespace engineroom::validation
