// What the redo logs leave in the file, byte for byte, and how often they sync it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "machine/sim_machine.hpp"
#include "redo_log/engine.hpp"
#include "redo_log/fast_log.hpp"
#include "redo_log/groups.hpp"
#include "redo_log/recovery.hpp"

namespace engineroom::redo_log {
namespace {

using machine::SimConfig;
using machine::SimMachine;
using Bytes = std::vector<std::byte>;

constexpr std::uint64_t kCapacity = std::uint64_t{1} << 20;

/// The blocks of `file` up to the one that holds `end` are those that the plain writer makes of the groups.
void expect_plain_blocks(const Bytes& file, const std::map<Lsn, Bytes>& groups, Lsn end) {
  std::vector<Bytes> in_order;
  for (const auto& [start, group] : groups) in_order.push_back(group);
  const Bytes plain = write_file(in_order, kCapacity);
  const std::uint64_t last = file_offset(block_of(end), kCapacity);
  ASSERT_GE(file.size(), last + kBlockBytes);
  for (std::uint64_t at = kFileHeaderBytes; at < last; at += kBlockBytes) {
    ASSERT_TRUE(std::equal(&file[at], &file[at] + kBlockBytes, &plain[at])) << "block at " << at;
  }
  // In the last one lies anything behind the data.
  const ConstBlock block(&file[last], kBlockBytes);
  EXPECT_TRUE(checksum_holds(block));
  EXPECT_EQ(header_of(block).data_bytes, offset_in_block(end));
  EXPECT_TRUE(std::equal(&file[last], &file[last] + offset_in_block(end), &plain[last]));
}

template <typename Log>
void write_and_compare(LogConfig config, std::uint64_t seed) {
  SimMachine m({.cores_per_socket = 3, .seed = seed});
  SimMachine::File file(m, "redo");
  config.seals_blocks = true;
  config.capacity_bytes = kCapacity;
  Log log(m, file, config);
  log.spawn_threads(m);
  std::map<Lsn, Bytes> groups;
  Lsn end = 0;
  int left = 3;
  for (std::uint32_t id = 0; id < 3; ++id) {
    m.spawn("client", [&, id]() -> Task<> {
      for (std::uint64_t i = 0; i < 50; ++i) {
        const Bytes group = make_group(id, i, 1 + m.random() % (i % 5 == 0 ? 1500 : 300));
        const Appended appended = co_await log.append(m, group, i % 2 == 0);
        groups.emplace(appended.start_lsn, group);
        end = std::max(end, appended.end_lsn);
        const bool is_last = i == 49;
        if (is_last || m.random() % 8 == 0)
          co_await log.write_up_to(m, appended.end_lsn, is_last || i % 2 == 0);
      }
      if (--left == 0) m.stop();
    });
  }
  m.run();
  ASSERT_EQ(groups.size(), 150U);
  EXPECT_EQ(log.flushed_lsn(m), end);
  expect_plain_blocks(file.contents(), groups, end);
  // The file ends with a write-ahead unit, zeroes behind the last block.
  if (config.write_ahead_bytes > 0) {
    EXPECT_EQ(file.contents().size() % config.write_ahead_bytes, 0U);
    const std::uint64_t behind = file_offset(block_of(end), kCapacity) + kBlockBytes;
    EXPECT_LT(file.contents().size(), behind + config.write_ahead_bytes);
    EXPECT_TRUE(std::all_of(&file.contents()[behind - 1] + 1, file.contents().data() + file.contents().size(),
                            [](std::byte byte) { return byte == std::byte{0}; }));
  }
}

TEST(RedoLogBytes, AreThoseOfThePlainWriter) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const LogConfig small{.buffer_bytes = 40 * kBlockBytes,
                          .write_ahead_bytes = seed % 2 == 0 ? 8192U : 1024U,
                          .recent_written_slots = 4096,
                          .recent_closed_slots = 8192};
    LogConfig of_56 = small;
    of_56.write_ahead_bytes = 0;
    write_and_compare<Log56<SimMachine>>(of_56, seed);
    write_and_compare<Log57<SimMachine>>(small, seed);
    write_and_compare<Log80<SimMachine>>(small, seed);
    LogConfig without_threads = small;
    without_threads.writer_threads = false;
    write_and_compare<Log80<SimMachine>>(without_threads, seed);
    LogConfig without_ahead = without_threads;
    without_ahead.write_ahead_bytes = 0;
    write_and_compare<Log80<SimMachine>>(without_ahead, seed);
  }
}

TEST(RedoLogBytes, OfTheLogOfOurOwnGiveBackItsGroups) {
  Bytes file(kFileHeaderBytes + kCapacity);
  StretchLog<SoundStretches> log(1 << 16, [&](Lsn block_lsn, std::span<const std::byte> blocks) {
    std::ranges::copy(blocks, file.begin() + static_cast<std::ptrdiff_t>(file_offset(block_lsn, kCapacity)));
  });
  StretchLog<SoundStretches>::Appender appender(log);
  std::vector<Bytes> groups;
  Lsn end = 0;
  for (std::uint64_t i = 0; i < 300; ++i) {
    groups.push_back(make_group(1, i, 1 + i * 37 % 900));
    end = appender.append(groups.back());
    if (i % 50 != 49) continue;
    const Lsn complete = log.write_out();
    EXPECT_GE(complete, end);
    end = complete;
  }
  std::ranges::copy(new_file_header(kCapacity), file.begin());
  const auto found = recover(file);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->end_lsn, end);
  for (Lsn lsn = kStartLsn; lsn < block_of(end); lsn += kBlockBytes) {
    const ConstBlock block(&file[file_offset(lsn, kCapacity)], kBlockBytes);
    EXPECT_EQ(header_of(block).checkpoint, 0U);
    EXPECT_EQ(header_of(block).number, block_number(lsn));
  }
  ASSERT_EQ(found->groups.size(), groups.size());
  for (std::size_t i = 0; i < groups.size(); ++i) {
    EXPECT_TRUE(std::ranges::equal(found->bytes_of(found->groups[i]), groups[i])) << i;
  }
}

/// What a thread alone takes to append 100 groups that each make a page dirty, and then to write the log.
template <typename Log>
std::uint64_t appended_and_written_ns(const LogConfig& config) {
  SimMachine m(SimConfig{});
  SimMachine::File file(m, "redo");
  Log log(m, file, config);
  std::uint64_t took_ns = 0;
  m.spawn("client", [&]() -> Task<> {
    const Bytes group(496);
    for (int i = 0; i < 100; ++i) co_await log.append(m, group, true);
    co_await log.write_up_to(m, kStartLsn + kHeaderBytes + 100 * kBlockBytes, false);
    took_ns = m.now();
  });
  m.run();
  return took_ns;
}

/// What each of the parameters adds to that, of which it is charged so often.
template <typename Log>
void expect_charges(std::uint64_t reserves, std::uint64_t seals) {
  const LogConfig nothing{.write_ahead_bytes = 0,
                          .seal_ns = 0,
                          .reserve_ns = 0,
                          .flush_list_ns = 0,
                          .writer_threads = false,
                          .recent_written_slots = 1 << 17,
                          .recent_closed_slots = 1 << 17};
  const auto with = [&](auto change) {
    LogConfig changed = nothing;
    change(changed);
    return appended_and_written_ns<Log>(changed) - appended_and_written_ns<Log>(nothing);
  };
  EXPECT_EQ(with([](LogConfig& config) { config.reserve_ns = 1000; }), reserves * 1000);
  EXPECT_EQ(with([](LogConfig& config) { config.flush_list_ns = 1000; }), 100 * 1000U);
  EXPECT_EQ(with([](LogConfig& config) { config.seal_ns = 1000; }), seals * 1000);
}

TEST(RedoLogCosts, AreChargedOnceForEachGroupAndForEachBlock) {
  // 100 whole blocks, and the one in which the next group will begin.
  expect_charges<Log56<SimMachine>>(200, 101);  // which takes the mutex twice
  expect_charges<Log57<SimMachine>>(100, 101);
  expect_charges<Log80<SimMachine>>(100, 100);  // only as far as it was asked for
}

struct Counted {
  std::uint64_t transactions;
  std::uint64_t mtrs;
  std::uint64_t fsyncs;
};

Counted load_of(Design design, const LoadConfig& load, std::uint64_t run_ns = 1'000'000'000) {
  SimMachine m({.cores_per_socket = 4});
  SimMachine::File file(m, "redo");
  Counted seen{};
  const LogConfig log{.recent_written_slots = 4096, .recent_closed_slots = 16384};
  with_load(design, m, file, log, load, [&](auto& made) {
    made.sessions.spawn(m);
    m.run_for(run_ns);
    const sessions::Counts counts = made.sessions.counts();
    seen = {.transactions = counts.transactions, .mtrs = counts.mtrs, .fsyncs = file.fsyncs()};
  });
  return seen;
}

TEST(RedoLogLoad, OfOneClientSyncsTheFileAsOftenAsItsCommitsAsk) {
  for (const Design design : {Design::log_5_6, Design::log_5_7, Design::log_8_0_no_writer_threads}) {
    const auto with = [&](std::uint32_t flush_every) {
      return load_of(design, {.statements = 3,
                              .mtrs_per_statement = 2,
                              .mtr_bytes = 100,
                              .commit_mtrs = 4,
                              .flush_every = flush_every,
                              .transactions = 10});
    };
    const Counted every = with(1);
    EXPECT_EQ(every.transactions, 10U);
    EXPECT_EQ(every.mtrs, 10U * (3 * 2 + 4));
    EXPECT_EQ(every.fsyncs, 10U);
    EXPECT_EQ(with(5).fsyncs, 2U);
    EXPECT_EQ(with(3).fsyncs, 3U);
    EXPECT_EQ(with(0).fsyncs, 0U);
  }
  const Counted threads = load_of(Design::log_8_0, {.transactions = 10});
  EXPECT_EQ(threads.transactions, 10U);
  EXPECT_GE(threads.fsyncs, 10U);
}

TEST(RedoLogLoad, WithALargeFirstClientHasOneThatNeverCommits) {
  const Counted seen = load_of(
      Design::log_5_7, {.clients = 3, .statement_ns = 200'000, .transactions = 10, .large_mtr_bytes = 5000},
      300'000'000);
  EXPECT_EQ(seen.transactions, 20U);
  EXPECT_GT(seen.mtrs, 2 * 20U);
}

}  // namespace
}  // namespace engineroom::redo_log
