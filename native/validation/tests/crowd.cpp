// The locks of validation/: nobody comes in twice, on either machine, and what the small cases cost worked out by hand.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "common/tests/described_members.hpp"
#include "common/tests/part_of.hpp"
#include "machine/host_machine.hpp"
#include "machine/sim_machine.hpp"
#include "validation/crowd.hpp"

namespace engineroom::validation {
namespace {

using machine::HostMachine;
using machine::SimConfig;
using machine::SimMachine;

constexpr Operation kLocks[] = {Operation::test_and_set, Operation::test_and_test_and_set, Operation::ticket,
                                Operation::mcs, Operation::futex};

/// What each part of a turn costs is told apart by its digits.
SimConfig machine_of(std::uint32_t sockets, std::uint32_t cores) {
  return {.sockets = sockets,
          .cores_per_socket = cores,
          .load_ps = 1'000,
          .rmw_ps = 5'000,
          .same_socket_ps = 40'000,
          .other_socket_ps = 200'000,
          .read_occupancy_ps = 0,
          .pause_ps = 3'000};
}

/// Turns in so many ns, behind a warm-up of as many; of each thread.
std::vector<std::uint64_t> turns(const SimConfig& machine, const CrowdConfig& config, std::uint64_t ns) {
  SimMachine m(machine);
  Crowd<SimMachine> crowd(config);
  std::vector<std::uint64_t> made(config.threads);
  run_crowd(m, crowd, [&] {
    m.run_on(ns);
    for (std::uint32_t i = 0; i < config.threads; ++i) made[i] = crowd.turns[i].n;
    m.run_on(ns);
    for (std::uint32_t i = 0; i < config.threads; ++i) made[i] = crowd.turns[i].n - made[i];
  });
  EXPECT_EQ(crowd.intrusions, 0U);
  return made;
}

std::uint64_t sum(const std::vector<std::uint64_t>& all) {
  std::uint64_t total = 0;
  for (const std::uint64_t each : all) total += each;
  return total;
}

CrowdConfig crowd_of(Operation operation, std::uint32_t threads) {
  CrowdConfig config{.operation = operation, .threads = threads};
  return config;
}

TEST(Crowd, EachOptionIsDescribed) { tests::expect_described<CrowdConfig>(); }

TEST(Crowd, OneThreadAddsAtTheCostOfAnAtomicOperation) {
  EXPECT_NEAR(static_cast<double>(sum(turns(machine_of(1, 1), crowd_of(Operation::add, 1), 100'000))), 20'000,
              1);
}

TEST(Crowd, AReaderPaysALoadAndTwoOperationsAndMorePartsAreNeverSlower) {
  const auto readers = [](std::uint32_t threads, std::uint32_t parts) {
    CrowdConfig config = crowd_of(Operation::s_latch, threads);
    config.words = parts;
    return sum(turns(machine_of(1, 16), config, 1'100'000));
  };
  // Alone, with one line: 1 + 2 x 5 ns.
  EXPECT_NEAR(static_cast<double>(readers(1, 1)), 100'000, 1);
  std::uint64_t before = 0;
  for (const std::uint32_t parts : {1U, 4U, 64U}) {
    const std::uint64_t now = readers(16, parts);
    EXPECT_GT(now, before) << parts;
    before = now;
  }
  // A queue for one line: a turn has two changes of it, of which one at least was fetched.
  EXPECT_LT(readers(16, 1), 1'100'000U / 45);
}

TEST(Crowd, AFullLineTakesOneTransferAndOneOperationATurn) {
  const auto a_socket = turns(machine_of(1, 8), crowd_of(Operation::add, 8), 450'000);
  EXPECT_NEAR(static_cast<double>(sum(a_socket)), 10'000, 2);
  for (const std::uint64_t each : a_socket) EXPECT_NEAR(static_cast<double>(each), 1'250, 2);
  EXPECT_NEAR(static_cast<double>(sum(turns(machine_of(8, 1), crowd_of(Operation::swap, 8), 2'050'000))),
              10'000, 2);
}

TEST(Crowd, WhereLinesStayATurnOfTheLineHasWhatFitsIntoHalfOfATransfer) {
  // One that fetched the line; then at 0, 5, ... 20 ns behind it, the request of the next arriving at 20.
  SimConfig socket = machine_of(1, 8);
  SimConfig sockets = machine_of(8, 1);
  socket.line_stay_permille = sockets.line_stay_permille = 500;
  EXPECT_NEAR(static_cast<double>(sum(turns(socket, crowd_of(Operation::add, 8), 450'000))), 10'000 * 6, 12);
  EXPECT_NEAR(static_cast<double>(sum(turns(sockets, crowd_of(Operation::swap, 8), 2'050'000))), 10'000 * 22,
              44);
}

TEST(Crowd, WhereLinesStayTwoThatTakeTurnsNeedAsLongAsElsewhere) {
  for (const Operation operation : {Operation::blind_turns, Operation::turns}) {
    SimConfig machine = machine_of(1, 2);
    const std::uint64_t elsewhere = sum(turns(machine, crowd_of(operation, 2), 450'000));
    machine.line_stay_permille = 500;
    const std::uint64_t here = sum(turns(machine, crowd_of(operation, 2), 450'000));
    EXPECT_NEAR(static_cast<double>(here), static_cast<double>(elsewhere), 2) << names::of(operation);
  }
}

TEST(Crowd, TurnsBehindALookMoveTheLineTwice) {
  const auto blind = sum(turns(machine_of(1, 2), crowd_of(Operation::blind_turns, 2), 450'000));
  const auto looking = sum(turns(machine_of(1, 2), crowd_of(Operation::turns, 2), 450'000));
  EXPECT_NEAR(static_cast<double>(blind), 10'000, 200);
  EXPECT_NEAR(static_cast<double>(looking), 450'000.0 / 86, 200);
}

TEST(Crowd, ThreadsRunOnTheirCpus) {
  CrowdConfig config = crowd_of(Operation::add, 2);
  config.cpus = {0, 4};
  EXPECT_NEAR(static_cast<double>(sum(turns(machine_of(2, 4), config, 2'050'000))), 10'000, 2);
  config.cpus = {0, 3};
  EXPECT_NEAR(static_cast<double>(sum(turns(machine_of(2, 4), config, 450'000))), 10'000, 2);
}

TEST(Crowd, ALockIsOneThreadsAtATimeInVirtualTime) {
  // Also with more threads than CPUs: who holds the lock may have to wait for one.
  SimConfig machine = machine_of(2, 4);
  machine.slice_ps = 20'000'000;
  machine.wakeup_granularity_ps = 5'000'000;
  for (const Operation lock : kLocks) {
    for (const std::uint32_t threads : {8U, 12U}) {
      for (const bool yields : {false, true}) {
        CrowdConfig config = crowd_of(lock, threads);
        config.hold_ns = 100;
        config.outside_ns = 200;
        config.is_exponential = true;
        config.data_lines = 1;
        config.waiting.yields = yields;
        for (const std::uint32_t stay : {0U, 500U}) {
          machine.line_stay_permille = stay;
          EXPECT_GT(sum(turns(machine, config, part_of(4'000'000))), part_of(100))
              << names::of(lock) << ", " << threads;
        }
      }
    }
  }
}

TEST(Crowd, ALockIsOneThreadsAtATimeOnTheHost) {
  for (const Operation lock : kLocks) {
    CrowdConfig config = crowd_of(lock, 4);
    config.data_lines = 1;
    config.waiting.yields = true;  // fewer processors than threads
    // Few turns where threads wait for processors: a ticket is called only when the scheduler comes to its thread. On a busy computer
    // it may come to none of them while a run lasts.
    std::uint64_t turns = 0;
    for (int run = 0; turns == 0 && run < 50; ++run) {
      HostMachine m({.folder = {}});
      Crowd<HostMachine> crowd(config);
      run_crowd(m, crowd, [&] { m.run_for(20'000'000); });
      EXPECT_EQ(crowd.intrusions, 0U) << names::of(lock);
      turns = crowd.all_turns();
    }
    EXPECT_GT(turns, 0U) << names::of(lock);
  }
}

TEST(Crowd, QueuesServeInTurn) {
  for (const Operation lock : {Operation::ticket, Operation::mcs}) {
    CrowdConfig config = crowd_of(lock, 8);
    config.hold_ns = 500;
    const auto made = turns(machine_of(2, 4), config, 4'000'000);
    for (const std::uint64_t each : made) {
      EXPECT_NEAR(static_cast<double>(each), static_cast<double>(made[0]), 1) << names::of(lock);
    }
  }
}

TEST(Crowd, BackingOffTakesTheLineFromTheHolderLessOften) {
  CrowdConfig config = crowd_of(Operation::test_and_set, 16);
  config.hold_ns = 300;
  config.data_lines = 1;
  config.waiting.attempt_ns = 10;
  const std::uint64_t constant = sum(turns(machine_of(1, 16), config, 2'000'000));
  config.waiting.backoff_most_ns = 4'000;
  EXPECT_GT(sum(turns(machine_of(1, 16), config, 2'000'000)), constant);
}

}  // namespace
}  // namespace engineroom::validation
