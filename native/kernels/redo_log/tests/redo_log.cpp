// The three redo logs: who waits for whom, the link buffer.
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "common/tests/part_of.hpp"
#include "machine/sim_machine.hpp"
#include "redo_log/link_buffer.hpp"
#include "redo_log/log_5_6.hpp"
#include "redo_log/log_5_7.hpp"
#include "redo_log/log_8_0.hpp"
#include "redo_log/mistakes.hpp"

namespace engineroom::redo_log {
namespace {

using machine::SimConfig;
using machine::SimMachine;

/// What a mini-transaction takes that comes while another thread writes the log to the file, for a millisecond.
template <typename Log>
std::uint64_t appended_beside_a_write_ns() {
  SimMachine m({.timer_slack_ps = 0, .pwrite_ps = 1'000'000'000});
  SimMachine::File file(m, "redo");
  Log log(m, file, {.write_ahead_bytes = 0, .writer_threads = false});
  std::uint64_t took_ns = 0;
  const std::vector<std::byte> bytes(100);
  m.spawn("writer", [&]() -> Task<> {
    const Appended appended = co_await log.append(m, bytes, false);
    co_await log.write_up_to(m, appended.end_lsn, false);
  });
  m.spawn("beside it", [&]() -> Task<> {
    co_await m.sleep(300'000);
    const std::uint64_t start = m.now();
    co_await log.append(m, bytes, true);
    took_ns = m.now() - start;
  });
  m.run();
  EXPECT_GT(m.now(), 1'000'000U);
  return took_ns;
}

TEST(RedoLog, WhileTheFileIsWrittenMiniTransactionsWaitIn56Alone) {
  EXPECT_GT(appended_beside_a_write_ns<Log56<SimMachine>>(), 500'000U);
  EXPECT_LT(appended_beside_a_write_ns<Log57<SimMachine>>(), 100'000U);
  EXPECT_LT(appended_beside_a_write_ns<Log80<SimMachine>>(), 100'000U);
  Broken::mistake = Mistake::written_under_mutex;
  EXPECT_GT((appended_beside_a_write_ns<Log57<SimMachine, Broken>>()), 500'000U);
}

/// What is flushed when a commit has returned that waited while another thread's write, which flushes nothing, was under way; and
/// what it was to be.
template <typename Log>
std::pair<Lsn, Lsn> flushed_behind_a_write() {
  SimMachine m({.pwrite_ps = 1'000'000'000});
  SimMachine::File file(m, "redo");
  Log log(m, file, {.writer_threads = false});
  const std::vector<std::byte> bytes(100);
  std::pair<Lsn, Lsn> found;
  m.spawn("writes", [&]() -> Task<> {
    co_await m.sleep(100'000);
    const Lsn end = co_await log.end_lsn(m);
    co_await log.write_up_to(m, end, false);
  });
  m.spawn("commits", [&]() -> Task<> {
    const Appended appended = co_await log.append(m, bytes, false);
    co_await m.sleep(500'000);
    const bool is_done = co_await log.write_up_to(m, appended.end_lsn, true);
    EXPECT_TRUE(is_done);
    found = {log.flushed_lsn(m), appended.end_lsn};
  });
  m.run();
  return found;
}

TEST(RedoLog, ACommitDoesNotTakeAnothersWriteForItsFsync) {
  for (const auto& [flushed, needed] :
       {flushed_behind_a_write<Log56<SimMachine>>(), flushed_behind_a_write<Log57<SimMachine>>(),
        flushed_behind_a_write<Log80<SimMachine>>()}) {
    EXPECT_GE(flushed, needed);
  }
}

/// When the last of eight threads has added its page to the flush lists, each of which takes a millisecond for one.
std::uint64_t eight_pages_added_ns(std::uint64_t instances) {
  SimMachine m({.cores_per_socket = 8});
  SimMachine::File file(m, "redo");
  Log80<SimMachine> log(
      m, file, {.flush_list_ns = 1'000'000, .buffer_pool_instances = instances, .writer_threads = false});
  const std::vector<std::byte> bytes(100);
  for (int i = 0; i < 8; ++i) m.spawn("client", [&]() -> Task<> { co_await log.append(m, bytes, true); });
  m.run();
  return m.now();
}

TEST(FlushLists, AListTakesOnePageAfterTheOtherAndSeveralListsTakeThemAtATime) {
  EXPECT_GE(eight_pages_added_ns(1), 8'000'000U);
  EXPECT_LT(eight_pages_added_ns(64), 4'000'000U);
}

TEST(RedoLog80, WhoAwaitsAGapSleepsUntilItIsClosed) {
  SimConfig config;
  SimMachine m(config);
  SimMachine::File file(m, "redo");
  Log80<SimMachine> log(m, file, {.writer_threads = false});
  const std::vector<std::byte> bytes(100);
  m.spawn("late", [&]() -> Task<> { co_await log.append_late(m, bytes, 10'000'000); });
  m.spawn("waits", [&]() -> Task<> {
    co_await m.sleep(1'000'000);
    const Appended appended = co_await log.append(m, bytes, false);
    const bool is_done = co_await log.write_up_to(m, appended.end_lsn, false);
    EXPECT_TRUE(is_done);
    EXPECT_GE(m.now(), 10'000'000U);
    EXPECT_LT(m.now(), 11'000'000U) << "who closed the gap told it";
  });
  m.run();
  EXPECT_LT(m.cpu_ns(), 1'000'000U);
}

TEST(RedoLog80, WhoAwaitsAGapIsPromisedNothingWhenTheRunStops) {
  SimMachine m(SimConfig{});
  SimMachine::File file(m, "redo");
  Log80<SimMachine> log(m, file, {.writer_threads = false});
  // Large: the stop wakes both, and this one still copies when the other looks.
  const std::vector<std::byte> large(100'000);
  const std::vector<std::byte> small(100);
  bool is_asked = false;
  m.spawn("late", [&]() -> Task<> { co_await log.append_late(m, large, 10'000'000); });
  m.spawn("waits", [&]() -> Task<> {
    co_await m.sleep(1'000'000);
    const Appended appended = co_await log.append(m, small, false);
    const bool is_done = co_await log.write_up_to(m, appended.end_lsn, false);
    EXPECT_FALSE(is_done);
    EXPECT_LT(log.written_lsn(m), appended.end_lsn);
    is_asked = true;
  });
  m.run_for(5'000'000);
  EXPECT_TRUE(is_asked);
}

/// When a thread is told that awaits the first of two gaps, which is closed after 10 ms, beside one that awaits the second, which is
/// closed after 400 ms. Nobody wakes for no reason.
std::uint64_t told_of_the_first_gap_ns(std::uint64_t seed) {
  SimMachine m({.cores_per_socket = 4, .seed = 2 * seed, .random_schedule = true});
  SimMachine::File file(m, "redo");
  Log80<SimMachine> log(m, file, {.writer_threads = false});
  const std::vector<std::byte> bytes(100);
  const Lsn first = kStartLsn + kHeaderBytes;
  std::uint64_t told_ns = 0;
  m.spawn("first gap", [&]() -> Task<> {
    const Appended appended = co_await log.append_late(m, bytes, 10'000'000);
    EXPECT_EQ(appended.start_lsn, first);
  });
  m.spawn("second gap", [&]() -> Task<> {
    co_await m.sleep(3'000'000);
    const Appended appended = co_await log.append_late(m, bytes, 400'000'000);
    EXPECT_EQ(appended.end_lsn, first + 200);
  });
  m.spawn("awaits the second", [&]() -> Task<> {
    co_await m.sleep(6'000'000);
    co_await log.write_up_to(m, first + 200, false);
  });
  m.spawn("awaits the first", [&]() -> Task<> {
    co_await m.sleep(6'000'000);
    co_await log.write_up_to(m, first + 100, false);
    told_ns = m.now();
  });
  m.run();
  return told_ns;
}

TEST(RedoLog80, OfTwoWhoAwaitGapsNoneHidesTheOthersFromWhoClosesThem) {
  // A wake-up that is lost comes with the timeout, after 100 ms.
  for (std::uint64_t seed = 1; seed <= part_of(100); ++seed)
    ASSERT_LT(told_of_the_first_gap_ns(seed), 50'000'000U) << seed;
}

TEST(RedoLog80, TheWriterGivesUpItsCpuAfter1024WritesThoughThereIsMore) {
  SimMachine m(
      {.cores_per_socket = 1, .slice_ps = 1'000'000'000'000, .wakeup_granularity_ps = 1'000'000'000'000});
  SimMachine::File file(m, "redo");
  Log80<SimMachine> log(m, file, {.write_max_bytes = 512});
  const std::vector<std::byte> bytes(kDataBytes);
  log.spawn_threads(m);
  // The gap in front keeps everything else from the writer until it is closed.
  m.spawn("late", [&]() -> Task<> { co_await log.append_late(m, bytes, 1'000'000); });
  m.spawn("client", [&]() -> Task<> {
    for (int i = 0; i < 2000; ++i) co_await log.append(m, bytes, false);
    co_await m.sleep(1'000'000);
    EXPECT_EQ(file.writes(), 1024U);
    m.stop();
  });
  m.run();
}

TEST(RedoLog80, OnlyTheWriterAndWhoReportsFollowLinks) {
  SimMachine m({.cores_per_socket = 8, .pwrite_ps = 50'000'000'000});
  SimMachine::File file(m, "redo");
  Log80<SimMachine> log(m, file, {});
  const std::vector<std::byte> bytes(100);
  Lsn gap_ends = 0;
  Lsn all_ends = 0;
  log.spawn_threads(m);
  m.spawn("written", [&]() -> Task<> { co_await log.append(m, bytes, false); });
  m.spawn("gap", [&]() -> Task<> {
    co_await m.sleep(1'000'000);
    const Appended appended = co_await log.append_late(m, bytes, 5'000'000);
    gap_ends = appended.end_lsn;
  });
  m.spawn("behind it", [&]() -> Task<> {
    co_await m.sleep(2'000'000);
    const Appended appended = co_await log.append(m, bytes, false);
    all_ends = appended.end_lsn;
  });
  m.run_on(20'000'000);
  ASSERT_GT(all_ends, gap_ends);
  EXPECT_EQ(file.writes(), 0U) << "the writer is busy";
  EXPECT_EQ(log.ready_lsn(m), gap_ends);
  m.run_on(80'000'000);
  EXPECT_EQ(log.ready_lsn(m), all_ends);
  m.stop();
  m.run();
}

TEST(LinkBuffer, TheTailWaitsForTheGapAndMayLagButNeverLeads) {
  SimMachine m(SimConfig{});
  LinkBuffer<SimMachine> links(16, 100);
  std::vector<Lsn> tails;
  std::vector<bool> spaces;
  m.spawn("thread", [&]() -> Task<> {
    co_await links.add_link_advance_tail(m, 110, 115);  // C
    tails.push_back(co_await links.tail(m));
    co_await links.add_link_advance_tail(m, 104, 110);  // B
    tails.push_back(co_await links.tail(m));
    spaces.push_back(co_await links.has_space(m, 115));
    spaces.push_back(co_await links.has_space(m, 116));
    co_await links.add_link_advance_tail(m, 100, 104);  // A, at the tail: later links are not followed
    tails.push_back(co_await links.tail(m));
    co_await links.advance(m);
    tails.push_back(co_await links.tail(m));
    // The slot of 126 is that of 110 and still holds 115: no link.
    co_await links.add_link_advance_tail(m, 115, 126);
    co_await links.advance(m);
    tails.push_back(co_await links.tail(m));
  });
  m.run();
  EXPECT_EQ(tails, (std::vector<Lsn>{100, 100, 104, 115, 126}));
  EXPECT_EQ(spaces, (std::vector<bool>{true, false}));
}

TEST(LinkBuffer, WhoFindsNoSpaceLooksForLinksThatFollowTheTail) {
  SimMachine m(SimConfig{});
  LinkBuffer<SimMachine> links(16, 100);
  std::vector<bool> spaces;
  m.spawn("thread", [&]() -> Task<> {
    co_await links.add_link_advance_tail(m, 104, 115);
    co_await links.add_link_advance_tail(m, 100, 104);  // the tail is here, and 115 follows
    spaces.push_back(co_await links.has_space(m, 130));
    spaces.push_back(co_await links.has_space(m, 131));
  });
  m.run();
  EXPECT_EQ(spaces, (std::vector<bool>{true, false}));
  EXPECT_EQ(m.peek(links.tail_word()), 115U);
}

/// Threads reserve short ranges and report them late; true when the tail never passed a range that is not
/// reported.
template <typename Rules>
bool tail_never_leads(std::uint64_t seed) {
  SimMachine m({.cores_per_socket = 3, .seed = seed, .random_schedule = true});
  LinkBuffer<SimMachine, Rules> links(16, 100);
  Lsn next = 100;
  std::map<Lsn, Lsn> missing;
  bool never_leads = true;
  for (int thread = 0; thread < 6; ++thread) {
    m.spawn("thread", [&]() -> Task<> {
      for (int i = 0; i < 100; ++i) {
        const Lsn from = next;
        next += 1 + m.random() % 5;
        const Lsn to = next;
        missing[from] = to;
        co_await m.sleep(m.random() % 2000);
        for (;;) {
          const bool has_space = co_await links.has_space(m, from);
          if (has_space) break;
          co_await m.sleep(1000);
          if (m.now() > 1'000'000'000) co_return;  // a link was lost; whoever lost it led the tail
        }
        missing.erase(from);
        co_await links.add_link_advance_tail(m, from, to);
        const Lsn tail = m.peek(links.tail_word());
        if (!missing.empty() && tail > missing.begin()->first) never_leads = false;
      }
    });
  }
  m.run();
  m.spawn("last look", [&]() -> Task<> { co_await links.advance(m); });
  m.run();
  return never_leads && m.peek(links.tail_word()) == next;
}

TEST(LinkBuffer, TheTailNeverPassesAMissingLink) {
  for (std::uint64_t seed = 1; seed <= part_of(300); ++seed)
    ASSERT_TRUE(tail_never_leads<Sound>(seed)) << seed;
}

TEST(LinkBuffer, WhoTakesALinkOfALaterRoundIsFound) {
  Broken::mistake = Mistake::claim_unchecked;
  bool is_found = false;
  for (std::uint64_t seed = 1; seed <= 300 && !is_found; ++seed) is_found = !tail_never_leads<Broken>(seed);
  EXPECT_TRUE(is_found);
}

TEST(RedoLog80, AThreadThatReservedAndStoppedHoldsUpTheOthersAtTheWindowNotBefore) {
  SimMachine m({.cores_per_socket = 4});
  SimMachine::File file(m, "redo");
  LogConfig log_config{.writer_threads = false, .recent_written_slots = 4096};
  Log80<SimMachine> log(m, file, log_config);
  Lsn furthest = 0;
  m.spawn("slow", [&]() -> Task<> {
    // It reserves and is away for a second before it reports, as a thread that lost its core.
    const std::vector<std::byte> bytes(100);
    co_await log.append_late(m, bytes, 1'000'000'000);
  });
  m.spawn("others", [&]() -> Task<> {
    co_await m.sleep(1'000'000);
    const std::vector<std::byte> bytes(100);
    while (m.now() < 500'000'000 && !m.stopping()) {
      const Appended appended = co_await log.append(m, bytes, false);
      if (m.now() < 500'000'000) furthest = appended.start_lsn;
    }
  });
  m.run();
  const Lsn first = kStartLsn + kHeaderBytes;
  EXPECT_LT(furthest, first + 4096);
  EXPECT_GE(furthest + 2 * 116, first + 4096);
  // It waits by sleeping, and is counted once.
  const machine::WaitStats& waits = m.waits().at(m.site("log_recent_written_wait").id);
  EXPECT_EQ(waits.ns.count(), 1U);
  EXPECT_EQ(waits.parks, 1U);
  EXPECT_EQ(waits.spin_rounds, 0U);
}

TEST(RedoLog, RefusesWhatCannotFit) {
  SimMachine m(SimConfig{});
  SimMachine::File file(m, "redo");
  LogConfig config{.buffer_bytes = 1000};
  EXPECT_THROW((Log80<SimMachine>(m, file, config)), std::invalid_argument);
  config.buffer_bytes = 64 * 1024;
  config.recent_written_slots = 1000;
  EXPECT_THROW((Log80<SimMachine>(m, file, config)), std::invalid_argument);
}

/// Appends groups of one size and never waits for the disk, in a buffer of 8 KiB; whether all found room.
template <typename Log>
bool all_find_room(std::size_t group_bytes) {
  SimMachine m(SimConfig{});
  SimMachine::File file(m, "redo");
  Log log(m, file, {.buffer_bytes = 8192, .write_ahead_bytes = 0, .writer_threads = false});
  std::size_t found_room = 0;
  m.spawn("client", [&]() -> Task<> {
    const std::vector<std::byte> group(group_bytes);
    for (int i = 0; i < 100; ++i) {
      const Appended appended = co_await log.append(m, group, false);
      if (appended.done) ++found_room;
    }
    m.stop();
  });
  m.run_for(1'000'000'000);
  return found_room == 100;
}

TEST(RedoLog, AMiniTransactionIsRefusedOrFindsRoom) {
  const auto check = [](auto find_room) {
    std::size_t refused_from = 0;
    for (std::size_t bytes = 1; refused_from == 0; bytes += kIsSanitized ? 970 : 97) {
      try {
        EXPECT_TRUE(find_room(bytes)) << bytes;
      } catch (const std::invalid_argument&) {
        refused_from = bytes;
      }
    }
    EXPECT_GT(refused_from, 2000U);
    EXPECT_LT(refused_from, 8192U);
  };
  check(all_find_room<Log56<SimMachine>>);
  check(all_find_room<Log57<SimMachine>>);
  check(all_find_room<Log80<SimMachine>>);
}

/// How often a group of 1,000 bytes waits behind one of so many and another of 2,369, in a buffer of 8 KiB.
template <typename Log>
std::uint64_t waits_behind(std::size_t first_bytes) {
  SimMachine m(SimConfig{});
  SimMachine::File file(m, "redo");
  Log log(m, file, {.buffer_bytes = 8192, .write_ahead_bytes = 0});
  m.spawn("client", [&]() -> Task<> {
    for (const std::size_t bytes : {first_bytes, std::size_t{2369}, std::size_t{1000}}) {
      const std::vector<std::byte> group(bytes);
      co_await log.append(m, group, false);
    }
  });
  m.run();
  return log.counters().log_waits;
}

TEST(RedoLog, AMiniTransactionOf56And57WaitsWhenFiveQuartersOfItAndFourBlocksAreNotFree) {
  // 4,738 bytes end at byte 4,894 of the buffer; behind them are 5/4 of 1,000 and 4 * 512, to the byte.
  EXPECT_EQ(waits_behind<Log56<SimMachine>>(2369), 0U);
  EXPECT_EQ(waits_behind<Log56<SimMachine>>(2370), 1U);
  EXPECT_EQ(waits_behind<Log57<SimMachine>>(2369), 0U);
  EXPECT_EQ(waits_behind<Log57<SimMachine>>(2370), 1U);
}

}  // namespace
}  // namespace engineroom::redo_log
