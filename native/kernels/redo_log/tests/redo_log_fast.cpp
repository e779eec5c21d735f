// Our own redo log: what threads append at the same time is recovered whole, and in the order that they ask
// for.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "redo_log/fast_log_body.hpp"
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

/// Appenders that take turns by chance, with writes between, against the plainest record of what they
/// appended. Says what is wrong, or nothing.
template <typename Rules>
std::string what_a_run_loses(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Disk disk;
  using Log = StretchLog<Rules>;
  Log log(std::size_t{1} << (15 + random() % 3), disk.sink());
  std::vector<typename Log::Appender> appenders(1 + random() % 4, typename Log::Appender(log));
  std::map<Lsn, std::vector<std::byte>> appended;
  Lsn complete = 0;
  Lsn last = 0;
  for (std::uint64_t i = 0; i < 100; ++i) {
    const std::size_t who = random() % appenders.size();
    const std::size_t most = random() % 20 == 0 ? 3000 : 250;
    std::vector<std::byte> group = make_group(static_cast<std::uint32_t>(who), i, 1 + random() % most);
    const Lsn after = random() % 8 == 0 ? last : 0;
    last = appenders[who].append(group, after);
    const Lsn start = lsn_of(sn_of(last) - group.size());
    if (start < after) return "a group begins before the LSN that it had to follow";
    if (last < complete) return "a group lies in what was already written";
    if (!appended.emplace(last, std::move(group)).second) return "two groups have one place";
    if (random() % 15 == 0) complete = log.write_out();
  }
  complete = log.write_out();
  const auto found = recover(disk.file);
  if (!found) return "the file is not a log";
  if (found->groups.size() != appended.size()) return "groups are missing";
  Lsn before = 0;
  for (const RecoveredGroup& group : found->groups) {
    const auto& bytes = appended[group.end_lsn];
    if (!std::ranges::equal(found->bytes_of(group), bytes)) return "a group has other bytes";
    if (group.start_lsn < before) return "groups overlap";
    before = group.end_lsn;
  }
  return {};
}

TEST(FastLog, IsThePlainRecordInWhateverOrderItsThreadsCome) {
#if defined(ENGINEROOM_SANITIZED)
  constexpr std::uint64_t kSeeds = 200;
#else
  constexpr std::uint64_t kSeeds = 2000;
#endif
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    ASSERT_EQ(what_a_run_loses<SoundStretches>(seed), "") << "seed " << seed;
  }
}

struct StretchLeftOpen : SoundStretches {
  static std::uint64_t close(std::atomic<std::uint64_t>& state, std::uint64_t) { return state.load(); }
};
struct NotFilledUp : SoundStretches {
  static Sn fill_up(Sn from, Sn) { return from; }
};

template <typename Rules>
std::uint64_t first_seed_that_loses() {
  std::uint64_t seed = 0;
  while (seed < 100 && what_a_run_loses<Rules>(seed).empty()) ++seed;
  return seed;
}

TEST(FastLog, PlantedMistakesAreFound) {
  EXPECT_LT(first_seed_that_loses<StretchLeftOpen>(), 100U);
  EXPECT_LT(first_seed_that_loses<NotFilledUp>(), 100U);
}

TEST(FastLog, PadsNoMoreThanAThreadHasWritten) {
  Disk disk;
  FastLog log(std::size_t{1} << 20, disk.sink());
  FastLog::Appender idle(log);
  FastLog::Appender busy(log);
  const auto group = make_group(0, 0, 100);
  std::uint64_t written = 0;
  for (std::uint64_t n = 1; n < 3000; n += n / 3 + 1) {
    const std::uint64_t before = log.padded_bytes();
    for (std::uint64_t i = 0; i < n; ++i) busy.append(group);
    idle.append(group, 0);
    log.write_out();
    written = n * group.size();
    EXPECT_LE(log.padded_bytes() - before, std::max<std::uint64_t>(2 * 16 * kDataBytes, 2 * written)) << n;
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
  // What was refused has reserved nothing that the writer would wait for.
  const Lsn third = one.append(group);
  EXPECT_GE(log.write_out(), third);
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

TEST(FastLog, NoGroupBeginsInTheBlocksInsideALargeOneAlsoWhereOthersWereBefore) {
  Disk disk;
  FastLog log(std::size_t{1} << 15, disk.sink());
  FastLog::Appender appender(log);
  for (std::uint64_t i = 0; i < 1000; ++i) appender.append(make_group(0, i, 100));
  const auto large = make_group(0, 1000, 5'000);
  const Lsn end = appender.append(large);
  log.write_out();
  std::uint64_t blocks = 0;
  const Lsn start = lsn_of(sn_of(end) - large.size());
  for (Lsn block = block_of(start) + kBlockBytes; block < block_of(end); block += kBlockBytes, ++blocks) {
    const ConstBlock bytes(&disk.file[static_cast<std::size_t>(file_offset(block, kCapacity))], kBlockBytes);
    EXPECT_EQ(header_of(bytes).first_group, 0) << block;
  }
  EXPECT_GE(blocks, 9U);
}

TEST(FastLog, ClientsThatWaitShareAnFsync) {
  // On a busy computer a window may see one client alone: then another one is looked at.
  GroupCommit seen;
  for (int i = 0; i < 100 && seen.commits <= seen.fsyncs; ++i)
    seen = group_commit(8, 1'000'000, 100'000'000, 100);
  EXPECT_GT(seen.commits, seen.fsyncs);
  EXPECT_LE(seen.commits, 8 * (seen.fsyncs + 1));
  EXPECT_GT(append_ns(2, 10'000, 100), 0U);
  EXPECT_GT(fetch_add_and_copy_ns(2, 10'000, 100), 0U);
}

}  // namespace
}  // namespace engineroom::redo_log
