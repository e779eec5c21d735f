// One tiny kernel on both machines, and the small cases of the simulated one worked out by hand.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "machine/host_machine.hpp"
#include "machine/sim_machine.hpp"
#include "sync/event.hpp"
#include "sync/latch.hpp"
#include "sync/rw_latch.hpp"

namespace engineroom::machine {
namespace {

static_assert(Machine<SimMachine>);
static_assert(Machine<HostMachine>);

/// Threads that count under a latch: with a plain counter, which a latch that lets two in would lose.
template <Machine M>
struct Counting {
  Counting(M& m, sync::SpinParams spin, std::uint64_t hold) : latch(m, "counter", spin), hold_ns(hold) {}
  sync::Latch<M> latch;
  std::uint64_t hold_ns;
  std::uint64_t counter = 0;
  std::uint64_t inside = 0;
};

template <Machine M>
Task<> count(M& m, Counting<M>& shared, int times) {
  for (int i = 0; i < times; ++i) {
    co_await shared.latch.lock(m);
    const std::uint64_t seen = shared.counter;
    EXPECT_EQ(shared.inside++, 0U);
    m.work(shared.hold_ns);
    shared.counter = seen + 1;
    --shared.inside;
    co_await shared.latch.unlock(m);
    m.work(m.random() % 100);
  }
}

template <Machine M>
void count_with(M& m, int threads, int times, sync::SpinParams spin = {}, std::uint64_t hold_ns = 50) {
  Counting<M> shared(m, spin, hold_ns);
  for (int i = 0; i < threads; ++i) {
    m.spawn("counter", [&] { return count(m, shared, times); });
  }
  m.run();
  EXPECT_EQ(shared.counter, static_cast<std::uint64_t>(threads * times));
}

TEST(Machines, TheSameKernelCountsUnderALatchOnTheHost) {
  HostMachine m;
  count_with(m, 4, 5000);
}

TEST(Machines, TheSameKernelCountsUnderALatchInVirtualTime) {
  SimMachine m({.cores_per_socket = 4});
  count_with(m, 16, 500);
  EXPECT_GT(m.waits()[m.site("counter").id].ns.count(), 0U);
}

TEST(Machines, ALatchWithoutSpinningSleepsAtOnce) {
  SimMachine m({.cores_per_socket = 4});
  count_with(m, 16, 500, sync::kNoSpin, 20'000);
  EXPECT_EQ(m.waits()[m.site("counter").id].spin_rounds, 0U);
  EXPECT_GT(m.waits()[m.site("counter").id].parks, 0U);
}

TEST(SimMachine, TheSameSeedGivesTheSameTraceAndAnotherSeedAnother) {
  const auto hash = [](std::uint64_t seed) {
    SimMachine m({.cores_per_socket = 4, .seed = seed});
    count_with(m, 16, 100);
    return m.trace_hash();
  };
  EXPECT_EQ(hash(1), hash(1));
  EXPECT_NE(hash(1), hash(2));
}

TEST(SimMachine, WorkOnOneCoreAddsUp) {
  SimMachine m({.cores_per_socket = 1, .switch_ps = 0, .wake = {.quantiles_ps = {0}}});
  for (int i = 0; i < 3; ++i) {
    m.spawn("worker", [&]() -> Task<> {
      m.work(1000);
      co_return;
    });
  }
  m.run();
  EXPECT_EQ(m.now(), 3000U);
  EXPECT_EQ(m.core_times()[0][Purpose::work], 3'000'000U);
}

template <Machine M>
struct Pipe {
  explicit Pipe(M& m) : readable(m, "readable"), value(0) {}
  sync::Event<M> readable;
  typename M::Word value;
};

template <Machine M>
Task<> reader(M& m, Pipe<M>& pipe, std::uint64_t until) {
  for (;;) {
    const std::uint64_t seen = co_await pipe.readable.reset(m);
    const std::uint64_t value = co_await m.load(pipe.value);
    if (value >= until) co_return;
    co_await pipe.readable.wait(m, seen);
  }
}

template <Machine M>
Task<> writer(M& m, Pipe<M>& pipe, std::uint64_t until) {
  for (std::uint64_t i = 0; i < until; ++i) {
    co_await m.add(pipe.value, 1);
    co_await pipe.readable.set(m);
  }
}

template <Machine M>
void read_and_write(M& m) {
  Pipe<M> pipe(m);
  m.spawn("reader", [&] { return reader(m, pipe, 3000); });
  m.spawn("reader", [&] { return reader(m, pipe, 2000); });
  m.spawn("writer", [&] { return writer(m, pipe, 3000); });
  m.run();
  EXPECT_EQ(m.peek(pipe.value), 3000U);
}

TEST(Machines, NoSignalIsLostOnTheHost) {
  HostMachine m;
  read_and_write(m);
}

TEST(Machines, NoSignalIsLostInVirtualTime) {
  SimMachine m(SimConfig{});
  read_and_write(m);
}

TEST(SimMachine, AStallNamesWhoWaitsOnWhat) {
  SimMachine m(SimConfig{});
  sync::Event<SimMachine> never(m, "the signal that never comes");
  m.spawn("optimist", [&]() -> Task<> { co_await never.wait(m, co_await never.reset(m)); });
  try {
    m.run();
    FAIL() << "a stalled simulation must be an error";
  } catch (const Stalled& stalled) {
    EXPECT_NE(std::string(stalled.what()).find("optimist 0 is parked on the signal that never comes"),
              std::string::npos)
        << stalled.what();
  }
}

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
  for (int i = 0; i < 3; ++i) {
    m.spawn("client", [&] { return client_until_stop(m, done, file); });
  }
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

template <Machine M>
struct Shelf {
  explicit Shelf(M& m) : latch(m, "shelf") {}
  sync::RwLatch<M> latch;
  std::uint64_t a = 0;
  std::uint64_t b = 0;
};

template <Machine M>
Task<> shelf_reader(M& m, Shelf<M>& shelf, int times) {
  for (int i = 0; i < times; ++i) {
    co_await shelf.latch.s_lock(m);
    EXPECT_EQ(shelf.a, shelf.b);
    m.work(20);
    co_await shelf.latch.s_unlock(m);
  }
}

template <Machine M>
Task<> shelf_writer(M& m, Shelf<M>& shelf, int times) {
  for (int i = 0; i < times; ++i) {
    co_await shelf.latch.x_lock(m);
    ++shelf.a;
    m.work(50);
    ++shelf.b;
    co_await shelf.latch.x_unlock(m);
    m.work(100);
    co_await shelf.latch.sx_lock(m);
    m.work(10);
    co_await shelf.latch.sx_unlock(m);
  }
}

template <Machine M>
void read_and_write_shelf(M& m, int times) {
  Shelf<M> shelf(m);
  for (int i = 0; i < 4; ++i) {
    m.spawn("reader", [&] { return shelf_reader(m, shelf, times); });
    if (i % 2 == 0) m.spawn("writer", [&] { return shelf_writer(m, shelf, times); });
  }
  m.run();
  EXPECT_EQ(shelf.a, static_cast<std::uint64_t>(2 * times));
  EXPECT_EQ(shelf.a, shelf.b);
}

TEST(RwLatch, ReadersSeeWholeWritesOnTheHost) {
  HostMachine m;
  read_and_write_shelf(m, 3000);
}

TEST(RwLatch, ReadersSeeWholeWritesInVirtualTime) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    SimMachine m({.cores_per_socket = 3, .seed = seed, .random_schedule = true});
    read_and_write_shelf(m, 30);
  }
}

}  // namespace
}  // namespace engineroom::machine
