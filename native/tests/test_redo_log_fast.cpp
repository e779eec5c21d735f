// Our own redo log: what threads append at the same time is recovered whole, and in the order that they ask
// for.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <thread>
#include <vector>

#include "redo_log/fast_log.hpp"
#include "redo_log/groups.hpp"
#include "redo_log/recovery.hpp"

namespace engineroom::redo_log {
namespace {

constexpr std::uint64_t kCapacity = std::uint64_t{1} << 24;

/// A file that the log writes into.
struct Disk {
  std::vector<std::byte> file = new_file_header(kCapacity);

  FastLog::Sink sink() {
    return [this](Lsn lsn, std::span<const std::byte> blocks) {
      const auto at = static_cast<std::size_t>(file_offset(lsn, kCapacity));
      if (file.size() < at + blocks.size()) file.resize(at + blocks.size());
      std::copy(blocks.begin(), blocks.end(), file.begin() + static_cast<std::ptrdiff_t>(at));
    };
  }
};

TEST(FastLog, GivesBackEveryGroupOfEveryThread) {
  constexpr std::uint32_t kThreads = 4;
  constexpr std::uint64_t kGroups = 2000;
  Disk disk;
  FastLog log(std::size_t{1} << 18, disk.sink());
  std::vector<std::map<Lsn, std::vector<std::byte>>> appended(kThreads);
  {
    std::vector<std::jthread> threads;
    for (std::uint32_t t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        FastLog::Appender appender(log);
        Lsn last = 0;
        for (std::uint64_t i = 0; i < kGroups; ++i) {
          std::vector<std::byte> group = make_group(t, i, 1 + (i * 31 + t) % 700);
          const Lsn end = appender.append(group);
          EXPECT_GT(end, last);
          last = end;
          appended[t].emplace(end, std::move(group));
          if (i % 50 == t) {
            EXPECT_GE(log.write_out(), end);
          }
        }
      });
    }
  }
  log.write_out();
  const auto found = recover(disk.file);
  ASSERT_TRUE(found);
  EXPECT_NE(found->stop, Stop::corrupt_record);
  std::map<Lsn, std::vector<std::byte>> all;
  for (auto& of_thread : appended) all.merge(of_thread);
  ASSERT_EQ(all.size(), kThreads * kGroups);
  ASSERT_EQ(found->groups.size(), all.size());
  for (const RecoveredGroup& group : found->groups) {
    ASSERT_TRUE(std::ranges::equal(found->bytes_of(group), all[group.end_lsn])) << group.end_lsn;
  }
}

TEST(FastLog, AGroupLiesBehindTheOneThatItsThreadHasSeen) {
  Disk disk;
  FastLog log(std::size_t{1} << 18, disk.sink());
  FastLog::Appender one(log);
  FastLog::Appender two(log);
  const auto group = make_group(0, 0, 50);
  const Lsn first = one.append(group);
  const Lsn second = two.append(group);
  EXPECT_GT(second, first);
  // Without saying so it would go into its own stretch, before the second.
  EXPECT_LT(one.append(group), second);
  EXPECT_GT(one.append(group, second), second);
  EXPECT_THROW(one.append(group, second + 1'000'000), std::invalid_argument);
}

TEST(FastLog, AThreadAloneWritesHardlyAnyPadding) {
  Disk disk;
  FastLog log(std::size_t{1} << 18, disk.sink());
  FastLog::Appender appender(log);
  for (std::uint64_t i = 0; i < 100; ++i) {
    appender.append(make_group(0, i, 100));
    log.write_out();
  }
  // Each write ends its block, and gives the rest of the stretch back.
  EXPECT_LT(log.padded_bytes(), 100 * kDataBytes);
}

TEST(FastLog, WithAGroupLargerThanAStretchAndOneLargerThanTheBuffer) {
  Disk disk;
  FastLog log(std::size_t{1} << 18, disk.sink());
  FastLog::Appender appender(log);
  const auto large = make_group(0, 0, 50'000);
  appender.append(large);
  log.write_out();
  const auto found = recover(disk.file);
  ASSERT_TRUE(found);
  ASSERT_EQ(found->groups.size(), 1U);
  EXPECT_TRUE(std::ranges::equal(found->bytes_of(found->groups[0]), large));
  EXPECT_THROW(appender.append(std::vector<std::byte>(300'000)), std::invalid_argument);
  EXPECT_THROW(FastLog(1000, {}), std::invalid_argument);
}

TEST(FastLog, ClientsThatWaitShareAnFsync) {
  const GroupCommit seen = group_commit(8, 1'000'000, 100'000'000, 100);
  EXPECT_GT(seen.commits, seen.fsyncs);
  EXPECT_LE(seen.commits, 8 * (seen.fsyncs + 1));
  EXPECT_GT(append_ns(2, 10'000, 100), 0U);
  EXPECT_GT(fetch_add_and_copy_ns(2, 10'000, 100), 0U);
}

}  // namespace
}  // namespace engineroom::redo_log
