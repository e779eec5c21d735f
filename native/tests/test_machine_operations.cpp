// Waiting for a client, which needs no timer.
#include <gtest/gtest.h>

#include <cstdint>
#include <utility>

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

}  // namespace
}  // namespace engineroom::machine
