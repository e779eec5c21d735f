// The three redo logs: crashes of simulated runs, and the mistakes that these must find.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/tests/part_of.hpp"
#include "redo_log/crash_runs.hpp"

namespace engineroom::redo_log {
namespace {

class EachLogDesign : public testing::TestWithParam<Design> {};

TEST_P(EachLogDesign, LosesNoDurableCommitInAnyCrash) {
  const CrashReport report =
      crash_runs(GetParam(), Mistake::none, {.seed = 1, .runs = part_of(200), .crashes_per_run = 20});
  EXPECT_TRUE(report.is_clean()) << report.first_failure;
  EXPECT_GT(report.crashes, part_of(2000));
  EXPECT_GT(report.commits, kIsSanitized ? 200U : 5000U);
  EXPECT_GT(report.recovered_groups, report.crashes);
  // The log buffer was full, and went round: mistakes there would show.
  EXPECT_GT(report.log_waits, part_of(200));
  // Groups of commits share fsyncs, or this run shows nothing of group commit.
  EXPECT_LT(report.fsyncs, report.commits);
}

TEST_P(EachLogDesign, GivesTheSameRunForTheSameSeed) {
  const CrashReport one =
      crash_runs(GetParam(), Mistake::none, {.seed = 77, .runs = 5, .crashes_per_run = 10});
  const CrashReport two =
      crash_runs(GetParam(), Mistake::none, {.seed = 77, .runs = 5, .crashes_per_run = 10});
  EXPECT_EQ(one.crashes, two.crashes);
  EXPECT_EQ(one.fsyncs, two.fsyncs);
  EXPECT_EQ(one.recovered_groups, two.recovered_groups);
}

std::string name_of_test(const testing::TestParamInfo<Design>& info) {
  constexpr const char* kNames[] = {"Log56", "Log57", "Log80", "Log80WithoutWriterThreads"};
  return kNames[static_cast<std::size_t>(info.param)];
}
const std::vector<Design> kAll{Design::log_5_6, Design::log_5_7, Design::log_8_0,
                               Design::log_8_0_no_writer_threads};
INSTANTIATE_TEST_SUITE_P(RedoLog, EachLogDesign, testing::ValuesIn(kAll), name_of_test);

struct Planted {
  const char* name;
  Mistake mistake;
  std::vector<Design> designs;
  std::uint64_t CrashReport::*counter;
};

class EachLogMistake : public testing::TestWithParam<Planted> {};

TEST_P(EachLogMistake, IsFound) {
  if (kIsSanitized) GTEST_SKIP() << "counted over more runs than sanitizers have time for";
  for (const Design design : GetParam().designs) {
    const CrashReport report =
        crash_runs(design, GetParam().mistake, {.seed = 1, .runs = 80, .crashes_per_run = 20});
    EXPECT_GT(report.*GetParam().counter, 0U) << names::of(design) << ": " << report.first_failure;
  }
}

const std::vector<Design> kOld{Design::log_5_6, Design::log_5_7};
const std::vector<Design> kNew{Design::log_8_0, Design::log_8_0_no_writer_threads};
INSTANTIATE_TEST_SUITE_P(
    RedoLog, EachLogMistake,
    testing::Values(
        Planted{"DurableBeforeFsync", Mistake::durable_before_fsync, kAll, &CrashReport::lost_commits},
        Planted{"FirstGroupNotSet", Mistake::first_group_not_set, kAll, &CrashReport::wrong_checkpoints},
        Planted{"EarlierGroupNotForgotten", Mistake::earlier_group_not_forgotten, kAll,
                &CrashReport::wrong_checkpoints},
        Planted{"CopyOutsideMutex", Mistake::copy_outside_mutex, kOld, &CrashReport::lost_commits},
        Planted{"LastBlockLeftBehind", Mistake::last_block_left_behind, kOld, &CrashReport::lost_commits},
        Planted{"RingFilledToTheBrim", Mistake::ring_filled_to_the_brim, kNew, &CrashReport::wrong_groups},
        Planted{"WritePastGap", Mistake::write_past_gap, kNew, &CrashReport::lost_commits},
        Planted{"LinkBeforeCopy", Mistake::link_before_copy, kNew, &CrashReport::wrong_groups},
        Planted{"WindowIgnored", Mistake::window_ignored, kNew, &CrashReport::disorders},
        Planted{"FlushedReadAfterFsync", Mistake::flushed_read_after_fsync, kNew, &CrashReport::lost_commits},
        Planted{"CloserNotTold",
                Mistake::closer_not_told,
                {Design::log_8_0_no_writer_threads},
                &CrashReport::hangs}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(CrashRuns, RefuseAMistakeThatTheDesignCannotMake) {
  EXPECT_THROW(
      crash_runs(Design::log_5_7, Mistake::write_past_gap, {.seed = 1, .runs = 1, .crashes_per_run = 1}),
      std::invalid_argument);
  EXPECT_THROW(
      crash_runs(Design::log_8_0, Mistake::copy_outside_mutex, {.seed = 1, .runs = 1, .crashes_per_run = 1}),
      std::invalid_argument);
}

TEST(RedoLog57, WithoutTheWaitForTheRunningFsyncEachCommitMakesItsOwn) {
  const CrashReport right =
      crash_runs(Design::log_5_7, Mistake::none, {.seed = 1, .runs = 100, .crashes_per_run = 1});
  const CrashReport wrong = crash_runs(Design::log_5_7, Mistake::followers_fsync_too,
                                       {.seed = 1, .runs = 100, .crashes_per_run = 1});
  EXPECT_LT(2 * right.fsyncs, 3 * right.commits / 2) << right.fsyncs << " for " << right.commits;
  EXPECT_GT(wrong.fsyncs, 9 * wrong.commits / 10) << wrong.fsyncs << " for " << wrong.commits;
}

}  // namespace
}  // namespace engineroom::redo_log
