// The redo log on real threads: what is in its file afterwards, and what a commit costs. In a file of their own, so that the build under
// the thread sanitizer compiles no simulated log.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <vector>

#include "machine/host_machine.hpp"
#include "redo_log/commit_cost.hpp"
#include "redo_log/groups.hpp"
#include "redo_log/log_5_6.hpp"
#include "redo_log/log_5_7.hpp"
#include "redo_log/log_8_0.hpp"
#include "redo_log/recovery.hpp"

namespace engineroom::redo_log {
namespace {

using machine::HostConfig;
using machine::HostMachine;

/// On real threads: what is in the file afterwards is what was appended, in the order of the LSNs.
template <typename Log>
void real_threads(LogConfig config) {
  HostConfig host{.fsync_ns = 20'000};
  HostMachine m(host);
  HostMachine::File file(m, "redo");
  config.seals_blocks = true;
  config.buffer_bytes = 64 * 1024;
  config.recent_written_slots = 4096;
  config.recent_closed_slots = 8192;
  config.capacity_bytes = 1 << 24;
  Log log(m, file, config);
  log.spawn_threads(m);
  constexpr std::uint32_t kClients = 4;
  constexpr std::uint64_t kTransactions = 200;
  std::vector<std::map<Lsn, std::vector<std::byte>>> appended(kClients);
  std::vector<Lsn> promised(kClients);
  std::atomic<std::uint32_t> left = kClients;
  for (std::uint32_t id = 0; id < kClients; ++id) {
    m.spawn("client", [&, id]() -> Task<> {
      for (std::uint64_t i = 0; i < kTransactions; ++i) {
        const std::vector<std::byte> group = make_group(id, i, 1 + (i * 37 + id) % 900);
        const Appended at = co_await log.append(m, group, i % 2 == 0);
        appended[id].emplace(at.start_lsn, group);
        const bool is_durable = co_await log.write_up_to(m, at.end_lsn, true);
        if (is_durable) promised[id] = at.end_lsn;
      }
      if (left.fetch_sub(1) == 1) m.stop();
    });
  }
  m.run();
  std::vector<std::byte> bytes = file.contents();
  const std::vector<std::byte> header = new_file_header(config.capacity_bytes);
  std::copy(header.begin(), header.end(), bytes.begin());
  const auto found = recover(bytes);
  ASSERT_TRUE(found);
  std::map<Lsn, std::vector<std::byte>> all;
  for (auto& of_client : appended) all.merge(of_client);
  ASSERT_EQ(all.size(), kClients * kTransactions);
  EXPECT_GE(found->end_lsn, std::ranges::max(promised));
  ASSERT_EQ(found->groups.size(), all.size());
  for (const RecoveredGroup& group : found->groups) {
    ASSERT_TRUE(std::ranges::equal(found->bytes_of(group), all[group.start_lsn])) << group.start_lsn;
  }
  EXPECT_LE(file.fsyncs(), 2 * kClients * kTransactions);
}

TEST(RedoLogOnRealThreads, Of56) { real_threads<Log56<HostMachine>>({.write_ahead_bytes = 0}); }
TEST(RedoLogOnRealThreads, Of57) { real_threads<Log57<HostMachine>>({}); }
TEST(RedoLogOnRealThreads, Of80) { real_threads<Log80<HostMachine>>({.writer_threads = true}); }
TEST(RedoLogOnRealThreads, Of80WithoutWriterThreads) {
  real_threads<Log80<HostMachine>>({.writer_threads = false});
}

TEST(CommitCost, AccountsForEveryByte) {
  for (const Design design : {Design::log_5_7, Design::log_8_0, Design::log_8_0_no_writer_threads}) {
    for (const std::size_t threads : {std::size_t{1}, std::size_t{4}}) {
      const CommitCost cost =
          measure_commit(design, {.threads = threads, .commits_per_thread = 20'000, .mtr_bytes = 700});
      EXPECT_EQ(cost.end_sn, threads * 20'000 * 700);
      EXPECT_GT(cost.elapsed_ns, 0U);
    }
  }
  EXPECT_THROW(measure_commit(Design::log_5_7, {.threads = 0}), std::invalid_argument);
  EXPECT_THROW(measure_commit(Design::log_5_6, {}), std::invalid_argument);
}

TEST(CommitCost, CountsTheMutexInAndOutIn57AndOneAdditionIn80) {
  constexpr std::uint64_t kCommits = 1000;
  const CommitWork one_piece{.commits_per_thread = kCommits, .mtr_bytes = 100};
  const CommitCounts old = count_commits(Design::log_5_7, one_piece);
  EXPECT_EQ(old.locked_ops, 2 * kCommits);
  EXPECT_EQ(old.atomic_stores, 0U);
  const CommitCounts without_writer = count_commits(Design::log_8_0_no_writer_threads, one_piece);
  EXPECT_EQ(without_writer.locked_ops, kCommits);
  EXPECT_EQ(without_writer.atomic_stores, 2 * kCommits);
  // Each further piece of 512 bytes is reported by itself.
  EXPECT_EQ(
      count_commits(Design::log_8_0_no_writer_threads, {.commits_per_thread = kCommits, .mtr_bytes = 1200})
          .atomic_stores,
      4 * kCommits);
  // A log that is a sixty-fourth of one is freed so much more often, by whoever finds it full.
  EXPECT_GT(count_commits(Design::log_8_0_no_writer_threads,
                          {.commits_per_thread = 10 * kCommits, .log_buffer_bytes = 64 << 10})
                .locked_ops,
            10 * kCommits);
}

TEST(CommitCost, ABufferHoldsWholeBlocksAndSixteenMiniTransactions) {
  EXPECT_THROW(measure_commit(Design::log_5_7, {.log_buffer_bytes = (64 << 10) + 1}), std::invalid_argument);
  EXPECT_THROW(measure_commit(Design::log_8_0, {.mtr_bytes = 4097, .log_buffer_bytes = 64 << 10}),
               std::invalid_argument);
  for (const Design design : {Design::log_5_7, Design::log_8_0, Design::log_8_0_no_writer_threads}) {
    // A log_writer makes room while it has a core: only in a run that outlasts its turn must a commit wait for it.
    std::uint64_t buffer_waits = 0;
    for (std::uint64_t commits = 200; buffer_waits == 0; commits *= 2) {
      ASSERT_LT(commits, 10'000'000U) << "nobody ever waited for room";
      const CommitCost cost = measure_commit(
          design,
          {.threads = 2, .commits_per_thread = commits, .mtr_bytes = 4096, .log_buffer_bytes = 64 << 10});
      EXPECT_EQ(cost.end_sn, 2 * commits * 4096);
      buffer_waits = cost.buffer_waits;
      // In the other two a commit that finds the log full makes room itself.
      ASSERT_TRUE(buffer_waits > 0 || design == Design::log_8_0);
    }
  }
}

/// The least CPU time of five measurements, with the commits and of the work alone: what others take of a core only adds to either.
CommitCost least_commit_cost(Design design, const CommitWork& work) {
  CommitCost least = measure_commit(design, work);
  for (int repeat = 1; repeat < 5; ++repeat) {
    const CommitCost cost = measure_commit(design, work);
    least.cpu_ns = std::min(least.cpu_ns, cost.cpu_ns);
    least.work_cpu_ns = std::min(least.work_cpu_ns, cost.work_cpu_ns);
  }
  return least;
}

TEST(CommitCost, WorkBetweenCommitsIsMeasuredAloneToo) {
  for (const Design design : {Design::log_5_7, Design::log_8_0_no_writer_threads}) {
    constexpr std::uint64_t kCommits = 10'000;
    const CommitCost bare = least_commit_cost(design, {.commits_per_thread = kCommits});
    const CommitCost worked = least_commit_cost(design, {.commits_per_thread = kCommits, .work_ns = 2000});
    EXPECT_GT(worked.work_cpu_ns, 1000 * kCommits);
    EXPECT_GT(worked.cpu_ns, worked.work_cpu_ns / 2);
    EXPECT_LT(bare.work_cpu_ns, bare.cpu_ns);
  }
}

}  // namespace
}  // namespace engineroom::redo_log
