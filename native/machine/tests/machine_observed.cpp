// What the simulated machine tells of a run: all time is accounted for, and whoever waits is named with what it waits for.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "machine/sim_machine.hpp"
#include "sync/event.hpp"
#include "sync/latch.hpp"
#include "sync/rw_latch.hpp"

namespace engineroom::machine {
namespace {

using M = SimMachine;

constexpr std::uint64_t kUs = 1000;

/// Threads that do all that a thread can do, on so few CPUs that they also wait for one.
struct Everything {
  explicit Everything(const SimConfig& config)
      : m(config), file(m, "log"), latch(m, "latch"), event(m, "event"), ended(kThreads) {
    for (std::size_t i = 0; i < kThreads; ++i) {
      m.spawn("thread " + std::to_string(i), [this, i] { return thread(i); });
    }
    m.spawn("signals", [this] { return signals(); });
  }

  Task<> thread(std::size_t i) {
    const std::vector<std::byte> bytes(5000);
    for (std::uint64_t round = 0; round < 20; ++round) {
      const std::uint64_t seen = co_await event.reset(m);
      {
        Scope<M> doing(m, m.site("doing"));
        co_await latch.lock(m);
        m.work(30 * kUs + m.random() % 20'000);
        co_await m.add(shared, 1);
        co_await latch.unlock(m);
      }
      co_await m.sleep(10 * kUs);
      Scope<M> writing(m, m.site("writing"));
      m.copy(nullptr, nullptr, 0);
      co_await m.pwrite(file, 0, bytes);
      if (round % 4 == 0) co_await m.fsync(file);
      if (round % 5 == 1) co_await event.wait(m, seen, 300 * kUs);
      if (round % 7 == 2) co_await m.yield();
      co_await m.spin_until(shared, at_least(20 * kThreads), Spin{20, 10});
    }
    ended[i] = m.now_ps();
    if (++n_ended == kThreads) m.stop();
  }
  Task<> signals() {
    while (!m.stopping()) {
      co_await m.sleep(200 * kUs);
      co_await event.set(m);
    }
    signals_ended = m.now_ps();
  }

  static constexpr std::size_t kThreads = 6;
  M m;
  M::File file;
  sync::Latch<M> latch;
  sync::Event<M> event;
  M::Word shared{};
  std::vector<Time> ended;
  std::size_t n_ended = 0;
  Time signals_ended = 0;
};

SimConfig some_machine(std::uint32_t cores, std::uint32_t threads_per_core) {
  return {.cores_per_socket = cores,
          .threads_per_core = threads_per_core,
          .disk_fsync = {.quantiles_ps = {50'000'000, 150'000'000}}};
}

TEST(Observed, EveryPicosecondOfAThreadIsInOneOfItsStates) {
  Everything run(some_machine(2, 1));
  run.m.run();
  const std::vector<Activity>& nodes = run.m.activities().nodes();
  const auto thread_of = [&](std::uint32_t node) {
    while (nodes[node].parent != 0) node = nodes[node].parent;
    return run.m.names()[nodes[node].site];
  };
  std::map<std::string, std::uint64_t> lived;
  std::uint64_t of_state[kStates] = {};
  for (std::uint32_t node = 1; node < nodes.size(); ++node) {
    for (std::size_t state = 0; state < kStates; ++state) {
      lived[thread_of(node)] += nodes[node].ps[state];
      of_state[state] += nodes[node].ps[state];
    }
  }
  for (std::size_t i = 0; i < Everything::kThreads; ++i) {
    EXPECT_EQ(lived["thread " + std::to_string(i)], static_cast<std::uint64_t>(run.ended[i])) << i;
  }
  EXPECT_EQ(lived["signals"], static_cast<std::uint64_t>(run.signals_ended));
  for (std::size_t state = 0; state < kStates; ++state) EXPECT_GT(of_state[state], 0U) << state;
  EXPECT_TRUE(std::ranges::all_of(nodes[0].ps, [](std::uint64_t ps) { return ps == 0; }));
}

TEST(Observed, TheDifferenceOfTwoTotalsIsWhatTheWindowHad) {
  SimMachine m({.cores_per_socket = 1, .switch_ps = 0, .wake = {.quantiles_ps = {0}}, .timer_slack_ps = 0});
  SimMachine::Word word;
  const Site site = m.site("word");
  m.spawn("sleeper", [&]() -> Task<> { co_await m.sleep(100'000'000); });
  m.spawn("parker", [&]() -> Task<> { co_await m.park(word, 0, site); });
  m.spawn("worker", [&]() -> Task<> {
    while (!m.stopping()) {
      m.work(1'000);
      co_await m.load(word);
      m.waited(site, {.ns = 5, .spin_rounds = 2, .parks = 1});
    }
  });
  m.run_on(3'000'000);
  const Totals before = m.totals();
  const std::size_t waits_before = before.waits[site.id].ns.count();
  m.run_on(7'000'000);
  const Totals seen = m.totals().since(before);
  // The threads that slept and were parked all the time did so for the whole window, and in it alone.
  std::uint64_t sleeping = 0;
  std::uint64_t parked = 0;
  std::uint64_t on_cpu = 0;
  for (const Activity& node : seen.activities) {
    sleeping += node.ps[static_cast<std::size_t>(State::sleeping)];
    parked += node.ps[static_cast<std::size_t>(State::parked)];
    on_cpu +=
        node.ps[static_cast<std::size_t>(State::work)] + node.ps[static_cast<std::size_t>(State::memory)];
  }
  EXPECT_EQ(sleeping, 7'000'000'000U);
  EXPECT_EQ(parked, 7'000'000'000U);
  EXPECT_NEAR(static_cast<double>(on_cpu), 7e9, 2e6);  // what straddles an end is 1 us
  EXPECT_EQ(seen.waits[site.id].ns.count(), m.waits()[site.id].ns.count() - waits_before);
  EXPECT_EQ(seen.waits[site.id].spin_rounds, 2 * seen.waits[site.id].ns.count());
  EXPECT_EQ(seen.waits[site.id].ns.total(), 5 * seen.waits[site.id].ns.count());
  std::uint64_t of_cores = 0;
  for (const std::uint64_t ps : seen.cores[0].ps) of_cores += ps;
  EXPECT_NEAR(static_cast<double>(of_cores), 7e9, 2e6);
}

TEST(Observed, TotalsHaveTheWaitForTheCoreThatIsUnderWay) {
  SimMachine m({.cores_per_socket = 1, .switch_ps = 0, .wake = {.quantiles_ps = {0}}});
  SimMachine::Word word;
  for (int i = 0; i < 2; ++i) {
    m.spawn("worker", [&]() -> Task<> {
      m.work(500'000);
      co_await m.load(word);
    });
  }
  m.run_on(100'000);
  std::uint64_t runnable = 0;
  for (const Activity& node : m.totals().activities)
    runnable += node.ps[static_cast<std::size_t>(State::runnable)];
  EXPECT_EQ(runnable, 100'000'000U) << "one computes, the other has waited all the time";
}

TEST(Observed, WhatAThreadDoesIsInWhatItsCallerDoes) {
  SimConfig config{.trace_intervals = 100};
  M m(config);
  const Site outer = m.site("outer");
  const Site inner = m.site("inner");
  const Site gate = m.site("gate");
  M::Word word{};
  m.spawn("thread", [&]() -> Task<> {
    {
      Scope<M> doing(m, outer);
      m.work(1 * kUs);
      {
        Scope<M> within(m, inner);
        m.work(2 * kUs);
        co_await m.park(word, 0, gate, 100 * kUs);
      }
      m.work(4 * kUs);
    }
    m.work(8 * kUs);
    co_await m.sleep(50 * kUs);
  });
  m.run();
  const std::vector<Activity>& nodes = m.activities().nodes();
  ASSERT_EQ(nodes.size(), 4U);  // the root, the thread, outer, inner
  EXPECT_EQ(m.names()[nodes[1].site], "thread");
  EXPECT_EQ(nodes[2].site, outer.id);
  EXPECT_EQ(nodes[2].parent, 1U);
  EXPECT_EQ(nodes[3].site, inner.id);
  EXPECT_EQ(nodes[3].parent, 2U);
  const auto in = [&](std::size_t node, State state) {
    return nodes[node].ps[static_cast<std::size_t>(state)];
  };
  EXPECT_EQ(in(2, State::work), 5'000'000U);
  EXPECT_EQ(in(3, State::work), 2'000'000U + static_cast<std::uint64_t>(config.park_ps));
  EXPECT_EQ(in(1, State::work), 8'000'000U);
  const auto slack = static_cast<std::uint64_t>(config.timer_slack_ps);
  EXPECT_EQ(in(3, State::parked), 100'000'000U + slack);
  EXPECT_EQ(in(1, State::sleeping), 50'000'000U + slack);
  // The trace has the same: intervals of what it did, and of what it waited for.
  std::uint64_t parked_ps = 0;
  for (const Interval& each : m.trace()) {
    EXPECT_EQ(each.thread, 0U);
    if (each.state == static_cast<std::uint32_t>(State::parked)) {
      EXPECT_EQ(each.site, gate.id);
      EXPECT_EQ(each.core, -1);
      parked_ps += each.end_ps - each.start_ps;
    } else if (each.state == static_cast<std::uint32_t>(State::work)) {
      EXPECT_EQ(each.core, 0);
    }
  }
  EXPECT_EQ(parked_ps, 100'000'000U + slack);
}

TEST(Observed, ATraceKeepsSoManyIntervalsAndCountsTheOthers) {
  const auto kept = [](std::uint64_t most) {
    SimConfig config = some_machine(2, 1);
    config.trace_intervals = most;
    Everything run(config);
    run.m.run();
    return std::pair(run.m.trace().size(), run.m.intervals_not_kept());
  };
  const auto [all, none_left] = kept(1'000'000);
  EXPECT_EQ(none_left, 0U);
  EXPECT_EQ(kept(10), (std::pair<std::size_t, std::uint64_t>(10, all - 10)));
  EXPECT_EQ(kept(0), (std::pair<std::size_t, std::uint64_t>(0, 0)));
}

TEST(Observed, EveryPicosecondOfACpuHasAPurpose) {
  for (const std::uint32_t threads_per_core : {1U, 2U}) {
    Everything run(some_machine(2, threads_per_core));
    run.m.run();
    std::uint64_t of_purpose[kPurposes] = {};
    for (const CoreTime& time : run.m.core_times()) {
      EXPECT_EQ(std::accumulate(std::begin(time.ps), std::end(time.ps), std::uint64_t{0}),
                static_cast<std::uint64_t>(run.m.now_ps()));
      for (std::size_t i = 0; i < kPurposes; ++i) of_purpose[i] += time.ps[i];
    }
    for (std::size_t i = 0; i < kPurposes; ++i) EXPECT_GT(of_purpose[i], 0U) << i;
  }
}

TEST(Observed, WhoWaitsIsNamedWithWhatItWaitsForAndSinceWhen) {
  M m({.cores_per_socket = 2, .timer_slack_ps = 0, .disk_fsync = {.quantiles_ps = {5'000'000'000}}});
  M::File file(m, "log");
  M::Word word{};
  sync::Event<M> event(m, "gate");
  m.spawn("parker", [&]() -> Task<> {
    Scope<M> doing(m, m.site("the hall"));
    co_await event.wait(m, co_await event.reset(m));
  });
  m.spawn("sleeper", [&]() -> Task<> { co_await m.sleep(5'000 * kUs); });
  m.spawn("syncer", [&]() -> Task<> { co_await m.fsync(file); });
  m.run_on(200 * kUs);
  m.spawn("spinner", [&]() -> Task<> { co_await m.spin_until(word, equals(1), Spin{}); });
  m.spawn("worker", [&]() -> Task<> {
    m.work(5'000 * kUs);
    co_await m.load(word);
  });
  m.spawn("queuer", [&]() -> Task<> { co_await m.load(word); });
  m.run_on(300 * kUs);
  const std::string who = m.who_waits();
  for (const std::string part :
       {"parker 0 is parked on gate in 'the hall' since ", "; sleeper 1 sleeps since ",
        "; syncer 2 waits for the disk and log since ", "; spinner 3 spins since 2",
        "; worker 4 runs since 2", "; queuer 5 waits for a CPU since 200.00 us"}) {
    EXPECT_NE(who.find(part), std::string::npos) << part << " | " << who;
  }
  EXPECT_EQ(std::ranges::count(who, ';'), 5);
  EXPECT_EQ(std::ranges::count(who, '\''), 2);
  m.stop();
  m.run();
  EXPECT_EQ(m.who_waits(), "");
}

TEST(Observed, OfManyWhoWaitTwelveAreNamed) {
  M m(SimConfig{});
  sync::Event<M> event(m, "gate");
  for (int i = 0; i < 15; ++i) {
    m.spawn("thread", [&]() -> Task<> { co_await event.wait(m, co_await event.reset(m)); });
  }
  m.spawn("sleeper", [&]() -> Task<> { co_await m.sleep(5'000 * kUs); });
  m.run_on(1'000 * kUs);
  const std::string who = m.who_waits();
  EXPECT_NE(who.find("thread 11 is"), std::string::npos) << who;
  EXPECT_EQ(who.find("thread 12 is"), std::string::npos) << who;
  EXPECT_NE(who.find("; and 4 more"), std::string::npos) << who;
  m.stop();
  m.run();
}

TEST(Observed, AStallIsAnErrorOfEveryKindOfRun) {
  const auto stalls = [](auto run) {
    M m(SimConfig{});
    sync::Event<M> never(m, "never");
    m.spawn("optimist", [&]() -> Task<> { co_await never.wait(m, co_await never.reset(m)); });
    EXPECT_THROW(run(m), Stalled);
  };
  stalls([](M& m) { m.run(); });
  stalls([](M& m) { m.run_on(1'000 * kUs); });
  M m(SimConfig{});
  m.spawn("short", [&]() -> Task<> { co_await m.sleep(10 * kUs); });
  EXPECT_FALSE(m.run_on(1'000 * kUs));
  EXPECT_EQ(m.now(), 1'000 * kUs);
  EXPECT_FALSE(m.run_on(1'000 * kUs));  // nobody is there, and time passes
  EXPECT_EQ(m.now(), 2'000 * kUs);
}

TEST(Observed, WhatAThreadThrowsEndsTheRun) {
  M m(SimConfig{});
  M::Word word{};
  const auto inner = [&]() -> Task<> {
    co_await m.add(word, 1);
    throw std::runtime_error("refused");
  };
  m.spawn("thread", [&]() -> Task<> { co_await inner(); });
  EXPECT_THROW(m.run(), std::runtime_error);
}

TEST(Observed, AThreadThatTakesTheNumberOfAnEndedOneBeginsAnew) {
  M m(SimConfig{});
  M::Word word(1);
  std::vector<std::uint64_t> drawn;
  for (int i = 0; i < 2; ++i) {
    m.spawn("thread " + std::to_string(i), [&]() -> Task<> {
      Scope<M> doing(m, m.site("doing"));
      drawn.push_back(m.random());
      co_await m.load(word);
    });
    m.run();
  }
  EXPECT_EQ(m.thread_count(), 1U);
  EXPECT_NE(drawn[0], drawn[1]);
  const std::vector<Activity>& nodes = m.activities().nodes();
  for (const Activity& node : nodes) {
    const std::string& name = m.names()[node.site];
    EXPECT_EQ(node.parent == 0, name != "doing") << name;
  }
  EXPECT_EQ(nodes.size(), 5U);
}

TEST(Observed, ThreadsThatLiveAtTheSameTimeHaveNumbersOfTheirOwn) {
  M m(SimConfig{});
  int live = 0;
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 4; ++i) {
      m.spawn("thread", [&]() -> Task<> {
        ++live;
        co_await m.sleep(10 * kUs);
        --live;
      });
    }
    EXPECT_EQ(m.live_threads(), 4U);
    m.run();
    EXPECT_EQ(live, 0);
    EXPECT_EQ(m.thread_count(), 4U);
  }
}

TEST(Observed, APollComesEvery65536Events) {
  M m(SimConfig{});
  std::vector<std::uint64_t> polled;
  std::vector<std::uint64_t> at_events;
  m.set_poll([&](std::uint64_t now) {
    polled.push_back(now);
    at_events.push_back(m.events());
  });
  M::Word word{};
  for (int i = 0; i < 2; ++i) {
    m.spawn("thread", [&]() -> Task<> {
      for (int n = 0; n < 150'000; ++n) co_await m.add(word, 1);
    });
  }
  m.run();
  ASSERT_EQ(polled.size(), m.events() / 65536);
  EXPECT_TRUE(std::ranges::is_sorted(polled));
  for (std::size_t i = 0; i < at_events.size(); ++i) {
    EXPECT_GE(at_events[i], (i + 1) * 65536);
    EXPECT_LT(at_events[i], (i + 1) * 65536 + 1000);
  }
}

TEST(Observed, AParkEndsForNoReasonUnderARandomScheduleWithEverySecondSeed) {
  const auto woken_by_nobody = [](std::uint64_t seed) {
    M m({.seed = seed, .random_schedule = true});
    M::Word word{};
    const Site site = m.site("word");
    std::uint64_t woken = 0;
    m.spawn("parked", [&]() -> Task<> {
      for (int i = 0; i < 1000; ++i) {
        const ParkResult result = co_await m.park(word, 0, site, 1'000 * kUs);
        if (result == ParkResult::woken) ++woken;
      }
    });
    m.run();
    return woken;
  };
  EXPECT_GT(woken_by_nobody(1), 3U);  // one in 64
  EXPECT_LT(woken_by_nobody(1), 60U);
  EXPECT_EQ(woken_by_nobody(2), 0U);
}

// What is told of waits, by name.

const WaitStats& waits_on(M& m, Site site) {
  static const WaitStats none;
  return site.id < m.waits().size() ? m.waits()[site.id] : none;
}

/// A quantile of the times, within three per cent.
double middle(const WaitStats& waits, std::uint64_t permille) {
  return static_cast<double>(waits.ns.quantile(permille));
}

SimConfig no_slack() { return {.timer_slack_ps = 0}; }

/// One thread holds a latch for so long from 0 on; another wants it a microsecond later.
struct Held {
  Held(sync::SpinParams spin, std::uint64_t hold_ns) : m(no_slack()), latch(m, "latch", spin) {
    m.spawn("holder", [this, hold_ns]() -> Task<> {
      co_await latch.lock(m);
      m.work(hold_ns);
      co_await m.load(clock);
      co_await latch.unlock(m);
    });
    m.spawn("waiter", [this]() -> Task<> {
      m.work(1 * kUs);
      co_await latch.lock(m);
      waited_until_ns = m.now();
      co_await latch.unlock(m);
    });
    m.run();
  }
  const WaitStats& waits() { return waits_on(m, latch.site()); }

  M m;
  sync::Latch<M> latch;
  M::Word clock{};
  std::uint64_t waited_until_ns = 0;
};

constexpr sync::SpinParams kSpin{.rounds = 30, .wait_delay = 6, .pause_multiplier = 50};

TEST(Waits, OfALatchThatIsHeldForLongAreOneParkBehindAllRoundsOfSpinning) {
  Held run(kSpin, 1'000 * kUs);
  EXPECT_EQ(run.waits().ns.count(), 1U);
  EXPECT_EQ(run.waits().spin_rounds, 30U);
  EXPECT_EQ(run.waits().parks, 1U);
  EXPECT_NEAR(middle(run.waits(), 500), 1'000.0 * kUs, 60.0 * kUs);
  EXPECT_NEAR(static_cast<double>(run.waited_until_ns), 1'000.0 * kUs, 20.0 * kUs);
}

TEST(Waits, OfALatchThatIsHeldForShortAreSomeRoundsOfSpinning) {
  Held run(kSpin, 20 * kUs);
  EXPECT_EQ(run.waits().ns.count(), 1U);
  EXPECT_EQ(run.waits().parks, 0U);
  // A round is from 0 to 300 pauses of 20 ns.
  EXPECT_GE(run.waits().spin_rounds, 3U);
  EXPECT_LE(run.waits().spin_rounds, 15U);
}

/// On one CPU a thread gives way while it holds a latch; another spins in vain, and gives way too. Its parks.
template <typename L>
std::uint64_t parks_beside_a_holder_that_waits_for_the_cpu() {
  SimConfig config = no_slack();
  config.cores_per_socket = 1;
  M m(config);
  L latch(m, "latch", kSpin);
  const auto lock = [&] {
    if constexpr (requires { latch.x_lock(m); }) {
      return latch.x_lock(m);
    } else {
      return latch.lock(m);
    }
  };
  const auto unlock = [&] {
    if constexpr (requires { latch.x_unlock(m); }) {
      return latch.x_unlock(m);
    } else {
      return latch.unlock(m);
    }
  };
  for (int i = 0; i < 2; ++i) {
    m.spawn("thread", [&]() -> Task<> {
      co_await lock();
      co_await m.yield();
      co_await unlock();
    });
  }
  m.run();
  EXPECT_EQ(waits_on(m, latch.site()).ns.count(), 1U);
  return waits_on(m, latch.site()).parks;
}

TEST(Waits, GiveTheCpuToTheHolderBeforeTheySleep) {
  EXPECT_EQ(parks_beside_a_holder_that_waits_for_the_cpu<sync::Latch<M>>(), 0U);
  EXPECT_EQ(parks_beside_a_holder_that_waits_for_the_cpu<sync::RwLatch<M>>(), 0U);
}

TEST(Waits, OfALatchThatIsFreeAreNone) {
  M m(SimConfig{});
  sync::Latch<M> latch(m, "latch");
  m.spawn("alone", [&]() -> Task<> {
    for (int i = 0; i < 10; ++i) {
      co_await latch.lock(m);
      co_await latch.unlock(m);
    }
  });
  m.run();
  EXPECT_EQ(waits_on(m, latch.site()).ns.count(), 0U);
}

TEST(Waits, LeaveALatchAsCheapAsItWas) {
  M m(no_slack());
  sync::Latch<M> latch(m, "latch", sync::kNoSpin);
  M::Word clock{};
  std::vector<Time> took;
  const auto pair = [&]() -> Task<> {
    const Time start = m.now_ps();
    co_await latch.lock(m);
    co_await latch.unlock(m);
    took.push_back(m.now_ps() - start);
  };
  m.spawn("holder", [&]() -> Task<> {
    co_await pair();
    co_await pair();
    co_await latch.lock(m);
    m.work(100 * kUs);
    co_await m.load(clock);
    co_await latch.unlock(m);
    co_await m.sleep(500 * kUs);
    co_await pair();
    co_await pair();
  });
  m.spawn("waiter", [&]() -> Task<> {
    co_await m.sleep(10 * kUs);
    co_await latch.lock(m);
    co_await latch.unlock(m);
  });
  m.run();
  EXPECT_EQ(waits_on(m, latch.site()).parks, 1U);
  EXPECT_EQ(took[3], took[1]);
}

TEST(Waits, OfAnEventAreItsParks) {
  M m(no_slack());
  sync::Event<M> event(m, "event");
  std::vector<sync::WaitEnd> ends;
  m.spawn("waits", [&]() -> Task<> {
    std::uint64_t seen = co_await event.reset(m);
    ends.push_back(co_await event.wait(m, seen));
    ends.push_back(co_await event.wait(m, seen));  // it is set: no wait
    seen = co_await event.reset(m);
    ends.push_back(co_await event.wait(m, seen, 200 * kUs));  // nobody sets it
  });
  m.spawn("sets", [&]() -> Task<> {
    co_await m.sleep(300 * kUs);
    co_await event.set(m);
  });
  m.run();
  using End = sync::WaitEnd;
  EXPECT_EQ(ends, (std::vector<End>{End::signalled, End::signalled, End::timed_out}));
  const WaitStats& waits = waits_on(m, event.site());
  EXPECT_EQ(waits.ns.count(), 2U);
  EXPECT_EQ(waits.parks, 2U);
  EXPECT_EQ(waits.spin_rounds, 0U);
  EXPECT_NEAR(middle(waits, 1), 200.0 * kUs, 20.0 * kUs);
  EXPECT_NEAR(middle(waits, 999), 300.0 * kUs, 20.0 * kUs);
}

TEST(Waits, OfARwLatchAreOneParkBehindAllRoundsOfSpinningForEachKind) {
  enum class Kind { s, x };
  const auto wait = [](Kind holds, Kind wants) {
    M m(no_slack());
    sync::RwLatch<M> latch(m, "latch", kSpin);
    M::Word clock{};
    std::uint64_t until_ns = 0;
    const auto take = [&](Kind kind) -> Task<> {
      if (kind == Kind::s) co_await latch.s_lock(m);
      if (kind == Kind::x) co_await latch.x_lock(m);
    };
    const auto give = [&](Kind kind) -> Task<> {
      if (kind == Kind::s) co_await latch.s_unlock(m);
      if (kind == Kind::x) co_await latch.x_unlock(m);
    };
    m.spawn("holder", [&]() -> Task<> {
      co_await take(holds);
      m.work(1'000 * kUs);
      co_await m.load(clock);
      co_await give(holds);
    });
    m.spawn("waiter", [&]() -> Task<> {
      m.work(1 * kUs);
      co_await take(wants);
      until_ns = m.now();
      co_await give(wants);
    });
    m.run();
    const WaitStats& waits = waits_on(m, latch.site());
    if (until_ns < 100 * kUs) {
      EXPECT_EQ(waits.ns.count(), 0U);
      return false;
    }
    EXPECT_EQ(waits.ns.count(), 1U);
    EXPECT_EQ(waits.spin_rounds, 30U);
    EXPECT_EQ(waits.parks, 1U);
    EXPECT_NEAR(middle(waits, 500), 1'000.0 * kUs, 60.0 * kUs);
    EXPECT_NEAR(static_cast<double>(until_ns), 1'000.0 * kUs, 20.0 * kUs);
    return true;
  };
  EXPECT_FALSE(wait(Kind::s, Kind::s));
  EXPECT_TRUE(wait(Kind::s, Kind::x));
  EXPECT_TRUE(wait(Kind::x, Kind::s));
  EXPECT_TRUE(wait(Kind::x, Kind::x));
}

}  // namespace
}  // namespace engineroom::machine
