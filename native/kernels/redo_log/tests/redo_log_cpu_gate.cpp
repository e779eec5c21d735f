// Who spins in the redo log of 8.0: the rules as numbers, and what sessions do by them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "machine/sim_machine.hpp"
#include "redo_log/cpu_gate.hpp"
#include "redo_log/log_8_0.hpp"

namespace engineroom::redo_log {
namespace {

using machine::CoreTime;
using machine::Purpose;
using machine::SimConfig;
using machine::SimMachine;

constexpr std::uint64_t kMs = 1'000'000;

SimConfig machine_of(std::uint32_t cpus) { return {.cores_per_socket = cpus, .timer_slack_ps = 0}; }

/// Threads that take so many percent of one CPU, together, until the run is stopped.
void keep_busy(SimMachine& m, std::uint64_t percent) {
  for (std::uint64_t left = percent; left > 0; left -= std::min<std::uint64_t>(left, 100)) {
    m.spawn("busy", [&m, share = std::min<std::uint64_t>(left, 100)]() -> Task<> {
      while (!m.stopping()) {
        m.work(share * 10'000);
        co_await m.yield();
        if (share < 100) co_await m.sleep((100 - share) * 10'000);
      }
    });
  }
}

struct Let {
  std::uint64_t users_for_write;
  std::uint64_t users_for_flush;
  std::uint64_t log_threads;
};

struct Seen {
  std::uint32_t cpus = 4;
  std::uint64_t busy_percent = 100;       // of one CPU
  std::vector<std::uint64_t> flush_ns{};  // what the fsyncs took
  std::uint64_t request_ns = 0;           // when the first request came; 0: none did
  bool has_cpu_gate = true;
};

/// How many rounds the gate lets spin behind two samples of the CPU time.
Let let(const Seen& seen) {
  SimMachine m(machine_of(seen.cpus));
  LogConfig config{.has_cpu_gate = seen.has_cpu_gate};
  CpuGate<SimMachine> gate(m, config);
  Let found{};
  keep_busy(m, seen.busy_percent);
  m.spawn("sampler", [&] { return gate.sample(m); });
  m.spawn("who asks", [&]() -> Task<> {
    if (seen.request_ns > 0) {
      co_await m.sleep(seen.request_ns);
      co_await gate.requested(m);
    }
    for (const std::uint64_t ns : seen.flush_ns) co_await gate.flush_took(m, ns);
    co_await m.sleep(250 * kMs - m.now());
    found.users_for_write = co_await gate.user_rounds(m, false);
    found.users_for_flush = co_await gate.user_rounds(m, true);
    found.log_threads = co_await gate.log_thread_rounds(m);
    m.stop();
  });
  m.run();
  return found;
}

TEST(RedoLogSpins, UsersDoNotSpinBelowTheLowWaterMarkOfOneCpu) {
  EXPECT_EQ(let({.cpus = 16, .busy_percent = 78}).users_for_write, 0U);
  EXPECT_GT(let({.cpus = 16, .busy_percent = 82}).users_for_write, 0U);
}

TEST(RedoLogSpins, UsersDoNotSpinFromTheHighWaterMarkOfTheMachineOn) {
  EXPECT_EQ(let({.cpus = 4, .busy_percent = 204}).users_for_write, 0U);
  EXPECT_EQ(let({.cpus = 4, .busy_percent = 195}).users_for_write, 25'000U);
}

TEST(RedoLogSpins, UsersSpinTenTimesAsLongOnAnIdleMachineAndFallToTheBaseAtHalfOfTheMark) {
  // Busy by 6 % of the machine: the base, and nine times as much again for the 19 of 25 % below half of the mark.
  EXPECT_EQ(let({.cpus = 16, .busy_percent = 100}).users_for_write, 25'000U + 9 * 25'000U * 19 / 25);
  EXPECT_EQ(let({.cpus = 128, .busy_percent = 100}).users_for_write, 250'000U);
  // By 26 % of it.
  EXPECT_EQ(let({.cpus = 8, .busy_percent = 208}).users_for_write, 25'000U);
}

TEST(RedoLogSpins, WhoWaitsForAnFsyncSpinsOnlyIfThatIsShortOnAverage) {
  const auto users = [](std::vector<std::uint64_t> flush_ns) {
    return let({.cpus = 4, .busy_percent = 195, .flush_ns = std::move(flush_ns)});
  };
  EXPECT_EQ(users({399'999}).users_for_flush, 25'000U);
  EXPECT_EQ(users({400'000}).users_for_flush, 0U);
  EXPECT_EQ(users({400'000}).users_for_write, 25'000U);
  // A new one counts for a sixty-fourth.
  EXPECT_EQ(users({406'000, 1}).users_for_flush, 25'000U);
  EXPECT_EQ(users({407'000, 1}).users_for_flush, 0U);
  EXPECT_EQ(users({393'000, 839'000}).users_for_flush, 25'000U);
  EXPECT_EQ(users({393'000, 842'000}).users_for_flush, 0U);
}

TEST(RedoLogSpins, LogThreadsSpinWhenRequestsComeOftenAndSomebodyComputes) {
  EXPECT_EQ(let({.busy_percent = 100}).log_threads, 250'000U);
  EXPECT_EQ(let({.busy_percent = 78}).log_threads, 0U);
  // However busy the machine is.
  EXPECT_EQ(let({.cpus = 4, .busy_percent = 399}).log_threads, 250'000U);
  // The first request comes behind a wait that counts for a sixty-fourth: more or less than a millisecond.
  EXPECT_EQ(let({.request_ns = 63 * kMs}).log_threads, 250'000U);
  EXPECT_EQ(let({.request_ns = 65 * kMs}).log_threads, 0U);
}

TEST(RedoLogSpins, RequestsThatComeAtTheSameTimeAreFrequent) {
  SimConfig config = machine_of(4);
  config.load_ps = config.rmw_ps = config.first_touch_ps = config.same_core_ps = 0;
  SimMachine m(config);
  CpuGate<SimMachine> gate(m, LogConfig{});
  keep_busy(m, 100);
  m.spawn("sampler", [&] { return gate.sample(m); });
  std::uint64_t rounds = 0;
  m.spawn("who asks", [&]() -> Task<> {
    co_await m.sleep(110 * kMs);
    for (int i = 0; i < 1000; ++i) co_await gate.requested(m);
    rounds = co_await gate.log_thread_rounds(m);
    m.stop();
  });
  m.run();
  EXPECT_EQ(rounds, 250'000U);
}

TEST(RedoLogSpins, WithoutTheGateAllSpin) {
  const Let all = let({.busy_percent = 0, .flush_ns = {10 * kMs}, .has_cpu_gate = false});
  EXPECT_EQ(all.users_for_write, 25'000U);
  EXPECT_EQ(all.users_for_flush, 25'000U);
  EXPECT_EQ(all.log_threads, 250'000U);
}

TEST(RedoLogSpins, WhoSleepsInVainSleepsTwiceAsLongAfterEveryFourth) {
  Backoff backoff{.first_ns = 10, .longest_ns = 35};
  std::vector<std::uint64_t> timeouts;
  for (int i = 0; i < 14; ++i) {
    timeouts.push_back(backoff.timeout_ns);
    backoff.again();
  }
  EXPECT_EQ(timeouts, (std::vector<std::uint64_t>{10, 10, 10, 10, 20, 20, 20, 20, 35, 35, 35, 35, 35, 35}));
}

TEST(RedoLogSpins, LogThreadsThatHaveNothingToDoTakeHardlyAnyCpuTime) {
  SimMachine m(machine_of(4));
  SimMachine::File file(m, "redo");
  Log80<SimMachine> log(m, file, LogConfig{.recent_written_slots = 4096, .recent_closed_slots = 4096});
  log.spawn_threads(m);
  m.spawn("client", [&]() -> Task<> {
    const std::vector<std::byte> bytes(100);
    const Appended appended = co_await log.append(m, bytes, false);
    co_await log.write_up_to(m, appended.end_lsn, true);
    co_await m.sleep(500 * kMs);
    m.stop();
  });
  m.run();
  EXPECT_LT(m.cpu_ns(), 10 * kMs);
}

struct Waits {
  std::uint64_t commits;
  std::uint64_t sleeps;   // of sessions, until the log is flushed
  std::uint64_t spin_ns;  // of all threads
};

/// Four sessions that commit on a machine with a busy thread, whose disk takes so long.
Waits commit_with_fsyncs_of(std::uint64_t fsync_ns) {
  SimConfig config = machine_of(16);
  config.disk_fsync.quantiles_ps = {static_cast<machine::Time>(fsync_ns) * 1000};
  SimMachine m(config);
  SimMachine::File file(m, "redo");
  LogConfig log_config{.latch_spin = sync::kNoSpin, .log_thread_spin_rounds = 0};
  Log80<SimMachine> log(m, file, log_config);
  log.spawn_threads(m);
  keep_busy(m, 100);
  Waits seen{};
  int left = 4;
  for (int i = 0; i < 4; ++i) {
    m.spawn("session", [&]() -> Task<> {
      const std::vector<std::byte> bytes(100);
      co_await m.sleep(150 * kMs);  // until the CPU time was sampled
      for (int commit = 0; commit < 50; ++commit) {
        const Appended appended = co_await log.append(m, bytes, false);
        co_await log.write_up_to(m, appended.end_lsn, true);
        ++seen.commits;
        co_await m.sleep(m.random() % 200'000);
      }
      if (--left == 0) m.stop();
    });
  }
  m.run();
  const machine::Site site = m.site("log_flush_events");
  if (m.waits().size() > site.id) seen.sleeps = m.waits()[site.id].parks;
  for (CoreTime time : m.core_times()) seen.spin_ns += time[Purpose::spin] / 1000;
  return seen;
}

TEST(RedoLogSpins, SessionsSpinUntilAShortFsyncIsOverAndSleepForALongOne) {
  // At 6 % of the machine they may spin for 196,000 rounds of some 20 ns: 4 ms.
  const Waits at_short = commit_with_fsyncs_of(200'000);
  EXPECT_EQ(at_short.commits, 200U);
  EXPECT_EQ(at_short.sleeps, 0U);
  EXPECT_GT(at_short.spin_ns, at_short.commits * 200'000);
  const Waits at_long = commit_with_fsyncs_of(600'000);
  EXPECT_EQ(at_long.commits, 200U);
  EXPECT_GE(at_long.sleeps, 190U);
  EXPECT_LT(at_long.spin_ns, 4 * 2 * 600'000U);  // until the first fsync was over nobody knew
}

}  // namespace
}  // namespace engineroom::redo_log
