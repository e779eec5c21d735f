// The lock system on the simulated machine and on real threads: what it latches, how waits end, who gives way.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "common/tests/part_of.hpp"
#include "lock_sys/lock_sys.hpp"
#include "machine/host_machine.hpp"
#include "machine/random.hpp"
#include "machine/sim_machine.hpp"

namespace engineroom::lock_sys {
namespace {

using machine::HostMachine;
using machine::SimMachine;

constexpr TableId kTable = 1;
constexpr PageId kPageA = 11;
constexpr PageId kPageB = 12;

Request row(PageId page, Mode mode = Mode::x) {
  return {.page = page, .heap_no = kFirstRecord, .mode = mode, .kind = Kind::rec_not_gap};
}

template <template <typename, typename> typename Latches>
Latched latched_by_one_update(Design design) {
  SimMachine m({});
  LockSys<SimMachine, Latches> locks(m, config_of(design));
  TrxOn<SimMachine> trx(m, 0);
  m.spawn("session", [&]() -> Task<> {
    co_await locks.begin(m, trx);
    co_await locks.lock_table(m, trx, kTable, Mode::ix);
    co_await locks.lock_record(m, trx, row(kPageA));
    co_await locks.release_all(m, trx);
  });
  m.run();
  return trx.latched;
}

TEST(LockLatches, AreThreeForOneUpdateIn5_7AndSevenIn9_7) {
  const Latched old = latched_by_one_update<OneMutex>(Design::mysql_5_7);
  EXPECT_EQ(old.pages + old.tables, 3U) << "all of them the same mutex";
  EXPECT_EQ(old.global, 0U);
  const Latched now = latched_by_one_update<Shards>(Design::mysql_9_7);
  EXPECT_EQ(now.pages, 2U);
  EXPECT_EQ(now.tables, 2U);
  EXPECT_EQ(now.global, 3U) << "letting go takes one share for all locks";
}

TEST(LockLines, WhoWalksOverAQueueWaitsForTheLineOfEachLockInIt) {
  // A line that another socket has costs 1 us, all else nothing.
  const machine::SimConfig lines_alone{.sockets = 2,
                                       .cores_per_socket = 1,
                                       .load_ps = 0,
                                       .rmw_ps = 0,
                                       .same_core_ps = 0,
                                       .same_socket_ps = 0,
                                       .other_socket_ps = 1'000'000,
                                       .first_touch_ps = 0,
                                       .read_occupancy_ps = 0,
                                       .switch_ps = 0,
                                       .wake = {.quantiles_ps = {0}},
                                       .timer_slack_ps = 0};
  const auto asking_ns = [&](std::uint32_t holders, bool has_lines) {
    LockConfig config = config_of(Design::mysql_9_7);
    config.look_ns = config.create_ns = 0;
    config.has_lines = has_lines;
    SimMachine m(lines_alone);
    LockSys<SimMachine, OneMutex> locks(m, config);
    std::deque<TrxOn<SimMachine>> all;
    for (std::uint32_t i = 0; i <= holders; ++i) all.emplace_back(m, i);
    std::uint64_t ns = 0;
    m.spawn("holders", [&]() -> Task<> {
      for (std::uint32_t i = 0; i < holders; ++i) {
        co_await locks.begin(m, all[i]);
        co_await locks.lock_record(m, all[i], row(kPageA, Mode::s));
      }
    });
    m.spawn("reader", [&]() -> Task<> {
      co_await m.sleep(100'000'000);
      co_await locks.begin(m, all[holders]);
      const std::uint64_t start = m.now();
      co_await locks.lock_record(m, all[holders], row(kPageA, Mode::s));
      ns = m.now() - start;
    });
    m.run();
    return ns;
  };
  const std::uint64_t two = asking_ns(2, true);
  EXPECT_EQ(asking_ns(3, true) - two, 1000U);
  EXPECT_EQ(asking_ns(40, true) - two, 38'000U);
  EXPECT_EQ(asking_ns(40, false), asking_ns(2, false)) << "memory is free";
}

TEST(LockWaits, EndAtTheirTimeout) {
  LockConfig config = config_of(Design::mysql_9_7);
  config.lock_wait_timeout_ns = 50'000'000;
  config.check_every_ns = 10'000'000;
  SimMachine m({});
  LockSys<SimMachine, Shards> locks(m, config);
  std::deque<TrxOn<SimMachine>> trxs;
  for (std::uint32_t i = 0; i < 2; ++i) trxs.emplace_back(m, i);
  Outcome outcome = Outcome::granted;
  std::uint64_t ended_ns = 0;
  locks.spawn_threads(m);
  m.spawn("holder", [&]() -> Task<> {
    co_await locks.begin(m, trxs[0]);
    co_await locks.lock_record(m, trxs[0], row(kPageA));
  });
  m.spawn("waiter", [&]() -> Task<> {
    co_await m.sleep(1'000'000);
    co_await locks.begin(m, trxs[1]);
    co_await locks.lock_record(m, trxs[1], row(kPageA));
    outcome = co_await locks.wait(m, trxs[1]);
    ended_ns = m.now();
    m.stop();
  });
  m.run();
  EXPECT_EQ(outcome, Outcome::timed_out);
  EXPECT_GE(ended_ns, 51'000'000U);
  EXPECT_LE(ended_ns, 75'000'000U) << "looked at every 10 ms";
  EXPECT_TRUE(trxs[1].locks.empty());
  EXPECT_EQ(locks.counts().timeouts, 1U);
}

TEST(LockDeadlocks, ThroughTheSecondBlockerAreFoundWhenTheFirstLetsGo) {
  SimMachine m({});
  LockSys<SimMachine, Shards> locks(m, config_of(Design::mysql_9_7));
  std::deque<TrxOn<SimMachine>> trxs;
  for (std::uint32_t i = 0; i < 3; ++i) trxs.emplace_back(m, i);
  std::uint64_t before = 99;
  std::vector<Outcome> outcomes(3, Outcome::waits);
  locks.spawn_threads(m);
  m.spawn("both read A, the third has B", [&]() -> Task<> {
    for (std::size_t i = 0; i < 3; ++i) co_await locks.begin(m, trxs[i]);
    co_await locks.lock_record(m, trxs[0], row(kPageA, Mode::s));
    co_await locks.lock_record(m, trxs[1], row(kPageA, Mode::s));
    co_await locks.lock_record(m, trxs[2], row(kPageB));
    co_await m.sleep(10'000'000);
    // The writer waits for two, and knows one: let that one go.
    before = locks.counts().deadlocks;
    TrxOn<SimMachine>& known = trxs[trxs[2].blocking_trx.load() == &trxs[0] ? 0 : 1];
    EXPECT_EQ(&known, &trxs[1]);
    co_await locks.release_all(m, known);
    co_await m.sleep(10'000'000);
    m.stop();
  });
  m.spawn("the third wants A", [&]() -> Task<> {
    co_await m.sleep(1'000'000);
    co_await locks.lock_record(m, trxs[2], row(kPageA));
    outcomes[2] = co_await locks.wait(m, trxs[2]);
  });
  m.spawn("the first wants B", [&]() -> Task<> {
    co_await m.sleep(2'000'000);
    co_await locks.lock_record(m, trxs[0], row(kPageB));
    outcomes[0] = co_await locks.wait(m, trxs[0]);
    if (outcomes[0] == Outcome::deadlock) co_await locks.release_all(m, trxs[0]);
  });
  m.run();
  EXPECT_EQ(before, 0U) << "the edge to the second blocker is not in the graph yet";
  EXPECT_EQ(locks.counts().deadlocks, 1U);
  EXPECT_EQ(outcomes[0], Outcome::deadlock) << "of equals the one that began to wait last";
  EXPECT_EQ(outcomes[2], Outcome::granted);
}

/// The locks after each step of a script, each step long after the one before: what latches take decides nothing.
std::vector<std::string> states_of_a_script(std::uint64_t seed, std::size_t shards, Policy policy) {
  constexpr std::uint32_t kSessions = 6;
  constexpr std::uint64_t kSteps = 40;
  constexpr std::uint64_t kApartNs = 10'000'000;
  LockConfig config = config_of(Design::mysql_9_7);
  config.page_shards = config.table_shards = shards;
  config.policy = policy;
  machine::SimConfig machine{.cores_per_socket = kSessions + 4};
  SimMachine m(machine);
  LockSys<SimMachine, Shards> locks(m, config);
  locks.queues().add_table(kTable);
  std::deque<TrxOn<SimMachine>> trxs;
  for (std::uint32_t i = 0; i < kSessions; ++i) trxs.emplace_back(m, i);

  struct Step {
    std::uint64_t at_ns;
    bool commits;
    Request request;
  };
  std::vector<std::vector<Step>> scripts(kSessions);
  machine::Random random(seed);
  constexpr std::array kKinds{Kind::next_key, Kind::gap, Kind::rec_not_gap};
  for (std::uint64_t i = 1; i <= kSteps; ++i) {
    scripts[random.below(kSessions)].push_back(
        {.at_ns = i * kApartNs,
         .commits = random.below(4) == 0,
         .request = {.page = kPageA + random.below(4),
                     .heap_no = static_cast<HeapNo>(kFirstRecord + random.below(2)),
                     .mode = random.below(2) == 0 ? Mode::s : Mode::x,
                     .kind = kKinds[random.below(kKinds.size())]}});
  }
  locks.spawn_threads(m);
  for (std::uint32_t i = 0; i < kSessions; ++i) {
    m.spawn("session", [&, i]() -> Task<> {
      TrxOn<SimMachine>& trx = trxs[i];
      bool is_active = false;
      for (const Step& step : scripts[i]) {
        if (m.now() > step.at_ns) continue;  // it waited: late, it would run beside another's
        co_await m.sleep(step.at_ns - m.now());
        if (!is_active) co_await locks.begin(m, trx);
        is_active = true;
        Outcome outcome = Outcome::granted;
        if (!step.commits) {
          outcome =
              co_await locks.lock_table(m, trx, kTable, step.request.mode == Mode::s ? Mode::is : Mode::ix);
          if (outcome == Outcome::granted) outcome = co_await locks.lock_record(m, trx, step.request);
          if (outcome == Outcome::waits) outcome = co_await locks.wait(m, trx);
        }
        if (!step.commits && outcome == Outcome::granted) continue;
        co_await locks.release_all(m, trx);
        is_active = false;
      }
      if (is_active) co_await locks.release_all(m, trx);
    });
  }
  std::vector<std::string> states;
  m.spawn("who looks", [&]() -> Task<> {
    for (std::uint64_t i = 1; i <= kSteps; ++i) {
      const std::uint64_t at_ns = i * kApartNs + kApartNs / 2;
      if (m.now() < at_ns) co_await m.sleep(at_ns - m.now());
      // A queue's own order is in it: cells, of which there are as many, are not shards.
      std::string& state = states.emplace_back();
      locks.queues().each_lock([&](const Lock& lock) {
        state += std::to_string(lock.trx->number) + " " + std::string(names::of(lock.mode)) + " ";
        if (!lock.bitmap.empty())
          state += std::string(names::of(lock.kind)) + " " + std::to_string(lock.place);
        for (const std::uint64_t word : lock.bitmap) state += " " + std::to_string(word);
        state += lock.trx->wait_lock.load() == &lock ? " waits\n" : "\n";
      });
    }
    m.stop();
  });
  m.run();
  EXPECT_EQ(states.size(), kSteps);
  return states;
}

TEST(LockShards, OneOr512LeaveTheSameLocksAfterEachStepOfAScript) {
  std::size_t waits = 0;
  std::size_t others = 0;
  for (std::uint64_t seed = 1; seed <= part_of(100); ++seed) {
    const auto one = states_of_a_script(seed, 1, Policy::cats_8_0_20);
    ASSERT_EQ(one, states_of_a_script(seed, 512, Policy::cats_8_0_20)) << "seed " << seed;
    waits += std::ranges::any_of(
                 one, [](const std::string& state) { return state.find("waits") != std::string::npos; })
                 ? 1
                 : 0;
    if (one != states_of_a_script(seed, 512, Policy::random)) ++others;
  }
  EXPECT_GT(waits, 0U);
  EXPECT_GT(others, 0U) << "else nobody who is chosen would be seen in these states";
}

TEST(LockRelease, GivesWayToWhoWantsToStopAll) {
  LockConfig config = config_of(Design::mysql_9_7);
  config.global_parts = 2;
  SimMachine m({});
  LockSys<SimMachine, Shards> locks(m, config);
  TrxOn<SimMachine> trx(m, 0);
  std::uint64_t began_ns = 0;
  std::uint64_t ended_ns = 0;
  std::uint64_t wanted_ns = 0;
  std::uint64_t got_ns = 0;
  m.spawn("session", [&]() -> Task<> {
    co_await locks.begin(m, trx);
    for (PageId page = 0; page < 20'000; ++page) co_await locks.lock_record(m, trx, row(page));
    began_ns = m.now();
    co_await locks.release_all(m, trx);
    ended_ns = m.now();
  });
  m.spawn("who stops all", [&]() -> Task<> {
    while (began_ns == 0) co_await m.sleep(1'000);
    wanted_ns = m.now();
    co_await locks.stop_all(m);
    got_ns = m.now();
    co_await locks.let_all_go(m);
  });
  m.run();
  EXPECT_GT(wanted_ns, began_ns);
  EXPECT_LT(10 * (got_ns - wanted_ns), ended_ns - began_ns) << "it need not wait for the whole commit";
}

/// Sessions on real threads that lock rows at random and move records between pages. How many steps they made in all.
template <template <typename, typename> typename Latches>
std::uint64_t steps_on_real_threads(Design design) {
  constexpr std::uint32_t kThreads = 8;
  LockConfig config = config_of(design);
  config.cells = 31;
  config.page_shards = config.table_shards = 4;
  config.global_parts = 4;
  HostMachine m;
  LockSys<HostMachine, Latches> locks(m, config);
  locks.queues().add_table(kTable);
  std::deque<TrxOn<HostMachine>> trxs;
  for (std::uint32_t i = 0; i < kThreads; ++i) trxs.emplace_back(m, i);
  std::atomic<std::uint64_t> steps = 0;
  std::vector<std::uint64_t> counters(4, 0);  // each under the lock of its row
  std::vector<std::uint64_t> added(4, 0);
  std::vector<std::vector<std::uint64_t>> added_by(kThreads, added);
  locks.spawn_threads(m);
  for (TrxOn<HostMachine>& trx : trxs) {
    m.spawn("session", [&]() -> Task<> {
      while (!m.stopping()) {
        co_await locks.begin(m, trx);
        co_await locks.lock_table(m, trx, kTable, Mode::ix);
        for (int i = 0; i < 3; ++i) {
          const std::uint64_t which = m.random() % counters.size();
          Outcome outcome = co_await locks.lock_record(m, trx, row(which));
          if (outcome == Outcome::waits) outcome = co_await locks.wait(m, trx);
          if (outcome != Outcome::granted) break;
          ++counters[which];
          ++added_by[trx.number][which];
          co_await locks.move_record(m, trx, 100 + m.random() % 8, kFirstRecord, 200 + m.random() % 8,
                                     kFirstRecord, 8);
          steps.fetch_add(1, std::memory_order_relaxed);
        }
        co_await locks.release_all(m, trx);
      }
    });
  }
  m.run_for(100'000'000);
  for (std::size_t which = 0; which < counters.size(); ++which) {
    std::uint64_t sum = 0;
    for (const auto& mine : added_by) sum += mine[which];
    EXPECT_EQ(counters[which], sum) << "an update is lost";
  }
  return steps.load();
}

TEST(LockSysOnRealThreads, LosesNoUpdateAndComesToItsEnd) {
  EXPECT_GT(steps_on_real_threads<OneMutex>(Design::mysql_5_7), 10U);
  EXPECT_GT(steps_on_real_threads<Shards>(Design::mysql_9_7), 10U);
}

}  // namespace
}  // namespace engineroom::lock_sys
