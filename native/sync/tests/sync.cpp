// The latches: who may be inside together, who waits for whom, and that nobody waits in vain, over many random schedules.
//
// Inside each critical section is an awaited load: without one the section would take no turn of virtual time, and nobody
// could be found in it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "machine/host_machine.hpp"
#include "machine/sim_machine.hpp"
#include "sync/event.hpp"
#include "sync/latch.hpp"
#include "sync/pthread.hpp"
#include "sync/rw_latch.hpp"
#include "sync/sharded_rw_latch.hpp"

namespace engineroom::sync {
namespace {

using machine::HostMachine;
using machine::Machine;
using machine::SimConfig;
using machine::SimMachine;
using machine::Task;
using machine::Time;

/// Costs and scheduling random by seed; threads wake for no reason with every second one.
SimConfig wild(std::uint64_t seed, std::uint32_t cores = 3) {
  return {.cores_per_socket = cores, .seed = seed, .random_schedule = true, .no_timeouts = true};
}

/// How many are inside by kind; a Word, since real threads look at it, too.
template <Machine M>
struct Inside {
  typename M::Word s;
  typename M::Word x;
  typename M::Word writes;    // of x
  typename M::Word problems;  // who was found inside together
  std::uint64_t plain = 0;    // written by x alone, in ordinary memory
};

enum class Mode : std::uint8_t { s, x };

/// In, a look at who else is there, and out: under a latch that the thread has.
template <Machine M>
Task<> look_inside(M& m, Inside<M>& inside, Mode mode) {
  auto& mine = mode == Mode::s ? inside.s : inside.x;
  co_await m.add(mine, 1);
  m.work(m.random() % 200);
  const std::uint64_t s = co_await m.load(inside.s);
  const std::uint64_t x = co_await m.load(inside.x);
  const bool is_alone = mode == Mode::x ? s == 0 && x == 1 : x == 0;
  if (!is_alone) co_await m.add(inside.problems, 1);
  const std::uint64_t plain = inside.plain;
  m.work(20);
  if (mode == Mode::x) {
    inside.plain = plain + 1;
    co_await m.add(inside.writes, 1);
  } else if (inside.plain != plain) {
    co_await m.add(inside.problems, 1);
  }
  co_await m.add(mine, ~std::uint64_t{0});
}

template <Machine M>
Task<> use_rw_latch(M& m, RwLatch<M>& latch, Inside<M>& inside, int times) {
  for (int i = 0; i < times; ++i) {
    const std::uint64_t draw = m.random() % 8;
    if (draw < 6) {
      co_await latch.s_lock(m);
      co_await look_inside(m, inside, Mode::s);
      co_await latch.s_unlock(m);
    } else if (draw == 6) {
      co_await latch.x_lock(m);
      co_await look_inside(m, inside, Mode::x);
      co_await latch.x_unlock(m);
    } else {
      const bool is_shared = co_await latch.try_s(m);
      if (is_shared) {
        co_await look_inside(m, inside, Mode::s);
        co_await latch.s_unlock(m);
      }
      const bool is_exclusive = co_await latch.try_x(m);
      if (is_exclusive) {
        co_await look_inside(m, inside, Mode::x);
        co_await latch.x_unlock(m);
      }
    }
    m.work(m.random() % 300);
  }
}

template <Machine M>
std::uint64_t found_together_by_rw_latch(M& m, int threads, int times, SpinParams spin) {
  RwLatch<M> latch(m, "rw-latch", spin);
  Inside<M> inside;
  for (int i = 0; i < threads; ++i) m.spawn("thread", [&] { return use_rw_latch(m, latch, inside, times); });
  m.run();
  EXPECT_GT(inside.plain, 0U);
  EXPECT_EQ(inside.plain, m.peek(inside.writes));
  return m.peek(inside.problems);
}

TEST(RwLatch, LetsNobodyInBesideAWriterAndWakesAll) {
  // Without spinning where there are no wake-ups for no reason (even seeds): who sleeps is woken by the one that leaves, or never.
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    SimMachine m(wild(seed, 4));
    ASSERT_EQ(found_together_by_rw_latch(m, 5, 20, seed % 2 == 0 ? kNoSpin : SpinParams{}), 0U) << seed;
  }
}

TEST(RwLatch, LetsNobodyInBesideAWriterOnTheHost) {
  HostMachine m;
  EXPECT_EQ(found_together_by_rw_latch(m, 5, 2000, kNoSpin), 0U);
  HostMachine spinning;
  EXPECT_EQ(found_together_by_rw_latch(spinning, 5, 2000, SpinParams{}), 0U);
}

/// Readers that come when a writer waits for others to leave, and what they find when they are in: how many got in before it.
struct Passing {
  std::uint64_t came_behind = 0;
  std::uint64_t passed = 0;
};

template <Machine M>
Task<> read_behind_writers(M& m, RwLatch<M>& latch, Inside<M>& inside, int times, Passing& passing) {
  for (int i = 0; i < times; ++i) {
    const std::uint64_t writes = co_await m.load(inside.writes);
    const bool is_wanted = co_await latch.x_is_wanted(m);
    co_await latch.s_lock(m);
    const std::uint64_t writes_now = co_await m.load(inside.writes);
    passing.came_behind += is_wanted;
    passing.passed += is_wanted && writes_now == writes;
    m.work(m.random() % 2000);
    co_await m.load(inside.writes);
    co_await latch.s_unlock(m);
  }
}

template <Machine M>
Task<> write_now_and_then(M& m, RwLatch<M>& latch, Inside<M>& inside, int times) {
  for (int i = 0; i < times; ++i) {
    co_await latch.x_lock(m);
    co_await m.add(inside.writes, 1);
    co_await latch.x_unlock(m);
    m.work(m.random() % 4000);
    co_await m.load(inside.writes);
  }
}

TEST(RwLatch, NoReaderPassesAWriterThatWaits) {
  Passing passing;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    SimMachine m(wild(seed, 4));
    RwLatch<SimMachine> latch(m, "rw-latch");
    Inside<SimMachine> inside;
    std::vector<Passing> seen(3);
    for (Passing& mine : seen) {
      m.spawn("reader", [&] { return read_behind_writers(m, latch, inside, 40, mine); });
    }
    m.spawn("writer", [&] { return write_now_and_then(m, latch, inside, 30); });
    m.run();
    for (const Passing& mine : seen) {
      passing.came_behind += mine.came_behind;
      passing.passed += mine.passed;
    }
  }
  EXPECT_GT(passing.came_behind, 100U);
  EXPECT_EQ(passing.passed, 0U);
}

/// Holds the latch in one mode, and asks for it in another without waiting.
std::pair<bool, bool> tries_beside(Mode held) {
  SimMachine m(SimConfig{});
  RwLatch<SimMachine> latch(m, "rw-latch");
  bool has_s = false;
  bool has_x = false;
  m.spawn("thread", [&]() -> Task<> {
    if (held == Mode::s) co_await latch.s_lock(m);
    if (held == Mode::x) co_await latch.x_lock(m);
    has_s = co_await latch.try_s(m);
    if (has_s) co_await latch.s_unlock(m);
    has_x = co_await latch.try_x(m);
  });
  m.run();
  return {has_s, has_x};
}

TEST(RwLatch, TriesDoNotWaitForWhoIsInTheWay) {
  EXPECT_EQ(tries_beside(Mode::s), std::pair(true, false));
  EXPECT_EQ(tries_beside(Mode::x), std::pair(false, false));
  SimMachine m(SimConfig{});
  RwLatch<SimMachine> latch(m, "rw-latch");
  m.spawn("thread", [&]() -> Task<> {
    const bool has_x = co_await latch.try_x(m);
    EXPECT_TRUE(has_x);
    const bool is_wanted = co_await latch.x_is_wanted(m);
    EXPECT_FALSE(is_wanted);
    const bool is_written = co_await latch.has_writer(m);
    EXPECT_TRUE(is_written);
    co_await latch.x_unlock(m);
    const bool has_s = co_await latch.try_s(m);
    EXPECT_TRUE(has_s);
    const bool is_written_still = co_await latch.has_writer(m);
    EXPECT_FALSE(is_written_still);
  });
  m.run();
}

TEST(RwLatch, AReaderSeesThatAWriterWantsIt) {
  SimMachine m(SimConfig{});
  RwLatch<SimMachine> latch(m, "rw-latch");
  std::vector<bool> wanted;
  m.spawn("reader", [&]() -> Task<> {
    co_await latch.s_lock(m);
    wanted.push_back(co_await latch.x_is_wanted(m));
    co_await m.sleep(1'000'000);
    wanted.push_back(co_await latch.x_is_wanted(m));
    const bool may_pass = co_await latch.try_s(m);
    EXPECT_FALSE(may_pass);
    co_await latch.s_unlock(m);
    co_await m.sleep(1'000'000);
    wanted.push_back(co_await latch.x_is_wanted(m));
  });
  m.spawn("writer", [&]() -> Task<> {
    co_await m.sleep(200'000);
    co_await latch.x_lock(m);
    co_await m.sleep(500'000);
    co_await latch.x_unlock(m);
  });
  m.run();
  EXPECT_EQ(wanted, (std::vector<bool>{false, true, false}));
}

/// Frames that one thread takes for so many uncontended pairs of lock and unlock.
template <typename Use>
std::uint64_t calls_of(const Use& use) {
  HostMachine m;
  RwLatch<HostMachine> rw(m, "rw-latch");
  PthreadMutex<HostMachine> mutex(m, "mutex");
  const std::uint64_t before = machine::task_internal::calls();
  const auto run = [&]() -> Task<> { co_await use(m, rw, mutex); };
  run().result();
  return machine::task_internal::calls() - before;
}

TEST(FastPaths, TakeNoFrame) {
  const auto nothing = [](HostMachine&, RwLatch<HostMachine>&, PthreadMutex<HostMachine>&) -> Task<> {
    co_return;
  };
  const auto all = [](HostMachine& m, RwLatch<HostMachine>& rw, PthreadMutex<HostMachine>& mutex) -> Task<> {
    for (int i = 0; i < 10; ++i) {
      co_await rw.s_lock(m);
      co_await rw.x_is_wanted(m);
      co_await rw.s_unlock(m);
      co_await rw.x_lock(m);
      co_await rw.x_unlock(m);
      co_await mutex.lock(m);
      co_await mutex.unlock(m);
    }
  };
  EXPECT_EQ(calls_of(all), calls_of(nothing));
}

TEST(FastPaths, ALatchThatNobodyElseWantsTakesNoFrame) {
  HostMachine m;
  Latch<HostMachine> latch(m, "latch");
  const std::uint64_t before = machine::task_internal::calls();
  const auto run = [&]() -> Task<> {
    for (int i = 0; i < 10; ++i) {
      co_await latch.lock(m);
      co_await latch.unlock(m);
    }
  };
  run().result();
  EXPECT_EQ(machine::task_internal::calls() - before, 1U) << "the one that calls them";
}

template <Machine M>
Task<> use_latch(M& m, Latch<M>& latch, Inside<M>& inside, int times) {
  for (int i = 0; i < times; ++i) {
    co_await latch.lock(m);
    co_await look_inside(m, inside, Mode::x);
    co_await latch.unlock(m);
    m.work(m.random() % 100);
  }
}

TEST(Latch, LetsOneInAtATimeAndWakesAllThatWait) {
  // Without spinning, and without wake-ups for no reason (even seeds): who sleeps is woken by an unlock, or never.
  for (std::uint64_t seed = 2; seed <= 1600; seed += 2) {
    SimMachine m(wild(seed, 4));
    Latch<SimMachine> latch(m, "latch", kNoSpin);
    Inside<SimMachine> inside;
    for (int i = 0; i < 5; ++i) m.spawn("thread", [&] { return use_latch(m, latch, inside, 20); });
    ASSERT_NO_THROW(m.run()) << seed;
    ASSERT_EQ(m.peek(inside.problems), 0U) << seed;
    ASSERT_EQ(inside.plain, 100U);
  }
}

TEST(Latch, LetsOneInAtATimeOnTheHost) {
  HostMachine m;
  Latch<HostMachine> latch(m, "latch", kNoSpin);
  Inside<HostMachine> inside;
  for (int i = 0; i < 4; ++i) m.spawn("thread", [&] { return use_latch(m, latch, inside, 3000); });
  m.run();
  EXPECT_EQ(m.peek(inside.problems), 0U);
  EXPECT_EQ(inside.plain, 12'000U);
}

TEST(Latch, NobodyLooksMoreOftenThanItsRoundsBeforeItSleeps) {
  std::uint64_t sleeps = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const SpinParams spin{.rounds = seed % 3, .wait_delay = 1, .pause_multiplier = 1};
    SimMachine m(wild(seed, 4));
    Latch<SimMachine> latch(m, "latch", spin);
    Inside<SimMachine> inside;
    for (int i = 0; i < 5; ++i) m.spawn("thread", [&] { return use_latch(m, latch, inside, 20); });
    m.run();
    if (m.waits().empty()) continue;
    const machine::WaitStats& waits = m.waits()[latch.site().id];
    ASSERT_LE(waits.spin_rounds, spin.rounds * (waits.parks + waits.ns.count())) << seed;
    sleeps += waits.parks;
  }
  EXPECT_GT(sleeps, 0U);
}

template <Machine M>
Task<> use_sharded(M& m, ShardedRwLatch<M>& latch, Inside<M>& inside, int times) {
  for (int i = 0; i < times; ++i) {
    const std::uint64_t draw = m.random() % 8;
    if (draw < 6) {
      const std::size_t part = latch.draw_part(m);
      co_await latch.s_lock(m, part);
      co_await look_inside(m, inside, Mode::s);
      co_await latch.s_unlock(m, part);
    } else if (draw == 6) {
      co_await latch.x_lock(m);
      co_await look_inside(m, inside, Mode::x);
      co_await latch.x_unlock(m);
    } else {
      const bool is_mine = co_await latch.try_x(m);
      if (!is_mine) continue;
      co_await look_inside(m, inside, Mode::x);
      co_await latch.x_unlock(m);
    }
  }
}

template <Machine M>
std::uint64_t found_together_by_sharded(M& m, int times) {
  ShardedRwLatch<M> latch(m, "global latch", {}, 4);
  Inside<M> inside;
  for (int i = 0; i < 5; ++i) m.spawn("thread", [&] { return use_sharded(m, latch, inside, times); });
  m.run();
  EXPECT_GT(m.peek(inside.writes), 0U);
  return m.peek(inside.problems);
}

TEST(ShardedRwLatch, LetsNobodyInBesideAWriter) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    SimMachine m(wild(seed));
    ASSERT_EQ(found_together_by_sharded(m, 25), 0U) << seed;
  }
  HostMachine host;
  EXPECT_EQ(found_together_by_sharded(host, 1000), 0U);
}

/// Two sockets of 8 cores; nothing but cache lines costs anything.
SimConfig lines_only() {
  return {.sockets = 2, .cores_per_socket = 8, .switch_ps = 0, .wake = {.quantiles_ps = {0}}};
}

/// Virtual time, ps, in which 16 threads s-latch and free so often, each in parts of its own choice.
Time readers_take(std::size_t parts, int times) {
  SimMachine m(lines_only());
  ShardedRwLatch<SimMachine> latch(m, "global latch", {}, parts);
  for (int i = 0; i < 16; ++i) {
    m.spawn("reader", [&]() -> Task<> {
      for (int k = 0; k < times; ++k) {
        const std::size_t part = latch.draw_part(m);
        co_await latch.s_lock(m, part);
        co_await latch.s_unlock(m, part);
      }
    });
  }
  m.run();
  return m.now_ps();
}

/// What one thread takes for an x-latch whose parts nobody else has used, and to free it.
Time writer_takes(std::size_t parts) {
  SimMachine m(lines_only());
  ShardedRwLatch<SimMachine> latch(m, "global latch", {}, parts);
  m.spawn("writer", [&]() -> Task<> {
    co_await latch.x_lock(m);
    co_await latch.x_unlock(m);
  });
  m.run();
  return m.now_ps();
}

TEST(ShardedRwLatch, IsCheapForReadersThatAreManyAndDearForAWriter) {
  constexpr int kTimes = 400;
  const SimConfig config = lines_only();
  const Time together = readers_take(1, kTimes);
  const Time apart = readers_take(ShardedRwLatch<SimMachine>::kParts, kTimes);
  // One line: to enter and to leave it is written by each, and it moves between two writes of different threads.
  EXPECT_GE(together, 16 * kTimes * 2 * config.rmw_ps);
  // 64 lines for 16 threads: a thread hardly ever waits for another, and an s-latch takes at most the way from the other
  // socket to read, to write, and to write once more.
  EXPECT_LE(apart, kTimes * 4 * (config.other_socket_ps + config.rmw_ps));
  EXPECT_GT(together, 4 * apart);
  EXPECT_EQ(writer_takes(64), 64 * writer_takes(1));
}

template <Machine M>
Task<> use_mutex(M& m, PthreadMutex<M>& mutex, Inside<M>& inside, int times) {
  for (int i = 0; i < times; ++i) {
    if (m.random() % 8 == 0) {
      const bool is_mine = co_await mutex.try_lock(m);
      if (!is_mine) continue;
    } else {
      co_await mutex.lock(m);
    }
    co_await look_inside(m, inside, Mode::x);
    co_await mutex.unlock(m);
    m.work(m.random() % 300);
  }
}

template <Machine M>
std::uint64_t found_together_by_mutex(M& m, MutexKind kind, int threads, int times) {
  PthreadMutex<M> mutex(m, "LOCK_log", kind);
  Inside<M> inside;
  for (int i = 0; i < threads; ++i) m.spawn("thread", [&] { return use_mutex(m, mutex, inside, times); });
  m.run();
  EXPECT_FALSE(mutex.is_locked(m));
  return m.peek(inside.problems);
}

TEST(PthreadMutex, LetsOneInAtATimeAndForgetsNobody) {
  for (const MutexKind kind : {MutexKind::normal, MutexKind::adaptive}) {
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
      SimMachine m(wild(seed));
      ASSERT_EQ(found_together_by_mutex(m, kind, 5, 30), 0U) << seed;
    }
    HostMachine host;
    EXPECT_EQ(found_together_by_mutex(host, kind, 4, 3000), 0U);
  }
}

TEST(PthreadMutex, IsOneCompareAndSwapAndOneExchangeWhenNobodyElseWantsIt) {
  SimMachine m(lines_only());
  PthreadMutex<SimMachine> mutex(m, "mutex");
  m.spawn("thread", [&]() -> Task<> {
    co_await mutex.lock(m);
    co_await mutex.unlock(m);
  });
  m.run();
  EXPECT_EQ(m.now_ps(), m.config().first_touch_ps + 2 * m.config().rmw_ps);
  EXPECT_TRUE(m.waits().empty());
}

TEST(PthreadMutex, LooksForAWhileOnlyWhenItIsAdaptive) {
  const auto looks = [](MutexKind kind) {
    SimMachine m(lines_only());
    PthreadMutex<SimMachine> mutex(m, "mutex", kind);
    for (int i = 0; i < 2; ++i) {
      m.spawn("thread", [&]() -> Task<> {
        for (int k = 0; k < 20; ++k) {
          co_await mutex.lock(m);
          m.work(100);
          co_await mutex.unlock(m);
        }
      });
    }
    m.run();
    return m.waits()[m.site("mutex").id];
  };
  EXPECT_EQ(looks(MutexKind::normal).spin_rounds, 0U);
  EXPECT_GT(looks(MutexKind::normal).parks, 0U);
  EXPECT_GT(looks(MutexKind::adaptive).spin_rounds, 0U);
}

TEST(PthreadMutex, TheFirstWaiterOfAnAdaptiveOneLooksTenTimesBeforeItSleeps) {
  SimMachine m(lines_only());
  PthreadMutex<SimMachine> mutex(m, "mutex", MutexKind::adaptive);
  m.spawn("holder", [&]() -> Task<> {
    co_await mutex.lock(m);
    co_await m.sleep(1'000'000);
    co_await mutex.unlock(m);
  });
  m.spawn("waiter", [&]() -> Task<> {
    co_await m.sleep(10'000);
    co_await mutex.lock(m);
    co_await mutex.unlock(m);
  });
  m.run();
  const machine::WaitStats& waits = m.waits()[mutex.site().id];
  EXPECT_EQ(waits.spin_rounds, 10U);
  EXPECT_EQ(waits.parks, 1U);
}

/// A queue of one: whoever puts waits until it is empty, whoever takes until it is full.
template <Machine M>
struct Box {
  explicit Box(M& m) : mutex(m, "LOCK_box"), is_full(m, "COND_full"), is_empty(m, "COND_empty") {}
  PthreadMutex<M> mutex;
  PthreadCondition<M> is_full;
  PthreadCondition<M> is_empty;
  std::uint64_t put = 0;  // under the mutex
  std::uint64_t taken = 0;
};

template <Machine M>
Task<> put(M& m, Box<M>& box, int times) {
  for (int i = 0; i < times; ++i) {
    co_await box.mutex.lock(m);
    while (box.put > box.taken) co_await box.is_empty.wait(m, box.mutex);
    ++box.put;
    const bool signals_inside = m.random() % 2 == 0;
    if (signals_inside) co_await box.is_full.signal(m);
    co_await box.mutex.unlock(m);
    if (!signals_inside) co_await box.is_full.signal(m);
  }
}

template <Machine M>
Task<> take(M& m, Box<M>& box, int times) {
  for (int i = 0; i < times; ++i) {
    co_await box.mutex.lock(m);
    while (box.put == box.taken) co_await box.is_full.wait(m, box.mutex);
    ++box.taken;
    co_await box.is_empty.signal(m);
    co_await box.mutex.unlock(m);
  }
}

template <Machine M>
void put_and_take(M& m, int times) {
  Box<M> box(m);
  for (int i = 0; i < 3; ++i) {
    m.spawn("puts", [&] { return put(m, box, times); });
    m.spawn("takes", [&] { return take(m, box, times); });
  }
  m.run();
  EXPECT_EQ(box.taken, static_cast<std::uint64_t>(3 * times));
}

TEST(PthreadCondition, LosesNoSignal) {
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    SimMachine m(wild(seed));
    ASSERT_NO_THROW(put_and_take(m, 20)) << seed;
  }
  HostMachine host;
  put_and_take(host, 2000);
}

/// The followers of a group, which wait until its leader says that it is over: one condition for all.
template <Machine M>
void lead_and_follow(M& m, std::uint64_t followers, std::uint64_t groups) {
  PthreadMutex<M> mutex(m, "LOCK_done");
  PthreadCondition<M> done(m, "COND_done");
  typename M::Word waiting;
  std::uint64_t over = 0;  // under the mutex
  for (std::uint64_t i = 0; i < followers; ++i) {
    m.spawn("follower", [&]() -> Task<> {
      for (std::uint64_t group = 1; group <= groups; ++group) {
        co_await mutex.lock(m);
        co_await m.add(waiting, 1);
        while (over < group) co_await done.wait(m, mutex);
        co_await mutex.unlock(m);
      }
    });
  }
  m.spawn("leader", [&]() -> Task<> {
    for (std::uint64_t group = 1; group <= groups; ++group) {
      co_await m.spin_until(waiting, machine::at_least(followers * group), {});
      co_await mutex.lock(m);
      over = group;
      co_await done.broadcast(m);
      co_await mutex.unlock(m);
    }
  });
  m.run();
  EXPECT_EQ(m.peek(waiting), followers * groups);
}

TEST(PthreadCondition, ABroadcastWakesAll) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SimMachine m(wild(seed));
    ASSERT_NO_THROW(lead_and_follow(m, 6, 5)) << seed;
  }
  HostMachine host;
  lead_and_follow(host, 6, 50);
}

TEST(PthreadCondition, ASignalWakesOneOfThoseThatSleep) {
  SimMachine m(SimConfig{});
  PthreadMutex<SimMachine> mutex(m, "mutex");
  PthreadCondition<SimMachine> condition(m, "condition");
  std::uint64_t woken = 0;
  std::uint64_t woken_by_first = 0;
  for (int i = 0; i < 3; ++i) {
    m.spawn("waiter", [&]() -> Task<> {
      co_await mutex.lock(m);
      const WaitEnd end = co_await condition.wait(m, mutex);
      woken += end == WaitEnd::signalled;
      co_await mutex.unlock(m);
    });
  }
  m.spawn("signaller", [&]() -> Task<> {
    co_await m.sleep(1'000'000);
    co_await condition.signal(m);
    co_await m.sleep(1'000'000);
    woken_by_first = woken;
    co_await condition.broadcast(m);
  });
  m.run();
  EXPECT_EQ(woken_by_first, 1U);
  EXPECT_EQ(woken, 3U);
  const machine::WaitStats& waits = m.waits()[condition.site().id];
  EXPECT_EQ(waits.ns.count(), 3U);
  EXPECT_EQ(waits.parks, 3U);
  EXPECT_EQ(waits.spin_rounds, 0U) << "a wait is one sleep without a look";
}

constexpr std::uint64_t kAnHourNs = 3'600'000'000'000;

/// How waits of 1 ms, of an hour that is signalled, and of an hour end in a run that is stopped when the first two are over.
template <Machine M, typename WaitOn>
std::vector<WaitEnd> ends_of_waits(M& m, const WaitOn& wait_on) {
  std::vector<WaitEnd> ends(3);
  typename M::Word over;
  const auto wait = [&](int which, std::uint64_t timeout_ns) -> Task<> {
    ends[static_cast<std::size_t>(which)] = co_await wait_on(which, timeout_ns);
    const std::uint64_t before = co_await m.add(over, 1);
    if (before == 1) m.stop();
  };
  m.spawn("short", [&] { return wait(0, 1'000'000); });
  m.spawn("signalled", [&] { return wait(1, kAnHourNs); });
  m.spawn("patient", [&] { return wait(2, kAnHourNs); });
  m.run();
  return ends;
}

template <Machine M>
void events_tell_how_a_wait_ended(M& m) {
  Event<M> never(m, "never");
  Event<M> soon(m, "soon");
  m.spawn("signaller", [&]() -> Task<> {
    co_await m.sleep(3'000'000);
    co_await soon.set(m);
  });
  const auto wait_on = [&](int which, std::uint64_t timeout_ns) -> Task<WaitEnd> {
    Event<M>& event = which == 1 ? soon : never;
    co_return co_await event.wait(m, 0, timeout_ns);
  };
  EXPECT_EQ(ends_of_waits(m, wait_on),
            (std::vector<WaitEnd>{WaitEnd::timed_out, WaitEnd::signalled, WaitEnd::stopping}));
}

template <Machine M>
void conditions_tell_how_a_wait_ended(M& m) {
  PthreadMutex<M> mutex(m, "mutex");
  PthreadCondition<M> never(m, "never");
  PthreadCondition<M> soon(m, "soon");
  m.spawn("signaller", [&]() -> Task<> {
    while (!m.stopping()) {  // a signal that comes before the wait is none
      co_await m.sleep(3'000'000);
      co_await soon.signal(m);
    }
  });
  const auto wait_on = [&](int which, std::uint64_t timeout_ns) -> Task<WaitEnd> {
    co_await mutex.lock(m);
    const WaitEnd end = co_await (which == 1 ? soon : never).wait(m, mutex, timeout_ns);
    EXPECT_TRUE(mutex.is_locked(m));
    co_await mutex.unlock(m);
    co_return end;
  };
  EXPECT_EQ(ends_of_waits(m, wait_on),
            (std::vector<WaitEnd>{WaitEnd::timed_out, WaitEnd::signalled, WaitEnd::stopping}));
  EXPECT_FALSE(mutex.is_locked(m));
}

TEST(WaitEnds, TellATimeoutFromASignalAndFromTheStop) {
  SimMachine sim(SimConfig{});
  events_tell_how_a_wait_ended(sim);
  SimMachine sim_too(SimConfig{});
  conditions_tell_how_a_wait_ended(sim_too);
  HostMachine host;
  events_tell_how_a_wait_ended(host);
  HostMachine host_too;
  conditions_tell_how_a_wait_ended(host_too);
}

TEST(Event, WhoHasSleptIsNotWokenAgain) {
  SimConfig config{.unpark_ps = 1'000'000'000};
  SimMachine m(config);
  Event<SimMachine> event(m, "event");
  Time took = 0;
  m.spawn("sleeper", [&]() -> Task<> {
    const std::uint64_t seen = co_await event.reset(m);
    co_await event.wait(m, seen);
  });
  m.spawn("setter", [&]() -> Task<> {
    co_await m.sleep(1'000'000);
    co_await event.set(m);
    co_await m.sleep(1'000'000);
    co_await event.reset(m);
    const Time start = m.now_ps();
    co_await event.set(m);
    took = m.now_ps() - start;
  });
  m.run();
  EXPECT_LT(took, config.unpark_ps) << "nobody sleeps any more";
}

/// What so many waits for an event that never comes took beyond their timeout, in ns: of those that were woken for no reason.
std::vector<std::uint64_t> late_by(std::uint64_t seed, std::uint64_t timeout_ns) {
  SimConfig config = wild(seed);
  config.no_timeouts = false;
  config.timer_slack_ps = 0;
  config.wake.quantiles_ps = {0};
  config.switch_ps = 0;
  SimMachine m(config);
  Event<SimMachine> event(m, "never");
  std::vector<std::uint64_t> late;
  m.spawn("waiter", [&]() -> Task<> {
    co_await m.sleep(1'000'000);
    for (int i = 0; i < 200; ++i) {
      const std::uint64_t seen = co_await event.reset(m);
      const std::uint64_t parks = m.waits().empty() ? 0 : m.waits()[event.site().id].parks;
      const std::uint64_t start = m.now();
      const WaitEnd end = co_await event.wait(m, seen, timeout_ns);
      const std::uint64_t took = m.now() - start;
      EXPECT_EQ(end, WaitEnd::timed_out);
      EXPECT_GE(took, timeout_ns);
      if (m.waits()[event.site().id].parks > parks + 1) late.push_back(took - timeout_ns);
    }
  });
  m.run();
  return late;
}

TEST(Event, WhoIsWokenForNoReasonWaitsForTheRestOfItsTimeout) {
  std::vector<std::uint64_t> late;
  for (std::uint64_t seed = 1; seed <= 99; seed += 2) {
    for (const std::uint64_t ns : late_by(seed, 20'000)) late.push_back(ns);
    // The timeout may be over when the thread is back on a CPU: it ends all the same.
    EXPECT_NO_THROW(late_by(seed, 1'000)) << seed;
  }
  ASSERT_GT(late.size(), 50U);
  // The random schedule delays few of them by more than this; a whole timeout anew would be 5 us later on average.
  std::ranges::nth_element(late, late.begin() + static_cast<std::ptrdiff_t>(late.size() / 2));
  EXPECT_LT(late[late.size() / 2], 2'500U);
}

TEST(Latch, TryingTakesItWhereItIsFree) {
  SimMachine m{SimConfig{}};
  Latch<SimMachine> latch(m, "latch");
  m.spawn("a", [&]() -> Task<> {
    const bool first = co_await latch.try_lock(m);
    EXPECT_TRUE(first);
    const bool second = co_await latch.try_lock(m);
    EXPECT_FALSE(second);
    co_await latch.unlock(m);
    EXPECT_FALSE(latch.is_locked(m));
    const bool third = co_await latch.try_lock(m);
    EXPECT_TRUE(third);
    co_await latch.unlock(m);
  });
  m.run();
}

}  // namespace
}  // namespace engineroom::sync
