// An event that threads wait for, with a count of its signals so that none between a look and a wait is lost.
//
// Models      os_event (5.6 to 9.7): reset gives the signal count, wait returns at once when it has moved
//             since
// Leaves out  the operating-system mutex around it: its words are changed by compare-and-swap. A machine may ask for it (os_event.hpp)
// Cost        a set that nobody waits for is two loads, and a compare-and-swap if it was not set
//
//   const auto seen = co_await event.reset(m);   // before the look at what is waited for
//   const bool is_so = co_await is_it_so();
//   if (!is_so) co_await event.wait(m, seen);
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <type_traits>

#include "machine/concept.hpp"
#include "sync/os_event.hpp"
#include "sync/wait_end.hpp"

namespace engineroom::sync {

using machine::Patience;
using machine::Site;
using machine::Task;

template <machine::Machine M>
class Event {
 public:
  Event(M& m, std::string_view name) : words_(2), site_(m.site(name)) {
    if constexpr (MayHaveOsEvents<M>) {
      if (m.has_os_events()) os_ = std::make_unique<OsEvent<M>>(m, site_);
    }
  }

  /// Not set from now on. Gives the signal count for wait().
  Task<std::uint64_t> reset(M& m) {
    if constexpr (MayHaveOsEvents<M>) {
      if (os_) return os_->reset(m);
    }
    return reset_words(m);
  }

  /// Wakes all that wait.
  Task<> set(M& m) {
    if constexpr (MayHaveOsEvents<M>) {
      if (os_) return os_->set(m);
    }
    return set_words(m);
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

  // The same for a latch, which counts its waits itself and waits until it is signalled, whatever happens. On its way to a sleep it has
  // a place in the array of its machine, where that has one.
  Task<std::uint64_t> reserve(M& m) {
    if constexpr (MayHaveOsEvents<M>) {
      if (os_) return reserve_in_array(m);
    }
    return reset_words(m);
  }
  Task<Waited> wait_uncounted(M& m, std::uint64_t signal_count) {
    if constexpr (MayHaveOsEvents<M>) {
      if (os_) return wait_in_array(m, signal_count);
    }
    return wait_words(m, signal_count, 0, machine::kForEver, Patience::through_stop);
  }
  /// Whether a latch that is free after all has a place to give up.
  bool is_reserved() const { return os_ != nullptr; }
  Task<> give_up(M& m) {
    if constexpr (MayHaveOsEvents<M>) return array(m).free(m);
    return {};
  }

  Site site() const { return site_; }

 private:
  static constexpr std::size_t kState = 0;  // the signal count, and in the lowest bit whether it is set
  static constexpr std::size_t kSleepers = 1;
  static constexpr std::uint64_t kSet = 1;

  Task<Waited> wait_from(M& m, std::uint64_t signal_count, std::uint64_t start_ns, std::uint64_t timeout_ns,
                         Patience patience) {
    if constexpr (MayHaveOsEvents<M>) {
      if (os_) return os_->wait(m, signal_count, start_ns, timeout_ns, patience);
    }
    return wait_words(m, signal_count, start_ns, timeout_ns, patience);
  }
  Task<std::uint64_t> reset_words(M& m) {
    std::uint64_t seen = co_await m.load(words_[kState]);
    while ((seen & kSet) != 0) {
      const bool is_reset = co_await m.cas(words_[kState], seen, seen & ~kSet);
      if (is_reset) break;
    }
    co_return seen >> 1;
  }
  Task<> set_words(M& m) {
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
  Task<Waited> wait_words(M& m, std::uint64_t signal_count, std::uint64_t start_ns, std::uint64_t timeout_ns,
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

  static SyncArray<M>& array(M& m) { return m.template shared<SyncArray<M>>(m); }
  Task<std::uint64_t> reserve_in_array(M& m) {
    co_await array(m).reserve(m);
    const std::uint64_t seen = co_await os_->reset(m);
    co_return seen;
  }
  Task<Waited> wait_in_array(M& m, std::uint64_t signal_count) {
    const Waited waited = co_await os_->wait(m, signal_count, 0, machine::kForEver, Patience::through_stop);
    co_await array(m).free(m);
    co_return waited;
  }

  typename M::Words words_;
  Site site_;
  std::conditional_t<MayHaveOsEvents<M>, std::unique_ptr<OsEvent<M>>, std::nullptr_t> os_ = nullptr;
};

}  // namespace engineroom::sync
