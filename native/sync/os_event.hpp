// An event as InnoDB makes it of a mutex and a condition of the C library, and the array in which a latch's sleepers have their places.
//
// Models      os_event (5.6 to 9.7): who sets it wakes all under its mutex, through which they return one by one; each of them leaves
//             the mutex as one for which others may sleep, so that letting it go is a call of the system (pthread_cond_wait of
//             glibc 2.25 and later). sync_array_t with innodb_sync_array_size = 1: one mutex for the sleepers of all latches,
//             entered when one reserves its place and when it gives it back
// Leaves out  the groups of waiters inside the condition; what is done with a place besides, and the third entry of some versions,
//             which marks it as waiting
// Cost        a set or a reset: two operations on the mutex; a sleep besides its two takes the mutex once more on its way back
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

#include "machine/concept.hpp"
#include "sync/pthread.hpp"
#include "sync/wait_end.hpp"

namespace engineroom::sync {

using machine::Task;

/// A machine on which this can be chosen.
template <typename M>
concept MayHaveOsEvents = requires(M& m) {
  { m.has_os_events() } -> std::same_as<bool>;
};

struct Waited {
  WaitEnd end = WaitEnd::signalled;
  std::uint64_t parks = 0;
};

template <machine::Machine M>
class OsEvent {
 public:
  OsEvent(M& m, Site site) : mutex_(m, "os_event_mutex"), site_(site) {}

  Task<std::uint64_t> reset(M& m) {
    co_await lock(m);
    is_set_ = false;
    const std::uint64_t seen = co_await m.load(words_[kSignals]);
    co_await mutex_.unlock(m);
    co_return seen;
  }
  Task<> set(M& m) {
    co_await lock(m);
    if (!is_set_) {
      is_set_ = true;
      co_await m.add(words_[kSignals], 1);
      const std::uint64_t sleepers = co_await m.load(words_[kSleepers]);
      if (sleepers > 0) co_await m.unpark(words_[kSignals], machine::kAllWaiters);
    }
    co_await mutex_.unlock(m);
  }
  /// `start_ns` is when the wait began, of which `timeout_ns` are left.
  Task<Waited> wait(M& m, std::uint64_t signal_count, std::uint64_t start_ns, std::uint64_t timeout_ns,
                    Patience patience) {
    Waited waited;
    std::uint64_t left_ns = timeout_ns;
    co_await lock(m);
    for (;;) {
      const std::uint64_t signals = co_await m.load(words_[kSignals]);
      const bool is_signalled = is_set_ || signals != signal_count;
      if (is_signalled) waited.end = WaitEnd::signalled;
      if (is_signalled || waited.end != WaitEnd::signalled) break;
      if (waited.parks > 0 && timeout_ns != machine::kForEver) {  // it was woken for no reason
        const std::uint64_t passed_ns = m.now() - start_ns;
        left_ns = timeout_ns > passed_ns ? timeout_ns - passed_ns : 0;
      }
      co_await m.add(words_[kSleepers], 1);
      co_await mutex_.unlock(m);
      const machine::ParkResult result = co_await m.park(words_[kSignals], signals, site_, left_ns, patience);
      co_await m.add(words_[kSleepers], ~std::uint64_t{0});
      co_await mutex_.lock_again(m);
      ++taken_;
      ++waited.parks;
      waited.end = end_of(result);
    }
    co_await mutex_.unlock(m);
    co_return waited;
  }

  /// How often its mutex was taken.
  std::uint64_t taken() const { return taken_; }

 private:
  static constexpr std::size_t kSignals = 0;
  static constexpr std::size_t kSleepers = 1;

  Task<> lock(M& m) {
    co_await mutex_.lock(m);
    ++taken_;
  }

  PthreadMutex<M> mutex_;
  typename M::Words words_{2};
  Site site_;
  // Under the mutex.
  bool is_set_ = false;
  std::uint64_t taken_ = 0;
};

/// All latches of a machine share one.
template <machine::Machine M>
class SyncArray {
 public:
  explicit SyncArray(M& m) : mutex_(m, "sync_array_mutex") {}

  Task<> reserve(M& m) {
    co_await mutex_.lock(m);
    ++entries_;
    ++reservations_;
    co_await mutex_.unlock(m);
  }
  Task<> free(M& m) {
    co_await mutex_.lock(m);
    ++entries_;
    co_await mutex_.unlock(m);
  }

  std::uint64_t entries() const { return entries_; }
  std::uint64_t reservations() const { return reservations_; }

 private:
  PthreadMutex<M> mutex_;
  // Under the mutex.
  std::uint64_t entries_ = 0;
  std::uint64_t reservations_ = 0;
};

}  // namespace engineroom::sync
