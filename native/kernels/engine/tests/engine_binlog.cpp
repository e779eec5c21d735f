// The engine with a binary log: what must hold of every commit in runs at random, the mistakes that these runs must find, fsyncs
// counted by hand, and when rows are let go.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "engine/clients.hpp"
#include "engine/engine.hpp"
#include "engine/load.hpp"
#include "group_commit/mistakes.hpp"
#include "machine/sim_machine.hpp"

namespace engineroom::engine {
namespace {

using group_commit::Broken;
using group_commit::CommitConfig;
using group_commit::Mistake;
using group_commit::Stage;
using group_commit::Ticket;
using group_commit::Tickets;
using machine::SimConfig;
using machine::SimMachine;
using CommitStep = group_commit::Step;

constexpr std::uint64_t kMs = 1'000'000;
constexpr Binlog kDesigns[] = {Binlog::serialised, Binlog::stages, Binlog::one_redo_flush};

auto new_binlog(SimMachine& m) {
  return [&m] { return std::make_unique<SimMachine::File>(m, "binlog", machine::Bytes::counted); };
}
Demands demands_for(LoadKind kind) {
  Demands all;
  for (const Statement statement : statements_of(kind)) {
    all[std::string(names::of(statement))] = {.computing_ns = 2'000, .mtrs_permille = 1000, .mtr_bytes = 100};
  }
  return all;
}

/// What is known of each commit, and what of it cannot be right.
class Notes {
 public:
  std::vector<std::string> wrong;
  std::uint64_t largest_group = 0;
  bool orders_commits = true;
  std::function<Lsn()> flushed_lsn;
  /// By XID, which are given in the order of the commits' beginnings: which version of each row it wrote.
  std::map<std::uint64_t, std::map<std::uint64_t, std::uint64_t>> changes;

  void reached(CommitStep step, Tickets tickets) {
    for (const auto& ticket : tickets) reached(step, *ticket, tickets.size());
  }
  void told(const Ticket& ticket) {
    if (++told_[ticket.xid] > 1) says(ticket, "is told again");
  }
  void delays(const Ticket& ticket) {
    if (!steps_[ticket.xid].contains(CommitStep::binlog_written)) says(ticket, "is delayed before FLUSH");
  }

 private:
  void reached(CommitStep step, const Ticket& ticket, std::size_t group) {
    std::set<CommitStep>& before = steps_[ticket.xid];
    switch (step) {
      case CommitStep::binlog_written: {
        largest_group = std::max<std::uint64_t>(largest_group, group);
        if (ticket.prepare_lsn > flushed_lsn()) says(ticket, "is written and not durably prepared");
        for (const auto& [row, version] : changes[ticket.xid]) {
          if (version != ++written_[row]) says(ticket, "is written out of the order of a row's versions");
        }
        break;
      }
      case CommitStep::engine_committed:
        if (!before.contains(CommitStep::binlog_synced)) says(ticket, "is committed and not synced");
        if (before.contains(step)) says(ticket, "is committed again");
        if (orders_commits && ticket.gtid != ++committed_) says(ticket, "is committed out of order");
        break;
      case CommitStep::acknowledged:
        if (!before.contains(CommitStep::engine_committed)) says(ticket, "is acknowledged too early");
        break;
      default:
        break;
    }
    before.insert(step);
  }
  void says(const Ticket& ticket, const std::string& what) {
    wrong.push_back("transaction " + std::to_string(ticket.xid) + " " + what);
  }

  std::map<std::uint64_t, std::set<CommitStep>> steps_;
  std::map<std::uint64_t, std::uint64_t> told_;
  std::map<std::uint64_t, std::uint64_t> written_;  // versions of each row
  std::uint64_t committed_ = 0;
};
class Eyes {
 public:
  explicit Eyes(Notes* notes = nullptr) : notes_(notes) {}
  void reached(CommitStep step, Tickets tickets) const { notes_->reached(step, tickets); }
  void leads(Stage, const Ticket&) const {}
  void ends(Stage) const {}
  void follows(Stage, const Ticket&) const {}
  void delays(Tickets tickets) const {
    for (const auto& ticket : tickets) notes_->delays(*ticket);
  }
  void told(const Ticket& ticket) const { notes_->told(ticket); }

 private:
  Notes* notes_;
};

constexpr std::uint64_t kClients = 9;
constexpr std::uint64_t kTransactions = 6;  // of each

/// Sessions with sysbench's transactions over so few rows that nearly everybody meets.
class Watched {
 public:
  using E = Engine<SimMachine, Broken, Eyes>;

  Watched(SimMachine& m, const Parts& parts, Mistake mistake)
      : m_(m),
        file_(m, "redo", machine::Bytes::counted),
        demands_(demand_table(load_.kind, demands_for(load_.kind))),
        engine_(m, file_, parts, 0, 100, 1, new_binlog(m), Eyes(&notes), Broken(mistake)) {
    notes.orders_commits = parts.commit.order_commits || parts.engine.binlog == Binlog::serialised;
    notes.flushed_lsn = [this] { return engine_.flushed_lsn(m_); };
    engine_.spawn_threads(m);
    for (std::uint32_t i = 0; i < kClients; ++i) {
      sessions_.push_back(std::make_unique<Session<SimMachine>>(m, i));
      m.spawn("client", [this, i] { return client(*sessions_[i]); });
    }
  }
  /// Every end is there, and nothing is left.
  void look_after() {
    if (ended_ != kClients) wrong("a client waits for ever");
    if (ended_ != kClients || m_.now() == 0) return;
    if (committed != kClients * kTransactions) wrong("a commit is missing");
    engine_.each_lock([&](const lock_sys::Lock&) { wrong("a lock is left"); });
    if (!engine_.trx_sys().active_ids().empty()) wrong("an id is left");
  }

  Notes notes;
  std::uint64_t committed = 0;

 private:
  Task<> client(Session<SimMachine>& s) {
    machine::Random random(m_.random());
    Script script;
    for (std::uint64_t done = 0; done < kTransactions;) {
      draw(load_, random, script);
      co_await engine_.begin(m_, s);
      std::vector<std::uint64_t> rows;
      Outcome outcome = Outcome::granted;
      for (const Step& step : script.steps) {
        outcome = co_await engine_.step(m_, s, step, demands_[static_cast<std::size_t>(step.statement)]);
        if (outcome != Outcome::granted) break;
        if (step.changes) rows.push_back(step.row);
      }
      if (outcome == Outcome::stopping) co_return;
      if (outcome != Outcome::granted) {
        co_await engine_.roll_back(m_, s);
        continue;
      }
      // Whoever has a row is alone with it until the engine's commit.
      for (const std::uint64_t row : std::set(rows.begin(), rows.end())) {
        notes.changes[begun_ + 1][row] = ++versions_[row];
      }
      ++begun_;
      const bool is_done = co_await engine_.commit(m_, s, demands_[static_cast<std::size_t>(script.commit)]);
      if (!is_done) co_return;
      if (!s.locks.locks.empty() || s.trx.is_listed) {
        wrong("a session is told and not ended");
        co_return;  // whoever leads still has it
      }
      ++committed;
      ++done;
    }
    if (++ended_ == kClients) m_.stop();
  }
  void wrong(const std::string& what) { notes.wrong.push_back(what); }

  SimMachine& m_;
  LoadConfig load_{.rows = 40, .distribution = Distribution::uniform};
  SimMachine::File file_;
  DemandTable demands_;
  E engine_;
  std::vector<std::unique_ptr<Session<SimMachine>>> sessions_;
  std::map<std::uint64_t, std::uint64_t> versions_;
  std::uint64_t begun_ = 0;
  std::uint64_t ended_ = 0;
};

struct Seen {
  std::vector<std::string> wrong;
  std::uint64_t largest_group = 0;
};
/// Some runs with schedules at random.
Seen seen_in(Binlog binlog, Mistake mistake, const CommitConfig& commit, std::uint64_t runs) {
  Seen all;
  constexpr redo_log::Design kRedo[] = {redo_log::Design::log_5_6, redo_log::Design::log_5_7,
                                        redo_log::Design::log_8_0_no_writer_threads};
  for (std::uint64_t seed = 1; seed <= runs; ++seed) {
    SimMachine m({.cores_per_socket = 3, .seed = seed, .random_schedule = true});
    Parts parts{.locks = lock_sys::config_of(seed % 2 == 0 ? lock_sys::Design::mysql_5_7
                                                           : lock_sys::Design::mysql_9_7),
                .commit = commit};
    parts.trx_sys.latches = seed % 2 == 0 ? transactions::Latches::one_5_7 : transactions::Latches::sharded;
    parts.engine.binlog = binlog;
    parts.engine.redo = kRedo[seed % 3];
    Watched watched(m, parts, mistake);
    m.run_on(20'000 * kMs);
    watched.look_after();
    all.wrong.insert(all.wrong.end(), watched.notes.wrong.begin(), watched.notes.wrong.end());
    all.largest_group = std::max(all.largest_group, watched.notes.largest_group);
  }
  return all;
}

class EveryBinlog : public testing::TestWithParam<Binlog> {};
INSTANTIATE_TEST_SUITE_P(EngineBinlog, EveryBinlog, testing::ValuesIn(kDesigns),
                         [](const auto& info) { return std::to_string(static_cast<int>(info.param)); });

TEST_P(EveryBinlog, NobodyIsAcknowledgedBeforeItsStagesAndEachEndsOnce) {
  for (const bool orders_commits : {true, false}) {
    for (const bool own_conditions : {true, false}) {
      const CommitConfig commit{.delay_us = own_conditions ? 20U : 0U,
                                .order_commits = orders_commits,
                                .own_conditions = own_conditions,
                                .max_binlog_bytes = 20'000};
      const Seen seen = seen_in(GetParam(), Mistake::none, commit, 9);
      EXPECT_TRUE(seen.wrong.empty()) << seen.wrong.size() << ", the first " << seen.wrong[0];
      EXPECT_EQ(seen.largest_group > 2, GetParam() != Binlog::serialised);
    }
  }
}

TEST_P(EveryBinlog, MistakesAreFound) {
  for (const Mistake mistake :
       {Mistake::fetched_after_flush, Mistake::own_lsn_only, Mistake::committed_before_sync,
        Mistake::delay_in_flush_stage, Mistake::told_twice, Mistake::never_told}) {
    if (!is_possible(design_of(GetParam()), mistake)) continue;
    const Seen seen = seen_in(GetParam(), mistake, {.delay_us = 20}, 9);
    EXPECT_FALSE(seen.wrong.empty()) << names::of(mistake);
  }
}

/// A run on a disk whose fsync takes 1 ms, and all else next to nothing.
struct Counted {
  std::uint64_t redo_fsyncs = 0;
  BinlogCounts binlog;
  std::uint64_t ended_ns = 0;
  std::uint64_t commits = 0;
};
Counted counted_with(Binlog binlog, std::uint32_t clients, std::uint64_t transactions,
                     const CommitConfig& commit = {}) {
  SimMachine m({.cores_per_socket = 16, .disk_fsync = {.quantiles_ps = {1'000'000'000}}});
  SimMachine::File file(m, "redo", machine::Bytes::counted);
  const LoadConfig load{.clients = clients,
                        .transactions = transactions,
                        .away_ns = 1'000,
                        .distribution = Distribution::uniform};
  Parts parts{.commit = commit};
  parts.engine.binlog = binlog;
  parts.engine.redo = redo_log::Design::log_8_0_no_writer_threads;
  Clients<SimMachine> made(m, file, parts, load, demands_for(load.kind), 1, new_binlog(m));
  made.spawn(m);
  m.run_on(60'000 * kMs);
  EXPECT_EQ(made.transactions(), clients * transactions);
  return {.redo_fsyncs = file.fsyncs(),
          .binlog = made.engine().binlog_counts(),
          .ended_ns = made.ended_ns(),
          .commits = made.engine_counts().commits};
}

TEST(EngineBinlogCounts, OneClientPaysThreeFsyncsIn55AndTwoSince) {
  const std::pair<Binlog, std::uint64_t> redo_fsyncs[] = {
      {Binlog::serialised, 40}, {Binlog::stages, 20}, {Binlog::one_redo_flush, 20}};
  for (const auto& [binlog, expected] : redo_fsyncs) {
    const Counted seen = counted_with(binlog, 1, 20);
    EXPECT_EQ(seen.redo_fsyncs, expected) << names::of(binlog);
    // And the header of the first file.
    EXPECT_EQ(seen.binlog.fsyncs, 21U) << names::of(binlog);
    EXPECT_EQ(seen.binlog.flush_groups, 20U) << names::of(binlog);
  }
  const Counted off = counted_with(Binlog::off, 1, 20);
  EXPECT_EQ(off.redo_fsyncs, 20U);
  EXPECT_EQ(off.binlog.fsyncs + off.binlog.written_bytes + off.binlog.flush_groups, 0U);
}

TEST(EngineBinlogCounts, TheBinlogHasEveryChangedRow) {
  const auto bytes = [](std::uint64_t transactions) {
    return counted_with(Binlog::one_redo_flush, 1, transactions).binlog.written_bytes;
  };
  // Four changes, each a row before and behind of 4 + 4 + 1 + 119 + 1 + 59 bytes with their bitmaps, and the events around.
  const std::uint64_t of_one = bytes(11) - bytes(10);
  EXPECT_GT(of_one, 4U * 2 * 188);
  EXPECT_LT(of_one, 4U * 2 * 188 + 400);
}

/// When the second gets the row that the first has changed, since the first began to commit.
std::uint64_t row_is_free_after_ns(Binlog binlog, bool durable_first) {
  SimMachine m({.disk_fsync = {.quantiles_ps = {1'000'000'000}}});
  SimMachine::File file(m, "redo", machine::Bytes::counted);
  Parts parts{};
  parts.engine.binlog = binlog;
  parts.engine.durable_first = durable_first;
  Engine<SimMachine> engine(m, file, parts, 0, 100, 1, new_binlog(m));
  engine.spawn_threads(m);
  Session<SimMachine> first(m, 0);
  Session<SimMachine> second(m, 1);
  const Step update{.locks = true, .changes = true, .table = Table::sbtest, .row = 7};
  const Demand demand{.computing_ns = 0, .mtrs_permille = 1000, .mtr_bytes = 100};
  std::uint64_t begins = 0;
  std::uint64_t granted = 0;
  m.spawn("first", [&]() -> Task<> {
    co_await engine.begin(m, first);
    co_await engine.step(m, first, update, demand);
    co_await m.sleep(5 * kMs);
    begins = m.now();
    co_await engine.commit(m, first, demand);
  });
  m.spawn("second", [&]() -> Task<> {
    co_await engine.begin(m, second);
    co_await m.sleep(kMs);
    co_await engine.step(m, second, update, demand);
    granted = m.now();
    co_await engine.commit(m, second, demand);
    m.stop();
  });
  m.run_for(1'000 * kMs);
  EXPECT_GT(granted, begins);
  return granted - begins;
}

TEST(EngineBinlog, RowsAreHeldUntilTheBinlogIsSynced) {
  EXPECT_LT(row_is_free_after_ns(Binlog::off, false), kMs);
  EXPECT_GE(row_is_free_after_ns(Binlog::off, true), kMs);
  // The redo of the prepare and the binlog; 5.5 flushes the commit's redo behind, with the row let go. The file's header besides.
  for (const Binlog binlog : kDesigns) {
    const std::uint64_t ns = row_is_free_after_ns(binlog, true);
    EXPECT_GE(ns, 3 * kMs) << names::of(binlog);
    EXPECT_LT(ns, 4 * kMs) << names::of(binlog);
  }
}

TEST(EngineBinlog, RefusesAnEngineWithoutRedoAndOneWithoutFiles) {
  SimMachine m{SimConfig{}};
  SimMachine::File file(m, "redo", machine::Bytes::counted);
  Parts parts{};
  parts.engine.binlog = Binlog::one_redo_flush;
  using E = Engine<SimMachine>;
  EXPECT_THROW(E(m, file, parts, 0, 100, 1), std::invalid_argument);
  parts.engine.has_redo = false;
  EXPECT_THROW(E(m, file, parts, 0, 100, 1, new_binlog(m)), std::invalid_argument);
}

}  // namespace
}  // namespace engineroom::engine
