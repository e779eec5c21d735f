// Purge in the engine: what it may remove, what its history holds, how many threads it asks for, and that mistakes in it are seen.
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>

#include "common/tests/described_members.hpp"
#include "engine/clients.hpp"
#include "engine/purge.hpp"
#include "machine/sim_machine.hpp"
#include "read_views/mistakes.hpp"
#include "transactions/trx_sys.hpp"

namespace engineroom::engine {
namespace {

using machine::SimConfig;
using machine::SimMachine;
using read_views::Broken;
using read_views::Mistake;
using transactions::Sound;
using transactions::TrxNo;

constexpr std::uint64_t kMs = 1'000'000;

TEST(EnginePurge, DescribesAllOfItsOptions) { tests::expect_described<PurgeConfig>(); }

/// Writers that only begin and commit, and readers that look again and again, as long as their view is open, whether purge has removed
/// an undo log that it needs: by the view's limit, or of a transaction that it does not show.
template <typename Rules>
class Sessions {
 public:
  Sessions(transactions::Latches version, std::uint64_t seed, const PurgeConfig& config)
      : m_(config_of(seed)),
        trx_sys_(m_, {.latches = version}),
        purge_(m_, trx_sys_, version, config, [this](SimMachine& m, std::uint64_t) { return write(m); }) {}

  void run() {
    purge_.spawn_threads(m_);
    for (int i = 0; i < 4; ++i) m_.spawn("writer", [this] { return writer(); });
    for (int i = 0; i < 4; ++i) m_.spawn("reader", [this] { return reader(); });
    m_.spawn("end", [this] { return end(); });
    m_.run_for(60'000 * kMs);
  }

  SimMachine m_;
  transactions::TrxSys<SimMachine, Rules> trx_sys_;
  Purge<SimMachine, Rules> purge_;
  std::uint64_t commits = 0;
  std::uint64_t rows = 0;
  std::uint64_t written = 0;
  std::uint64_t looks = 0;
  std::uint64_t missing = 0;  // looks that found a needed undo log removed

 private:
  static SimConfig config_of(std::uint64_t seed) {
    return {.cores_per_socket = 4, .seed = seed, .random_schedule = true};
  }
  Task<bool> write(SimMachine&) {
    ++written;
    co_return true;
  }
  Task<> writer() {
    transactions::Trx<SimMachine> trx;
    for (int i = 0; i < 200; ++i) {
      const std::uint64_t changed = 1 + m_.random() % 3;
      co_await trx_sys_.begin(m_, trx, false);
      co_await trx_sys_.become_read_write(m_, trx);
      m_.work(m_.random() % 4'000);
      const transactions::TrxId id = trx.id;
      co_await purge_.commit(m_, trx, changed);
      numbers_[id] = trx.no;
      ++commits;
      rows += changed;
    }
    ++ended_;
  }
  Task<> reader() {
    transactions::Trx<SimMachine> trx;
    while (ended_ < 4) {
      co_await trx_sys_.begin(m_, trx, true);
      co_await trx_sys_.open_view(m_, trx);
      const std::uint64_t times = 1 + m_.random() % 20;
      for (std::uint64_t i = 0; i < times; ++i) {
        ++looks;
        bool is_missing = purge_.removed_up_to() >= trx.view->low_limit_no;
        for (const transactions::TrxId hidden : trx.view->ids) {
          const auto number = numbers_.find(hidden);
          if (number != numbers_.end()) is_missing |= number->second <= purge_.removed_up_to();
        }
        missing += is_missing ? 1 : 0;
        m_.work(2'000);
        co_await m_.yield();
      }
      co_await trx_sys_.drop_view(m_, trx);
    }
    ++ended_;
  }
  Task<> end() {
    while (ended_ < 8) co_await m_.sleep(kMs);
    // All that is left can be removed now.
    co_await m_.sleep(200 * kMs);
    m_.stop();
  }
  int ended_ = 0;
  std::map<transactions::TrxId, TrxNo> numbers_;  // of commits
};

constexpr PurgeConfig kSmall{
    .threads = 3, .batch = 10, .rollback_segments = 5, .row_ns = 500, .pause_ns = 20'000};

class EveryVersion : public testing::TestWithParam<transactions::Latches> {};
INSTANTIATE_TEST_SUITE_P(EnginePurge, EveryVersion,
                         testing::Values(transactions::Latches::one_5_6, transactions::Latches::one_5_7,
                                         transactions::Latches::one_8_0, transactions::Latches::split,
                                         transactions::Latches::sharded),
                         [](const auto& info) { return std::to_string(static_cast<int>(info.param)); });

TEST_P(EveryVersion, NothingThatAnOpenViewNeedsIsRemovedAndInTheEndAllIs) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    Sessions<Sound> sessions(GetParam(), seed, kSmall);
    sessions.run();
    EXPECT_EQ(sessions.missing, 0U) << "seed " << seed;
    EXPECT_GT(sessions.looks, 100U);
    const PurgeCounts& counts = sessions.purge_.counts();
    EXPECT_EQ(counts.committed, sessions.commits);
    EXPECT_EQ(counts.removed, 800U);
    EXPECT_EQ(counts.rows, sessions.rows);
    EXPECT_EQ(counts.rows, sessions.written);
    EXPECT_EQ(sessions.purge_.history_length() + sessions.purge_.logs_in_segments(), 0U);
  }
}

bool is_seen(transactions::Latches version, Mistake mistake) {
  Broken::mistake = mistake;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    Sessions<Broken> sessions(version, seed, kSmall);
    sessions.run();
    if (sessions.missing > 0) return true;
  }
  return false;
}
TEST_P(EveryVersion, MistakesAreSeen) {
  EXPECT_TRUE(is_seen(GetParam(), Mistake::purge_clones_newest));
  EXPECT_TRUE(is_seen(GetParam(), Mistake::purge_one_too_far));
  EXPECT_TRUE(is_seen(GetParam(), Mistake::numbers_leave_first));
}

Demands demands_for(LoadKind kind) {
  Demands all;
  for (const Statement statement : statements_of(kind)) {
    all[std::string(names::of(statement))] = {.computing_ns = 2'000, .mtrs_permille = 700, .mtr_bytes = 100};
  }
  return all;
}

struct Ran {
  PurgeCounts purge;
  Counts engine;
  std::uint64_t length = 0;
};
/// A window of an engine under sysbench's load; the first transaction's view may stay open for all of it.
Ran ran_with(const PurgeConfig& purge, std::uint64_t ns, std::uint64_t cores = 8) {
  SimMachine m({.cores_per_socket = static_cast<std::uint32_t>(cores)});
  SimMachine::File file(m, "redo", machine::Bytes::counted);
  const LoadConfig load{.clients = 8, .away_ns = 10'000, .distribution = Distribution::uniform};
  Clients<SimMachine> clients(m, file, {.engine = {.has_purge = true}, .purge = purge}, load,
                              demands_for(load.kind));
  clients.spawn(m);
  m.run_on(ns);
  const Engine<SimMachine>& engine = clients.engine();
  EXPECT_EQ(engine.purge()->history_length(),
            engine.purge_counts().committed - engine.purge_counts().removed);
  return {.purge = engine.purge_counts(),
          .engine = clients.engine_counts(),
          .length = engine.purge()->history_length()};
}

TEST(EnginePurge, TheHistoryIsWhatWasCommittedLessWhatWasPurgedAndStaysShortWherePurgeKeepsUp) {
  const Ran ran = ran_with({}, 200 * kMs);
  EXPECT_GT(ran.purge.committed, 500U);
  // A commit that the end cut off may have entered the history before it was counted.
  EXPECT_LE(ran.purge.committed - ran.engine.commits, 8U);
  EXPECT_LT(ran.length, ran.purge.committed / 4);
  EXPECT_LE(ran.purge.rows, 4 * ran.purge.removed);
}

TEST(EnginePurge, WhenItIsOutrunTheHistoryGrowsAndMoreThreadsHelp) {
  constexpr std::uint64_t kSlow = 400'000;
  const Ran half = ran_with({.threads = 1, .batch = 20, .row_ns = kSlow}, 100 * kMs);
  const Ran whole = ran_with({.threads = 1, .batch = 20, .row_ns = kSlow}, 200 * kMs);
  // One thread does at most so many rows in the time, four of each commit.
  EXPECT_LE(whole.purge.rows, 200 * kMs / kSlow);
  EXPECT_GT(half.length, half.purge.committed / 2);
  EXPECT_GT(whole.length, half.length + half.length / 2);
  const Ran four = ran_with({.threads = 4, .batch = 20, .row_ns = kSlow}, 200 * kMs, 16);
  EXPECT_GT(four.purge.rows, 2 * whole.purge.rows);
  EXPECT_LT(four.length, whole.length);
}

}  // namespace
}  // namespace engineroom::engine
