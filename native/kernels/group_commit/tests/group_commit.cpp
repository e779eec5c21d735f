// Commits with two logs: crashes of simulated runs at any event, what each setting may lose, the mistakes that these runs must
// find, the stages' counts, real threads.
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <utility>

#include "common/tests/described_members.hpp"
#include "common/tests/part_of.hpp"
#include "group_commit/crash_runs.hpp"
#include "group_commit/load.hpp"
#include "group_commit/recovery.hpp"
#include "machine/host_machine.hpp"
#include "machine/sim_machine.hpp"

namespace {

using namespace engineroom;
using namespace engineroom::group_commit;
using machine::HostMachine;
using machine::SimMachine;

CrashSettings settings_of(Design design) { return {.design = design, .redo = usual_redo(design)}; }

class Designs : public testing::TestWithParam<Design> {};
INSTANTIATE_TEST_SUITE_P(GroupCommit, Designs,
                         testing::Values(Design::serialised, Design::stages, Design::one_redo_flush));

TEST_P(Designs, NothingAcknowledgedIsLostWhenBothLogsAreSynced) {
  for (const bool is_kill : {false, true}) {
    const CrashReport report =
        crash_runs(settings_of(GetParam()), {.seed = 1, .runs = part_of(30), .is_kill = is_kill});
    EXPECT_TRUE(report.is_clean()) << report.first_failure;
    EXPECT_GT(report.crashes, part_of(300));
    EXPECT_GT(report.rotations, part_of(20));
    EXPECT_EQ(report.lost + report.only_in_binlog + report.only_in_engine, 0U);
    EXPECT_EQ(report.largest_group > 2, GetParam() != Design::serialised);
  }
}

TEST_P(Designs, SettingsLoseWhatTheTableSaysAndNothingElse) {
  for (const auto& [sync_binlog, flush] : {std::pair{0, 1}, {3, 1}, {1, 2}, {1, 0}, {1000, 2}}) {
    for (const bool is_kill : {false, true}) {
      CrashSettings settings = settings_of(GetParam());
      settings.sync_binlog = static_cast<std::uint64_t>(sync_binlog);
      settings.flush_log_at_trx_commit = static_cast<std::uint64_t>(flush);
      const CrashReport report = crash_runs(settings, {.seed = 7, .runs = part_of(20), .is_kill = is_kill});
      const Risks risks = settings.risks(is_kill);
      const std::string where =
          std::to_string(sync_binlog) + "/" + std::to_string(flush) + (is_kill ? ", kill" : "");
      EXPECT_TRUE(report.is_clean()) << where << ": " << report.first_failure;
      if (kIsSanitized) continue;
      EXPECT_EQ(report.lost > 0, risks.loses) << where;
      EXPECT_EQ(report.only_in_binlog > 0, risks.only_in_binlog) << where;
      EXPECT_EQ(report.only_in_engine > 0, risks.only_in_engine) << where;
    }
  }
}

TEST_P(Designs, WithoutAnOrderNothingIsLostEither) {
  CrashSettings settings = settings_of(GetParam());
  settings.order_commits = false;
  const CrashReport report = crash_runs(settings, {.seed = 3, .runs = part_of(20)});
  EXPECT_TRUE(report.is_clean()) << report.first_failure;
}

TEST(GroupCommitCrashes, AreFoundSafeOverTheLogsOf80Too) {
  for (const redo_log::Design redo :
       {redo_log::Design::log_8_0, redo_log::Design::log_8_0_no_writer_threads}) {
    const CrashReport report =
        crash_runs({.design = Design::one_redo_flush, .redo = redo}, {.seed = 11, .runs = part_of(20)});
    EXPECT_TRUE(report.is_clean()) << report.first_failure;
  }
}

TEST(GroupCommitCrashes, AreTheSameAgainBySeed) {
  const auto once = [] { return crash_runs(settings_of(Design::one_redo_flush), {.seed = 77, .runs = 4}); };
  const CrashReport one = once();
  EXPECT_EQ(one.crashes, once().crashes);
  EXPECT_EQ(one.outcomes, once().outcomes);
}

TEST(GroupCommitCrashes, ReachEveryStepOfACommit) {
  if (kIsSanitized) GTEST_SKIP() << "counted over more runs than sanitizers have time for";
  const CrashReport report = crash_runs(settings_of(Design::one_redo_flush), {.seed = 1, .runs = 30});
  for (std::size_t step = 0; step < kSteps; ++step) {
    std::uint64_t transactions = 0;
    for (const auto& of_state : report.outcomes[step]) {
      for (const auto& of_left : of_state) transactions += of_left[0] + of_left[1];
    }
    EXPECT_GT(transactions, 0U) << names::of(static_cast<Step>(step));
  }
}

TEST(GroupCommitMistakes, AreAllFound) {
  if (kIsSanitized) GTEST_SKIP() << "counted over more runs than sanitizers have time for";
  for (const auto& [name, mistake] : names::table_of<Mistake>.all) {
    for (const Design design : {Design::serialised, Design::stages, Design::one_redo_flush}) {
      CrashSettings settings = settings_of(design);
      settings.mistake = mistake;
      if (mistake == Mistake::none) continue;
      if (!is_possible(design, mistake)) {
        EXPECT_THROW(crash_runs(settings, {.runs = 1}), std::invalid_argument) << name;
        continue;
      }
      const CrashReport report = crash_runs(settings, {.seed = 1, .runs = 25});
      EXPECT_FALSE(report.is_clean()) << name << " in " << names::of(design);
    }
  }
}

TEST(GroupCommitRecovery, CutsABinlogBehindItsLastWholeTransaction) {
  const Events events(2);
  binlog::Buffer file;
  events.begin_file(file);
  std::array<std::uint64_t, 3> ends{};
  for (std::uint64_t i = 0; i < ends.size(); ++i) {
    events.append(file, file.size(), i + 1, 100 + i);
    ends[i] = file.size();
  }
  const auto read = [&](std::size_t bytes) { return read_binlog(std::as_bytes(file.span().first(bytes))); };
  const BinlogFile all = read(file.size());
  EXPECT_TRUE(all.has_header && all.is_in_use);
  EXPECT_EQ(all.xids, (std::vector<std::uint64_t>{100, 101, 102}));
  EXPECT_EQ(all.gtids, (std::vector<std::uint64_t>{1, 2, 3}));
  EXPECT_EQ(all.end, ends[2]);
  for (std::size_t bytes = ends[0]; bytes < ends[1]; ++bytes) {
    EXPECT_EQ(read(bytes).end, ends[0]) << bytes;
    EXPECT_EQ(read(bytes).xids.size(), 1U) << bytes;
  }
  file.data()[ends[0] + 60] ^= 1;
  EXPECT_EQ(read(file.size()).end, ends[0]);
}

TEST(GroupCommitRecords, AreAsLongAsAsked) {
  redo_log::Mtr mtr;
  for (std::size_t bytes = 18; bytes < 700; ++bytes) {
    const auto group = redo_of(mtr, State::prepared, 5, bytes);
    EXPECT_NEAR(static_cast<double>(group.size()), static_cast<double>(bytes), 11) << bytes;
    States states;
    states.add(group);
    EXPECT_EQ(states.of(5), State::prepared) << bytes;
  }
}

/// A run of `transactions` of each client on a disk whose fsync takes 1 ms, and all else next to nothing.
struct Counts {
  std::uint64_t transactions = 0;
  std::uint64_t redo_fsyncs = 0;
  std::uint64_t binlog_fsyncs = 0;
  std::uint64_t sync_groups = 0;
  std::uint64_t p50_ns = 0;
};
Counts run(Design design, std::uint32_t clients, std::uint64_t transactions, CommitConfig commit = {}) {
  SimMachine m({.cores_per_socket = 8, .disk_fsync = {.quantiles_ps = {1'000'000'000}}});
  SimMachine::File redo(m, "redo", machine::Bytes::counted);
  Counts counts;
  redo_log::with_type<SimMachine>(usual_redo(design), [&]<typename Log>() {
    Load<SimMachine, Log> made(
        m, design, commit, redo_log::completed(usual_redo(design), {}), redo,
        [&m] { return std::make_unique<SimMachine::File>(m, "binlog", machine::Bytes::counted); },
        {.clients = clients, .transactions = transactions});
    made.sessions.spawn(m);
    m.run_on(100'000'000'000);
    counts = {made.sessions.transactions(), redo.fsyncs(), made.engine.binlog().counted().fsyncs,
              made.engine.counters().sync_groups, made.sessions.counts().latency_ns.quantile(500)};
  });
  return counts;
}

TEST(GroupCommitCounts, ADelayOfOneClientIsPaidInFull) {
  const Counts plain = run(Design::one_redo_flush, 1, 20);
  const Counts delayed = run(Design::one_redo_flush, 1, 20, {.delay_us = 5000});
  EXPECT_GE(delayed.p50_ns, plain.p50_ns + 4'500'000);
  EXPECT_LE(delayed.p50_ns, plain.p50_ns + 7'000'000);
}

TEST(GroupCommitCounts, SyncBinlogCountsGroups) {
  const Counts seen = run(Design::one_redo_flush, 1, 100, {.sync_binlog = 10});
  EXPECT_EQ(seen.binlog_fsyncs, 11U);
}

TEST(GroupCommitOptions, AreAllDescribed) { tests::expect_described<CommitConfig, LoadConfig>(); }

TEST(GroupCommitThreads, CommitOnARealMachine) {
  for (const bool own_conditions : {false, true}) {
    HostMachine m({.seed = 1, .fsync_ns = 50'000, .folder = {}, .keeps_contents = false, .profile = false});
    HostMachine::File redo(m, "redo");
    redo_log::LogConfig log{.writer_threads = false};
    Load<HostMachine, redo_log::Log57<HostMachine>> made(
        m, Design::one_redo_flush, {.own_conditions = own_conditions}, log, redo,
        [&m] { return std::make_unique<HostMachine::File>(m, "binlog"); },
        {.clients = 4, .transactions = 50});
    made.sessions.spawn(m);
    m.run_for(20'000'000'000);
    EXPECT_EQ(made.sessions.transactions(), 200U);
    EXPECT_EQ(made.engine.counters().flush_groups.load() >= 50, true);
  }
}

}  // namespace
