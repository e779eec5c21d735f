// An event that threads wait for, with a count of its signals so that none between a look and a wait is lost.
//
// Models      os_event (5.6 to 9.7): reset gives the signal count, wait returns at once when it has moved
//             since
// Leaves out  the operating-system mutex around it: its words are changed by compare-and-swap
// Cost        a set that nobody waits for is two loads, and a compare-and-swap if it was not set
//
//   const auto seen = co_await event.reset(m);   // before the look at what is waited for
//   const bool is_so = co_await is_it_so();
//   if (!is_so) co_await event.wait(m, seen);
#pragma once

#include <cstdint>
#include <string_view>

#include "machine/concept.hpp"
#include "sync/wait_end.hpp"

namespace engineroom::sync {

using machine::Patience;
using machine::Site;
using machine::Task;

template <machine::Machine M>
class Event {
 public:
  Event(M& m, std::string_view name) : words_(2), site_(m.site(name)) {}

  /// Not set from now on. Gives the signal count for wait().
  Task<std::uint64_t> reset(M& m) {
    std::uint64_t seen = co_await m.load(words_[kState]);
    while ((seen & kSet) != 0) {
      const bool is_reset = co_await m.cas(words_[kState], seen, seen & ~kSet);
      if (is_reset) break;
    }
    co_return seen >> 1;
  }

  /// Wakes all that wait.
  Task<> set(M& m) {
    std::uint64_t seen = co_await m.load(words_[kState]);
    for (;;) {
      if ((seen & kSet) != 0) co_return;
      const bool is_set_by_us = co_await m.cas(words_[kState], seen, (((seen >> 1) + 1) << 1) | kSet);
      if (is_set_by_us) break;
    }
    // A thread that counts itself as a sleeper before this look is woken; one that does it later sees the state changed.
    const std::uint64_t sleepers = co_await m.load(words_[kSleepers]);
    if (sleepers > 0) co_await m.unpark(words_[kState], machine::kAllWaiters);
  }

  /// Until the event is set, or was set since the reset that gave `signal_count`; or it gives up, at the timeout or because
  /// the run stops (unless it is to wait through_stop).
  Task<WaitEnd> wait(M& m, std::uint64_t signal_count, std::uint64_t timeout_ns = machine::kForEver,
                     Patience patience = Patience::until_stop) {
    const std::uint64_t start = m.now();
    const Waited waited = co_await wait_from(m, signal_count, start, timeout_ns, patience);
    if (waited.parks > 0) m.waited(site_, {m.now() - start, 0, waited.parks});
    co_return waited.end;
  }

  struct Waited {
    WaitEnd end = WaitEnd::signalled;
    std::uint64_t parks = 0;
  };
  /// The same for a latch, which counts its waits itself and waits until it is signalled, whatever happens.
  Task<Waited> wait_uncounted(M& m, std::uint64_t signal_count) {
    return wait_from(m, signal_count, 0, machine::kForEver, Patience::through_stop);
  }

  Site site() const { return site_; }

 private:
  static constexpr std::size_t kState = 0;  // the signal count, and in the lowest bit whether it is set
  static constexpr std::size_t kSleepers = 1;
  static constexpr std::uint64_t kSet = 1;

  Task<Waited> wait_from(M& m, std::uint64_t signal_count, std::uint64_t start_ns, std::uint64_t timeout_ns,
                         Patience patience) {
    Waited waited;
    for (std::uint64_t left_ns = timeout_ns;;) {
      const std::uint64_t state = co_await m.load(words_[kState]);
      const bool is_signalled = (state & kSet) != 0 || (state >> 1) != signal_count;
      if (is_signalled) waited.end = WaitEnd::signalled;
      if (is_signalled || waited.end != WaitEnd::signalled) co_return waited;
      if (waited.parks > 0 && timeout_ns != machine::kForEver) {  // it was woken for no reason
        const std::uint64_t passed_ns = m.now() - start_ns;
        left_ns = timeout_ns > passed_ns ? timeout_ns - passed_ns : 0;
      }
      co_await m.add(words_[kSleepers], 1);
      const machine::ParkResult result = co_await m.park(words_[kState], state, site_, left_ns, patience);
      co_await m.add(words_[kSleepers], ~std::uint64_t{0});
      ++waited.parks;
      waited.end = end_of(result);
    }
  }

  typename M::Words words_;
  Site site_;
};

}  // namespace engineroom::sync
