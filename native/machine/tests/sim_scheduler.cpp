// Where the simulated machine lets threads run, whom it wakes, and what it takes them for: the nearest first, in their order.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "machine/random.hpp"
#include "machine/sim_machine.hpp"

namespace engineroom::machine {
namespace {

using M = SimMachine;

constexpr std::uint64_t kUs = 1000;

SimConfig exact(std::uint32_t sockets, std::uint32_t cores_per_socket, std::uint32_t threads_per_core = 1) {
  return {.sockets = sockets,
          .cores_per_socket = cores_per_socket,
          .threads_per_core = threads_per_core,
          .smt_permille = 1000,
          .switch_ps = 0,
          .wake = {.quantiles_ps = {0}},
          .timer_slack_ps = 0,
          .trace_intervals = 10'000};
}

/// The CPU on which a thread began to run at this time, or -1.
std::int32_t cpu_at(const M& m, std::uint32_t thread, std::uint64_t ns) {
  for (const Interval& each : m.trace()) {
    const bool is_then = each.start_ps <= ns * 1000 && ns * 1000 < each.end_ps;
    if (each.thread == thread && each.core >= 0 && is_then) return each.core;
  }
  return -1;
}

/// Threads 0 to n - 1 begin on the CPUs 0 to n - 1. Those in `sleepers` sleep until 50 us; all CPUs are busy then until 800 us,
/// but the CPU `free` is until 100 us.
struct Queued {
  Queued(const SimConfig& config, const std::vector<std::uint32_t>& sleepers, std::uint32_t free)
      : m(config) {
    const std::uint32_t n = config.cpus();
    for (std::uint32_t cpu = 0; cpu < n; ++cpu) {
      const bool sleeps = std::ranges::find(sleepers, cpu) != sleepers.end();
      m.spawn("first", [this, sleeps]() -> Task<> {
        if (!sleeps) co_return;
        co_await m.sleep(50 * kUs);
        m.work(20 * kUs);
        co_await m.yield();
      });
    }
    m.run_on(10 * kUs);
    for (std::uint32_t cpu = 0; cpu < n; ++cpu) {
      m.spawn("busy", [this, cpu, free]() -> Task<> {
        m.work((cpu == free ? 90 : 790) * kUs);
        co_await m.yield();
      });
    }
    m.run();
  }
  M m;
};

TEST(Places, ACpuThatHasNothingToDoTakesAThreadThatWaitsForAnother) {
  for (std::uint32_t queued = 0; queued < 6; ++queued) {
    for (std::uint32_t free = 0; free < 6; ++free) {
      if (queued == free) continue;
      Queued run(exact(3, 2), {queued}, free);
      EXPECT_EQ(cpu_at(run.m, queued, 110 * kUs), static_cast<std::int32_t>(free)) << queued << " " << free;
    }
  }
}

TEST(Places, OfTwoThatWaitItTakesThatOfTheNearestCpu) {
  for (std::uint32_t one = 0; one < 6; ++one) {
    for (std::uint32_t two = one + 1; two < 6; ++two) {
      for (std::uint32_t free = 0; free < 6; ++free) {
        if (free == one || free == two) continue;
        const auto shares_socket = [&](std::uint32_t cpu) { return cpu / 3 == free / 3; };
        if (shares_socket(one) == shares_socket(two)) continue;
        Queued run(exact(2, 3), {one, two}, free);
        const std::uint32_t near = shares_socket(one) ? one : two;
        EXPECT_EQ(cpu_at(run.m, near, 110 * kUs), static_cast<std::int32_t>(free))
            << one << " " << two << " " << free;
      }
    }
  }
}

TEST(Places, AThreadWakesWhereItRanIfThatIsIdle) {
  M m(exact(2, 4));
  for (int i = 0; i < 8; ++i) {
    m.spawn("thread", [&]() -> Task<> {
      for (int n = 0; n < 3; ++n) {
        m.work(5 * kUs);
        co_await m.sleep(20 * kUs);
      }
    });
  }
  m.run();
  std::map<std::uint32_t, std::set<std::int32_t>> cores;
  for (const Interval& each : m.trace()) {
    if (each.core >= 0) cores[each.thread].insert(each.core);
  }
  ASSERT_EQ(cores.size(), 8U);
  for (const auto& [thread, of_thread] : cores) {
    EXPECT_EQ(of_thread, (std::set<std::int32_t>{static_cast<std::int32_t>(thread)}));
  }
}

/// Thread 0 runs on CPU 0, sleeps, and wakes at 50 us when the CPUs in `busy` are; where it runs then.
std::int32_t woken_on(const SimConfig& config, const std::set<std::uint32_t>& busy) {
  M m(config);
  m.spawn("sleeper", [&]() -> Task<> {
    co_await m.sleep(50 * kUs);
    m.work(20 * kUs);
    co_await m.yield();
  });
  for (std::uint32_t cpu = 1; cpu < config.cpus(); ++cpu) m.spawn("ends", []() -> Task<> { co_return; });
  m.run_on(10 * kUs);
  for (std::uint32_t cpu = 0; cpu < config.cpus(); ++cpu) {
    m.spawn("other", [&m, works = busy.contains(cpu)]() -> Task<> {
      if (works) m.work(500 * kUs);
      co_await m.yield();
    });
  }
  m.run();
  return cpu_at(m, 0, 60 * kUs);
}

TEST(Places, AThreadWhoseCpuIsBusyWakesOnTheNearestIdleOne) {
  EXPECT_EQ(woken_on(exact(2, 3), {}), 0);
  EXPECT_EQ(woken_on(exact(2, 3), {0}), 1);
  EXPECT_EQ(woken_on(exact(2, 3), {0, 1}), 2);
  EXPECT_EQ(woken_on(exact(2, 3), {0, 1, 2}), 3);
  EXPECT_EQ(woken_on(exact(2, 3), {0, 1, 2, 3}), 4);
  EXPECT_EQ(woken_on(exact(2, 3), {0, 1, 2, 3, 4}), 5);
}

/// The rule, plainly: where it ran if that core is idle; in its socket, and then in the next ones, an idle core; in the same
/// order any idle CPU, of its own socket where it ran.
std::int32_t nearest(const SimConfig& config, std::uint32_t before, const std::set<std::uint32_t>& busy) {
  const std::uint32_t per_core = config.threads_per_core;
  const std::uint32_t per_socket = config.cores_per_socket * per_core;
  const auto is_idle = [&](std::uint32_t cpu) { return !busy.contains(cpu); };
  const auto core_is_idle = [&](std::uint32_t cpu) {
    const std::uint32_t first = cpu - cpu % per_core;
    return std::ranges::none_of(
        busy, [&](std::uint32_t other) { return first <= other && other < first + per_core; });
  };
  if (core_is_idle(before)) return static_cast<std::int32_t>(before);
  for (std::uint32_t turn = 0; turn < config.sockets; ++turn) {
    const std::uint32_t from = (before / per_socket + turn) % config.sockets * per_socket;
    std::vector<std::uint32_t> idle;
    for (std::uint32_t cpu = from; cpu < from + per_socket; ++cpu) {
      if (is_idle(cpu)) idle.push_back(cpu);
    }
    const auto whole = std::ranges::find_if(idle, core_is_idle);
    if (whole != idle.end()) return static_cast<std::int32_t>(*whole);
    if (turn == 0 && is_idle(before)) return static_cast<std::int32_t>(before);
    if (!idle.empty()) return static_cast<std::int32_t>(idle[0]);
  }
  return -1;
}

TEST(Places, AThreadWakesOnAnIdleCoreRatherThanBesideABusySibling) {
  std::map<std::int32_t, int> found;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    SimConfig config = exact(3, 2, 2);
    config.seed = seed;
    Random random(seed);
    const auto sleeper = static_cast<std::uint32_t>(seed % config.cpus());
    M m(config);
    for (std::uint32_t cpu = 0; cpu < config.cpus(); ++cpu) {
      const bool sleeps = cpu == sleeper;
      m.spawn("first", [&m, sleeps]() -> Task<> {
        if (!sleeps) co_return;
        m.work(1 * kUs);
        co_await m.sleep(49 * kUs);
        m.work(20 * kUs);
        co_await m.yield();
      });
    }
    m.run_on(10 * kUs);
    const std::uint64_t others = random.below(16);
    for (std::uint64_t i = 0; i < others; ++i) {
      m.spawn("other", [&m, ns = random.below(2) * 500 * kUs]() -> Task<> {
        m.work(ns);
        co_await m.yield();
      });
    }
    m.run();
    std::uint32_t before = 0;
    std::set<std::uint32_t> busy;
    for (const Interval& each : m.trace()) {
      if (each.core < 0) continue;
      const auto core = static_cast<std::uint32_t>(each.core);
      if (each.thread == sleeper && each.start_ps < 50'000'000) before = core;
      if (each.thread != sleeper && each.start_ps < 50'000'000 && each.end_ps > 50'000'000) busy.insert(core);
    }
    const std::int32_t expected = nearest(config, before, busy);
    if (expected < 0) continue;
    ASSERT_EQ(cpu_at(m, sleeper, 60 * kUs), expected) << seed;
    ++found[expected];
  }
  EXPECT_GT(found.size(), 5U);
}

TEST(Parks, EndInTheirOrderAndAsManyAsAreAskedFor) {
  M m(exact(1, 6));
  M::Words words(2);  // on one line
  const Site site = m.site("word");
  std::vector<int> woken;
  for (int i = 0; i < 5; ++i) {
    m.spawn("parked", [&, i]() -> Task<> {
      co_await m.sleep(10 * kUs * static_cast<std::uint64_t>(i + 1));
      const ParkResult result = co_await m.park(words[i == 2 ? 1 : 0], 0, site);
      EXPECT_EQ(result, ParkResult::woken);
      woken.push_back(i);
    });
  }
  std::vector<std::uint64_t> counts;
  m.spawn("waker", [&]() -> Task<> {
    for (const std::uint64_t n : {0U, 1U, 2U, 5U}) {
      co_await m.sleep(200 * kUs);
      counts.push_back(co_await m.unpark(words[0], n));
    }
    counts.push_back(co_await m.unpark(words[1], kAllWaiters));
    counts.push_back(co_await m.unpark(words[1], kAllWaiters));
  });
  m.run();
  EXPECT_EQ(counts, (std::vector<std::uint64_t>{0, 1, 2, 1, 1, 0}));
  EXPECT_EQ(woken, (std::vector<int>{0, 1, 3, 4, 2}));
}

TEST(Parks, OfWhichOneInTheMiddleGaveUpKeepTheirOrder) {
  for (int gives_up = 0; gives_up < 4; ++gives_up) {
    M m(exact(1, 6));
    M::Word word;
    const Site site = m.site("word");
    std::vector<int> woken;
    std::vector<int> expected;
    for (int i = 0; i < 4; ++i) {
      if (i != gives_up) expected.push_back(i);
      m.spawn("parked", [&, i]() -> Task<> {
        co_await m.sleep(10 * kUs * static_cast<std::uint64_t>(i + 1));
        const ParkResult result = co_await m.park(word, 0, site, i == gives_up ? 100 * kUs : kForEver);
        EXPECT_EQ(result, i == gives_up ? ParkResult::timed_out : ParkResult::woken);
        if (i != gives_up) woken.push_back(i);
      });
    }
    m.spawn("waker", [&]() -> Task<> {
      for (int i = 0; i < 4; ++i) {
        co_await m.sleep(200 * kUs);
        const std::uint64_t n = co_await m.unpark(word, 1);
        EXPECT_EQ(n, i < 3 ? 1U : 0U);
      }
    });
    m.run();
    EXPECT_EQ(woken, expected) << gives_up;
  }
}

TEST(Spins, InVainTakeALookAndAllTheirRounds) {
  const SimConfig config = exact(1, 2);
  for (const std::uint64_t rounds : {1U, 2U, 5U, 100U}) {
    M m(config);
    M::Word word;
    m.spawn("spins", [&]() -> Task<> {
      co_await m.load(word);
      const Time start = m.now_ps();
      const SpinResult spun = co_await m.spin_until(word, equals(1), {.rounds = rounds, .pauses = 10});
      EXPECT_FALSE(spun.holds);
      EXPECT_EQ(spun.rounds, rounds);
      // But for the load of the look that ends it.
      const Time expected =
          config.load_ps + static_cast<Time>(rounds) * (config.load_ps + 10 * config.pause_ps);
      EXPECT_GE(m.now_ps() - start, expected);
      EXPECT_LE(m.now_ps() - start, expected + config.load_ps);
    });
    m.run();
  }
}

TEST(Spins, ThatNeedNotLookAgainTakeWhatALoadDoes) {
  const auto took = [](bool spins) {
    M m(exact(2, 1));
    M::Word word;
    Time took_ps = 0;
    m.spawn("writes", [&]() -> Task<> { co_await m.store(word, 1); });
    m.spawn("looks", [&]() -> Task<> {
      m.work(10 * kUs);
      co_await m.yield();
      const Time start = m.now_ps();
      if (spins) {
        co_await m.spin_until(word, equals(1), Spin{});
      } else {
        co_await m.load(word);
      }
      took_ps = m.now_ps() - start;
    });
    m.run();
    return took_ps;
  };
  EXPECT_EQ(took(true), took(false));
  EXPECT_GT(took(false), exact(2, 1).other_socket_ps);
}

constexpr std::uint64_t kMs = 1000 * kUs;

/// Virtual run time, or for a latency of 0 none, with the numbers of Linux 5.19.
SimConfig fair(std::uint32_t cpus, Time latency_ps) {
  SimConfig config = exact(1, cpus);
  config.slice_ps = 3'000'000'000;
  config.wakeup_granularity_ps = 4'000'000'000;
  config.latency_ps = latency_ps;
  config.trace_intervals = 0;
  return config;
}
constexpr Time kLatencyPs = 24'000'000'000;

/// A thread that computes in pieces and sleeps between them; how many pieces it got done.
struct Piecewise {
  std::uint64_t work_ns;
  std::uint64_t sleep_ns = 0;
  std::uint64_t begins_ns = 0;
};
std::vector<std::uint64_t> pieces_in(const SimConfig& config, std::uint64_t ns, std::size_t spinners,
                                     const std::vector<Piecewise>& threads) {
  M m(config);
  M::Word never;
  std::vector<std::uint64_t> done(threads.size(), 0);
  for (std::size_t i = 0; i < spinners; ++i) {
    m.spawn("spinner",
            [&]() -> Task<> { co_await m.spin_until(never, equals(1), {.rounds = Spin::kForEver}); });
  }
  for (std::size_t i = 0; i < threads.size(); ++i) {
    m.spawn("thread", [&, i]() -> Task<> {
      if (threads[i].begins_ns > 0) co_await m.sleep(threads[i].begins_ns);
      M::Word own;
      while (!m.stopping()) {
        m.work(threads[i].work_ns);
        co_await m.add(own, 1);
        ++done[i];
        if (threads[i].sleep_ns > 0) co_await m.sleep(threads[i].sleep_ns);
      }
    });
  }
  m.run_for(ns);
  return done;
}

TEST(Shares, ThreadsThatSleepGetTheCpuBeforeThoseThatSpin) {
  // Each of them wants a tenth of a CPU, less than its share beside as many that spin as there are CPUs.
  for (const std::uint32_t cpus : {1U, 2U, 4U}) {
    const std::vector<Piecewise> sleepers(std::size_t{4} * cpus,
                                          {.work_ns = 100 * kUs, .sleep_ns = 900 * kUs});
    for (const bool counts : {true, false}) {
      for (const std::uint64_t pieces :
           pieces_in(fair(cpus, counts ? kLatencyPs : 0), 1000 * kMs, cpus, sleepers)) {
        // Of a thousand if nobody else had the CPUs. Others that compute may be in the way, at most all of a CPU's.
        if (counts) {
          EXPECT_GE(pieces, 700U) << cpus;
        } else {
          EXPECT_LE(pieces, 400U) << cpus;  // a spinning thread keeps its CPU for 3 ms at a time
        }
      }
    }
  }
}

TEST(Shares, ThreadsThatComputeGetTheSameWhateverTheirPieces) {
  const std::vector<Piecewise> threads{
      {10 * kUs}, {130 * kUs}, {700 * kUs}, {5000 * kUs}, {20 * kUs, 0, 300 * kMs}};
  const std::vector<std::uint64_t> pieces = pieces_in(fair(1, kLatencyPs), 2300 * kMs, 0, threads);
  // 300 ms for four, and then for five: one that comes later is not given what it has not asked for.
  for (std::size_t i = 0; i < threads.size(); ++i) {
    const double share_ms = (i < 4 ? 75.0 : 0.0) + 400.0;
    EXPECT_NEAR(static_cast<double>(pieces[i] * threads[i].work_ns) / kMs, share_ms, 24.0) << i;
  }
}

TEST(Shares, OneThatHasSleptLongIsNotGivenMoreThanHalfALatency) {
  M m(fair(1, kLatencyPs));
  std::uint64_t waited_ns = 0;  // most, between two turns of the thread that was there
  bool has_slept = false;
  m.spawn("there", [&]() -> Task<> {
    M::Word own;
    std::uint64_t last = m.now();
    while (!m.stopping()) {
      m.work(50 * kUs);
      co_await m.add(own, 1);
      waited_ns = std::max(waited_ns, m.now() - last);
      last = m.now();
    }
  });
  m.spawn("sleeper", [&]() -> Task<> {
    co_await m.sleep(3000 * kMs);
    has_slept = true;
    M::Word own;
    while (!m.stopping()) {
      m.work(50 * kUs);
      co_await m.add(own, 1);
    }
  });
  m.run_for(3200 * kMs);
  EXPECT_TRUE(has_slept);
  EXPECT_GE(waited_ns, 12 * kMs);             // the sleeper catches up with where it was placed
  EXPECT_LE(waited_ns, (12 + 12 + 1) * kMs);  // and has one slice then, of two that share a latency
}

TEST(Shares, EachHasATurnWithinTheLatencyOrTheSlicesOfAll) {
  for (const std::size_t n : {3U, 8U, 20U}) {
    M m(fair(1, kLatencyPs));
    std::uint64_t waited_ns = 0;
    for (std::size_t i = 0; i < n; ++i) {
      m.spawn("thread", [&]() -> Task<> {
        M::Word own;
        std::uint64_t last = m.now();
        while (!m.stopping()) {
          m.work(20 * kUs);
          co_await m.add(own, 1);
          waited_ns = std::max(waited_ns, m.now() - last);
          last = m.now();
        }
      });
    }
    m.run_for(2000 * kMs);
    const std::uint64_t turns_of_all = std::max<std::uint64_t>(24, 3 * n) * kMs;
    EXPECT_LE(waited_ns, 2 * turns_of_all) << n;
    EXPECT_GE(waited_ns, turns_of_all / 4) << n;
  }
}

TEST(Shares, WhoYieldsLetsTheNextPassAndIsNotPunished) {
  const auto turns = [](bool yields) {
    M m(fair(1, kLatencyPs));
    std::vector<std::uint64_t> changes(1, 0);
    std::size_t last = 2;
    for (std::size_t i = 0; i < 2; ++i) {
      m.spawn("thread", [&, i]() -> Task<> {
        M::Word own;
        while (!m.stopping()) {
          m.work(100 * kUs);
          co_await m.add(own, 1);
          changes[0] += last == i ? 0 : 1;
          last = i;
          if (yields) co_await m.yield();
        }
      });
    }
    m.run_for(100 * kMs);
    return changes[0];
  };
  EXPECT_GE(turns(true), 950U);
  EXPECT_LE(turns(false), 20U);
}

TEST(Shares, VirtualRunTimeMakesAnotherRunAndTheSameEachTime) {
  const auto hash = [](Time latency_ps) {
    M m(fair(2, latency_ps));
    M::Word word;
    for (std::uint64_t i = 0; i < 9; ++i) {
      m.spawn("thread", [&, i]() -> Task<> {
        for (std::uint64_t n = 0; n < 30; ++n) {
          m.work((300 + 700 * i) * kUs);
          co_await m.add(word, 1);
          if ((n + i) % 3 == 0) co_await m.sleep(500 * kUs);
        }
      });
    }
    m.run();
    return m.trace_hash();
  };
  EXPECT_NE(hash(kLatencyPs), hash(0));
  EXPECT_EQ(hash(kLatencyPs), hash(kLatencyPs));
}

TEST(Crowd, OneThreadIsUnscaledAllBusyGiveTheFactorAndMoreGainNothing) {
  constexpr std::uint32_t kCores = 8;
  const auto ends_ns = [](std::uint32_t busy) {
    SimConfig config = exact(2, kCores / 2);
    config.all_busy_permille = 500;
    M m(config);
    for (std::uint32_t i = 0; i < busy; ++i) {
      m.spawn("busy", [&m]() -> Task<> {
        co_await m.yield();  // all have begun
        m.work(700 * kUs);
        co_await m.yield();
      });
    }
    m.run();
    return m.now();
  };
  const std::uint64_t alone = ends_ns(1);
  EXPECT_GE(alone, 700 * kUs);
  EXPECT_LE(alone, 702 * kUs);
  EXPECT_GE(ends_ns(kCores), 1'396 * kUs);
  EXPECT_LE(ends_ns(kCores), 1'404 * kUs);
  for (std::uint32_t busy = 2; busy <= kCores; ++busy) EXPECT_GT(ends_ns(busy), ends_ns(busy - 1)) << busy;
}

TEST(Shares, WhatAClientComputesIsNotTheServers) {
  SimConfig config = exact(1, 2);
  config.yield_ps = 0;
  M m(config);
  m.spawn("session", [&]() -> Task<> {
    m.work(300 * kUs);
    co_await m.yield();
    m.work_elsewhere(500 * kUs);
    co_await m.yield();
  });
  m.run();
  EXPECT_EQ(m.cpu_ns(), 300 * kUs);
  std::uint64_t worked_ps = 0;
  for (CoreTime& core : m.core_times()) worked_ps += core[Purpose::work];
  EXPECT_EQ(worked_ps, 800 * kUs * 1000);
}

TEST(Trace, IntervalsOnACpuAreWhatThreadsRanThere) {
  SimConfig config = exact(1, 2);
  config.slice_ps = 100'000'000;
  M m(config);
  M::Word word;
  std::vector<Time> ended;
  for (int i = 0; i < 5; ++i) {
    m.spawn("thread", [&]() -> Task<> {
      for (int n = 0; n < 5; ++n) {
        m.work(70 * kUs);
        co_await m.add(word, 1);
        co_await m.yield();
        if (n == 2) co_await m.sleep(30 * kUs);
      }
    });
  }
  m.run();
  std::map<std::int32_t, std::vector<std::pair<std::uint64_t, std::uint64_t>>> on_core;
  std::uint64_t ran_ps = 0;
  for (const Interval& each : m.trace()) {
    EXPECT_LT(each.start_ps, each.end_ps);
    if (each.core < 0) continue;
    on_core[each.core].emplace_back(each.start_ps, each.end_ps);
    ran_ps += each.end_ps - each.start_ps;
  }
  // One at a time on each CPU, and in all as long as threads computed.
  for (auto& [core, intervals] : on_core) {
    std::ranges::sort(intervals);
    for (std::size_t i = 1; i < intervals.size(); ++i) EXPECT_GE(intervals[i].first, intervals[i - 1].second);
  }
  std::uint64_t charged_ps = 0;
  for (const Activity& node : m.activities().nodes()) {
    charged_ps +=
        node.ps[static_cast<std::size_t>(State::work)] + node.ps[static_cast<std::size_t>(State::memory)];
  }
  EXPECT_EQ(ran_ps, charged_ps);
}

TEST(Trace, ItsHashTellsWhichThreadDidWhat) {
  const auto hash = [](std::uint32_t who, std::uint64_t value, std::uint64_t at_ns) {
    M m(exact(1, 3));
    M::Word word;
    for (std::uint32_t i = 0; i < 3; ++i) {
      m.spawn("thread", [&, i]() -> Task<> {
        m.work(at_ns);
        if (i == who) co_await m.store(word, value);
      });
    }
    m.run();
    return m.trace_hash();
  };
  const std::set<std::uint64_t> all{hash(0, 1, 500), hash(1, 1, 500), hash(2, 1, 500), hash(0, 2, 500),
                                    hash(0, 1, 501)};
  EXPECT_EQ(all.size(), 5U);
  EXPECT_EQ(hash(1, 1, 500), hash(1, 1, 500));
}

}  // namespace
}  // namespace engineroom::machine
