#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <vector>

#include "common/storage.hpp"
#include "filesort/bounded_queue.hpp"
#include "filesort/filesort.hpp"

namespace engineroom::filesort {
namespace {

/// A disk that is full from the start.
class FullDisk final : public Storage {
 public:
  std::unique_ptr<File> create() override { throw std::runtime_error("no space"); }
};

Query all_columns() { return {.selected = {kId, kKey, kFilter, kChar, kLob}}; }

std::vector<std::byte> rows_of(const Table& table, const Query& query, Design design, std::uint64_t buffer) {
  Handle handle(table);
  MemoryStorage storage;
  const Options options{.settings = {.sort_buffer_bytes = buffer}, .design = design};
  std::vector<std::byte> all;
  for (const auto& value : filesort(handle, query, options, storage).values) {
    all.insert(all.end(), value.begin(), value.end());
  }
  return all;
}

TEST(Filesort, EachDesignHandsOutTheSameBytes) {
  for (const std::uint32_t lob_bytes : {0U, 100U, 9000U}) {
    const Table table = article_table(300, lob_bytes, Type::varchar, 9000, 7);
    for (const std::uint64_t buffer : {std::uint64_t{30'000}, std::uint64_t{4'000'000}}) {
      for (const std::uint64_t limit : {0U, 3U, 100U, 1000U}) {
        Query query = all_columns();
        query.limit = limit;
        const auto expected = rows_of(table, query, {Attach::rowid, true}, buffer);
        for (const Attach attach : {Attach::rowid, Attach::addon, Attach::packed_addon}) {
          for (const bool is_narrow : {false, true}) {
            EXPECT_EQ(rows_of(table, query, {attach, is_narrow}, buffer), expected);
          }
        }
      }
    }
  }
}

TEST(Filesort, GivesTheReadSetBackWhenTheDiskIsFull) {
  const Table table = article_table(300, 100, Type::varchar, 100, 1);
  Handle handle(table);
  const ColumnSet mine{kId, kChar};
  handle.read_set = mine;
  FullDisk disk;
  const Options options{.settings = {.sort_buffer_bytes = 1000}};
  EXPECT_THROW(filesort(handle, all_columns(), options, disk), std::runtime_error);
  EXPECT_EQ(handle.read_set, mine);
}

TEST(Filesort, GivesTheReadSetBackWhenARecordDoesNotFit) {
  const Table table = article_table(300, 100, Type::varchar, 100, 1);
  Handle handle(table);
  const ColumnSet before = handle.read_set;
  MemoryStorage storage;
  const Options options{.settings = {.sort_buffer_bytes = 5}};
  EXPECT_THROW(filesort(handle, all_columns(), options, storage), std::invalid_argument);
  EXPECT_EQ(handle.read_set, before);
}

TEST(Filesort, MergesLongRecordsThroughBuffersOfOneRecord) {
  const Table table = article_table(200, 7000, Type::varchar, 7000, 3);
  // Two records per run: a hundred runs, and a seventh of the buffer is less than a record.
  const auto small = rows_of(table, all_columns(), {Attach::packed_addon, false}, 15'000);
  EXPECT_EQ(small, rows_of(table, all_columns(), {Attach::rowid, true}, 1 << 20));
}

TEST(BoundedQueue, KeepsTheLeastKeys) {
  for (const std::size_t k : {0U, 1U, 5U, 50U, 300U}) {
    Counters counters;
    BoundedQueue queue(k, 1, 1, counters);
    std::vector<int> keys;
    for (int i = 0; i < 200; ++i) {
      keys.push_back(i * 37 % 251);
      *queue.spare() = static_cast<std::byte>(keys.back());
      queue.offer();
    }
    std::sort(keys.begin(), keys.end());
    keys.resize(std::min(k, keys.size()));
    std::vector<int> kept;
    for (const std::byte* record : queue.records()) kept.push_back(std::to_integer<int>(*record));
    std::sort(kept.begin(), kept.end());
    EXPECT_EQ(kept, keys);
  }
}

TEST(FilesortTable, PutsTheLongestValuesOffPageUntilTheRowFits) {
  Table table({{.type = Type::varchar, .declared_bytes = 8000}, {.type = Type::text}, {.type = Type::text}});
  const std::vector<std::byte> a(5000);
  const std::vector<std::byte> b(6000);
  const std::vector<std::byte> c(100);
  table.append(std::array<std::span<const std::byte>, 3>{a, b, c});
  EXPECT_FALSE(table.is_off_page(0, 0));
  EXPECT_TRUE(table.is_off_page(0, 1));
  EXPECT_FALSE(table.is_off_page(0, 2));
}

TEST(SortRecord, AVarcharOf256BytesHasTwoBytesOfLengthAndOneOf255Has) {
  const auto bytes_of = [](Type type, std::uint32_t declared) {
    return length_bytes({.type = type, .declared_bytes = declared});
  };
  for (const Type type : {Type::varchar, Type::fixed_char}) {
    EXPECT_EQ(bytes_of(type, 255), 1U);
    EXPECT_EQ(bytes_of(type, 256), 2U);
  }
  // The longest record of a key and a column carried beside it: one byte more is declared, and one more is its length.
  const auto record_of = [](std::uint32_t declared) {
    const Table table({{}, {.type = Type::varchar, .declared_bytes = declared}});
    return record_bytes(table, {.selected = {0, 1}, .order_by = 0}, {}, Attach::packed_addon);
  };
  EXPECT_EQ(record_of(255) - record_of(254), 1U);
  EXPECT_EQ(record_of(256) - record_of(255), 2U);
}

}  // namespace
}  // namespace engineroom::filesort
