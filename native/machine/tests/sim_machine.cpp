// What the simulated machine promises: costs worked out by hand, planted mistakes found, equal traces.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "common/tests/described_members.hpp"
#include "machine/sim_machine.hpp"
#include "sync/event.hpp"
#include "sync/latch.hpp"

namespace engineroom::machine {
namespace {

using M = SimMachine;

/// One socket, nothing but cache lines costs anything.
SimConfig lines_only(SimConfig config = {.sockets = 2}) {
  config.switch_ps = 0;
  config.wake.quantiles_ps = {0};
  return config;
}

/// Computes for so long; behind it the time is over.
Task<> compute(M& m, std::uint64_t ns) {
  M::Word mine;
  m.work(ns);
  co_await m.load(mine);
}

Task<> add_at(M& m, M::Word& word, std::uint64_t at_ns, std::vector<std::uint64_t>& took) {
  m.work(at_ns);
  co_await m.load(word);  // the work is over
  const Time start = m.now_ps();
  co_await m.add(word, 1);
  took.push_back(static_cast<std::uint64_t>(m.now_ps() - start));
}

TEST(CacheLines, CostWhatTheDistanceSays) {
  SimConfig config = lines_only();
  SimMachine m(config);
  M::Word word;
  std::vector<std::uint64_t> took;
  // Threads start on CPUs 0 to 3 in order; 2 and 3 are on the other socket. Each brings the line to itself
  // alone after its own look has shared it with the owner before.
  for (std::uint64_t i = 0; i < 4; ++i) {
    m.spawn("adder", [&, i] { return add_at(m, word, 10'000 * i, took); });
  }
  m.run();
  const auto cost = [](Time transfer, const SimConfig& c) {
    return static_cast<std::uint64_t>(transfer + c.rmw_ps);
  };
  EXPECT_EQ(took, (std::vector<std::uint64_t>{cost(0, config), cost(config.same_socket_ps, config),
                                              cost(config.other_socket_ps, config),
                                              cost(config.same_socket_ps, config)}));
}

Task<> add_often(M& m, M::Word& word, int times) {
  for (int i = 0; i < times; ++i) co_await m.add(word, 1);
}

/// How many ns an addition takes when so many CPUs, the machine's first, do nothing but add to one word, so far apart in time.
double ns_per_addition(const SimConfig& config, int threads, std::uint64_t apart_ns) {
  SimMachine m(config);
  M::Word word;
  for (int i = 0; i < threads; ++i) {
    m.spawn("adder", [&]() -> Task<> {
      while (!m.stopping()) {
        co_await m.add(word, 1);
        m.work(apart_ns);
      }
    });
  }
  m.run_on(100'000);
  const std::uint64_t before = m.peek(word);
  m.run_on(1'000'000);
  return 1e6 / static_cast<double>(m.peek(word) - before);
}

/// Sockets and cores, where a line stays for half of the way of the next request.
SimConfig where_lines_stay(std::uint32_t sockets, std::uint32_t cores) {
  return lines_only({.sockets = sockets, .cores_per_socket = cores, .line_stay_permille = 500});
}

TEST(CacheLines, WhoComesBackLateFindsAHotLineGone) {
  // Each computes for longer than half of a transfer: every addition moves the line, and no two at the same time.
  const SimConfig config = where_lines_stay(1, 8);
  const double each = static_cast<double>(config.same_socket_ps + config.rmw_ps) / kPerNs;
  EXPECT_NEAR(ns_per_addition(config, 8, 30), each, 0.01 * each);
}

TEST(CacheLines, AnOwnerGoesOnUntilTheNextRequestArrives) {
  // A turn of the line is a transfer and an operation. Meanwhile come the one that fetched it, and what fits into half of the
  // transfer: at least so many, at most one more that has begun in time.
  for (const auto& [sockets, cores] : {std::pair{1U, 2U}, {1U, 8U}, {2U, 1U}, {8U, 1U}}) {
    const SimConfig config = where_lines_stay(sockets, cores);
    const Time way = sockets > 1 ? config.other_socket_ps : config.same_socket_ps;
    const double turn = static_cast<double>(way + config.rmw_ps) / kPerNs;
    const double fit = static_cast<double>(way) / 2 / static_cast<double>(config.rmw_ps);
    const double ns = ns_per_addition(config, static_cast<int>(sockets * cores), 0);
    EXPECT_LE(ns, turn / (1 + fit)) << sockets;
    EXPECT_GE(ns, turn / (2 + fit)) << sockets;
  }
}

TEST(CacheLines, ALoneCpuKeepsItsLine) {
  const SimConfig config = where_lines_stay(8, 1);
  EXPECT_NEAR(ns_per_addition(config, 1, 0), static_cast<double>(config.rmw_ps) / kPerNs, 0.01);
}

TEST(CacheLines, TwoCpusThatTakeItInTurnsFarApartInTimePayTheWayEachTime) {
  const SimConfig config = where_lines_stay(2, 1);
  SimMachine m(config);
  M::Word word;
  std::vector<Time> took;
  for (std::uint64_t i = 0; i < 2; ++i) {
    m.spawn("adder", [&, i]() -> Task<> {
      m.work(1'000 * i);
      for (int k = 0; k < 5; ++k) {
        m.work(1'000);
        co_await m.yield();  // the work is over
        const Time start = m.now_ps();
        co_await m.add(word, 1);
        took.push_back(m.now_ps() - start);
        m.work(1'000);
      }
    });
  }
  m.run();
  std::vector<Time> expected(10, config.other_socket_ps + config.rmw_ps);
  expected[0] = config.first_touch_ps + config.rmw_ps;
  EXPECT_EQ(took, expected);
}

TEST(CacheLines, AnOwnerLosesALineAtOnceWhereNoneStays) {
  SimConfig config = where_lines_stay(1, 8);
  config.line_stay_permille = 0;
  const double each = static_cast<double>(config.same_socket_ps + config.rmw_ps) / kPerNs;
  EXPECT_NEAR(ns_per_addition(config, 8, 0), each, 0.01 * each);
}

/// The owner of a line wants it again so long after another socket has asked for it: what that takes.
Time cost_for_owner(Access others, Access own, Time after_ps) {
  SimMachine m(where_lines_stay(2, 1));
  M::Lines line(1);
  Time took = 0;
  m.spawn("owner", [&]() -> Task<> {
    co_await m.touch(line, 0, 1, Access::write);
    m.work_ps(10'000'000 + after_ps - m.now_ps());
    co_await m.touch(line, 0, 0, own);  // the work is over
    const Time start = m.now_ps();
    co_await m.touch(line, 0, 1, own);
    took = m.now_ps() - start;
  });
  m.spawn("other", [&]() -> Task<> {
    m.work_ps(10'000'000);
    co_await m.touch(line, 0, 1, others);
  });
  m.run();
  return took;
}

TEST(CacheLines, ALineStaysForHalfOfTheWayOfTheNextRequest) {
  const SimConfig config = where_lines_stay(2, 1);
  const Time way = config.other_socket_ps;
  const Time served = way + config.rmw_ps;  // the other's write
  for (const Time after : {Time{1}, way / 2}) {
    EXPECT_EQ(cost_for_owner(Access::write, Access::write, after), config.rmw_ps);
    EXPECT_EQ(cost_for_owner(Access::write, Access::read, after), config.load_ps);
    EXPECT_EQ(cost_for_owner(Access::read, Access::write, after), config.rmw_ps);
  }
  for (const Time after : {way / 2 + 1, way}) {
    EXPECT_EQ(cost_for_owner(Access::write, Access::write, after), served - after + way + config.rmw_ps);
    EXPECT_EQ(cost_for_owner(Access::write, Access::read, after), served - after + way + config.load_ps);
    // A copy stays behind, but not alone.
    EXPECT_EQ(cost_for_owner(Access::read, Access::write, after), way + config.rmw_ps);
    EXPECT_EQ(cost_for_owner(Access::read, Access::read, after), config.load_ps);
  }
}

TEST(CacheLines, AnOperationTakesEffectWhenTheLineHasCome) {
  // The other's exchange is under way when the owner, who has the line still, stores once more.
  const SimConfig config = where_lines_stay(2, 1);
  SimMachine m(config);
  M::Word word;
  std::uint64_t seen = 0;
  Time came = 0;
  m.spawn("owner", [&]() -> Task<> {
    co_await m.store(word, 1);
    m.work_ps(10'000'000 + config.other_socket_ps / 2 - m.now_ps());
    co_await m.store(word, 2);
  });
  m.spawn("other", [&]() -> Task<> {
    m.work_ps(10'000'000);
    seen = co_await m.xchg(word, 3);
    came = m.now_ps();
  });
  m.run();
  EXPECT_EQ(seen, 2U);
  EXPECT_EQ(m.peek(word), 3U);
  EXPECT_EQ(came, 10'000'000 + config.other_socket_ps + config.rmw_ps);
}

TEST(CacheLines, EachOfAQueueHasItsStay) {
  // All ask at once. Each adds as often as it can until the next one's request arrives, then asks again behind the last.
  const SimConfig config = where_lines_stay(1, 4);
  SimMachine m(config);
  M::Word word;
  std::vector<std::uint32_t> order;
  for (std::uint32_t i = 0; i < 4; ++i) {
    m.spawn("adder", [&, i]() -> Task<> {
      while (order.size() < 100) {
        co_await m.add(word, 1);
        order.push_back(i);
      }
    });
  }
  m.run();
  const auto each = static_cast<std::size_t>(2 + config.same_socket_ps / 2 / config.rmw_ps);
  std::size_t longest = 0;
  std::size_t run = 0;
  for (std::size_t i = 1; i < 100; ++i) {
    run = order[i] == order[i - 1] ? run + 1 : 0;
    longest = std::max(longest, run + 1);
    if (run == 0) {
      EXPECT_EQ(order[i], (order[i - 1] + 1) % 4) << i;
    }
  }
  EXPECT_EQ(longest, each);
}

TEST(CacheLines, WordsOfOneLineDisturbEachOtherAndWordsOfTheirOwnDoNot) {
  const auto time = [](bool share) {
    SimConfig config = lines_only();
    SimMachine m(config);
    M::Words one(share ? 2 : 16);
    const std::size_t second = share ? 1 : 8;
    const auto body = [&](std::size_t i) -> Task<> {
      for (int k = 0; k < 1000; ++k) co_await m.add(one[i], 1);
    };
    m.spawn("a", [&] { return body(0); });
    m.spawn("b", [&] { return body(second); });
    m.run();
    return m.now_ps();
  };
  EXPECT_GT(time(true), 5 * time(false));
}

TEST(CacheLines, TheLastWordOfManyHasALineToo) {
  for (const std::size_t words : {1U, 9U, 17U}) {
    SimMachine m{SimConfig{}};
    M::Words some(words);
    m.spawn("a", [&]() -> Task<> { co_await m.add(some[words - 1], 7); });
    m.run();
    EXPECT_EQ(m.peek(some[words - 1]), 7U);
  }
}

TEST(Scheduler, VirtualRunTimeAndTicksAreNotBothTaken) {
  SimConfig config{.latency_ps = 24'000'000'000};
  EXPECT_NO_THROW(SimMachine{config});
  config.tick_ps = 4'000'000'000;
  EXPECT_THROW(SimMachine{config}, std::invalid_argument);
  config.latency_ps = 0;
  EXPECT_NO_THROW(SimMachine{config});
}

/// When each of two threads ends that compute for 10 us on the only core.
std::vector<std::uint64_t> ends_of_two_workers(const SimConfig& config) {
  SimMachine m(config);
  std::vector<std::uint64_t> ends;
  for (int i = 0; i < 2; ++i) {
    m.spawn("worker", [&]() -> Task<> {
      co_await compute(m, 10'000);
      ends.push_back(m.now());
    });
  }
  m.run();
  return ends;
}

TEST(Scheduler, TheTimeSliceSharesACpu) {
  SimConfig config{.cores_per_socket = 1};
  config.slice_ps = 1'000'000;  // 1 us
  config.wake.quantiles_ps = {0};
  config.switch_ps = 0;
  const std::vector<std::uint64_t> ends = ends_of_two_workers(config);
  ASSERT_EQ(ends.size(), 2U);
  EXPECT_NEAR(static_cast<double>(ends[0]), 19'000.0, 100.0);  // not 10'000: the other had every second slice
  EXPECT_NEAR(static_cast<double>(ends[1]), 20'000.0, 100.0);
}

/// Two cores or one under round robin; a switch and a wake-up cost nothing.
SimConfig round_robin(std::uint32_t cores, Time tick_ps, Time slice_ps, std::uint64_t seed = 1) {
  SimConfig config;
  config.cores_per_socket = cores;
  config.tick_ps = tick_ps;
  config.slice_ps = slice_ps;
  config.wake.quantiles_ps = {0};
  config.switch_ps = config.timer_slack_ps = 0;
  config.seed = seed;
  return config;
}

TEST(RoundRobin, SlicesShareACpu) {
  const std::vector<std::uint64_t> ends = ends_of_two_workers(round_robin(1, 1'000'000, 2'000'000));
  ASSERT_EQ(ends.size(), 2U);
  // The first slice may be up to a tick shorter than two of them.
  EXPECT_GE(ends[0], 18'000U - 100U);
  EXPECT_LE(ends[0], 20'100U);
  EXPECT_NEAR(static_cast<double>(ends[1]), 20'000.0, 100.0);
}

TEST(RoundRobin, WhoWakesGoesToAnyIdleCpuAlsoToTheFirst) {
  SimMachine m(round_robin(2, 4'000'000'000, 4'000'000'000));
  std::uint64_t woke = 0;
  m.spawn("until 30 us on the first", [&] { return compute(m, 30'000); });
  m.spawn("sleeper of the second", [&]() -> Task<> {
    co_await m.sleep(50'000);
    woke = m.now();
  });
  m.run_on(10'000);
  m.spawn("until 1 ms on the second", [&] { return compute(m, 990'000); });
  m.run();
  EXPECT_EQ(woke, 50'000U);
}

TEST(Cpus, UseWhatIsComputedToThePicosecond) {
  SimMachine m({.load_ps = 0, .first_touch_ps = 0, .switch_ps = 0, .wake = {.quantiles_ps = {0}}});
  M::Word word;
  m.spawn("thread", [&]() -> Task<> {
    m.work(5'000);
    co_await m.load(word);
  });
  m.run();
  EXPECT_EQ(m.cpu_ns(), 5'000U);
}

/// How long a thread that wakes after 10.1 ms waits for the only core, on which another has computed alone.
double wait_for_a_lone_thread(Time tick_ps, std::uint64_t seed) {
  SimMachine m(round_robin(1, tick_ps, 4'000'000'000, seed));
  std::uint64_t waited = 0;
  m.spawn("sleeper", [&]() -> Task<> {
    co_await m.sleep(10'100'000);
    waited = m.now() - 10'100'000;
  });
  m.spawn("worker", [&] { return compute(m, 30'000'000); });
  m.run();
  return static_cast<double>(waited) / 1e6;
}

TEST(RoundRobin, WhoWakesWaitsForTheNextTickHoweverLongTheOtherHasRun) {
  double sum = 0;
  double most = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const double waited = wait_for_a_lone_thread(4'000'000'000, seed);
    sum += waited;
    most = std::max(most, waited);
  }
  EXPECT_NEAR(sum / 200, 2.0, 0.35);  // uniform between none and 4 ms
  EXPECT_LE(most, 4.001);
  EXPECT_GE(most, 3.5);
  EXPECT_LE(wait_for_a_lone_thread(0, 1), 0.001) << "without ticks its slice is long over";
}

TEST(RoundRobin, AThreadThatSleepsKeepsTheRestOfItsSlice) {
  // Four ticks a slice: a thread that runs past one tick each time has used its slice up at the fourth.
  SimMachine m(round_robin(1, 1'000'000, 4'000'000));
  std::vector<std::uint64_t> began;
  m.spawn("short", [&]() -> Task<> {
    for (int i = 0; i < 12; ++i) {
      co_await m.sleep(10);
      began.push_back(m.now());
      co_await compute(m, 1'000);
    }
  });
  m.spawn("long", [&] { return compute(m, 1'000'000); });
  m.run();
  ASSERT_EQ(began.size(), 12U);
  // It waits for a slice of the other each time, and is interrupted itself in about one run of four.
  std::uint64_t longer = 0;
  for (std::size_t i = 1; i < began.size(); ++i) longer += began[i] - began[i - 1] > 7'000;
  EXPECT_GE(longer, 2U);
  EXPECT_LE(longer, 4U);
}

/// Cores on which each of four sleepers runs before it sleeps and after it wakes, while two others compute.
std::vector<std::pair<std::int32_t, std::int32_t>> cores_of_sleepers(Time tick_ps) {
  SimConfig config = round_robin(2, tick_ps, 4'000'000);
  config.trace_intervals = 10'000;
  SimMachine m(config);
  const auto worker = [&](std::uint64_t after_ns) -> Task<> {
    if (after_ns > 0) co_await m.sleep(after_ns);
    co_await compute(m, 1'000'000);
  };
  const auto sleeper = [&]() -> Task<> {
    co_await compute(m, 1'000);
    co_await m.sleep(50'000);
    co_await compute(m, 1'000);
  };
  m.spawn("worker", [&] { return worker(0); });
  for (int i = 0; i < 4; ++i) m.spawn("sleeper", sleeper);
  m.spawn("worker", [&] { return worker(30'000); });
  m.run();
  std::vector<std::pair<std::int32_t, std::int32_t>> cores(4, {-1, -1});
  for (const Interval& each : m.trace()) {
    if (each.thread < 1 || each.thread > 4 || each.core < 0) continue;
    auto& [before, after] = cores[each.thread - 1];
    (each.start_ps < 50'000'000 ? before : after) = each.core;
  }
  return cores;
}

TEST(RoundRobin, WhoWakesWhileAllAreBusyRunsWhereItRan) {
  for (const auto& [before, after] : cores_of_sleepers(1'000'000)) EXPECT_EQ(before, after);
  bool has_moved = false;
  for (const auto& [before, after] : cores_of_sleepers(0)) has_moved = has_moved || before != after;
  EXPECT_TRUE(has_moved) << "without ticks the shorter queue is taken";
}

TEST(RoundRobin, AnIdleCpuAsksAnotherForAThreadThatWaitsThere) {
  struct Seen {
    std::map<std::string, std::uint64_t> end_ns;
    std::uint64_t cpu_ns = 0;
  };
  const auto run = [](Time pull_ps) {
    SimConfig config = round_robin(2, 1'000'000'000'000, 1'000'000'000'000);
    config.wake.quantiles_ps = {20'000'000};
    config.load_ps = config.rmw_ps = config.first_touch_ps = 0;
    config.pull_ps = pull_ps;
    SimMachine m(config);
    Seen seen;
    const auto worker = [&](std::string name, std::uint64_t ns) -> Task<> {
      co_await compute(m, ns);
      seen.end_ns[name] = m.now();
    };
    // Two begin on the cores, and the first of those that wait does so for the first core.
    m.spawn("long", [&] { return worker("long", 1'000'000); });
    m.spawn("short", [&] { return worker("short", 300'000); });
    m.spawn("waits", [&] { return worker("waits", 100'000); });
    m.run();
    seen.cpu_ns = m.cpu_ns();
    return seen;
  };
  const Seen at_once = run(0);
  const Seen asked = run(7'000'000);
  EXPECT_EQ(asked.end_ns.at("short"), at_once.end_ns.at("short"));
  EXPECT_EQ(asked.end_ns.at("waits"), at_once.end_ns.at("waits") + 20'000U);  // as one that is woken
  EXPECT_EQ(asked.end_ns.at("long"), at_once.end_ns.at("long") + 7'000U);     // who is asked answers
  EXPECT_EQ(asked.cpu_ns, at_once.cpu_ns + 14'000U);                          // and who asks
}

TEST(RoundRobin, ThreadsOfOnePriorityGoToACpuThatIsOnItsWayOutOfIdleness) {
  SimConfig config = round_robin(2, 4'000'000'000, 4'000'000'000);
  config.wake.quantiles_ps = {30'000'000};
  config.trace_intervals = 1'000;
  SimMachine m(config);
  M::Word gate;
  const Site site = m.site("gate");
  for (int i = 0; i < 3; ++i) {
    m.spawn("woken", [&]() -> Task<> {
      co_await m.park(gate, 0, site);
      co_await compute(m, 1'000);
    });
  }
  m.spawn("waker", [&]() -> Task<> {
    co_await m.sleep(1'000'000);
    co_await m.store(gate, 1);
    co_await m.unpark(gate, kAllWaiters);
    co_await compute(m, 200'000);
  });
  m.run();
  std::int32_t core_of_waker = -1;
  std::vector<std::int32_t> woken;
  for (const Interval& each : m.trace()) {
    if (each.core < 0 || each.start_ps < 1'000'000'000) continue;
    if (each.thread == 3) core_of_waker = each.core;
    if (each.thread < 3) woken.push_back(each.core);
  }
  ASSERT_EQ(woken.size(), 3U);
  for (const std::int32_t core : woken) EXPECT_EQ(core, 1 - core_of_waker);
}

/// Two sockets of one CPU each, on which nothing costs anything but cache lines and pauses.
SimConfig two_far_cpus() { return lines_only({.sockets = 2, .cores_per_socket = 1, .pause_ps = 1'000'000}); }

/// How many looks of a thread that pauses for 10 us take the line which another takes `writes` times, 1 us apart; by what
/// its last write, 1 ms later, pays for the copy that the looks have brought there.
std::uint64_t cost_of_next_write(bool looks_between) {
  SimMachine m(two_far_cpus());
  M::Word word;
  std::uint64_t took = 0;
  m.spawn("writer", [&]() -> Task<> {
    for (int i = 0; i < 5; ++i) {
      m.work(1'000);
      co_await m.add(word, 1);
    }
    m.work(looks_between ? 20'000 : 1'000);
    co_await m.load(word);
    const Time from = m.now_ps();
    co_await m.add(word, 1);
    took = static_cast<std::uint64_t>(m.now_ps() - from);
  });
  m.spawn("spinner", [&]() -> Task<> { co_await m.spin_until(word, at_least(6), Spin{Spin::kForEver, 10}); });
  m.run();
  return took;
}

TEST(Spins, ALookTakesTheLineOnlyWhenItIsMade) {
  const SimConfig config = two_far_cpus();
  EXPECT_EQ(cost_of_next_write(false), static_cast<std::uint64_t>(config.rmw_ps));
  EXPECT_EQ(cost_of_next_write(true), static_cast<std::uint64_t>(config.other_socket_ps + config.rmw_ps));
}

TEST(Spins, ALookSeesWhatIsThereWhenTheLineHasComeWhereLinesStay) {
  // The look takes the line away from the writer, who has it for half of the way and writes once more before it goes.
  SimConfig config = two_far_cpus();
  config.line_stay_permille = 500;
  SimMachine m(config);
  M::Word word;
  SpinResult seen{};
  Time end = 0;
  m.spawn("writer", [&]() -> Task<> {
    co_await m.store(word, 1);
    m.work_ps(10'000'000 + config.other_socket_ps / 2 - m.now_ps());
    co_await m.store(word, 2);
  });
  m.spawn("spinner", [&]() -> Task<> {
    m.work_ps(10'000'000);
    seen = co_await m.spin_until(word, equals(2), Spin{5, 10});
    end = m.now_ps();
  });
  m.run();
  EXPECT_TRUE(seen.holds);
  EXPECT_EQ(seen.rounds, 0U);
  EXPECT_EQ(end, 10'000'000 + config.other_socket_ps + config.load_ps);
}

TEST(Spins, OneDrawnRoundIsNeverLongerThanItsPauses) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SimConfig config{.load_ps = 1'000, .pause_ps = 10'000, .seed = seed};
    SimMachine m(config);
    SimMachine::Word word;
    SpinResult seen{};
    Time took = 0;
    m.spawn("spinner", [&]() -> Task<> {
      co_await m.load(word);
      const Time start = m.now_ps();
      seen = co_await m.spin_until(word, equals(1), Spin{1, 10, 6});
      took = m.now_ps() - start;
    });
    m.run();
    EXPECT_EQ(seen.rounds, 1U);
    EXPECT_LE(took, 6 * 10 * config.pause_ps + 3 * config.load_ps) << seed;
  }
}

TEST(Spins, AFailedCompareAndSwapTakesTheCopiesToo) {
  // The spinner's look behind it brings its copy back, which the next write pays for.
  SimMachine m(two_far_cpus());
  M::Word word{1};
  std::vector<Time> took;
  m.spawn("spinner", [&]() -> Task<> { co_await m.spin_until(word, at_least(2), Spin{Spin::kForEver, 10}); });
  m.spawn("writer", [&]() -> Task<> {
    for (int i = 0; i < 3; ++i) {
      m.work(50'000);
      co_await m.load(word);
      const Time from = m.now_ps();
      std::uint64_t seen = 7;
      co_await m.cas(word, seen, 8);
      took.push_back(m.now_ps() - from);
    }
    co_await m.store(word, 2);
  });
  m.run();
  const SimConfig config = two_far_cpus();
  EXPECT_EQ(took, std::vector<Time>(3, config.other_socket_ps + config.rmw_ps));
}

/// Each of twenty looks at a word that never holds what is waited for; somebody else may write it meanwhile.
SpinResult twenty_looks(Spin spin, bool is_disturbed, std::uint32_t line_stay_permille) {
  SimConfig config = two_far_cpus();
  config.line_stay_permille = line_stay_permille;
  SimMachine m(config);
  M::Word word;
  SpinResult seen{};
  m.spawn("spinner", [&]() -> Task<> { seen = co_await m.spin_until(word, equals(99), spin); });
  m.spawn("writer", [&]() -> Task<> {
    for (int i = 0; is_disturbed && i < 40; ++i) {
      m.work(7'000);
      co_await m.add(word, 1);
    }
  });
  m.run();
  return seen;
}

TEST(Spins, LooksAreCountedWhetherTheyTakeTheLineOrNot) {
  for (const Spin spin : {Spin{20, 10}, Spin{20, 10, 6}}) {
    for (const bool is_disturbed : {false, true}) {
      for (const std::uint32_t stay : {0U, 500U}) {
        const SpinResult seen = twenty_looks(spin, is_disturbed, stay);
        EXPECT_FALSE(seen.holds);
        EXPECT_EQ(seen.rounds, 20U);
      }
    }
  }
}

TEST(Spins, DrawnPausesLastWhatTheyAreDrawnToInTheMean) {
  SimMachine m(two_far_cpus());
  M::Word word;
  m.spawn("spinner", [&]() -> Task<> { co_await m.spin_until(word, equals(1), Spin{10'000, 10, 6}); });
  m.run();
  // 30 us in the mean of 0 to 60 us in seven steps, standard deviation 20 us, of 10,000: four of them.
  EXPECT_NEAR(static_cast<double>(m.now()) / 10'000, 30'000, 4 * 20'000.0 / 100);
}

/// Four sockets of 22 cores with two threads each, on which nothing costs anything but lines and pauses.
SimConfig four_sockets() {
  return lines_only({.sockets = 4,
                     .cores_per_socket = 22,
                     .threads_per_core = 2,
                     .smt_permille = 1000,
                     .load_ps = 1'600,
                     .rmw_ps = 7'000,
                     .same_socket_ps = 50'000,
                     .other_socket_ps = 135'000,
                     .pause_ps = 47'000});
}

TEST(Spins, LooksThatFindNothingAreOneEvent) {
  SimMachine m(SimConfig{});
  M::Word word;
  SpinResult seen;
  m.spawn("spinner", [&]() -> Task<> { seen = co_await m.spin_until(word, equals(1), Spin{1000, 10, 6}); });
  m.run();
  EXPECT_EQ(seen.rounds, 1000U);
  EXPECT_LT(m.events(), 10U);
}

TEST(Spins, ALookBehindAWriteIsAnEvent) {
  const auto events_of = [](std::uint64_t writes) {
    SimMachine m(two_far_cpus());
    M::Word word;
    m.spawn("spinner", [&]() -> Task<> {
      co_await m.spin_until(word, at_least(writes), Spin{Spin::kForEver, 1});
    });
    m.spawn("writer", [&]() -> Task<> {
      for (std::uint64_t i = 0; i < writes; ++i) {
        m.work(7'000);
        co_await m.add(word, 1);
      }
    });
    m.run();
    return m.events();
  };
  EXPECT_EQ(events_of(20) - events_of(10), 10U + 10U);  // the writes, and the looks
}

TEST(Spins, AreOverWithTheLookThatFindsWhatIsAwaited) {
  SimMachine m(two_far_cpus());
  M::Word word;
  std::string who;
  m.spawn("spinner", [&]() -> Task<> {
    co_await m.spin_until(word, equals(1), Spin{Spin::kForEver, 10});
    who = m.who_waits();
  });
  m.spawn("writer", [&]() -> Task<> {
    m.work(100'000);
    co_await m.store(word, 1);
  });
  m.run();
  EXPECT_EQ(who.find("spinner 0 runs"), 0U) << who;
}

TEST(Spins, WhoOnlyLooksTakesTheLineAsOftenAsItLooks) {
  SimMachine m(four_sockets());
  M::Word word;
  std::uint64_t writes = 0;
  m.spawn("writer", [&]() -> Task<> {
    while (!m.stopping()) {
      m.work(300);
      co_await m.add(word, 1);
      ++writes;
    }
  });
  for (int i = 0; i < 127; ++i) {
    m.spawn("spinner", [&]() -> Task<> {
      co_await m.spin_until(word, equals(UINT64_MAX), sync::SpinParams{}.looks(Spin::kForEver));
    });
  }
  m.run_on(1'000'000);
  const std::uint64_t before = writes;
  m.run_on(10'000'000);
  const std::uint64_t per_ms = (writes - before) / 10;
  // The line is here at best. At worst it comes from another socket each time, and 127 threads that look every
  // 1.6 + 3 * 50 * 47 ns have it for 10 ns each time: (300 + 135 + 7) / (1 - 127 * 10 / 7,052) ns.
  EXPECT_LE(per_ms, 1'000'000U / 307);
  EXPECT_GE(per_ms, 1'000'000U / 540);
}

/// The latch of InnoDB under 128 clients, each with 20 us of work and 300 ns under it.
std::uint64_t turns_per_ms(std::uint64_t rounds) {
  SimMachine m(four_sockets());
  sync::Latch<M> latch(m, "latch", {.rounds = rounds});
  std::uint64_t turns = 0;
  for (int i = 0; i < 128; ++i) {
    m.spawn("client", [&]() -> Task<> {
      while (!m.stopping()) {
        m.work(exponential(m.random(), 20'000));
        co_await latch.lock(m);
        m.work(exponential(m.random(), 300));
        co_await latch.unlock(m);
        ++turns;
      }
    });
  }
  m.run_on(1'000'000);
  const std::uint64_t before = turns;
  m.run_on(5'000'000);
  return (turns - before) / 5;
}

TEST(Spins, ACrowdOnALatchLiesBetweenBoundsFromFirstPrinciples) {
  // At best a turn is the hold, and the line once to the thread that takes the latch, from another socket in three of four cases:
  // 300 + 0.75 * 135 + 0.25 * 50 + 2 * 7 ns. At worst all 127 others see the latch free before somebody takes it, and each
  // has the line for a look and for one compare-and-swap in vain; behind that comes the release, and all the time others
  // look: (300 + 127 * (10 + 142) + 142) / (1 - 0.18) ns. How many of them compete is what a simulation is for, so this lower bound is wide: it
  // lets a model pass whose spinners take the line after every change of it. WhoOnlyLooksTakesTheLineAsOftenAsItLooks rejects that one.
  const std::uint64_t for_ever = turns_per_ms(Spin::kForEver);
  EXPECT_LE(for_ever, 1'000'000U / 428);
  EXPECT_GE(for_ever, 1'000'000U / 24'080);
  // A thread that sleeps after 30 rounds is out of the way, and here sleeping and waking take no time.
  const std::uint64_t who_sleep = turns_per_ms(30);
  EXPECT_LE(who_sleep, 1'000'000U / 428);
  EXPECT_GT(who_sleep, for_ever);
}

/// How long a thread waits for a word that another sets for 3 us and clears for 0.3 us: how far apart ten such waits lie.
std::uint64_t spread_of_waits(Spin spin) {
  SimMachine m({.cores_per_socket = 2});
  M::Word word;
  std::vector<std::uint64_t> waits;
  bool is_over = false;
  m.spawn("holder", [&]() -> Task<> {
    while (!is_over) {
      co_await m.store(word, 1);
      m.work(3'000);
      co_await m.store(word, 0);
      m.work(300);
    }
  });
  m.spawn("waiter", [&]() -> Task<> {
    for (int i = 0; i < 10; ++i) {
      co_await m.sleep(1'000'000);
      const std::uint64_t from = m.now();
      co_await m.spin_until(word, equals(0), spin);
      waits.push_back(m.now() - from);
    }
    is_over = true;
  });
  m.run();
  return *std::max_element(waits.begin(), waits.end()) - *std::min_element(waits.begin(), waits.end());
}

TEST(SimMachine, DrawnPausesDoNotKeepStepWithWhoSetsTheWord) {
  const sync::SpinParams innodb;
  EXPECT_GT(spread_of_waits(innodb.looks(Spin::kForEver)), spread_of_waits({Spin::kForEver, 150}));
}

/// CPU time of all cores, in ps.
std::uint64_t work_of(SimMachine& m) {
  std::uint64_t work = 0;
  for (CoreTime& core : m.core_times()) work += core[Purpose::work];
  return work;
}

/// One core, nothing costs anything but timers.
SimConfig timers_only(Time timer_ps, SimConfig config = {.cores_per_socket = 1}) {
  config.wake.quantiles_ps = {0};
  config.switch_ps = config.park_ps = config.timer_slack_ps = 0;
  config.load_ps = config.rmw_ps = config.first_touch_ps = 0;
  config.timer_ps = timer_ps;
  return config;
}

TEST(Timer, CostsCpuTimeWhenItIsSetAndWhenItEnds) {
  const auto run = [](Time timer_ps) {
    SimMachine m(timers_only(timer_ps));
    m.spawn("sleeper", [&]() -> Task<> { co_await m.sleep(50'000); });
    m.run();
    return std::pair{work_of(m), m.now()};
  };
  EXPECT_EQ(run(0), (std::pair<std::uint64_t, std::uint64_t>{0, 50'000}));
  // Setting it is a part of its time, ending it is not.
  EXPECT_EQ(run(10'000'000), (std::pair<std::uint64_t, std::uint64_t>{20'000'000, 60'000}));
}

TEST(Timer, BehindAnEarlierOneOfItsCpuIsFree) {
  SimMachine m(timers_only(10'000'000));
  M::Word word;
  const Site site = m.site("word");
  m.spawn("early", [&]() -> Task<> { co_await m.sleep(100'000); });
  m.spawn("late", [&]() -> Task<> {
    const ParkResult result = co_await m.park(word, 0, site, 1'000'000);
    EXPECT_EQ(result, ParkResult::woken);
  });
  m.spawn("waker", [&]() -> Task<> {
    m.work(50'000);
    co_await m.unpark(word, 1);
  });
  m.run();
  // The early one is set and ends; the late one is neither the next when it is set nor when it is taken back.
  EXPECT_EQ(work_of(m), 20'000'000U + 50'000'000U + static_cast<std::uint64_t>(m.config().unpark_ps) +
                            static_cast<std::uint64_t>(m.config().wake_each_ps));
}

TEST(Timer, OfAParkThatDoesNotSleepIsForgotten) {
  SimMachine m(timers_only(10'000'000));
  M::Word word(1);
  const Site site = m.site("word");
  m.spawn("awake", [&]() -> Task<> {
    const ParkResult result = co_await m.park(word, 0, site, 1'000);
    EXPECT_EQ(result, ParkResult::changed);
    co_await m.sleep(1'000'000);
  });
  m.run();
  EXPECT_EQ(work_of(m), 30'000'000U);  // set, set, ended
}

TEST(Timer, ThatIsForgottenIsInNobodysWay) {
  SimMachine m(timers_only(10'000'000));
  M::Word word(1);
  const Site site = m.site("word");
  m.spawn("awake", [&]() -> Task<> {
    const ParkResult result = co_await m.park(word, 0, site, 1'000);
    EXPECT_EQ(result, ParkResult::changed);
  });
  m.spawn("sleeper", [&]() -> Task<> { co_await m.sleep(1'000'000); });
  m.run();
  EXPECT_EQ(work_of(m), 30'000'000U);  // set, set, ended
}

TEST(Timer, IsSetInTimesThatDifferSoThatAShortOneMayGoOffBeforeItsThreadSleeps) {
  constexpr std::uint64_t kSleeps = 1000;
  const auto sleeps_in_11_us = [](Time least_ps, Time most_ps) {
    SimMachine m(
        timers_only(1'000'000, {.cores_per_socket = 1, .set_timer = {.quantiles_ps = {least_ps, most_ps}}}));
    std::uint64_t slept = 0;
    m.spawn("sleeper", [&]() -> Task<> {
      for (std::uint64_t i = 0; i < kSleeps; ++i) {
        const Time before = m.now_ps();
        co_await m.sleep(10'000);
        const Time lasted = m.now_ps() - before;
        EXPECT_TRUE(lasted == 11'000'000 || (lasted >= 10'000'000 && lasted <= most_ps));
        if (lasted == 11'000'000) ++slept;
      }
    });
    m.run();
    return slept;
  };
  EXPECT_EQ(sleeps_in_11_us(5'000'000, 5'000'000), kSleeps);
  EXPECT_EQ(sleeps_in_11_us(15'000'000, 15'000'000), 0U);
  const std::uint64_t drawn = sleeps_in_11_us(5'000'000, 15'000'000);
  EXPECT_GT(drawn, 440U);
  EXPECT_LT(drawn, 560U);
}

TEST(Timer, AnEmulatedDiskIsOne) {
  SimConfig config = timers_only(10'000'000);
  config.fsync_ps = 20'000'000;
  config.disk_fsync.quantiles_ps = {100'000'000};
  config.disk_ps_per_kib = 0;
  const auto run = [&](std::uint32_t is_timer) {
    config.disk_is_timer = is_timer;
    SimMachine m(config);
    SimFile file(m, "file");
    m.spawn("flusher", [&]() -> Task<> { co_await m.fsync(file); });
    m.run();
    return m.now();
  };
  EXPECT_EQ(run(0), 120'000U);
  EXPECT_EQ(run(1), 110'000U);  // it runs from the call on, and its end costs
}

TEST(Timer, OfAnEmulatedDiskRunsFromTheCallOn) {
  SimConfig config = timers_only(10'000'000);
  config.disk_is_timer = true;
  config.disk_fsync.quantiles_ps = {100'000'000};
  config.fsync_ps = config.disk_ps_per_kib = 0;
  SimMachine m(config);
  SimFile file(m, "file");
  m.spawn("flusher", [&]() -> Task<> {
    m.work(50'000);
    co_await m.fsync(file);
  });
  m.run();
  EXPECT_EQ(m.now(), 160'000U);
}

/// When a thread that computes for 100 us ends, beside one whose timer of 50 us goes off; both on one core, or on two.
std::uint64_t end_beside_timers(std::uint32_t cores, Time interrupt_ps, std::uint32_t timers,
                                Time timer_ps = 1'000'000) {
  SimConfig config = timers_only(timer_ps);
  config.cores_per_socket = cores;
  config.timer_interrupt_ps = interrupt_ps;
  config.slice_ps = 1'000'000'000'000;
  config.wakeup_granularity_ps = config.slice_ps;
  SimMachine m(config);
  M::Word word;
  std::uint64_t ended = 0;
  for (std::uint32_t i = 0; i < timers; ++i) {
    m.spawn("sleeper", [&]() -> Task<> { co_await m.sleep(50'000); });
  }
  m.spawn("worker", [&]() -> Task<> {
    m.work(100'000);
    co_await m.load(word);
    ended = m.now();
  });
  m.run();
  return ended;
}

TEST(TimerInterrupt, HoldsUpWhoComputesOnItsCpu) {
  EXPECT_EQ(end_beside_timers(1, 0, 1), 101'000U);  // the sleeper set its timer first
  EXPECT_EQ(end_beside_timers(1, 15'000'000, 1), 116'000U);
  EXPECT_EQ(end_beside_timers(2, 15'000'000, 1), 100'000U);  // that of the other core
}

TEST(TimerInterrupt, IsOneForAllThatGoOffMeanwhile) {
  EXPECT_EQ(end_beside_timers(1, 15'000'000, 3), end_beside_timers(1, 15'000'000, 1));
}

TEST(TimerInterrupt, IsNoneWhereTimersAreFree) {
  EXPECT_EQ(end_beside_timers(1, 15'000'000, 1, 0), 100'000U);
}

TEST(TimerInterrupt, CostsOnAnIdleCpuWhatSettingTheNextOneDoes) {
  SimMachine m(timers_only(10'000'000, {.cores_per_socket = 1, .timer_interrupt_ps = 15'000'000}));
  m.spawn("sleeper", [&]() -> Task<> { co_await m.sleep(50'000); });
  m.run();
  EXPECT_EQ(work_of(m), 20'000'000U);
}

TEST(TimerInterrupt, ComesThoughItsThreadWasWokenElsewhere) {
  // Round robin: who wakes goes to the second core, which is idle by then; its timer lies on the first.
  const auto worker_ends = [](Time interrupt_ps) {
    SimConfig config = timers_only(1'000'000);
    config.cores_per_socket = 2;
    config.tick_ps = config.slice_ps = 1'000'000'000'000;
    config.unpark_ps = config.wake_each_ps = 0;
    config.timer_interrupt_ps = interrupt_ps;
    SimMachine m(config);
    M::Word word;
    const Site site = m.site("word");
    std::uint64_t ended = 0;
    m.spawn("sleeper", [&]() -> Task<> {
      const ParkResult result = co_await m.park(word, 0, site, 60'000);
      EXPECT_EQ(result, ParkResult::woken);
    });
    m.spawn("short", [&]() -> Task<> {
      m.work(5'000);
      co_return;
    });
    m.spawn("worker", [&]() -> Task<> {
      m.work(10'000);
      co_await m.unpark(word, 1);
      co_await compute(m, 200'000);
      ended = m.now();
    });
    m.run();
    return ended;
  };
  EXPECT_EQ(worker_ends(15'000'000), worker_ends(0) + 15'000);
}

TEST(TimerInterrupt, KeepsWhoSpinsFromSeeingAChange) {
  SimMachine m(timers_only(1'000, {.cores_per_socket = 2,
                                   .slice_ps = 1'000'000'000'000,
                                   .tick_ps = 1'000'000'000'000,
                                   .timer_interrupt_ps = 15'000'000}));
  M::Word word;
  std::uint64_t seen = 0;
  m.spawn("sleeper",
          [&]() -> Task<> { co_await m.sleep(50'000); });  // its timer lies where the spinner will be
  m.spawn("setter", [&]() -> Task<> {
    co_await compute(m, 52'000);
    co_await m.store(word, 1);
  });
  m.spawn("spinner", [&]() -> Task<> {
    co_await m.spin_until(word, equals(1), Spin{Spin::kForEver, 1});
    seen = m.now();
  });
  m.run();
  EXPECT_NEAR(static_cast<double>(seen), 65'000.0, 200.0);
}

TEST(Scheduler, WhatAWokenThreadTakesIsItsOwn) {
  const auto ends = [](Time woken_ps) {
    SimMachine m(
        timers_only(0, {.cores_per_socket = 2, .unpark_ps = 0, .wake_each_ps = 0, .woken_ps = woken_ps}));
    M::Word word;
    const Site site = m.site("word");
    std::pair<std::uint64_t, std::uint64_t> at;
    m.spawn("sleeper", [&]() -> Task<> {
      M::Word mine;
      co_await m.park(word, 0, site);
      co_await m.load(mine);
      at.first = m.now();
    });
    m.spawn("waker", [&]() -> Task<> {
      m.work(1'000);
      co_await m.unpark(word, 1);
      at.second = m.now();
    });
    m.run();
    return at;
  };
  EXPECT_EQ(ends(0), (std::pair<std::uint64_t, std::uint64_t>{1'000, 1'000}));
  EXPECT_EQ(ends(2'000'000), (std::pair<std::uint64_t, std::uint64_t>{3'000, 1'000}));
}

TEST(Scheduler, TheSystemCountsSomeOfAWakeUpAsTheWokenThreads) {
  const auto cpu_ns = [](Time counted_ps, bool is_woken) {
    SimConfig config = timers_only(0);
    config.cores_per_socket = 2;
    config.unpark_ps = config.wake_each_ps = 0;
    config.wake.quantiles_ps = {20'000'000};
    config.wake_counted_ps = counted_ps;
    SimMachine m(config);
    M::Word word;
    const Site site = m.site("word");
    m.spawn("sleeper", [&]() -> Task<> { co_await m.park(word, 0, site, is_woken ? 1'000'000 : 100'000); });
    m.spawn("waker", [&]() -> Task<> {
      m.work(200'000);
      if (is_woken) co_await m.unpark(word, 1);
      co_return;
    });
    m.run();
    return std::pair{m.cpu_ns(), m.now()};
  };
  const auto [before, ended] = cpu_ns(0, true);
  EXPECT_EQ(cpu_ns(5'000'000, true), (std::pair{before + 5'000, ended}));  // counted, and no later
  EXPECT_EQ(cpu_ns(50'000'000, true).first, before + 20'000);              // not more than there is
  EXPECT_EQ(cpu_ns(5'000'000, false), cpu_ns(0, false));                   // by its timer
}

Task<> twice(SimMachine& m) {
  const auto once = [](SimMachine& machine) -> Task<> {
    machine.work(10);
    co_return;
  };
  co_await once(m);
  co_await once(m);
}

TEST(Tasks, ACallCostsWhoCallsAndNotWhatOtherRunsCalled) {
  SimConfig config = timers_only(0);
  config.cores_per_socket = 2;
  config.task_ps = 5'000;
  SimMachine m(config);
  std::uint64_t alone = 0;
  std::uint64_t calls = 0;
  m.spawn("caller", [&]() -> Task<> {
    M::Word mine;
    co_await m.load(mine);
    const Time before = m.now_ps();
    co_await twice(m);
    co_await m.load(mine);
    calls = static_cast<std::uint64_t>(m.now_ps() - before);
  });
  m.spawn("alone", [&]() -> Task<> {
    M::Word mine;
    co_await m.load(mine);
    const Time before = m.now_ps();
    m.work(20);
    co_await m.load(mine);
    alone = static_cast<std::uint64_t>(m.now_ps() - before);
  });
  m.run();
  EXPECT_EQ(calls, 20'000U + 3 * 5'000U);
  EXPECT_EQ(alone, 20'000U);
  SimMachine after(config);
  std::uint64_t first = 1;
  after.spawn("first", [&]() -> Task<> {
    M::Word mine;
    co_await after.load(mine);
    first = static_cast<std::uint64_t>(after.now_ps());
  });
  after.run();
  EXPECT_EQ(first, 5'000U);  // its own start
}

TEST(Clock, ALookAtItTakesTime) {
  SimMachine m(timers_only(0, {.cores_per_socket = 1, .clock_ps = 25'000}));
  m.spawn("onlooker", [&]() -> Task<> {
    EXPECT_EQ(m.now(), 0U);
    EXPECT_EQ(m.now(), 25U);
    co_return;
  });
  m.run();
  EXPECT_EQ(m.now(), 50U);
}

/// One core on which nothing costs anything but interruptions.
SimConfig interrupted(Time every_ps, Time length_ps) {
  return timers_only(
      0, {.cores_per_socket = 1, .interrupt_every_ps = every_ps, .interrupt = {.quantiles_ps = {length_ps}}});
}

TEST(Interruptions, TakeTheirShareOfWhoComputes) {
  SimMachine m(interrupted(1'000'000'000, 50'000'000));  // 50 us per ms
  constexpr std::uint64_t kPieces = 20'000;
  M::Word word;
  m.spawn("worker", [&]() -> Task<> {
    for (std::uint64_t i = 0; i < kPieces; ++i) {
      m.work(1'000'000);
      co_await m.load(word);
    }
  });
  m.run();
  // As many as there are ms, four standard deviations: 4 * sqrt(20000) * 50 us.
  const double expected = kPieces * 1'050'000.0;
  EXPECT_NEAR(static_cast<double>(m.now()), expected, 4 * 141.5 * 50'000);
  EXPECT_NE(static_cast<double>(m.now()), expected);  // drawn, not by the clock
}

TEST(Interruptions, DoNotHappenToAnIdleCpu) {
  SimMachine m(interrupted(1'000'000, 50'000'000));
  m.spawn("sleeper", [&]() -> Task<> { co_await m.sleep(1'000'000); });
  m.run();
  EXPECT_EQ(m.now(), 1'000'000U);
}

TEST(Interruptions, KeepASpinningThreadFromSeeingAChangeOnlyWhileTheyLast) {
  SimConfig config = interrupted(1'000'000'000, 100'000'000);
  config.cores_per_socket = 2;
  SimMachine m(config);
  M::Word word;
  std::uint64_t changed_at = 0;
  std::uint64_t late = 0;
  std::uint64_t most = 0;
  constexpr std::uint64_t kTurns = 5'000;
  m.spawn("setter", [&]() -> Task<> {
    for (std::uint64_t i = 1; i <= kTurns; ++i) {
      co_await m.sleep(1'000'000);
      changed_at = m.now();
      co_await m.store(word, i);
    }
  });
  m.spawn("spinner", [&]() -> Task<> {
    for (std::uint64_t i = 1; i <= kTurns; ++i) {
      co_await m.spin_until(word, at_least(i), Spin{Spin::kForEver, 1});
      const std::uint64_t after = m.now() - changed_at;
      late += after > 1'000;
      most = std::max(most, after);
    }
  });
  m.run();
  // A change finds one in a tenth of the cases, an interruption of 100 us each ms of looking: 1 - exp(-0.1).
  EXPECT_NEAR(static_cast<double>(late) / kTurns, 0.095, 4 * std::sqrt(0.095 / kTurns));
  EXPECT_LE(most, 101'000U);
}

TEST(Interruptions, LetATimerGoOffBeforeItsThreadSleeps) {
  const auto idle = [](Time length_ps) {
    SimConfig config = interrupted(1, length_ps);  // each step is interrupted
    config.timer_ps = 10;
    SimMachine m(config);
    m.spawn("sleeper", [&]() -> Task<> {
      for (int i = 0; i < 10; ++i) co_await m.sleep(100'000);
    });
    m.run();
    return m.core_times()[0][Purpose::idle];
  };
  EXPECT_EQ(idle(200'000'000), 0U);
  EXPECT_GT(idle(1'000), 900'000'000U);
}

TEST(Scheduler, WakingAThreadOnAnIdleCpuCostsTheWaker) {
  const auto took = [](Time kick_ps, std::uint32_t cores) {
    SimMachine m(timers_only(0, {.cores_per_socket = cores, .kick_ps = kick_ps}));
    M::Word word;
    const Site site = m.site("word");
    Time time = 0;
    m.spawn("sleeper", [&]() -> Task<> { co_await m.park(word, 0, site); });
    m.spawn("waker", [&]() -> Task<> {
      m.work(100'000);
      co_await m.load(word);
      const Time start = m.now_ps();
      co_await m.unpark(word, 1);
      time = m.now_ps() - start;
    });
    m.run();
    return time;
  };
  EXPECT_EQ(took(11'000'000, 2) - took(0, 2), 11'000'000);
  EXPECT_EQ(took(11'000'000, 1), took(0, 1));  // it waits for the waker's own CPU
}

TEST(CacheLines, AnAwaitCostsWhatTheProgramDoesAroundIt) {
  SimMachine m(timers_only(0, {.cores_per_socket = 1, .await_ps = 30'000}));
  M::Word word;
  m.spawn("adder", [&] { return add_often(m, word, 1000); });
  m.run();
  EXPECT_EQ(m.now_ps(), 30'000'000);
}

TEST(Scheduler, ASwitchCostsWhatItSays) {
  SimMachine m(
      {.cores_per_socket = 1, .switch_ps = 500'000, .wake = {.quantiles_ps = {0}}, .slice_ps = 1'000'000});
  for (int i = 0; i < 2; ++i) {
    m.spawn("worker", [&]() -> Task<> {
      m.work(10'000);
      co_return;
    });
  }
  m.run();
  EXPECT_EQ(m.core_times()[0][Purpose::switching], 20U * 500'000);
  EXPECT_EQ(m.core_times()[0][Purpose::work], 20'000'000U);
}

/// How long each of `n` wake-ups of a thread on an idle CPU takes.
std::vector<double> wake_ups(const SimConfig& config, std::uint64_t n) {
  SimMachine m(config);
  M::Word bell;
  const machine::Site site = m.site("bell");
  std::vector<Time> rung(n);
  std::vector<double> took_ns(n);
  m.spawn("sleeper", [&]() -> Task<> {
    for (std::uint64_t i = 0; i < n; ++i) {
      for (std::uint64_t rings = i; rings == i;) {
        rings = co_await m.load(bell);
        if (rings == i) co_await m.park(bell, i, site);
      }
      took_ns[i] = static_cast<double>(m.now_ps() - rung[i]) / 1'000;
    }
  });
  m.spawn("ringer", [&]() -> Task<> {
    for (std::uint64_t i = 0; i < n; ++i) {
      m.work(1'000'000);
      co_await m.store(bell, i + 1);
      rung[i] = m.now_ps();
      co_await m.unpark(bell, 1);
    }
  });
  m.run();
  return took_ns;
}

TEST(Scheduler, AWakeUpTakesATimeDrawnFromItsQuantiles) {
  SimConfig config{.wake = {.quantiles_ps = {10'000'000, 20'000'000, 100'000'000}}};
  std::vector<double> took_ns = wake_ups(config, 4'000);
  std::ranges::sort(took_ns);
  config.wake.quantiles_ps = {0};
  const double without = wake_ups(config, 1)[0];
  EXPECT_NEAR(took_ns.front() - without, 10'000, 100);
  EXPECT_NEAR(took_ns[took_ns.size() / 4] - without, 15'000, 500);
  EXPECT_NEAR(took_ns[took_ns.size() / 2] - without, 20'000, 1'500);
  EXPECT_NEAR(took_ns[3 * took_ns.size() / 4] - without, 60'000, 3'000);
  EXPECT_NEAR(took_ns.back() - without, 100'000, 500);
}

TEST(Scheduler, RefusesAWakeUpThatTakesLessThanNothing) {
  SimConfig config{.wake = {.quantiles_ps = {1'000, -1}}};
  EXPECT_THROW(SimMachine{config}, std::invalid_argument);
  config.wake.quantiles_ps.clear();
  EXPECT_THROW(SimMachine{config}, std::invalid_argument);
}

TEST(Scheduler, ABusySiblingSlowsAHardwareThread) {
  const auto time = [](std::uint32_t threads) {
    SimMachine m({.cores_per_socket = 1,
                  .threads_per_core = 2,
                  .smt_permille = 500,
                  .switch_ps = 0,
                  .wake = {.quantiles_ps = {0}}});
    M::Word words[2];
    for (std::uint32_t i = 0; i < threads; ++i) {
      m.spawn("worker", [&m, &word = words[i]]() -> Task<> {
        for (int k = 0; k < 1000; ++k) {
          m.work(1000);
          co_await m.load(word);
        }
      });
    }
    m.run();
    return m.now();
  };
  EXPECT_NEAR(static_cast<double>(time(2)), 2.0 * static_cast<double>(time(1)), 10'000.0);
}

TEST(Disk, TakesTheTimeAndTheBytesAndOneAtATime) {
  SimConfig config;
  config.wake.quantiles_ps = {0};
  config.switch_ps = config.pwrite_ps = config.pwrite_ps_per_kib = config.fsync_ps = 0;
  config.disk_fsync.quantiles_ps = {100'000'000};
  config.disk_ps_per_kib = 1'000'000;
  SimMachine m(config);
  SimFile file(m, "file");
  const std::vector<std::byte> bytes(10'240);
  m.spawn("writer", [&]() -> Task<> {
    co_await m.pwrite(file, 0, bytes);
    co_await m.fsync(file);
  });
  m.run();
  EXPECT_EQ(m.now(), 110'000U);
  for (int i = 0; i < 3; ++i) m.spawn("syncer", [&]() -> Task<> { co_await m.fsync(file); });
  m.run();
  EXPECT_EQ(m.now(), 410'000U);
}

/// A flag and an event. The mistake: the signal count is read after the look at the flag, not before, so that
/// a signal between the two is waited for in vain.
struct Mailbox {
  explicit Mailbox(M& m) : event(m, "mailbox") {}
  sync::Event<M> event;
  M::Word is_full;
};

Task<> receive(M& m, Mailbox& box, bool is_wrong) {
  std::uint64_t seen = co_await box.event.reset(m);
  for (;;) {
    const std::uint64_t is_full = co_await m.load(box.is_full);
    if (is_full != 0) co_return;
    if (is_wrong) seen = co_await box.event.reset(m);
    co_await box.event.wait(m, seen);
    seen = co_await box.event.reset(m);
  }
}

Task<> send(M& m, Mailbox& box) {
  m.work(m.random() % 2000);
  co_await m.store(box.is_full, 1);
  co_await box.event.set(m);
}

std::uint64_t stalls_of_mailbox(bool is_wrong) {
  std::uint64_t stalls = 0;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    SimMachine m({.seed = seed, .random_schedule = true});
    Mailbox box(m);
    m.spawn("receiver", [&] { return receive(m, box, is_wrong); });
    m.spawn("sender", [&] { return send(m, box); });
    try {
      m.run();
    } catch (const Stalled& stalled) {
      ++stalls;
      EXPECT_NE(std::string(stalled.what()).find("receiver 0 is parked on mailbox"), std::string::npos);
    }
  }
  return stalls;
}

TEST(RandomSchedules, FindAPlantedLostWakeUp) {
  EXPECT_EQ(stalls_of_mailbox(false), 0U);
  EXPECT_GT(stalls_of_mailbox(true), 0U);
}

/// Data published by a flag. The mistake: the flag is set before the data.
Task<> publish(M& m, M::Word& data, M::Word& is_there, bool is_wrong) {
  m.work(m.random() % 1000);
  co_await m.store(is_wrong ? is_there : data, 42);
  co_await m.store(is_wrong ? data : is_there, 42);
}

Task<> look(M& m, M::Word& data, M::Word& is_there, std::uint64_t& torn) {
  co_await m.spin_until(is_there, equals(42), {});
  const std::uint64_t seen = co_await m.load(data);
  if (seen != 42) ++torn;
}

std::uint64_t torn_reads(bool is_wrong) {
  std::uint64_t torn = 0;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    SimMachine m({.seed = seed, .random_schedule = true});
    M::Word data;
    M::Word is_there;
    m.spawn("publisher", [&] { return publish(m, data, is_there, is_wrong); });
    m.spawn("reader", [&] { return look(m, data, is_there, torn); });
    m.run();
  }
  return torn;
}

TEST(RandomSchedules, FindAPlantedOrderingMistake) {
  EXPECT_EQ(torn_reads(false), 0U);
  EXPECT_GT(torn_reads(true), 0U);
}

TEST(RandomSchedules, WithoutTimeoutsAWaitThatOnlyATimeoutEndsIsAStall) {
  const auto run = [](bool no_timeouts) {
    SimMachine m({.no_timeouts = no_timeouts});
    M::Word word;
    m.spawn("waiter", [&]() -> Task<> { co_await m.park(word, 0, m.site("word"), 1'000'000); });
    m.run();
  };
  EXPECT_NO_THROW(run(false));
  EXPECT_THROW(run(true), Stalled);
}

/// A coroutine that is at its end, kept.
struct Ended {
  struct promise_type {
    Ended get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_never initial_suspend() const { return {}; }
    std::suspend_always final_suspend() const noexcept { return {}; }
    void return_void() const {}
    void unhandled_exception() const {}
  };
  std::coroutine_handle<promise_type> self;
};
Ended ended() { co_return; }

TEST(Frames, ThatSayTheyAreDoneThoughTheyWaitEndTheProcessInEveryBuild) {
  SimMachine m(SimConfig{});
  M::Word word;
  const Ended coroutine = ended();
  EXPECT_DEATH(m.load(word).await_suspend(coroutine.self), "laid out wrongly");
  coroutine.self.destroy();
}

TEST(Arguments, ARefusalHoldsTheValueReceived) {
  SimConfig config{.sockets = 0};
  EXPECT_THROW(SimMachine{config}, std::invalid_argument);
  config.sockets = 1000;
  EXPECT_THROW(SimMachine{config}, std::invalid_argument);
}

TEST(SimConfig, EveryMemberButTheSeedIsAnOption) {
  EXPECT_EQ(tests::described_members<SimConfig>(), tests::members<SimConfig>() - 1);
}

}  // namespace
}  // namespace engineroom::machine
