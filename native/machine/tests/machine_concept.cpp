// Two operations of the machine: waiting for a client, which needs no timer, and touching data, which lies somewhere.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "machine/host_machine.hpp"
#include "machine/sim_machine.hpp"

namespace engineroom::machine {
namespace {

using M = SimMachine;

constexpr std::uint64_t kAwayNs = 100'000;
constexpr Time kWakePs = 20'000'000;
constexpr Time kSlackPs = 50'000'000;
constexpr Time kTimerPs = 10'000'000;

/// One core; a wake-up of an idle CPU, timers and their slack cost something, and nothing else does.
SimConfig one_core() {
  SimConfig config;
  config.cores_per_socket = 1;
  config.wake.quantiles_ps = {kWakePs};
  config.timer_slack_ps = kSlackPs;
  config.timer_ps = kTimerPs;
  config.switch_ps = config.park_ps = 0;
  config.load_ps = config.rmw_ps = config.first_touch_ps = 0;
  return config;
}

std::uint64_t work_of(SimMachine& m) {
  std::uint64_t work = 0;
  for (CoreTime& core : m.core_times()) work += core[Purpose::work];
  return work;
}

enum class Away { sleeps, waits_for_client };

/// How long a thread is away that is to be so for 100 us, ps, and the CPU time that it takes.
std::pair<Time, std::uint64_t> away(const SimConfig& config, Away how) {
  SimMachine m(config);
  Time took = 0;
  m.spawn("session", [&]() -> Task<> {
    const Time start = m.now_ps();
    if (how == Away::sleeps) co_await m.sleep(kAwayNs);
    if (how == Away::waits_for_client) co_await m.wait_for_client(kAwayNs);
    took = m.now_ps() - start;
  });
  m.run();
  return {took, work_of(m)};
}

constexpr Time kAwayPs = static_cast<Time>(kAwayNs) * kPerNs;

TEST(WaitForClient, NeedsNoTimerAndHasNoSlackButWakesAnIdleCpu) {
  EXPECT_EQ(away(one_core(), Away::waits_for_client), (std::pair<Time, std::uint64_t>{kAwayPs + kWakePs, 0}));
  EXPECT_EQ(away(one_core(), Away::sleeps),
            (std::pair<Time, std::uint64_t>{kAwayPs + kSlackPs + kWakePs + kTimerPs, 2 * kTimerPs}));
}

TEST(WaitForClient, IsASleepWhereClientsAreEmulated) {
  SimConfig config = one_core();
  config.client_is_timer = true;
  EXPECT_EQ(away(config, Away::waits_for_client), away(config, Away::sleeps));
}

TEST(WaitForClient, InterruptsNobodyByATimer) {
  const auto worker_ends = [](Away how) {
    SimConfig config = one_core();
    config.timer_interrupt_ps = 15'000'000;
    config.slice_ps = config.wakeup_granularity_ps = 1'000'000'000'000;
    SimMachine m(config);
    M::Word mine;
    std::uint64_t ended = 0;
    m.spawn("session", [&]() -> Task<> {
      if (how == Away::sleeps) co_await m.sleep(kAwayNs);
      if (how == Away::waits_for_client) co_await m.wait_for_client(kAwayNs);
    });
    m.spawn("worker", [&]() -> Task<> {
      m.work(500'000);
      co_await m.load(mine);
      ended = m.now();
    });
    m.run();
    return ended;
  };
  EXPECT_EQ(worker_ends(Away::waits_for_client), 500'000U + 20'000U);  // it was woken when it began
  EXPECT_EQ(worker_ends(Away::sleeps), 500'000U + 20'000U + 10'000U + 15'000U);
}

template <Machine AnyMachine>
void stop_while_a_client_is_away(AnyMachine& m) {
  typename AnyMachine::Word ended;
  m.spawn("session", [&]() -> Task<> {
    co_await m.wait_for_client(3'600'000'000'000);
    co_await m.wait_for_client(3'600'000'000'000);  // the run stops already
    co_await m.add(ended, 1);
  });
  m.run_for(10'000'000);
  EXPECT_EQ(m.peek(ended), 1U);
  EXPECT_LT(m.now(), 3'000'000'000U);
}

TEST(WaitForClient, EndsWhenTheRunStopsInVirtualTime) {
  SimMachine m(SimConfig{});
  stop_while_a_client_is_away(m);
}

TEST(WaitForClient, EndsWhenTheRunStopsOnTheHost) {
  HostMachine m;
  stop_while_a_client_is_away(m);
}

/// Two sockets of one core, where only cache lines cost anything.
SimConfig two_sockets() {
  return {.sockets = 2, .cores_per_socket = 1, .switch_ps = 0, .wake = {.quantiles_ps = {0}}};
}

/// The time of each of `n` touches by a thread that makes one every 20 us from `from_ns` on.
Task<> touch_at_times(M& m, M::Lines& lines, Access access, std::uint64_t from_ns, int n,
                      std::vector<Time>& took) {
  m.work(from_ns);
  for (int i = 0; i < n; ++i) {
    co_await m.touch(lines, 0, 0, access);  // the work is over
    const Time start = m.now_ps();
    co_await m.touch(lines, 0, lines.size(), access);
    took.push_back(m.now_ps() - start);
    m.work(20'000);
  }
}

/// The touches of one thread on each of two sockets, in turns, the first by the first.
std::vector<std::vector<Time>> touches(const SimConfig& config, std::size_t n_lines, Access access, int n) {
  SimMachine m(config);
  M::Lines lines(n_lines);
  std::vector<std::vector<Time>> took(2);
  for (std::size_t i = 0; i < 2; ++i) {
    m.spawn("session", [&, i] { return touch_at_times(m, lines, access, 10'000 * i, n, took[i]); });
  }
  m.run();
  return took;
}

TEST(Touch, WritingALineOfAPageInTurnsBringsItFromTheOtherSocketEachTime) {
  const SimConfig config = two_sockets();
  const auto took = touches(config, 1, Access::write, 5);
  const Time moves = config.other_socket_ps + config.rmw_ps;
  EXPECT_EQ(took[0], (std::vector<Time>{config.first_touch_ps + config.rmw_ps, moves, moves, moves, moves}));
  EXPECT_EQ(took[1], (std::vector<Time>(5, moves)));
}

TEST(Touch, ReadingALineCostsItsWayOncePerCpu) {
  const SimConfig config = two_sockets();
  const auto took = touches(config, 1, Access::read, 5);
  std::vector<Time> here(5, config.load_ps);
  here[0] = config.first_touch_ps;
  EXPECT_EQ(took[0], here);
  here[0] = config.other_socket_ps + config.load_ps;
  EXPECT_EQ(took[1], here);
}

TEST(Touch, CostsTheSumOfItsLinesAndIsMemoryTime) {
  const SimConfig config = two_sockets();
  const auto took = touches(config, 3, Access::write, 2);
  EXPECT_EQ(took[1], (std::vector<Time>(2, 3 * (config.other_socket_ps + config.rmw_ps))));
  SimMachine m(config);
  M::Lines lines(7);
  m.spawn("session", [&]() -> Task<> { co_await m.touch(lines, 2, 4, Access::write); });
  m.run();
  const auto spent = m.core_times()[0][Purpose::memory];
  EXPECT_EQ(spent, static_cast<std::uint64_t>(4 * (config.first_touch_ps + config.rmw_ps)));
}

TEST(Touch, ManyWritersOfOneLineQueueForIt) {
  SimConfig config = two_sockets();
  config.sockets = 1;
  config.cores_per_socket = 8;
  SimMachine m(config);
  M::Lines root(1);
  for (int i = 0; i < 8; ++i) {
    m.spawn("session", [&]() -> Task<> {
      for (int k = 0; k < 1000; ++k) co_await m.touch(root, 0, 1, Access::write);
    });
  }
  m.run();
  const auto each = static_cast<double>(config.same_socket_ps + config.rmw_ps);
  EXPECT_NEAR(static_cast<double>(m.now_ps()), 8000 * each, 0.01 * 8000 * each);
}

TEST(Touch, IsThereOnRealThreadsToo) {
  HostMachine m;
  HostMachine::Lines page(4);
  for (int i = 0; i < 4; ++i) {
    m.spawn("session", [&]() -> Task<> {
      for (int k = 0; k < 1000; ++k) {
        co_await m.touch(page, 0, 1, Access::write);
        co_await m.touch(page, 1, 3, Access::read);
      }
    });
  }
  m.run();
}

}  // namespace
}  // namespace engineroom::machine
