// Both machines: a stop ends every thread.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <vector>

#include "machine/host_machine.hpp"
#include "machine/sim_machine.hpp"
#include "sync/event.hpp"

namespace engineroom::machine {
namespace {

static_assert(Machine<SimMachine>);
static_assert(Machine<HostMachine>);

template <Machine M>
Task<> client_until_stop(M& m, typename M::Word& done, typename M::File& file) {
  const std::vector<std::byte> bytes(100);
  while (!m.stopping()) {
    co_await m.pwrite(file, 0, bytes);
    co_await m.fsync(file);
    if (file.fsyncs() > 10) m.stop();  // at a time that no load of the computer can miss
    co_await m.sleep(10'000);
  }
  co_await m.add(done, 1);
}

template <Machine M>
void run_until_stop(M& m) {
  typename M::Word done(0);
  typename M::File file(m, "log");
  sync::Event<M> never(m, "never");
  for (int i = 0; i < 3; ++i) m.spawn("client", [&] { return client_until_stop(m, done, file); });
  m.spawn("patient", [&]() -> Task<> {
    const std::uint64_t seen = co_await never.reset(m);
    const sync::WaitEnd end = co_await never.wait(m, seen);
    EXPECT_EQ(end, sync::WaitEnd::stopping);
    co_await m.add(done, 1);
  });
  m.run();
  EXPECT_EQ(m.peek(done), 4U);
}

TEST(Machines, StopEndsEveryThreadOnTheHost) {
  HostMachine m;
  run_until_stop(m);
}

TEST(Host, AParkWithoutATimeoutSleepsUntilTheRunStops) {
  HostMachine m;
  HostMachine::Word word;
  HostMachine::Word begun;
  const Site site = m.site("word");
  using Clock = std::chrono::steady_clock;
  std::uint64_t parks = 0;
  Clock::time_point woken;
  Clock::time_point stopped;
  for (int i = 0; i < 3; ++i) {
    m.spawn("parked", [&, is_first = i == 0]() -> Task<> {
      co_await m.add(begun, 1);
      while (!m.stopping()) {
        const ParkResult result = co_await m.park(word, 0, site);
        if (!is_first) continue;
        ++parks;
        woken = Clock::now();
        EXPECT_EQ(result, ParkResult::stopping);
      }
    });
  }
  m.spawn("who stops", [&]() -> Task<> {
    co_await m.spin_until(begun, equals(3), Spin{});
    co_await m.sleep(100'000'000);
    stopped = Clock::now();
    m.stop();
  });
  m.run();
  EXPECT_EQ(parks, 1U);  // nothing wakes it from time to time
  EXPECT_GE(woken, stopped);
}

TEST(Machines, StopEndsEveryThreadInVirtualTime) {
  SimMachine m({.disk_fsync = {.quantiles_ps = {100'000'000}}});
  run_until_stop(m);
}

}  // namespace
}  // namespace engineroom::machine
