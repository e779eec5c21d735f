// The fast join against the nested loop join, on all its paths, for the sanitizers.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/storage.hpp"
#include "common/workers.hpp"
#include "hash_join/fast_join.hpp"
#include "hash_join/fast_table.hpp"
#include "hash_join/key_array.hpp"
#include "hash_join/key_filter.hpp"
#include "hash_join/nested_loop.hpp"
#include "hash_join/packed_page.hpp"
#include "hash_join/random_reads.hpp"

namespace engineroom::hash_join {
namespace {

struct Table {
  std::vector<std::int64_t> key;
  std::vector<std::int64_t> payload;
  std::vector<char> null;

  Relation relation() const {
    return {.key = key,
            .payload = payload,
            .key_is_null = {reinterpret_cast<const bool*>(null.data()), null.size()}};
  }
};

Table table(std::size_t rows, std::uint64_t keys, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Table result;
  for (std::size_t i = 0; i < rows; ++i) {
    result.key.push_back(static_cast<std::int64_t>(random() % keys * 0x9E3779B97F4A7C15));
    result.payload.push_back(static_cast<std::int64_t>(random()));
    result.null.push_back(random() % 10 == 0);
  }
  return result;
}

/// Each key once, dense up to some gaps, in any order or sorted.
Table dense(std::size_t rows, std::int64_t least, bool is_sorted, std::uint64_t seed) {
  Table result = table(rows, 1, seed);
  std::mt19937_64 random(seed);
  std::int64_t key = least;
  for (std::size_t i = 0; i < rows; ++i) {
    result.key[i] = key;
    key += random() % 4 == 0 ? 2 : 1;
  }
  if (!is_sorted) std::shuffle(result.key.begin(), result.key.end(), random);
  return result;
}

bool operator_equal(const JoinedRow& a, const JoinedRow& b) {
  return a.build_row == b.build_row && a.probe_row == b.probe_row;
}

struct Case {
  JoinType join;
  std::size_t threads;
  FastLayout layout;
  std::optional<std::uint64_t> memory_bytes;
};

class FastJoinPaths : public testing::TestWithParam<Case> {};

TEST_P(FastJoinPaths, EqualTheNestedLoop) {
  const Case& c = GetParam();
  const Table build = table(3000, 900, 1);
  const Table probe = table(4000, 1200, 2);
  const JoinResult expected = nested_loop_join(build.relation(), probe.relation(), {.join = c.join});
  for (const bool keep_rows : {true, false}) {
    MemoryStorage storage;
    const FastJoinOptions options{.join = c.join,
                                  .keep_rows = keep_rows,
                                  .threads = c.threads,
                                  .memory_bytes = c.memory_bytes,
                                  .layout = c.layout};
    const JoinResult result = fast_join(build.relation(), probe.relation(), options, storage, run_on_threads);
    EXPECT_EQ(result.count, expected.count);
    EXPECT_EQ(result.sum, expected.sum);
    if (c.memory_bytes) {
      EXPECT_LE(result.counters.peak_memory_bytes, *c.memory_bytes);
      EXPECT_GT(result.counters.bytes_written, 0U);
    }
    if (keep_rows) {
      ASSERT_EQ(result.rows.size(), expected.rows.size());
      EXPECT_TRUE(std::ranges::equal(result.rows, expected.rows, operator_equal));
    }
  }
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const JoinType join : {JoinType::inner, JoinType::left, JoinType::semi, JoinType::anti}) {
    for (const std::size_t threads : {std::size_t{1}, std::size_t{3}}) {
      all.push_back({join, threads, FastLayout::one_table, std::nullopt});
      all.push_back({join, threads, FastLayout::partitioned, std::nullopt});
      all.push_back({join, threads, FastLayout::automatic, 30'000 * threads});
    }
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(All, FastJoinPaths, testing::ValuesIn(cases()));

TEST(FastJoin, LargeEnoughForPartitionsOfOneTableOnThreads) {
  const Table build = table(60'000, 50'000, 3);
  const Table probe = table(60'000, 60'000, 4);
  MemoryStorage storage;
  const FastJoinOptions one{.keep_rows = false, .layout = FastLayout::one_table};
  FastJoinOptions two = one;
  two.threads = 2;
  const JoinResult a = fast_join(build.relation(), probe.relation(), one, storage, run_on_threads);
  const JoinResult b = fast_join(build.relation(), probe.relation(), two, storage, run_on_threads);
  EXPECT_EQ(a.count, b.count);
  EXPECT_EQ(a.sum, b.sum);
  EXPECT_EQ(a.counters.comparisons, b.counters.comparisons);
}

TEST(FastJoin, AnArrayByKeyEqualsTheNestedLoop) {
  constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();
  for (const std::int64_t least : {std::int64_t{-50}, std::int64_t{0}, -kEnd - 1, kEnd - 2000}) {
    for (const bool is_sorted : {false, true}) {
      const Table build = dense(1000, least, is_sorted, 1);
      Table probe = dense(1500, least < 0 ? least : least - 500, is_sorted, 2);
      probe.key[7] = kEnd;
      probe.key[8] = -kEnd - 1;
      for (const JoinType join : {JoinType::inner, JoinType::left, JoinType::semi, JoinType::anti}) {
        const JoinResult expected = nested_loop_join(build.relation(), probe.relation(), {.join = join});
        for (const bool keep_rows : {true, false}) {
          for (const std::size_t threads : {std::size_t{1}, std::size_t{3}}) {
            MemoryStorage storage;
            const FastJoinOptions options{
                .join = join, .keep_rows = keep_rows, .threads = threads, .layout = FastLayout::array};
            const JoinResult result =
                fast_join(build.relation(), probe.relation(), options, storage, run_on_threads);
            EXPECT_EQ(result.count, expected.count);
            EXPECT_EQ(result.sum, expected.sum);
            EXPECT_EQ(result.counters.comparisons, probe.key.size());
            EXPECT_TRUE(!keep_rows || std::ranges::equal(result.rows, expected.rows, operator_equal));
          }
        }
      }
    }
  }
}

TEST(FastJoin, KeysThatComeTwiceOrLieApartAreNoArray) {
  Table build = dense(1000, 0, true, 1);
  std::ranges::fill(build.null, 0);
  ASSERT_TRUE(KeyArray::range_of(build.relation()));
  Meter meter;
  KeyArray array(*KeyArray::range_of(build.relation()), meter);
  EXPECT_TRUE(array.insert(build.relation(), 0, 1000, true));
  EXPECT_FALSE(array.insert(build.relation(), 999, 1000, true));
  build.key[3] = 1'000'000;
  EXPECT_FALSE(KeyArray::range_of(build.relation()));
  build.null[3] = 1;
  EXPECT_TRUE(KeyArray::range_of(build.relation()));
  std::ranges::fill(build.null, 1);
  EXPECT_FALSE(KeyArray::range_of(build.relation()));
}

TEST(FastJoin, AFilterChangesNoResult) {
  const Table build = table(2000, 900, 1);
  const Table probe = table(20'000, 90'000, 2);
  for (const JoinType join : {JoinType::inner, JoinType::left, JoinType::semi, JoinType::anti}) {
    const JoinResult expected = nested_loop_join(build.relation(), probe.relation(), {.join = join});
    for (const std::size_t threads : {std::size_t{1}, std::size_t{3}}) {
      MemoryStorage storage;
      const FastJoinOptions options{.join = join, .threads = threads, .layout = FastLayout::partitioned};
      const JoinResult result =
          fast_join(build.relation(), probe.relation(), options, storage, run_on_threads);
      EXPECT_EQ(result.sum, expected.sum);
      EXPECT_TRUE(std::ranges::equal(result.rows, expected.rows, operator_equal));
      const bool filters = join == JoinType::inner || join == JoinType::semi;
      EXPECT_EQ(result.counters.hash_probes < probe.key.size() / 10, filters);
    }
  }
}

TEST(FastJoin, TheSmallerSideIsBuiltWhereNobodyAsksForRows) {
  const Table build = table(4000, 1200, 1);
  const Table probe = table(3000, 900, 2);
  MemoryStorage storage;
  FastJoinOptions options{.keep_rows = false};
  const JoinResult swapped = fast_join(build.relation(), probe.relation(), options, storage, run_on_threads);
  options.may_swap = false;
  const JoinResult as_given = fast_join(build.relation(), probe.relation(), options, storage, run_on_threads);
  EXPECT_EQ(swapped.count, as_given.count);
  EXPECT_EQ(swapped.sum, as_given.sum);
  EXPECT_EQ(swapped.counters.build_rows_read, 4000U);
  EXPECT_LT(swapped.counters.build_rows_in_memory, as_given.counters.build_rows_in_memory);
}

TEST(KeyFilter, KeepsAllKeysThatAreThereAndFewOthers) {
  Meter meter;
  std::mt19937_64 random(1);
  constexpr std::size_t kRows = 10'000;
  std::vector<std::uint64_t> hash(kRows);
  for (std::uint64_t& h : hash) h = random();
  const std::vector<std::uint64_t> value(kRows, 1);
  KeyFilter filter(kRows, meter);
  filter.insert(HashedRows(hash.data(), value.data(), kRows));
  std::vector<std::uint64_t> kept(kRows);
  std::vector<std::uint64_t> values(kRows);
  EXPECT_EQ(filter.keep(HashedRows(hash.data(), value.data(), kRows), kept.data(), values.data()), kRows);
  EXPECT_EQ(kept, hash);
  for (std::uint64_t& h : hash) h = random();
  EXPECT_LT(filter.keep(HashedRows(hash.data(), value.data(), kRows), kept.data(), values.data()),
            kRows / 20);
}

TEST(FastJoin, AnErrorOfTheStorageEndsAllThreads) {
  class Full final : public Storage {
    std::unique_ptr<File> create() override { throw std::runtime_error("no space"); }
  } full;
  const Table build = table(30'000, 9000, 1);
  const FastJoinOptions options{.threads = 3, .memory_bytes = 300'000};
  EXPECT_THROW(fast_join(build.relation(), build.relation(), options, full, run_on_threads),
               std::runtime_error);
}

TEST(FastJoin, RefusesMemoryThatIsTooSmallAndSaysHowMuchWasGiven) {
  const Table build = table(1000, 100, 1);
  MemoryStorage storage;
  try {
    fast_join(build.relation(), build.relation(), {.memory_bytes = 1000}, storage, run_on_threads);
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_NE(std::string(error.what()).find("got 1000 for 2000 rows"), std::string::npos);
  }
}

TEST(PackedPage, GivesBackRowsOfEveryWidth) {
  std::mt19937_64 random(1);
  for (const unsigned hash_bits : {0U, 1U, 8U, 9U, 33U, 57U, 64U}) {
    for (const unsigned value_bits : {0U, 7U, 8U, 16U, 17U, 64U}) {
      for (const std::size_t n : {std::size_t{1}, std::size_t{4}, std::size_t{7}, std::size_t{64}}) {
        const auto bits = [&](unsigned w) { return w == 0 ? 0 : random() >> (64 - w); };
        std::vector<HashedRow> rows(n);
        for (HashedRow& row : rows) row = {.hash = bits(hash_bits), .value = bits(value_bits)};
        std::vector<std::byte> packed(most_packed_bytes(n));
        EXPECT_LE(pack_page(rows, packed.data()), most_packed_bytes(n));
        std::vector<HashedRow> again(n);
        unpack_page(packed.data(), again);
        for (std::size_t i = 0; i < n; ++i) {
          EXPECT_EQ(again[i].hash, rows[i].hash);
          EXPECT_EQ(again[i].value, rows[i].value);
        }
      }
    }
  }
}

TEST(FastTable, TheHashesOfTheSentinelsAreFoundOnlyWhenInserted) {
  Meter meter;
  FastTable table(8, 0, meter);
  std::vector<MeteredVector<HashedRow>> overflow(
      1, MeteredVector<HashedRow>(MeteredAllocator<HashedRow>(meter)));
  const std::uint64_t zero = 0;
  const std::uint64_t ones = ~std::uint64_t{0};
  const auto count = [&](std::uint64_t hash) {
    CountAndSum found;
    const std::uint64_t value = 0;
    ReadAhead nothing;
    table.count_matches(HashedRows(&hash, &value, 1), found, nothing);
    return found.count;
  };
  table.finish(overflow);
  EXPECT_EQ(count(zero), 0U);
  EXPECT_EQ(count(ones), 0U);
  table.reset(8);
  const std::uint64_t value = 1;
  table.insert(HashedRows(&zero, &value, 1), overflow[0], {});
  table.finish(overflow);
  EXPECT_EQ(count(zero), 1U);
  EXPECT_EQ(count(ones), 0U);
}

TEST(RandomReads, ReadOneWordAKey) {
  const RandomReads reads(1000);
  const std::vector<std::int64_t> key{1, 2, 3};
  const std::vector<std::int64_t> value{10, 20, 30};
  EXPECT_EQ(reads.run(key, value, false), 63U);
  EXPECT_EQ(reads.run(key, value, true), 63U);
  EXPECT_THROW(reads.run(key, {}, true), std::invalid_argument);
}

}  // namespace
}  // namespace engineroom::hash_join
