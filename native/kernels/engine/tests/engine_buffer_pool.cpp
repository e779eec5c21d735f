// The buffer pool of the engine: where a frame is, who may have a page, what is written before it makes room, and how often a page is
// there; and that mistakes in it are seen.
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "common/tests/described_members.hpp"
#include "engine/buffer_pool.hpp"
#include "machine/sim_machine.hpp"

namespace engineroom::engine {
namespace {

using machine::SimConfig;
using machine::SimMachine;

constexpr std::uint64_t kMs = 1'000'000;

TEST(EnginePool, DescribesAllOfItsOptions) { tests::expect_described<PoolConfig>(); }

SimConfig config_of(std::uint64_t seed) {
  return {.cores_per_socket = 4, .seed = seed, .random_schedule = true};
}

/// Threads that use pages at random; everything that a pool promises is looked at while they have them.
template <typename Rules>
class Users {
 public:
  static constexpr std::uint64_t kThreads = 6;

  Users(const PoolConfig& config, std::uint64_t seed, std::uint64_t data_pages, std::uint64_t change_percent)
      : m_(config_of(seed)),
        pool_(m_, config, redo()),
        pages_(config.pages),
        data_pages_(data_pages),
        change_percent_(change_percent) {}

  void run(std::uint64_t gets) {
    pool_.spawn_threads(m_);
    left_ = kThreads;
    for (std::uint64_t i = 0; i < kThreads; ++i) m_.spawn("user", [this, gets] { return user(gets); });
    // What a mistake leaves behind may have no end.
    for (std::uint64_t events = 0; mistakes_at_once() == 0 && m_.step(); ++events) {
      if (events % 16 == 0) look_at_lists(kThreads + 4);
    }
    if (mistakes_at_once() == 0) look_at_lists(0);
  }

  SimMachine m_;
  BufferPool<SimMachine, Rules> pool_;
  std::uint64_t wrong_page = 0;  // it is another one, or its bytes are not there
  std::uint64_t shared_change = 0;
  std::uint64_t wrong_lists = 0;
  std::uint64_t undurable = 0;
  std::uint64_t dirtied = 0;
  std::uint64_t cleaned = 0;
  std::uint64_t longest_wait_ns = 0;

  std::uint64_t mistakes_at_once() const { return wrong_page + shared_change + wrong_lists + undurable; }
  std::uint64_t mistakes() const {
    return mistakes_at_once() + (dirtied == cleaned + pool_.dirty_pages() ? 0 : 1);
  }

 private:
  typename BufferPool<SimMachine, Rules>::Redo redo() {
    return {.make_durable = [this](SimMachine& m, Lsn lsn) { return flush(m, lsn); },
            .leave_flush_list = [this](SimMachine& m) { return leave(m); }};
  }
  Task<bool> flush(SimMachine& m, Lsn lsn) {
    m.work(1'000);
    durable_ = std::max(durable_, lsn);
    co_return true;
  }
  Task<> leave(SimMachine&) {
    ++cleaned;
    co_return;
  }
  Task<> user(std::uint64_t gets) {
    for (std::uint64_t i = 0; i < gets; ++i) {
      const PageNo page = m_.random() % data_pages_;
      const bool changes = m_.random() % 100 < change_percent_;
      const std::uint64_t start = m_.now();
      Frame<SimMachine>* frame = co_await pool_.get(m_, page, changes);
      if (frame == nullptr) break;
      longest_wait_ns = std::max(longest_wait_ns, m_.now() - start);
      wrong_page += frame->page == page && frame->is_read ? 0 : 1;
      Held& held = held_[page];
      ++(changes ? held.writers : held.readers);
      m_.work(m_.random() % 2'000);
      co_await m_.yield();
      wrong_page += frame->page == page && frame->is_read ? 0 : 1;
      shared_change += held.writers > 1 || (held.writers == 1 && held.readers > 0) ? 1 : 0;
      if (changes) {
        dirtied += frame->is_dirty ? 0 : 1;
        pool_.changed(*frame, ++lsn_);
      }
      --(changes ? held.writers : held.readers);
      co_await pool_.release(m_, *frame, changes);
    }
    if (--left_ == 0) m_.stop();
  }
  /// `under_way`: so many frames may be on their way from one list to the other.
  void look_at_lists(std::uint64_t under_way) {
    std::uint64_t frames = 0;
    pool_.each_instance([&](const auto& free, const auto& listed, const auto& pages) {
      std::set<const Frame<SimMachine>*> seen(free.begin(), free.end());
      const bool is_free_twice = seen.size() != free.size();
      std::set<PageNo> listed_pages;
      for (const Frame<SimMachine>* frame : listed) {
        seen.insert(frame);
        listed_pages.insert(frame->page);
        undurable += !frame->is_dirty && frame->newest_lsn > durable_ ? 1 : 0;
      }
      const bool is_in_two = seen.size() != free.size() + listed.size();
      const bool is_twice = listed_pages.size() != listed.size();
      bool is_wrong_in_hash = false;
      for (const auto& [page, frame] : pages) is_wrong_in_hash |= frame->page != page;
      const std::uint64_t hashed = pages.size();
      const std::uint64_t apart = hashed > listed.size() ? hashed - listed.size() : listed.size() - hashed;
      wrong_lists += is_free_twice || is_in_two || is_twice || is_wrong_in_hash || apart > under_way ? 1 : 0;
      frames += free.size() + listed.size();
    });
    wrong_lists += frames > pages_ || frames + under_way < pages_ ? 1 : 0;
  }

  struct Held {
    int readers = 0;
    int writers = 0;
  };
  std::uint64_t pages_;
  std::uint64_t data_pages_;
  std::uint64_t change_percent_;
  std::map<PageNo, Held> held_;
  Lsn lsn_ = 0;
  Lsn durable_ = 0;
  std::uint64_t left_ = 0;
};

PoolConfig small_pool(PoolLatches latches) {
  return {.latches = latches,
          .pages = 64,
          .instances = 2,
          .page_hash_locks = 2,
          .lru_scan_depth = 4,
          .cleaners = 2,
          .read_ns = 20'000,
          .write_ns = 10'000,
          .queue_depth = 3};
}

class EveryPool : public testing::TestWithParam<PoolLatches> {};
INSTANTIATE_TEST_SUITE_P(EnginePool, EveryPool, testing::Values(PoolLatches::one_mutex, PoolLatches::lists),
                         [](const auto& info) { return std::to_string(static_cast<int>(info.param)); });

TEST_P(EveryPool, AFrameIsInOneListAPageInOneFrameAndNobodyHasItBeforeItIsRead) {
  std::uint64_t user_writes = 0;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    for (const std::uint64_t change_percent : {0U, 30U, 100U}) {
      Users<SoundPool> users(small_pool(GetParam()), seed, 500, change_percent);
      users.run(150);
      EXPECT_EQ(users.wrong_page, 0U) << "seed " << seed;
      EXPECT_EQ(users.shared_change, 0U) << "seed " << seed;
      EXPECT_EQ(users.wrong_lists, 0U) << "seed " << seed;
      EXPECT_EQ(users.undurable, 0U) << "seed " << seed;
      EXPECT_EQ(users.dirtied, users.cleaned + users.pool_.dirty_pages()) << "seed " << seed;
      const PoolCounts& counts = users.pool_.counts();
      EXPECT_EQ(counts.gets, 6U * 150U);
      EXPECT_GT(counts.misses, 400U);
      // Under pressure a page may leave again before who has read it looks for it.
      EXPECT_LE(counts.misses, counts.gets);
      EXPECT_LE(counts.reads - counts.evicted, 64U);
      EXPECT_EQ(counts.writes, users.cleaned);
      user_writes += counts.user_writes;
    }
  }
  EXPECT_GT(user_writes, 0U);
}

enum class Mistake { evicts_fixed, evicts_dirty, brings_twice, shows_too_early, writes_before_the_log };
/// The rules with one of them broken: at run time, so that all mistakes are one more program and not one each.
struct Broken {
  static inline Mistake mistake{};
  static bool spares_fixed() { return mistake != Mistake::evicts_fixed; }
  static bool spares_dirty() { return mistake != Mistake::evicts_dirty; }
  static bool looks_again() { return mistake != Mistake::brings_twice; }
  static bool latches_until_read() { return mistake != Mistake::shows_too_early; }
  static bool log_comes_first() { return mistake != Mistake::writes_before_the_log; }
};
bool is_seen(PoolLatches latches, Mistake mistake) {
  Broken::mistake = mistake;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Users<Broken> users(small_pool(latches), seed, 500, 50);
    users.run(100);
    if (users.mistakes() > 0) return true;
  }
  return false;
}
TEST_P(EveryPool, MistakesAreSeen) {
  for (const Mistake mistake : {Mistake::evicts_fixed, Mistake::evicts_dirty, Mistake::brings_twice,
                                Mistake::shows_too_early, Mistake::writes_before_the_log}) {
    EXPECT_TRUE(is_seen(GetParam(), mistake)) << static_cast<int>(mistake);
  }
}

/// One thread on a quiet machine, page by page.
struct Alone {
  explicit Alone(const PoolConfig& config) : pool(m, config, redo()) {}
  static BufferPool<SimMachine>::Redo redo() {
    return {.make_durable = [](SimMachine&, Lsn) -> Task<bool> { co_return true; },
            .leave_flush_list = [](SimMachine&) -> Task<> { co_return; }};
  }
  void use(const std::vector<PageNo>& pages) {
    m.spawn("user", [this, &pages] { return user(pages); });
    m.run_for(60'000 * kMs);
  }
  Task<> user(const std::vector<PageNo>& pages) {
    for (const PageNo page : pages) {
      Frame<SimMachine>* frame = co_await pool.get(m, page, false);
      if (frame == nullptr) co_return;
      co_await pool.release(m, *frame, false);
    }
    m.stop();
  }
  SimMachine m{SimConfig{}};
  BufferPool<SimMachine> pool;
};

TEST(EnginePool, APageIsReadOnceAndThenThere) {
  Alone alone({.pages = 64, .instances = 1});
  alone.use({7, 7, 8, 7, 8});
  EXPECT_EQ(alone.pool.counts().gets, 5U);
  EXPECT_EQ(alone.pool.counts().reads, 2U);
  EXPECT_EQ(alone.pool.counts().misses, 2U);
  EXPECT_EQ(alone.pool.counts().made_young + alone.pool.counts().evicted, 0U);
}

TEST(EnginePool, WhatIsUsedTwiceStaysWhereAScanPassesThrough) {
  Alone alone({.pages = 64, .instances = 1, .warm_transactions = 0});
  for (PageNo page = 0; page < 64; ++page) alone.pool.warm(page);
  // One more makes the first of them leave; two that come again are young then, and 200 others do not push them out.
  std::vector<PageNo> pages{100, 50, 51};
  for (PageNo page = 200; page < 400; ++page) pages.push_back(page);
  pages.push_back(50);
  pages.push_back(51);
  alone.use(pages);
  EXPECT_EQ(alone.pool.counts().reads, 1U + 200U);
}

TEST(EnginePool, OfEvenDrawsAsManyAreThereAsThePoolHolds) {
  constexpr std::uint64_t kData = 2'000;
  for (const std::uint64_t share : {10U, 25U, 50U}) {
    Alone alone({.pages = kData * share / 100, .instances = 1});
    for (PageNo page = 0; page < kData; ++page) alone.pool.warm(page);
    machine::Random random(share);
    std::vector<PageNo> pages(20'000);
    for (PageNo& page : pages) page = random.below(kData);
    alone.use(pages);
    const PoolCounts& counts = alone.pool.counts();
    const double hits = 1.0 - static_cast<double>(counts.misses) / static_cast<double>(counts.gets);
    // Four standard deviations of 20,000 draws, and the frame that is always free.
    EXPECT_NEAR(hits, static_cast<double>(share) / 100.0, 0.016) << share;
  }
}

TEST(EnginePool, InAPoolThatHoldsAllNothingIsReadOrMoved) {
  Alone alone({.pages = 600, .instances = 1, .lru_scan_depth = 50});
  for (PageNo page = 0; page < 500; ++page) alone.pool.warm(page);
  alone.pool.warmed();
  machine::Random random(1);
  std::vector<PageNo> pages(5'000);
  for (PageNo& page : pages) page = random.below(500);
  alone.use(pages);
  EXPECT_EQ(alone.pool.counts().gets, 5'000U);
  EXPECT_EQ(alone.pool.counts().misses + alone.pool.counts().made_young, 0U);
}

}  // namespace
}  // namespace engineroom::engine
