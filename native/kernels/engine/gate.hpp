// Who may be inside the engine: so many at a time. The others wait outside and hold nothing.
//
// Models      transactions: the throttle that the sources' author describes, a count of the running ones and a queue of the others, of
//             which the end of one wakes the first. statements: innodb_thread_concurrency (5.6 to 9.7), where who finds no room
//             sleeps and looks again; all share the time for which they sleep, which grows when somebody has to sleep twice and
//             shrinks when nobody sleeps. A statement that waits for a row is outside, and comes back whether there is room or not
// Leaves out  innodb_concurrency_tickets (5,000 rows are more than a statement here has); innodb_commit_concurrency
// Cost        of a transaction four operations on one line, two more and a wake-up for one that had to wait; of a statement three
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "common/names.hpp"
#include "machine/concept.hpp"
#include "machine/task.hpp"

namespace engineroom::engine {

/// Whom a gate counts.
enum class Admits : std::uint8_t { transactions, statements };
constexpr auto named(names::Of<Admits>) { return names::as_written<Admits::statements>("admits"); }

template <machine::Machine M>
class Gate {
 public:
  /// Of transactions at most `most_waiting` wait at a time.
  Gate(M& m, Admits admits, std::uint64_t most_inside, std::size_t most_waiting)
      : admits_(admits), most_inside_(most_inside), turns_(most_waiting), site_(m.site("admission")) {}

  /// False: the run was stopped first.
  machine::Task<bool> enter(M& m) {
    return admits_ == Admits::transactions ? enter_in_turn(m) : enter_where_there_is_room(m);
  }
  machine::Task<> leave(M& m) { return admits_ == Admits::transactions ? call_the_next(m) : make_room(m); }
  /// Of a statement that has its row.
  auto come_back(M& m) { return m.add(counts_[kInside], 1); }

 private:
  // Of transactions: how many came and how many went, since the run began. One is inside once all that came before it are, and so many
  // of them went that there is room.
  static constexpr std::size_t kCame = 0;
  static constexpr std::size_t kWent = 1;
  static constexpr std::size_t kInside = 0;  // of statements

  machine::Task<bool> enter_in_turn(M& m) {
    const std::uint64_t mine = co_await m.add(counts_[kCame], 1);
    std::uint64_t went = co_await m.load(counts_[kWent]);
    if (mine < went + most_inside_) co_return true;
    const std::uint64_t start = m.now();
    const std::size_t place = mine % turns_.size();
    std::uint64_t parks = 0;
    for (;;) {
      // Who calls changes this word behind the count: a call between the two looks ends the sleep before it begins.
      const std::uint64_t seen = co_await m.load(turns_[place]);
      went = co_await m.load(counts_[kWent]);
      if (mine < went + most_inside_) break;
      ++parks;
      const machine::ParkResult result =
          co_await m.park(turns_[place], seen, site_, machine::kForEver, machine::Patience::until_stop);
      if (result == machine::ParkResult::stopping) co_return false;
    }
    m.waited(site_, {m.now() - start, 0, parks});
    co_return true;
  }
  machine::Task<> call_the_next(M& m) {
    const std::uint64_t next = most_inside_ + co_await m.add(counts_[kWent], 1);
    // Who comes behind this look counts itself first, and sees that there is room.
    const std::uint64_t came = co_await m.load(counts_[kCame]);
    if (next >= came) co_return;
    const std::size_t place = next % turns_.size();
    co_await m.add(turns_[place], 1);
    co_await m.unpark(turns_[place], 1);
  }

  static constexpr std::uint64_t kNsPerUs = 1'000;
  static constexpr std::uint64_t kFirstSleepUs = 10'000;  // innodb_thread_sleep_delay
  static constexpr std::uint64_t kMostSleepUs = 150'000;  // innodb_adaptive_max_sleep_delay
  static constexpr std::uint64_t kUsuallyShortenedUs =
      20;  // above, one sleep that was enough makes the next a little shorter

  machine::Task<bool> enter_where_there_is_room(M& m) {
    std::uint64_t start = 0;
    std::uint64_t sleeps = 0;
    for (;;) {
      const std::uint64_t inside = co_await m.load(counts_[kInside]);
      if (inside < most_inside_) {
        const std::uint64_t before = co_await m.add(counts_[kInside], 1);
        if (before < most_inside_) break;
        co_await m.add(counts_[kInside], ~std::uint64_t{0});
      }
      if (sleeps == 0) {
        start = m.now();
        ++sleepers_;
      }
      if (m.stopping()) co_return false;
      sleep_us_ = std::min(sleep_us_.load(), kMostSleepUs);
      if (sleep_us_ > 0) co_await m.sleep(kNsPerUs * sleep_us_);
      if (++sleeps > 1) ++sleep_us_;
    }
    if (sleeps > 0) {
      --sleepers_;
      m.waited(site_, {m.now() - start, 0, sleeps});
    }
    if (sleeps == 1 && sleep_us_ > kUsuallyShortenedUs) --sleep_us_;
    if (sleepers_ == 0) sleep_us_ = sleep_us_ / 2;
    co_return true;
  }
  machine::Task<> make_room(M& m) { co_await m.add(counts_[kInside], ~std::uint64_t{0}); }

  Admits admits_;
  std::uint64_t most_inside_;
  typename M::Words counts_{2};
  typename M::Words turns_;  // a transaction that waits looks at the one of its number
  machine::Site site_;
  std::atomic<std::uint64_t> sleepers_ = 0;
  std::atomic<std::uint64_t> sleep_us_ = kFirstSleepUs;
};

}  // namespace engineroom::engine
