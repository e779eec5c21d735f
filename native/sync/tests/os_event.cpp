// Events with a mutex: what waking many takes, that no signal is lost, and what sleepers of latches owe the array.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "machine/sim_machine.hpp"
#include "sync/event.hpp"
#include "sync/latch.hpp"
#include "sync/os_event.hpp"
#include "sync/rw_latch.hpp"

namespace engineroom::sync {
namespace {

using machine::SimConfig;
using machine::SimMachine;
using machine::Task;
using machine::Time;
using Array = SyncArray<SimMachine>;

SimConfig wild(std::uint64_t seed, bool os_event = true) {
  return {.cores_per_socket = 4,
          .seed = seed,
          .random_schedule = true,
          .no_timeouts = true,
          .os_event = os_event};
}

TEST(OsEvent, OfNSleepersEachReturnsByAHandOffOfItsMutex) {
  for (const std::uint64_t n : {1U, 4U, 12U}) {
    SimMachine m({.cores_per_socket = 16});
    OsEvent<SimMachine> event(m, m.site("event"));
    std::vector<Time> returned;
    for (std::uint64_t i = 0; i < n; ++i) {
      m.spawn("sleeper", [&]() -> Task<> {
        const Waited waited = co_await event.wait(m, 0, 0, machine::kForEver, Patience::through_stop);
        EXPECT_EQ(waited.parks, 1U);
        returned.push_back(m.now_ps());
      });
    }
    Time set = 0;
    std::uint64_t before = 0;
    m.spawn("setter", [&]() -> Task<> {
      co_await m.wait_for_client(1'000'000);
      set = m.now_ps();
      before = event.taken();
      co_await event.set(m);
    });
    m.run();
    EXPECT_EQ(before, n);
    EXPECT_EQ(event.taken() - before, 1 + n) << "who sets it, and each that returns";
    ASSERT_EQ(returned.size(), n);
    // Each needs the mutex's line from the one before.
    const auto last = static_cast<std::uint64_t>(*std::max_element(returned.begin(), returned.end()) - set);
    EXPECT_GE(last, n * static_cast<std::uint64_t>(SimConfig{}.same_socket_ps));
  }
}

/// The time until the last of so many sleepers goes on.
Time last_of(std::uint64_t n, bool os_event) {
  SimMachine m({.cores_per_socket = 64, .os_event = os_event});
  Event<SimMachine> event(m, "event");
  Time last = 0;
  for (std::uint64_t i = 0; i < n; ++i) {
    m.spawn("sleeper", [&]() -> Task<> {
      co_await event.wait(m, 0);
      last = std::max(last, m.now_ps());
    });
  }
  m.spawn("setter", [&]() -> Task<> {
    co_await m.wait_for_client(1'000'000);
    co_await event.set(m);
  });
  m.run();
  return last - 1'000'000'000;
}

TEST(OsEvent, WakingACrowdTakesLongerForEachOfIt) {
  const Time with = last_of(48, true) - last_of(16, true);
  const Time without = last_of(48, false) - last_of(16, false);
  EXPECT_GT(with, without + 32 * SimConfig{}.same_socket_ps);
}

TEST(OsEvent, LosesNoSignal) {
  constexpr std::uint64_t kTurns = 40;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    SimMachine m(wild(seed));
    Event<SimMachine> event(m, "event");
    SimMachine::Word made;
    SimMachine::Word seen_by_all;
    for (int i = 0; i < 3; ++i) {
      m.spawn("consumer", [&]() -> Task<> {
        for (std::uint64_t next = 1; next <= kTurns;) {
          const std::uint64_t signals = co_await event.reset(m);
          const std::uint64_t now = co_await m.load(made);
          if (now < next) co_await event.wait(m, signals);
          if (now >= next) next = now + 1;
        }
        co_await m.add(seen_by_all, 1);
      });
    }
    m.spawn("producer", [&]() -> Task<> {
      for (std::uint64_t i = 0; i < kTurns; ++i) {
        m.work(m.random() % 2'000);
        co_await m.add(made, 1);
        co_await event.set(m);
      }
    });
    ASSERT_NO_THROW(m.run()) << seed;
    ASSERT_EQ(m.peek(seen_by_all), 3U) << seed;
  }
}

TEST(OsEvent, AWaitEndsAtItsTimeout) {
  SimMachine m({.os_event = true});
  Event<SimMachine> event(m, "never");
  m.spawn("waiter", [&]() -> Task<> {
    const std::uint64_t seen = co_await event.reset(m);
    const std::uint64_t start = m.now();
    const WaitEnd end = co_await event.wait(m, seen, 2'000'000);
    EXPECT_EQ(end, WaitEnd::timed_out);
    EXPECT_GE(m.now() - start, 2'000'000U);
  });
  m.run();
}

TEST(OsEvent, ALatchOnItLetsOneInAtATimeAndItsSleepersEnterTheArrayTwice) {
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    SimMachine m(wild(seed));
    Latch<SimMachine> latch(m, "latch", kNoSpin);
    RwLatch<SimMachine> rw_latch(m, "rw-latch", kNoSpin);
    SimMachine::Word inside;
    std::uint64_t changes = 0;
    for (int i = 0; i < 5; ++i) {
      m.spawn("thread", [&]() -> Task<> {
        for (int turn = 0; turn < 12; ++turn) {
          const bool is_shared = m.random() % 2 == 0;
          if (is_shared) co_await rw_latch.s_lock(m);
          if (!is_shared) co_await rw_latch.x_lock(m);
          co_await latch.lock(m);
          const std::uint64_t others = co_await m.add(inside, 1);
          EXPECT_EQ(others, 0U) << seed;
          ++changes;
          co_await m.add(inside, ~std::uint64_t{0});
          co_await latch.unlock(m);
          if (is_shared) co_await rw_latch.s_unlock(m);
          if (!is_shared) co_await rw_latch.x_unlock(m);
          m.work(m.random() % 100);
        }
      });
    }
    ASSERT_NO_THROW(m.run()) << seed;
    ASSERT_EQ(changes, 60U);
    const auto& array = SimMachine::shared<Array>(m);
    std::uint64_t sleeps = 0;
    for (const Site site : {latch.site(), rw_latch.site()}) {
      if (site.id < m.waits().size()) sleeps += m.waits()[site.id].parks;
    }
    ASSERT_EQ(array.entries(), 2 * array.reservations()) << seed;
    ASSERT_GE(array.reservations(), sleeps) << "some find the latch free in time";
  }
}

TEST(OsEvent, IsOfAMachineThatAsksForIt) {
  for (const bool os_event : {false, true}) {
    SimMachine m(wild(3, os_event));
    Event<SimMachine> event(m, "event");
    m.spawn("setter", [&]() -> Task<> { co_await event.set(m); });
    m.run();
    bool has_mutex = false;
    for (std::uint32_t site = 0; site < m.names().size(); ++site) {
      has_mutex |= m.names()[site] == "os_event_mutex";
    }
    EXPECT_EQ(has_mutex, os_event);
  }
}

}  // namespace
}  // namespace engineroom::sync
