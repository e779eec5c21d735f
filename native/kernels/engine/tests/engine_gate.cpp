// The gate before an engine: how many are inside, who comes next, what those outside hold, and that one with room for all changes nothing.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/clients.hpp"
#include "engine/gate.hpp"
#include "engine/load.hpp"
#include "machine/sim_machine.hpp"

namespace engineroom::engine {
namespace {

using machine::SimMachine;

constexpr std::uint64_t kMs = 1'000'000;
constexpr Admits kBoth[] = {Admits::transactions, Admits::statements};

struct Passed {
  explicit Passed(std::size_t threads) : times(threads) {}

  SimMachine::Word inside;
  std::uint64_t most_inside = 0;
  std::vector<std::uint64_t> times;  // of each thread
  std::vector<std::size_t> order;    // who was let in
};

Task<> pass(SimMachine& m, Gate<SimMachine>& gate, Passed& passed, std::size_t mine, std::uint64_t times,
            std::uint64_t comes_at_ns) {
  co_await m.wait_for_client(comes_at_ns);
  for (std::uint64_t i = 0; i < times && !m.stopping(); ++i) {
    const bool is_let_in = co_await gate.enter(m);
    if (!is_let_in) co_return;
    passed.order.push_back(mine);
    const std::uint64_t others = co_await m.add(passed.inside, 1);
    passed.most_inside = std::max(passed.most_inside, others + 1);
    m.work(10'000);
    co_await m.add(passed.inside, ~std::uint64_t{0});
    ++passed.times[mine];
    co_await gate.leave(m);
  }
}

TEST(Gate, NeverMoreAreInsideThanItAdmitsAndAllGetThrough) {
  for (const Admits admits : kBoth) {
    int full = 0;
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
      SimMachine m({.cores_per_socket = 4, .seed = seed, .random_schedule = true, .no_timeouts = true});
      Gate<SimMachine> gate(m, admits, 1 + seed % 3, 7);
      Passed passed(7);
      for (std::size_t i = 0; i < 7; ++i)
        m.spawn("thread", [&, i] { return pass(m, gate, passed, i, 10, 0); });
      m.run();  // a thread that nobody calls would be a stall
      ASSERT_LE(passed.most_inside, 1 + seed % 3) << names::of(admits) << " " << seed;
      full += passed.most_inside == 1 + seed % 3 ? 1 : 0;
      ASSERT_EQ(passed.times, std::vector<std::uint64_t>(7, 10)) << names::of(admits) << " " << seed;
    }
    EXPECT_GT(full, 150) << names::of(admits);
  }
}

TEST(Gate, TransactionsComeInInTheOrderInWhichTheyCame) {
  SimMachine m({.cores_per_socket = 8});
  Gate<SimMachine> gate(m, Admits::transactions, 1, 8);
  Passed passed(8);
  // The last to be spawned comes first, and each while the first is still inside.
  for (std::size_t i = 0; i < 8; ++i) {
    m.spawn("thread", [&, i] { return pass(m, gate, passed, i, 1, 1'000 * (8 - i)); });
  }
  m.run();
  EXPECT_EQ(passed.order, (std::vector<std::size_t>{7, 6, 5, 4, 3, 2, 1, 0}));
}

TEST(Gate, NoTransactionStarves) {
  SimMachine m({.cores_per_socket = 4});
  Gate<SimMachine> gate(m, Admits::transactions, 2, 12);
  Passed passed(12);
  for (std::size_t i = 0; i < 12; ++i) {
    m.spawn("thread", [&, i] { return pass(m, gate, passed, i, UINT64_MAX, 0); });
  }
  m.run_for(50 * kMs);
  const auto [fewest, most] = std::minmax_element(passed.times.begin(), passed.times.end());
  EXPECT_GT(*fewest, 100U);
  EXPECT_LE(*most - *fewest, *fewest / 10);
}

Demands demands_for(LoadKind kind) {
  Demands all;
  for (const Statement statement : statements_of(kind)) {
    all[std::string(names::of(statement))] = {.computing_ns = 2'000, .mtrs_permille = 700, .mtr_bytes = 100};
  }
  return all;
}
LoadConfig crowd(std::uint32_t clients, std::uint64_t transactions) {
  return {.clients = clients,
          .transactions = transactions,
          .away_ns = 1'000,
          .rows = 11,
          .distribution = Distribution::uniform};
}
Parts gated(Admits admits, std::uint64_t most_inside, lock_sys::Design design = lock_sys::Design::mysql_9_7) {
  Parts parts{.locks = lock_sys::config_of(design)};
  parts.engine.admits = admits;
  parts.engine.most_inside = most_inside;
  return parts;
}

TEST(Gate, WhoWaitsOutsideAnEngineHoldsNothing) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    SimMachine m({.cores_per_socket = 3, .seed = seed, .random_schedule = true});
    SimMachine::File file(m, "redo", machine::Bytes::counted);
    const LoadConfig load = crowd(9, 5);
    Clients<SimMachine> clients(m, file, gated(Admits::transactions, 3), load, demands_for(load.kind), seed);
    clients.spawn(m);
    for (std::uint64_t events = 0; m.step(); ++events) {
      if (events % 16 != 0) continue;
      std::set<const void*> holders;
      clients.engine().each_lock([&](const lock_sys::Lock& lock) { holders.insert(lock.trx); });
      ASSERT_LE(holders.size(), 3U) << "seed " << seed;
    }
    EXPECT_EQ(clients.transactions(), 9U * 5U);
  }
}

TEST(Gate, AStatementThatWaitsForARowLetsAnotherIn) {
  // With room for one, the holder of the row could else never go on to its commit.
  for (const auto design : {lock_sys::Design::mysql_5_7, lock_sys::Design::mysql_9_7}) {
    SimMachine m({.cores_per_socket = 3});
    SimMachine::File file(m, "redo", machine::Bytes::counted);
    LoadConfig load = crowd(6, 10);
    load.away_ns = 5 * kMs;  // so long that others come in between
    Clients<SimMachine> clients(m, file, gated(Admits::statements, 1, design), load, demands_for(load.kind));
    clients.spawn(m);
    m.run_for(60'000 * kMs);
    EXPECT_EQ(clients.transactions(), 6U * 10U);
    EXPECT_GT(clients.engine_counts().lock_waits, 0U);
    EXPECT_EQ(clients.engine_counts().timeouts, 0U);
  }
}

std::pair<std::uint64_t, std::uint64_t> hash_and_waits(Admits admits, std::uint64_t most_inside) {
  SimMachine m({.cores_per_socket = 4});
  SimMachine::File file(m, "redo", machine::Bytes::counted);
  const LoadConfig load = crowd(8, 20);
  Clients<SimMachine> clients(m, file, gated(admits, most_inside), load, demands_for(load.kind));
  clients.spawn(m);
  m.run_for(60'000 * kMs);
  EXPECT_EQ(clients.transactions(), 8U * 20U);
  const std::uint32_t site = m.site("admission").id;
  return {m.trace_hash(), site < m.waits().size() ? m.waits()[site].ns.count() : 0};
}

TEST(Gate, WithRoomForAllTheRunIsTheOneWithoutAGate) {
  for (const Admits admits : kBoth) {
    const auto without = hash_and_waits(admits, 0);
    EXPECT_EQ(without.second, 0U);
    EXPECT_EQ(hash_and_waits(admits, 8), without) << names::of(admits);
    EXPECT_EQ(hash_and_waits(admits, 5'000), without) << names::of(admits);
    EXPECT_GT(hash_and_waits(admits, 3).second, 0U) << names::of(admits);
  }
}

}  // namespace
}  // namespace engineroom::engine
