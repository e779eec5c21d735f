// The engine: scripts by hand, a deadlock, an implicit lock and a delivery step by step, what must hold in runs at random, and
// what each switch leaves out.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "common/tests/described_members.hpp"
#include "engine/clients.hpp"
#include "engine/engine.hpp"
#include "engine/load.hpp"
#include "engine/mix.hpp"
#include "lock_sys/lock_config.hpp"
#include "machine/sim_machine.hpp"
#include "redo_log/design.hpp"

namespace engineroom::engine {
namespace {

using lock_sys::Design;
using lock_sys::Lock;
using lock_sys::Mode;
using machine::SimConfig;
using machine::SimMachine;

Demands demands_for(LoadKind kind) {
  Demands all;
  for (const Statement statement : statements_of(kind)) {
    all[std::string(names::of(statement))] = {.computing_ns = 2'000,
                                              .mtrs_permille = 700,
                                              .mtr_bytes = 100,
                                              .hash_searches_permille = 900,
                                              .hash_changes_permille = 300};
  }
  return all;
}
Parts parts_of(Design design) {
  Parts parts{.locks = lock_sys::config_of(design)};
  parts.trx_sys.latches =
      design == Design::mysql_9_7 ? transactions::Latches::sharded : transactions::Latches::one_5_7;
  parts.engine.redo =
      design == Design::mysql_5_7 ? redo_log::Design::log_5_7 : redo_log::Design::log_8_0_no_writer_threads;
  return parts;
}

TEST(Engine, DescribesAllOfItsOptions) {
  tests::expect_described<LoadConfig, EngineConfig, Demand, MixDraw, MixStatement>();
}

TEST(EngineLoad, EveryStatementOfAScriptHasADemand) {
  for (const LoadKind kind : {LoadKind::sysbench_read_write, LoadKind::tpcc}) {
    const LoadConfig load{.kind = kind, .warehouses = 3};
    const std::vector<Statement> all = statements_of(kind);
    std::set<Statement> seen;
    machine::Random random(1);
    Script script;
    for (int i = 0; i < 2'000; ++i) {
      draw(load, random, script);
      seen.insert(script.commit);
      for (const Step& step : script.steps) seen.insert(step.statement);
    }
    EXPECT_EQ(seen, std::set<Statement>(all.begin(), all.end())) << names::of(kind);
  }
}

TEST(EngineLoad, NewOrderLocksItsStockInOneOrderAndPaymentTheDistrictFirst) {
  const LoadConfig load{.kind = LoadKind::tpcc, .warehouses = 4};
  machine::Random random(2);
  Script script;
  std::map<TransactionKind, int> kinds;
  int rolled_back = 0;
  for (int i = 0; i < 4'000; ++i) {
    draw(load, random, script);
    ++kinds[script.kind];
    rolled_back += script.rolls_back ? 1 : 0;
    std::uint64_t last = 0;
    std::vector<Table> locked;
    for (const Step& step : script.steps) {
      if (!step.locks) continue;
      locked.push_back(step.table);
      if (step.statement != Statement::new_order_stock) continue;
      EXPECT_LE(last, step.row);
      last = step.row;
    }
    if (script.kind == TransactionKind::payment) {
      EXPECT_EQ(locked, (std::vector{Table::district, Table::warehouse, Table::customer, Table::customer}));
    }
    if (script.kind == TransactionKind::new_order) {
      EXPECT_EQ(locked.front(), Table::district);
    }
  }
  // Of binomial counts within four standard deviations.
  EXPECT_NEAR(kinds[TransactionKind::new_order], 1800, 126);
  EXPECT_NEAR(kinds[TransactionKind::payment], 1720, 126);
  for (const auto rare :
       {TransactionKind::order_status, TransactionKind::delivery, TransactionKind::stock_level}) {
    EXPECT_NEAR(kinds[rare], 160, 50);
  }
  EXPECT_NEAR(rolled_back, 18, 17);
}

TEST(EngineLoad, AClientKeepsItsWarehouseAndClientsHaveDifferentOnes) {
  const LoadConfig load{.kind = LoadKind::tpcc, .warehouses = 1000, .home_warehouses = true};
  machine::Random random(3);
  std::set<std::uint64_t> homes;
  for (std::uint64_t client = 0; client < 50; ++client) {
    Script script;
    script.client = client;
    std::set<std::uint64_t> mine;
    for (int i = 0; i < 40; ++i) {
      draw(load, random, script);
      for (const Step& step : script.steps) {
        if (step.table == Table::district && step.locks) mine.insert(step.row / kDistricts);
      }
    }
    EXPECT_EQ(mine.size(), 1U) << client;
    homes.insert(mine.begin(), mine.end());
  }
  EXPECT_GT(homes.size(), 40U);
}

TEST(EngineLoad, RowsOfOnePageAreNeighboursAndTablesShareNone) {
  const Place first = place_of(Table::stock, 0);
  EXPECT_EQ(place_of(Table::stock, 1).page, first.page);
  EXPECT_EQ(place_of(Table::stock, 1).heap_no, first.heap_no + 1);
  EXPECT_NE(place_of(Table::stock, 1000).page, first.page);
  EXPECT_NE(place_of(Table::customer, 0).page, first.page);
  for (std::uint64_t row = 0; row < 500; ++row) {
    EXPECT_LT(place_of(Table::stock, row).heap_no, place_of(Table::stock, row).records_on_page);
  }
}

/// Sessions of one engine, each with steps of its own.
class Table2 {
 public:
  explicit Table2(const Parts& parts)
      : file_(m_, "redo", machine::Bytes::counted), engine_(m_, file_, parts, kDistricts, 100, 1) {
    engine_.spawn_threads(m_);
    for (std::uint32_t i = 0; i < 2; ++i) sessions_.push_back(std::make_unique<Session<SimMachine>>(m_, i));
  }
  /// Each step after a pause of so many ns; then commit or, if it must, roll back.
  void runs(std::size_t session, std::vector<std::pair<std::uint64_t, Step>> steps) {
    ++left_;
    scripts_.push_back(std::move(steps));
    const std::size_t script = scripts_.size() - 1;
    m_.spawn("client", [this, session, script] { return client(*sessions_[session], scripts_[script]); });
  }
  void run() { m_.run_for(2'000'000'000); }

  SimMachine m_{SimConfig{}};
  SimMachine::File file_;
  Engine<SimMachine> engine_;
  std::vector<std::unique_ptr<Session<SimMachine>>> sessions_;
  std::vector<std::string> log;

 private:
  Task<> client(Session<SimMachine>& s, const std::vector<std::pair<std::uint64_t, Step>>& steps) {
    const Demand demand{.computing_ns = 0, .mtrs_permille = 1000, .mtr_bytes = 100};
    co_await engine_.begin(m_, s);
    Outcome outcome = Outcome::granted;
    const std::string name = s.locks.number == 0 ? "first" : "second";
    for (const auto& [pause_ns, step] : steps) {
      co_await m_.sleep(pause_ns);
      if (Orders::leaves_out(s.orders, step)) {
        log.push_back(name + " leaves out");
        continue;
      }
      outcome = co_await engine_.step(m_, s, step, demand);
      if (outcome != Outcome::granted) break;
      log.push_back(name + " " + std::string(names::of(step.table)));
    }
    if (outcome == Outcome::granted) {
      co_await engine_.commit(m_, s, demand);
      log.push_back(name + " commits");
    } else {
      co_await engine_.roll_back(m_, s);
      log.push_back(name + " " + std::string(names::of(outcome)));
    }
    if (--left_ == 0) m_.stop();
  }

  int left_ = 0;
  std::deque<std::vector<std::pair<std::uint64_t, Step>>> scripts_;
};
constexpr std::uint64_t kMs = 1'000'000;

Step update_of(Table table, std::uint64_t row) {
  return {.locks = true, .changes = true, .table = table, .row = row};
}

class EveryDesign : public testing::TestWithParam<Design> {};
INSTANTIATE_TEST_SUITE_P(Engine, EveryDesign,
                         testing::Values(Design::mysql_5_7, Design::mysql_8_0_15, Design::mysql_9_7),
                         [](const auto& info) { return std::to_string(static_cast<int>(info.param)); });

TEST_P(EveryDesign, OfTwoThatWantEachOthersRowOneIsRolledBackAndTheOtherCommits) {
  Table2 table(parts_of(GetParam()));
  table.runs(0, {{1 * kMs, update_of(Table::stock, 1)}, {20 * kMs, update_of(Table::customer, 2)}});
  table.runs(1, {{5 * kMs, update_of(Table::customer, 2)},
                 {5 * kMs, update_of(Table::district, 3)},
                 {20 * kMs, update_of(Table::stock, 1)}});
  table.run();
  // The second asks last, and has changed more.
  EXPECT_EQ(table.log, (std::vector<std::string>{"first stock", "second customer", "second district",
                                                 "first deadlock", "second stock", "second commits"}));
  EXPECT_EQ(table.engine_.lock_counts().deadlocks, 1U);
  EXPECT_EQ(table.sessions_[0]->counts.undone, 1U);
  EXPECT_EQ(table.sessions_[1]->counts.undone, 0U);
  table.engine_.each_lock([](const Lock&) { ADD_FAILURE() << "a lock is left"; });
}

TEST_P(EveryDesign, WhatWasInsertedIsLockedUntilItsCommit) {
  Table2 table(parts_of(GetParam()));
  const Step insert{.changes = true, .inserts = true, .table = Table::orders, .row = 7};
  table.runs(0, {{1 * kMs, insert}, {50 * kMs, update_of(Table::stock, 1)}});
  table.runs(1, {{10 * kMs, update_of(Table::orders, 7)}});
  table.run();
  EXPECT_EQ(table.log, (std::vector<std::string>{"first orders", "first stock", "first commits",
                                                 "second orders", "second commits"}));
}

TEST_P(EveryDesign, AnOrderIsDeliveredOnce) {
  Table2 table(parts_of(GetParam()));
  const auto delivery = [](std::uint64_t pause_ns) {
    return std::vector<std::pair<std::uint64_t, Step>>{
        {pause_ns, {.reads = true, .order = Order::finds_oldest, .table = Table::new_order}},
        {1 * kMs,
         {.locks = true, .changes = true, .order = Order::oldest, .table = Table::new_order, .row = 0}},
        {20 * kMs,
         {.locks = true, .changes = true, .order = Order::oldest, .table = Table::orders, .row = 0}}};
  };
  table.runs(0, delivery(1 * kMs));
  table.runs(1, delivery(2 * kMs));
  table.run();
  EXPECT_EQ(table.log, (std::vector<std::string>{"first new_order", "second new_order", "first new_order",
                                                 "first orders", "first commits", "second new_order",
                                                 "second leaves out", "second commits"}));
  EXPECT_EQ(table.sessions_[1]->counts.changes, 0U);
}

/// Pairs of granted locks of one record that exclude each other.
std::uint64_t conflicts(const Engine<SimMachine>& engine) {
  std::map<std::pair<std::uint64_t, lock_sys::HeapNo>, std::vector<const Lock*>> granted;
  engine.each_lock([&](const Lock& lock) {
    if (!lock.is_record || lock.is_waiting) return;
    lock.each_record([&](lock_sys::HeapNo heap_no) { granted[{lock.place, heap_no}].push_back(&lock); });
  });
  std::uint64_t found = 0;
  for (const auto& [record, locks] : granted) {
    for (const Lock* one : locks) {
      for (const Lock* other : locks) {
        found += one->trx != other->trx && (one->mode == Mode::x || other->mode == Mode::x) ? 1 : 0;
      }
    }
  }
  return found;
}

struct Tried {
  Design design;
  lock_sys::Policy policy;
  LoadKind kind;
};
class AtRandom : public testing::TestWithParam<Tried> {};
INSTANTIATE_TEST_SUITE_P(
    Engine, AtRandom,
    testing::Values(Tried{Design::mysql_5_7, lock_sys::Policy::fcfs_5_7, LoadKind::sysbench_read_write},
                    Tried{Design::mysql_8_0_15, lock_sys::Policy::cats_8_0_3, LoadKind::sysbench_read_write},
                    Tried{Design::mysql_9_7, lock_sys::Policy::cats_8_0_20, LoadKind::sysbench_read_write},
                    Tried{Design::mysql_9_7, lock_sys::Policy::equal_weights, LoadKind::sysbench_read_write},
                    Tried{Design::mysql_9_7, lock_sys::Policy::random, LoadKind::sysbench_read_write},
                    Tried{Design::mysql_5_7, lock_sys::Policy::fcfs_5_7, LoadKind::tpcc},
                    Tried{Design::mysql_9_7, lock_sys::Policy::cats_8_0_20, LoadKind::tpcc}),
    [](const auto& info) {
      return std::to_string(info.index) + (info.param.kind == LoadKind::tpcc ? "Tpcc" : "Sysbench");
    });

TEST_P(AtRandom, NoTwoHaveWhatExcludesThemEveryAttemptHasOneEndAndNoLockIsLeft) {
  std::uint64_t deadlocks = 0;
  std::uint64_t waits = 0;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    SimMachine m({.cores_per_socket = 3, .seed = seed, .random_schedule = true});
    SimMachine::File file(m, "redo", machine::Bytes::counted);
    Parts parts = parts_of(GetParam().design);
    parts.locks.policy = GetParam().policy;
    parts.engine.server_order = seed % 2 == 0;
    parts.engine.has_page_latches = seed % 3 == 0;
    parts.locks.table_looks = std::array{lock_sys::TableLooks::flat, lock_sys::TableLooks::each,
                                         lock_sys::TableLooks::counts}[seed / 2 % 3];
    parts.locks.has_lines = seed % 5 == 0;
    if (seed % 6 == 0) parts.engine.hash_index = seed % 4 == 0 ? HashIndex::tries : HashIndex::waits;
    // Eleven rows, or one warehouse: nearly everybody meets.
    const LoadConfig load{.kind = GetParam().kind,
                          .clients = 9,
                          .transactions = 5,
                          .away_ns = 1'000,
                          .rows = 11,
                          .distribution = Distribution::uniform};
    Clients<SimMachine> clients(m, file, parts, load, demands_for(load.kind), seed);
    clients.spawn(m);
    for (std::uint64_t events = 0; m.step(); ++events) {
      if (events % 16 == 0) {
        ASSERT_EQ(conflicts(clients.engine()), 0U) << "seed " << seed;
      }
    }
    const Counts done = clients.engine_counts();
    EXPECT_EQ(clients.transactions(), 9U * 5U);
    EXPECT_EQ(done.commits + done.rolled_back, clients.transactions());
    EXPECT_EQ(done.begun, clients.transactions() + done.deadlocks + done.timeouts);
    EXPECT_EQ(done.timeouts, 0U);
    EXPECT_EQ(done.deadlocks, clients.engine().lock_counts().deadlocks);
    clients.engine().each_lock([](const Lock&) { ADD_FAILURE() << "a lock is left"; });
    deadlocks += done.deadlocks;
    waits += done.lock_waits;
  }
  EXPECT_GT(waits, 100U);
  if (GetParam().kind == LoadKind::sysbench_read_write) {
    EXPECT_GT(deadlocks, 20U);
  }
}

struct Seen {
  Counts counts;
  std::uint64_t fsyncs = 0;
  std::uint64_t trx_sys = 0;
  std::uint64_t lock_latches = 0;
  std::uint64_t ended_ns = 0;
};
Seen seen_with(const EngineConfig& engine) {
  SimMachine m({.cores_per_socket = 8});
  SimMachine::File file(m, "redo", machine::Bytes::counted);
  const LoadConfig load{.clients = 8, .transactions = 20, .rows = 30, .distribution = Distribution::uniform};
  Clients<SimMachine> clients(m, file, {.engine = engine}, load, demands_for(load.kind));
  clients.spawn(m);
  m.run_for(60'000 * kMs);
  EXPECT_EQ(clients.transactions(), 160U);
  const auto latched = clients.latched();
  const auto& ids = clients.engine().trx_sys_counters();
  return {.counts = clients.engine_counts(),
          .fsyncs = file.fsyncs(),
          .trx_sys = ids.mutex + ids.shards + ids.serialisation,
          .lock_latches = latched.global + latched.pages + latched.tables,
          .ended_ns = clients.ended_ns()};
}

TEST(Engine, InTheServersOrderIsDoneWhatIsDoneInItsOwn) {
  for (const Design design : {Design::mysql_5_7, Design::mysql_9_7}) {
    for (const LoadKind kind : {LoadKind::sysbench_read_write, LoadKind::tpcc}) {
      std::vector<std::vector<std::uint64_t>> seen;
      for (const bool in_server_order : {false, true}) {
        SimMachine m(SimConfig{});
        SimMachine::File file(m, "redo", machine::Bytes::counted);
        const LoadConfig load{.kind = kind, .transactions = 100, .rows = 1'000};
        Parts parts = parts_of(design);
        parts.engine.server_order = in_server_order;
        Demands demands = demands_for(kind);
        for (auto& [name, demand] : demands) demand.mtrs_permille = 3'000;
        Clients<SimMachine> clients(m, file, parts, load, demands);
        clients.spawn(m);
        m.run_for(60'000 * kMs);
        const Counts done = clients.engine_counts();
        const auto latched = clients.latched();
        const auto& ids = clients.engine().trx_sys_counters();
        seen.push_back({done.commits, done.rolled_back, done.changes, done.mtrs, file.fsyncs(),
                        latched.global, latched.pages, latched.tables, ids.mutex, ids.serialisation,
                        ids.shards});
        EXPECT_EQ(done.commits + done.rolled_back, 100U);
        clients.engine().each_lock([](const Lock&) { ADD_FAILURE() << "a lock is left"; });
      }
      EXPECT_EQ(seen[0], seen[1]) << names::of(design) << " " << names::of(kind);
    }
  }
}

TEST(Engine, TheServersOrderIsKnownWithoutPurgeAndBufferPool) {
  EXPECT_THROW(check_together(EngineConfig{.has_purge = true, .server_order = true}), std::invalid_argument);
  EXPECT_THROW(check_together(EngineConfig{.has_buffer_pool = true, .server_order = true}),
               std::invalid_argument);
  EXPECT_NO_THROW(check_together(EngineConfig{.server_order = true}));
}

TEST(Engine, APartThatIsOffIsNotAskedAndTheOthersAre) {
  const Seen all = seen_with({});
  EXPECT_GT(all.fsyncs, 0U);
  EXPECT_GT(all.trx_sys, 0U);
  EXPECT_GT(all.lock_latches, 0U);
  EXPECT_GT(all.counts.lock_waits, 0U);
  const Seen no_locks = seen_with({.has_row_locks = false});
  EXPECT_EQ(no_locks.lock_latches, 0U);
  EXPECT_EQ(no_locks.counts.lock_waits + no_locks.counts.deadlocks, 0U);
  EXPECT_GT(no_locks.trx_sys, 0U);
  const Seen no_ids = seen_with({.has_trx_sys = false});
  EXPECT_EQ(no_ids.trx_sys, 0U);
  EXPECT_GT(no_ids.counts.lock_waits, 0U);
  const Seen no_redo = seen_with({.has_redo = false});
  EXPECT_EQ(no_redo.fsyncs + no_redo.counts.mtrs, 0U);
  EXPECT_GT(no_redo.lock_latches, 0U);
  const Seen never_flushes = seen_with({.flush_every = 0});
  EXPECT_GT(never_flushes.counts.mtrs, 0U);
  EXPECT_LT(never_flushes.ended_ns, all.ended_ns);
}

TEST(Engine, NoMorePagesBecomeDirtyThanAreWritten) {
  constexpr std::uint64_t kRunNs = 200'000'000;
  const auto dirtied = [](std::uint64_t cleaned_per_s) {
    Parts parts;
    parts.engine.cleaned_per_s = cleaned_per_s;
    parts.engine.dirty_percent = 100;
    SimMachine m({.cores_per_socket = 4});
    SimMachine::File file(m, "redo", machine::Bytes::counted);
    Clients<SimMachine> clients(m, file, parts, LoadConfig{.clients = 8, .rows = 10'000},
                                demands_for(LoadKind::sysbench_read_write));
    clients.spawn(m);
    m.run_for(kRunNs);
    return std::pair(clients.engine().dirtied(), clients.engine_counts().mtrs);
  };
  const auto [without, all] = dirtied(0);
  EXPECT_EQ(without, all);
  const auto [few, more] = dirtied(1'000);
  EXPECT_LE(few, 1'000 * kRunNs / 1'000'000'000 + 1);
  EXPECT_GE(few, 190U);
  EXPECT_GT(more, 10 * few);
}

/// Waits for the latch of a leaf, and when all was done.
std::pair<std::uint64_t, std::uint64_t> latching_pages(bool has_page_latches, std::uint32_t clients_n,
                                                       std::uint64_t rows) {
  SimMachine m({.cores_per_socket = 8});
  SimMachine::File file(m, "redo", machine::Bytes::counted);
  const LoadConfig load{
      .clients = clients_n, .transactions = 50, .rows = rows, .distribution = Distribution::uniform};
  Clients<SimMachine> clients(m, file, {.engine = {.has_page_latches = has_page_latches}}, load,
                              demands_for(load.kind));
  clients.spawn(m);
  m.run_for(60'000 * kMs);
  EXPECT_EQ(clients.transactions(), 50U * clients_n);
  const std::uint32_t site = m.site("buf_block_lock").id;
  return {site < m.waits().size() ? m.waits()[site].ns.count() : 0, clients.ended_ns()};
}

TEST(Engine, ThoseWaitForALeafWhoChangeRowsOfOnePage) {
  EXPECT_GT(latching_pages(true, 8, 70).first, 20U) << "one page";
  EXPECT_LT(latching_pages(true, 8, 1'000'000).first, 3U) << "fourteen thousand";
  EXPECT_EQ(latching_pages(false, 8, 70).first, 0U);
  EXPECT_EQ(latching_pages(true, 1, 70).first, 0U);
}

TEST(Engine, LatchesOfPagesCostALoneClientNextToNothing) {
  const std::uint64_t without = latching_pages(false, 1, 70).second;
  const std::uint64_t with = latching_pages(true, 1, 70).second;
  EXPECT_GE(with, without);
  EXPECT_LT(with, without + without / 50) << "its lines stay where they are";
}

TEST(Engine, RowsOfOnePageHaveOneLatchAndHistoryHasALastPagePerPartition) {
  SimMachine m(SimConfig{});
  PageLatches<SimMachine> pages(m, {.partitions = 2}, {});
  const auto leaf = [&](Table table, std::uint64_t row) { return &pages.leaf_of(m, {.table = table}, row); };
  EXPECT_EQ(leaf(Table::warehouse, 1), leaf(Table::warehouse, 2));
  EXPECT_NE(leaf(Table::warehouse, 1), leaf(Table::warehouse, 1'000));
  EXPECT_NE(leaf(Table::warehouse, 1), leaf(Table::district, 1));
  std::set<const void*> last_pages;
  for (std::uint64_t row = 0; row < 100'000; row += 1'000) last_pages.insert(leaf(Table::history, row));
  EXPECT_EQ(last_pages.size(), 2U) << "all append to the last page of a partition";
}

/// Waits for the latch of a part of the hash index, of a read-write load whose statements all search as `demand` says.
std::uint64_t searching(EngineConfig engine, std::uint32_t clients_n, const Demand& demand) {
  SimMachine m({.cores_per_socket = 8});
  SimMachine::File file(m, "redo", machine::Bytes::counted);
  const LoadConfig load{
      .clients = clients_n, .transactions = 40, .rows = 1'000'000, .distribution = Distribution::uniform};
  Demands demands = demands_for(load.kind);
  for (auto& [name, each] : demands) each = demand;
  engine.has_page_latches = true;
  Clients<SimMachine> clients(m, file, {.engine = engine}, load, demands);
  clients.spawn(m);
  m.run_for(60'000 * kMs);
  EXPECT_EQ(clients.transactions(), 40U * clients_n);
  const std::uint32_t site = m.site("btr_search_latch").id;
  return site < m.waits().size() ? m.waits()[site].ns.count() : 0;
}

TEST(Engine, ChangesOfTheHashIndexWaitForItsSearches) {
  const EngineConfig waits{.hash_index = HashIndex::waits, .hash_search_ns = 500, .hash_change_ns = 2'000};
  const Demand changes{
      .computing_ns = 2'000, .hash_searches_permille = 1'000, .hash_changes_permille = 1'000};
  EXPECT_GT(searching(waits, 8, changes), 50U);
  EXPECT_EQ(searching(waits, 1, changes), 0U) << "alone";
  const Demand reads{.computing_ns = 2'000, .hash_searches_permille = 1'000};
  EXPECT_EQ(searching(waits, 8, reads), 0U) << "readers share it";
  EXPECT_EQ(searching({}, 8, changes), 0U) << "there is none";
}

TEST(Engine, ASearchWaitsForNobodyWhoChangesTheHashIndex) {
  SimMachine m({.cores_per_socket = 4});
  PageLatches<SimMachine> pages(
      m, {.hash_index = HashIndex::waits, .hash_search_ns = 100, .hash_change_ns = 1'000'000}, {});
  std::vector<bool> found;
  const auto search = [&](std::uint64_t after_ns) -> Task<> {
    m.work(after_ns);
    found.push_back(co_await pages.search_hash(m, 0));
  };
  m.spawn("change", [&] { return pages.change_hash(m, 0); });
  m.spawn("meanwhile", [&] { return search(500'000); });
  m.spawn("later", [&] { return search(2'000'000); });
  m.run();
  EXPECT_EQ(found, (std::vector<bool>{false, true}));
  EXPECT_EQ(m.waits().size(), 0U);
}

TEST(Engine, TheHashIndexOfManyTablesHasManyLatches) {
  EngineConfig engine{.hash_index = HashIndex::waits, .hash_search_ns = 500, .hash_change_ns = 2'000};
  const Demand demand{.computing_ns = 2'000, .hash_searches_permille = 1'000, .hash_changes_permille = 1'000};
  const std::uint64_t one = searching(engine, 8, demand);
  engine.partitions = 16;
  EXPECT_LT(searching(engine, 8, demand), one / 2);
}

TEST(Engine, AHashIndexComesWithLatchesOfPages) {
  EXPECT_THROW(check_together(EngineConfig{.hash_index = HashIndex::tries}), std::invalid_argument);
}

TEST(Engine, APoolLatchesItsPagesItself) {
  EXPECT_THROW(check_together(EngineConfig{.has_buffer_pool = true, .has_page_latches = true}),
               std::invalid_argument);
}

TEST(Engine, LocksThatAreHeldUntilTheCommitIsDurableAreHeldLonger) {
  const Seen first = seen_with({.durable_first = true});
  const Seen behind = seen_with({.durable_first = false});
  EXPECT_GT(first.counts.lock_wait_ns, behind.counts.lock_wait_ns);
}

}  // namespace
}  // namespace engineroom::engine
