// The joins against each other, with seeds: what the sanitizers look at. The reference in Python and the
// rules of spilling are in tests/test_hash_join_kernels.py.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "common/storage.hpp"
#include "hash_join/block_nested_loop.hpp"
#include "hash_join/hybrid.hpp"
#include "hash_join/index_nested_loop.hpp"
#include "hash_join/key_hash.hpp"
#include "hash_join/nested_loop.hpp"
#include "hash_join/row_buffer.hpp"
#include "hash_join/row_memory.hpp"

namespace engineroom::hash_join {
namespace {

using Pair = std::pair<std::int64_t, std::int64_t>;

/// Columns with their memory; std::vector<bool> has no bools to point at.
struct Table {
  Table(std::mt19937_64& random, std::size_t rows, std::int64_t keys) : null(new bool[rows]), size(rows) {
    std::uniform_int_distribution<std::int64_t> key_of(-keys, keys);
    std::uniform_int_distribution<std::int64_t> payload_of(-50, 50);
    for (std::size_t row = 0; row < rows; ++row) {
      key.push_back(key_of(random));
      payload.push_back(payload_of(random));
      null[row] = random() % 10 == 0;
    }
  }

  Relation relation() const { return {key, payload, {null.get(), size}}; }

  std::vector<std::int64_t> key;
  std::vector<std::int64_t> payload;
  std::unique_ptr<bool[]> null;
  std::size_t size;
};

std::vector<Pair> sorted_pairs(const JoinResult& result) {
  std::vector<Pair> pairs;
  for (const JoinedRow& row : result.rows) pairs.emplace_back(row.build_row, row.probe_row);
  std::sort(pairs.begin(), pairs.end());
  return pairs;
}

class Joins : public testing::TestWithParam<std::tuple<JoinType, bool>> {};

void agree(JoinType join, bool has_condition, int seed) {
  SCOPED_TRACE(seed);
  std::mt19937_64 random(static_cast<std::uint64_t>(seed));
  const std::int64_t keys = std::vector<std::int64_t>{1, 30, 3000}[static_cast<std::size_t>(seed) % 3];
  const Table build_table(random, random() % 60, keys);
  const Table probe_table(random, random() % 60, keys);
  const Relation build = build_table.relation();
  const Relation probe = probe_table.relation();
  const ExtraCondition extra{.max_diff = has_condition ? std::optional<std::uint64_t>(20) : std::nullopt};

  const JoinResult expected = nested_loop_join(build, probe, {.join = join, .extra = extra});
  const std::vector<Pair> rows = sorted_pairs(expected);
  EXPECT_EQ(expected.count, rows.size());

  const JoinResult index =
      index_nested_loop_join(build, probe, {.join = join, .extra = extra, .entries_per_page = 4});
  EXPECT_EQ(sorted_pairs(index), rows);
  EXPECT_EQ(index.sum, expected.sum);

  const JoinResult block =
      block_nested_loop_join(build, probe, {.join = join, .extra = extra, .join_buffer_bytes = 500});
  EXPECT_EQ(sorted_pairs(block), rows);
  EXPECT_EQ(block.sum, expected.sum);

  for (const std::size_t row_bytes : {20U, 900U, 5000U, 16384U}) {
    for (const bool allow_spill : {true, false}) {
      for (const std::uint32_t max_chunks : {1U, 4U, 128U}) {
        MemoryStorage storage;
        const JoinResult hybrid = hybrid_hash_join(build, probe,
                                                   {.join = join,
                                                    .extra = extra,
                                                    .join_buffer_bytes = 16384,
                                                    .allow_spill = allow_spill,
                                                    .row_bytes = row_bytes,
                                                    .max_chunks = max_chunks,
                                                    .trace_limit = 1000},
                                                   storage);
        EXPECT_EQ(sorted_pairs(hybrid), rows) << row_bytes << ' ' << allow_spill << ' ' << max_chunks;
        EXPECT_EQ(hybrid.sum, expected.sum);
      }
    }
  }
}

TEST_P(Joins, AgreeWithTheNestedLoop) {
  const auto [join, has_condition] = GetParam();
  for (int seed = 0; seed < 10; ++seed) agree(join, has_condition, seed);
}

std::string name_of(const testing::TestParamInfo<std::tuple<JoinType, bool>>& info) {
  const std::array<std::string, 4> names{"inner", "left", "semi", "anti"};
  return names[static_cast<std::size_t>(std::get<0>(info.param))] +
         (std::get<1>(info.param) ? "WithCondition" : "");
}

INSTANTIATE_TEST_SUITE_P(Types, Joins,
                         testing::Combine(testing::Values(JoinType::inner, JoinType::left, JoinType::semi,
                                                          JoinType::anti),
                                          testing::Bool()),
                         name_of);

TEST(RowBuffer, KeepsTheRowsOfAKeyInAListWithTheNewestFirst) {
  RowBuffer rows(1 << 20);
  for (std::uint8_t i = 0; i < 200; ++i) {
    const std::vector<std::byte> row(100 + i, std::byte{i});
    ASSERT_EQ(rows.store(i % 2, row, false), RowBuffer::Stored::yes);
  }
  std::vector<int> seen;
  for (auto at = rows.find(1); at;) {
    const RowBuffer::Match match = rows.match(*at);
    seen.push_back(static_cast<int>(match.row.front()));
    at = match.next;
  }
  ASSERT_EQ(seen.size(), 100U);
  EXPECT_EQ(seen.front(), 199);
  EXPECT_TRUE(std::is_sorted(seen.rbegin(), seen.rend()));
  EXPECT_FALSE(rows.find(2));
}

TEST(RowBuffer, StoresTheRowThatFillsIt) {
  RowBuffer rows(16384);
  const std::vector<std::byte> row(20000, std::byte{1});
  EXPECT_EQ(rows.store(1, row, false), RowBuffer::Stored::full);
  EXPECT_TRUE(rows.find(1));
}

TEST(RowBuffer, FindsEveryKeyAtAnySize) {
  RowBuffer rows(std::uint64_t{1} << 30);
  const std::vector<std::byte> row(12);
  for (std::int64_t key = 0; key < 20000; ++key) {
    rows.store(key * key - 7, row, false);
    ASSERT_TRUE(rows.find(key * key - 7));
  }
  for (std::int64_t key = 0; key < 20000; ++key) ASSERT_TRUE(rows.find(key * key - 7));
  EXPECT_FALSE(rows.find(-8));
}

TEST(RowMemory, MakesEachBlockHalfAsLargeAgainAndCutsTheLastOne) {
  RowMemory memory;
  memory.set_capacity(50000);
  EXPECT_EQ(memory.room(10).size(), 16384U);
  memory.take(16384);
  EXPECT_EQ(memory.room(10).size(), 24576U);
  memory.take(24576);
  EXPECT_EQ(memory.room(10).size(), 50000U - (16 + 16384) - (16 + 24576));
  memory.take(9000);
  EXPECT_TRUE(memory.room(100).empty());
  EXPECT_EQ(memory.overflow_room(100).size(), 100U);
  EXPECT_EQ(memory.allocated(), 50016U + 116);
}

}  // namespace
}  // namespace engineroom::hash_join
