// Read views: the rules by hand, random histories against the oracle, the mistakes that these must find, what purge walks over,
// real threads.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/tests/described_members.hpp"
#include "common/tests/part_of.hpp"
#include "machine/host_machine.hpp"
#include "machine/sim_machine.hpp"
#include "read_views/histories.hpp"
#include "read_views/isolation.hpp"
#include "read_views/load.hpp"
#include "read_views/purge.hpp"
#include "read_views/statement_cost.hpp"
#include "transactions/trx_sys.hpp"

namespace engineroom::read_views {
namespace {

using machine::HostMachine;
using machine::SimConfig;
using machine::SimMachine;
using transactions::Latches;
using transactions::Trx;
using transactions::TrxSys;
using transactions::TrxSysConfig;
using transactions::Views;

struct Design {
  const char* name;
  Latches latches;
  Views views;
};
const std::vector<Design> kDesigns{{"Of56", Latches::one_5_6, Views::removed},
                                   {"Of57", Latches::one_5_7, Views::kept},
                                   {"Of57Remedied", Latches::one_5_7, Views::removed_at_once},
                                   {"Of80", Latches::one_8_0, Views::kept},
                                   {"Split", Latches::split, Views::kept},
                                   {"Sharded", Latches::sharded, Views::kept},
                                   {"ShardedRemedied", Latches::sharded, Views::removed_at_once}};
std::string name_of_test(const testing::TestParamInfo<Design>& info) { return info.param.name; }

TEST(ReadView, WithNobodyActiveEverythingBeforeItIsShown) {
  ReadView view;
  view.low_limit_id = 10;
  view.complete();
  EXPECT_TRUE(view.changes_visible(9));
  EXPECT_FALSE(view.changes_visible(10));
}

class EachViewDesign : public testing::TestWithParam<Design> {};

TEST_P(EachViewDesign, ReadsWhatTheSnapshotSaysAndKeepsWhatIsNeeded) {
  const HistoryReport report =
      run_histories(GetParam().latches, GetParam().views, Mistake::none, {.seed = 1, .runs = part_of(120)});
  EXPECT_TRUE(report.is_clean()) << report.first_failure;
  EXPECT_GT(report.reads, part_of(80'000));
  // Versions were built, views used again, undo logs purged, or this would show nothing.
  EXPECT_GT(report.reads_of_older, report.reads / 20);
  EXPECT_EQ(report.purged, report.commits);
  EXPECT_GT(report.rollbacks, part_of(100));
  EXPECT_EQ(report.views_reused > part_of(1000), GetParam().views == Views::kept);
}
INSTANTIATE_TEST_SUITE_P(ReadViews, EachViewDesign, testing::ValuesIn(kDesigns), name_of_test);

struct Planted {
  const char* name;
  Mistake mistake;
  std::uint64_t HistoryReport::*counter;
  std::uint64_t runs = 60;
};
class EachViewMistake : public testing::TestWithParam<Planted> {};

TEST_P(EachViewMistake, IsFound) {
  if (kIsSanitized) GTEST_SKIP() << "counted over more runs than sanitizers have time for";
  for (const Latches latches : {Latches::one_5_7, Latches::sharded}) {
    const HistoryReport report = run_histories(latches, Views::kept, GetParam().mistake,
                                               {.seed = 1, .runs = GetParam().runs, .transactions = 40});
    EXPECT_GT(report.*GetParam().counter, 0U) << names::of(latches) << ": " << report.first_failure;
  }
}
INSTANTIATE_TEST_SUITE_P(
    ReadViews, EachViewMistake,
    testing::Values(
        Planted{"NumbersLeaveFirst", Mistake::numbers_leave_first, &HistoryReport::missing_history},
        Planted{"NumberBehindMutex", Mistake::number_behind_mutex, &HistoryReport::wrong_views},
        Planted{"CounterBeforeMutex", Mistake::counter_before_mutex, &HistoryReport::wrong_reads},
        Planted{"FlagBehindTheLook", Mistake::flag_behind_the_look, &HistoryReport::missing_history, 500},
        Planted{"ReusesNonEmpty", Mistake::reuses_non_empty, &HistoryReport::wrong_reads},
        Planted{"ReusesStale", Mistake::reuses_stale, &HistoryReport::wrong_reads},
        Planted{"ViewNotTold", Mistake::view_not_told, &HistoryReport::wrong_reads},
        Planted{"PurgeClonesNewest", Mistake::purge_clones_newest, &HistoryReport::purge_too_far},
        Planted{"PurgeOneTooFar", Mistake::purge_one_too_far, &HistoryReport::missing_history}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(Histories, ANumberTakenLastDoesNoHarmAsLongAsTheMutexIsHeld) {
  // Whoever has a number that large is among the ids that were copied, and cannot leave before the mutex is free.
  const HistoryReport report =
      run_histories(Latches::sharded, Views::kept, Mistake::number_last, {.seed = 1, .runs = part_of(100)});
  EXPECT_TRUE(report.is_clean()) << report.first_failure;
}

TEST(Histories, AreTheSameForTheSameSeed) {
  const auto of = [](std::uint64_t seed) {
    return run_histories(Latches::sharded, Views::kept, Mistake::none, {.seed = seed, .runs = 3});
  };
  EXPECT_EQ(of(7).steps, of(7).steps);
  EXPECT_EQ(of(7).views_reused, of(7).views_reused);
}

TEST(Purge, WalksOverEachClosedViewBehindTheOldestOpenOneAndThatOne) {
  TrxSysConfig config{.views = Views::kept};
  SimMachine m(SimConfig{});
  TrxSys<SimMachine> trx_sys(m, config);
  Purge<SimMachine> purge(m, trx_sys, 0);
  std::vector<std::uint64_t> walked;
  m.spawn("sessions", [&]() -> Task<> {
    std::vector<std::unique_ptr<Trx<SimMachine>>> closed;
    for (int i = 0; i < 50; ++i) {
      closed.push_back(std::make_unique<Trx<SimMachine>>());
      co_await trx_sys.begin(m, *closed.back(), true);
      co_await trx_sys.open_view(m, *closed.back());
      co_await trx_sys.end_of_reads(m, *closed.back());
    }
    const auto walk = [&]() -> Task<> {
      const std::uint64_t before = trx_sys.counters().views_walked;
      co_await purge.batch(m, 1);
      walked.push_back(trx_sys.counters().views_walked - before);
    };
    co_await walk();  // all closed
    Trx<SimMachine> open;
    co_await trx_sys.begin(m, open, false);
    co_await trx_sys.open_view(m, open);
    co_await walk();  // those and the open one
    co_await trx_sys.disconnect(m, open);
    for (auto& trx : closed) co_await trx_sys.disconnect(m, *trx);
    co_await walk();
  });
  m.run();
  EXPECT_EQ(walked, (std::vector<std::uint64_t>{50, 51, 0}));
  EXPECT_EQ(trx_sys.views_in_list(), 0U);
}

/// A line that another socket has costs 1 us, one of the own socket 0.1 us, all else nothing.
SimConfig lines_alone(std::uint32_t sockets) {
  return {.sockets = sockets,
          .cores_per_socket = 2 / sockets,
          .load_ps = 0,
          .rmw_ps = 0,
          .same_core_ps = 0,
          .same_socket_ps = 100'000,
          .other_socket_ps = 1'000'000,
          .first_touch_ps = 0,
          .read_occupancy_ps = 0,
          .copy_ps_per_kib = 0,
          .switch_ps = 0,
          .wake = {.quantiles_ps = {0}},
          .timer_slack_ps = 0};
}
/// How long a view takes to open on one CPU while the other has changed so many active ids last.
std::uint64_t opening_ns(std::size_t active, std::uint32_t sockets, TrxSysConfig config) {
  config.list_ns = config.set_ns = config.prepare_ns = 0;
  SimMachine m(lines_alone(sockets));
  TrxSys<SimMachine> trx_sys(m, config);
  std::vector<std::unique_ptr<Trx<SimMachine>>> writers;
  std::uint64_t ns = 0;
  m.spawn("writer", [&]() -> Task<> {
    for (std::size_t i = 0; i < active; ++i) {
      writers.push_back(std::make_unique<Trx<SimMachine>>());
      co_await trx_sys.begin(m, *writers.back(), false);
      co_await trx_sys.become_read_write(m, *writers.back());
    }
  });
  m.spawn("reader", [&]() -> Task<> {
    co_await m.sleep(100'000'000);
    Trx<SimMachine> reader;
    co_await trx_sys.begin(m, reader, false);
    const std::uint64_t start = m.now();
    co_await trx_sys.open_view(m, reader);
    ns = m.now() - start;
    co_await trx_sys.disconnect(m, reader);
  });
  m.run();
  return ns;
}

TEST(TrxSysLines, AViewTakesALineForEightActiveIdsAndNearOnesAreCheaper) {
  const TrxSysConfig lines{.has_lines = true};
  const std::uint64_t eight = opening_ns(8, 2, lines);
  for (const std::size_t n : {9U, 16U, 17U, 64U, 65U, 800U}) {
    EXPECT_EQ(opening_ns(n, 2, lines) - eight, 1000 * ((n + 7) / 8 - 1)) << n;
  }
  EXPECT_EQ(opening_ns(800, 1, lines) - opening_ns(8, 1, lines), 100U * 99);
  EXPECT_EQ(opening_ns(800, 2, {}), opening_ns(8, 2, {})) << "memory is free";
}

TEST(TrxSysLines, ABitmapTakesALineForFiveHundredAndTwelveIds) {
  const TrxSysConfig bits{.ids = transactions::Ids::bitmap, .has_lines = true};
  EXPECT_EQ(opening_ns(300, 2, bits), opening_ns(8, 2, bits));
  EXPECT_EQ(opening_ns(1000, 2, bits) - opening_ns(8, 2, bits), 1000U);
}

TEST(TrxSys, AViewThatIsClosedWithoutTheMutexLeavesTheListWithTheNextOne) {
  SimMachine m(SimConfig{});
  TrxSys<SimMachine> trx_sys(m, {.closes_without_mutex = true});
  std::vector<std::uint64_t> latched;
  m.spawn("session", [&]() -> Task<> {
    Trx<SimMachine> trx;
    co_await trx_sys.begin(m, trx, false);
    for (int i = 0; i < 3; ++i) {
      const std::uint64_t before = trx_sys.counters().mutex;
      co_await trx_sys.open_view(m, trx);
      co_await trx_sys.drop_view(m, trx);
      latched.push_back(trx_sys.counters().mutex - before);
      EXPECT_EQ(trx_sys.views_in_list(), 1U);
    }
    co_await trx_sys.disconnect(m, trx);
  });
  m.run();
  EXPECT_EQ(latched, (std::vector<std::uint64_t>{1, 1, 1}));
  EXPECT_EQ(trx_sys.views_in_list(), 0U);
}

TEST(Purge, RemovesNothingThatAnOpenViewNeeds) {
  SimMachine m(SimConfig{});
  TrxSys<SimMachine> trx_sys(m, {});
  Purge<SimMachine> purge(m, trx_sys, 0);
  Row<SimMachine> row(m, 0);
  struct Left {
    Purge<SimMachine>& purge;
    UndoLog<SimMachine> log;
    Task<> to_history(SimMachine& m, TrxNo no) { return purge.add(m, no, log); }
    void became_visible(std::uint64_t) {}
  };
  std::vector<std::uint64_t> removed;
  std::vector<Found> found;
  m.spawn("thread", [&]() -> Task<> {
    const auto write = [&](std::uint64_t value) -> Task<> {
      Trx<SimMachine> trx;
      co_await trx_sys.begin(m, trx, false);
      co_await trx_sys.become_read_write(m, trx);
      Version* version = co_await row.change(m, trx.id, value, false);
      Left left{purge, {}};
      left.log.emplace_back(&row, version);
      co_await trx_sys.commit(m, trx, left);
    };
    co_await write(1);
    Trx<SimMachine> reader;
    co_await trx_sys.begin(m, reader, false);
    co_await trx_sys.open_view(m, reader);
    for (std::uint64_t value = 2; value <= 4; ++value) co_await write(value);
    removed.push_back(co_await purge.batch(m, 100));
    found.push_back(co_await row.read(m, *reader.view));
    co_await trx_sys.disconnect(m, reader);
    removed.push_back(co_await purge.batch(m, 100));
  });
  m.run();
  EXPECT_EQ(removed, (std::vector<std::uint64_t>{1, 3}));
  EXPECT_TRUE(found.at(0).is_there);
  EXPECT_EQ(found.at(0).value, 1U);
  EXPECT_EQ(found.at(0).steps, 3U);
  EXPECT_EQ(purge.history_length(), 0U);
}

TEST(StatementCost, IsTheOneMeasuredOnServersForAnUpdateOfOneRow) {
  const auto cost = [](Latches latches, bool has_binlog) {
    return statement_cost(latches, Views::kept, Kind::update, Level::repeatable_read, has_binlog, 10);
  };
  EXPECT_EQ(cost(Latches::one_5_7, false).mutex, 40U);
  EXPECT_EQ(cost(Latches::one_5_7, true).mutex, 60U);
  EXPECT_EQ(cost(Latches::one_8_0, false).mutex, 30U);
  const StatementCost sharded = cost(Latches::sharded, false);
  EXPECT_EQ(sharded.mutex, 20U);
  EXPECT_EQ(sharded.serialisation, 20U);
  EXPECT_EQ(sharded.shards, 20U);
}

TEST(Database, AtRepeatableReadASnapshotStaysAndAtReadCommittedItDoesNot) {
  for (const Isolation isolation : {Isolation::read_committed, Isolation::repeatable_read}) {
    Database database(isolation);
    const std::size_t reader = database.connect();
    const std::size_t writer = database.connect();
    const auto write = [&](Database::Value value) {
      database.begin(writer);
      EXPECT_TRUE(database.write(writer, 1, value));
      database.commit(writer);
    };
    write(10);
    database.begin(reader);
    EXPECT_EQ(database.read(reader, 1, 1), (Database::Rows{{1, 10}}));
    write(20);
    const Database::Value expected = isolation == Isolation::repeatable_read ? 10 : 20;
    EXPECT_EQ(database.read(reader, 1, 1), (Database::Rows{{1, expected}}));
    database.commit(reader);
  }
}

TEST(Database, WhoeverWouldWaitIsRefusedAndWhatIsRolledBackIsGone) {
  Database database(Isolation::serializable);
  const std::size_t one = database.connect();
  const std::size_t other = database.connect();
  database.begin(one);
  database.begin(other);
  EXPECT_TRUE(database.write(one, 1, 5));
  EXPECT_EQ(database.read(other, 0, 9), std::nullopt);
  database.roll_back(one);
  EXPECT_EQ(database.read(other, 0, 9), Database::Rows{});
  database.begin(one);
  EXPECT_FALSE(database.write(one, 3, 5)) << "a gap that another has read";
}

TEST(ReadViews, LoadsAndSystemsAreDescribedWhole) {
  tests::expect_described<HistoriesConfig, LoadConfig, TrxSysConfig>();
}

TEST(ViewLoad, ACommitWakesPurgeAndABatchMayTakeAsLongAsSome) {
  const auto batches = [](std::uint32_t write_percent, std::uint64_t batch_ns) {
    SimMachine m(SimConfig{.cores_per_socket = 4});
    ViewLoad<SimMachine> load(m, TrxSysConfig{.latches = Latches::one_5_7},
                              {.clients = 1,
                               .away_ns = 500'000,
                               .read_ns = 10'000,
                               .write_ns = 10'000,
                               .write_percent = write_percent,
                               .purge_batch_ns = batch_ns});
    load.spawn(m);
    m.run_for(100'000'000);
    return std::uint64_t{load.trx_sys().counters().clones};
  };
  EXPECT_NEAR(static_cast<double>(batches(0, 0)), 10, 1) << "a pause of 10 ms";
  EXPECT_GT(batches(100, 0), 150U) << "200 commits";
  EXPECT_LT(batches(100, 5'000'000), 25U) << "a batch of 5 ms";
}

TEST(ViewLoad, RealThreadsEndWithNothingLeft) {
  for (const Design& design : kDesigns) {
    HostMachine m({.seed = 1, .fsync_ns = 0, .folder = {}, .keeps_contents = false, .profile = false});
    TrxSysConfig config{.latches = design.latches, .views = design.views};
    ViewLoad<HostMachine> load(m, config,
                               {.clients = 4,
                                .idle_clients = 20,
                                .away_ns = 20'000,
                                .read_ns = 2'000,
                                .write_ns = 2'000,
                                .write_percent = 50,
                                .purge_pause_ns = 100'000});
    load.spawn(m);
    m.run_for(30'000'000);
    EXPECT_GT(load.writes(), 0U) << design.name;
    EXPECT_EQ(load.trx_sys().active_ids().size() + load.trx_sys().ids_in_shards(), 0U) << design.name;
    EXPECT_EQ(load.purged() + load.history_length(), load.writes()) << design.name;
  }
}

}  // namespace
}  // namespace engineroom::read_views
