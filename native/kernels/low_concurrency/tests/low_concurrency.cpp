#include <gtest/gtest.h>

#include <array>
#include <random>
#include <stdexcept>
#include <vector>

#include "common/tests/described_members.hpp"
#include "low_concurrency/arena.hpp"
#include "low_concurrency/field_store.hpp"
#include "low_concurrency/insert_values.hpp"
#include "low_concurrency/measure.hpp"
#include "low_concurrency/record.hpp"
#include "low_concurrency/value_lists.hpp"

namespace engineroom::low_concurrency {
namespace {

TEST(Arena, RoundsToEightAndGrowsByHalf) {
  Arena arena(64);
  auto* const first = static_cast<std::byte*>(arena.allocate(1));
  auto* const second = static_cast<std::byte*>(arena.allocate(56));
  EXPECT_EQ(second - first, 8);
  EXPECT_EQ(arena.reserved_bytes(), 64U);
  arena.allocate(8);
  EXPECT_EQ(arena.reserved_bytes(), 64U + 96U);
  EXPECT_EQ(arena.used_bytes(), 72U);
}

TEST(Arena, GivesALargeObjectABlockOfItsOwnAndGoesOnInTheOldOne) {
  Arena arena(64);
  auto* const first = static_cast<std::byte*>(arena.allocate(8));
  arena.allocate(1000);
  EXPECT_EQ(arena.reserved_bytes(), 1064U);
  EXPECT_EQ(static_cast<std::byte*>(arena.allocate(8)) - first, 8);
}

template <typename List>
void keeps_order_and_addresses() {
  Arena arena;
  List list;
  std::vector<std::size_t*> given;
  std::vector<std::size_t> numbers(1000);
  std::vector<std::size_t**> first_addresses;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = i;
    list.push_back(arena, &numbers[i]);
    if (i == 500) list.each([&](std::size_t*& one) { first_addresses.push_back(&one); });
  }
  std::size_t at = 0;
  list.each([&](std::size_t*& one) {
    EXPECT_EQ(*one, at);
    if (at < first_addresses.size()) {
      EXPECT_EQ(&one, first_addresses[at]);
    }
    at += 1;
  });
  EXPECT_EQ(at, 1000U);
  EXPECT_EQ(list.size(), 1000U);
}

TEST(ValueLists, KeepOrderAndTheAddressesOfTheirElements) {
  keeps_order_and_addresses<NodeList<std::size_t*>>();
  keeps_order_and_addresses<BlockDeque<std::size_t*, Growth::copy_each_time>>();
  keeps_order_and_addresses<BlockDeque<std::size_t*, Growth::spare_slots>>();
}

TEST(ValueLists, TheDequeBeginsInTheMiddleOfItsFirstBlock) {
  Arena arena;
  BlockDeque<int*, Growth::copy_each_time> deque;
  for (int i = 0; i < 64; ++i) deque.push_back(arena, nullptr);
  EXPECT_EQ(arena.used_bytes(), 8U + 1024U);
  deque.push_back(arena, nullptr);
  EXPECT_EQ(arena.used_bytes(), 8U + 1024U + 16U + 1024U);
}

TEST(InsertValues, TheArenaTakesWhatTheFormulaSays) {
  for (const auto& [name, container] : names::table_of<Container>.all) {
    for (const std::uint64_t rows : {1U, 2U, 63U, 64U, 65U, 192U, 193U, 1000U}) {
      for (const std::uint64_t columns : {1U, 4U, 20U, 64U, 65U, 80U, 192U, 193U, 500U}) {
        const ParsedInsert parsed = parse_insert(container, rows, columns);
        EXPECT_EQ(parsed.container_bytes, container_bytes(container, rows, columns))
            << name << " " << rows << " x " << columns;
        EXPECT_EQ(parsed.values, rows * columns);
        EXPECT_EQ(parsed.checksum, parse_insert(Container::list_5_7, rows, columns).checksum);
      }
    }
  }
}

std::vector<std::uint32_t> decoded(Decoder decoder, const Schema& schema, const Record& record) {
  std::vector<std::uint32_t> out(schema.fields().size());
  offsets(decoder, schema, record.bytes.data() + record.origin, out);
  return out;
}

// id INT NOT NULL, DB_TRX_ID, DB_ROLL_PTR, a INT NULL, b VARCHAR(300) NULL, c CHAR(10) NOT NULL
std::vector<FieldType> by_hand() {
  return {{.fixed_bytes = 4},
          {.fixed_bytes = 6},
          {.fixed_bytes = 7},
          {.fixed_bytes = 4, .is_nullable = true},
          {.max_bytes = 300, .is_nullable = true},
          {.fixed_bytes = 10}};
}

TEST(RecordOffsets, ByHand) {
  const Schema schema(by_hand());
  const std::vector<Value> values{{}, {}, {}, {}, {.bytes = 3}, {}};
  const Record record = encode(schema, values);
  EXPECT_EQ(record.origin, 5U + 1U + 1U);
  const std::vector<std::uint32_t> expected{4, 10, 17, 21, 24, 34};
  EXPECT_EQ(record.end_offsets, expected);
  for (const auto& [name, decoder] : names::table_of<Decoder>.all)
    EXPECT_EQ(decoded(decoder, schema, record), expected) << name;
}

TEST(RecordOffsets, AVarcharOf256TakesTwoBytesForALengthFrom128OnAndOneOf255Never) {
  const auto header_bytes = [](std::uint16_t max_bytes, std::uint32_t bytes, bool is_big) {
    const Schema schema({{.max_bytes = max_bytes, .is_big = is_big}});
    const Record record = encode(schema, std::vector<Value>{{.bytes = bytes}});
    for (const auto& [name, decoder] : names::table_of<Decoder>.all)
      EXPECT_EQ(decoded(decoder, schema, record), std::vector<std::uint32_t>{bytes}) << name;
    return record.origin - 5;
  };
  EXPECT_EQ(header_bytes(255, 127, false), 1U);
  EXPECT_EQ(header_bytes(255, 128, false), 1U);
  EXPECT_EQ(header_bytes(255, 255, false), 1U);
  EXPECT_EQ(header_bytes(256, 127, false), 1U);
  EXPECT_EQ(header_bytes(256, 128, false), 2U);
  EXPECT_EQ(header_bytes(256, 256, false), 2U);
  EXPECT_EQ(header_bytes(255, 128, true), 2U);
}

TEST(RecordOffsets, AColumnAddedLaterEndsWhereTheRecordEnds) {
  std::vector<FieldType> fields = by_hand();
  fields.push_back({.fixed_bytes = 4, .is_nullable = true, .default_is_null = true, .added_version = 1});
  const Schema schema(fields);
  const std::vector<Value> values{{}, {}, {}, {.is_null = true}, {.bytes = 200}, {}, {}};
  for (const Decoder decoder : {Decoder::v80, Decoder::hoisted, Decoder::by_state}) {
    const auto old_record = decoded(decoder, schema, encode(schema, values));
    EXPECT_EQ(old_record, (std::vector<std::uint32_t>{4, 10, 17, 17 | kSqlNull, 217, 227, 227 | kSqlNull}));
    const auto new_record = decoded(decoder, schema, encode(schema, values, {.version = 1}));
    EXPECT_EQ(new_record.back(), 231U);
  }
}

TEST(RecordOffsets, AllDecodersFindWhatTheEncoderWroteInEveryState) {
  std::mt19937 random(1);
  const auto one_in = [&](unsigned n) { return random() % n == 0; };
  std::array<int, 4> seen{};
  for (int round = 0; round < 3000; ++round) {
    const bool has_versions = one_in(2);
    const bool has_instant = one_in(2);
    const std::size_t n = 1 + random() % (one_in(10) ? 300 : 20);
    std::vector<FieldType> fields(n);
    for (FieldType& field : fields) {
      field.is_nullable = one_in(2);
      field.default_is_null = field.is_nullable && one_in(2);
      if (one_in(2)) {
        field.is_big = one_in(4);
        field.max_bytes = static_cast<std::uint16_t>(one_in(2) ? 1 + random() % 255 : 256 + random() % 2000);
      } else {
        field.fixed_bytes = static_cast<std::uint16_t>(1 + random() % 20);
      }
      if (has_versions && one_in(4)) field.added_version = static_cast<std::uint8_t>(1 + random() % 5);
      if (has_versions && one_in(5))
        field.dropped_version = static_cast<std::uint8_t>(field.added_version + 1 + random() % 5);
    }
    const std::size_t core = has_instant ? 1 + random() % n : 0;
    const Schema schema(fields, core);
    Inserted as;
    if (schema.has_row_versions() && one_in(2))
      as.version = static_cast<std::uint8_t>(1 + random() % schema.current_version());
    else if (core != 0 && one_in(2))
      as.n_fields = core + random() % (n - core + 1);
    std::vector<Value> values;
    for (const FieldType& field : fields)
      values.push_back(
          {.bytes = field.fixed_bytes ? 0 : static_cast<std::uint32_t>(random() % (field.max_bytes + 1)),
           .is_null = field.is_nullable && one_in(3),
           .is_external = one_in(3)});
    const Record record = encode(schema, values, as);
    for (const auto& [name, decoder] : names::table_of<Decoder>.all) {
      if (decoder == Decoder::v57 && (schema.has_instant_columns() || schema.has_row_versions())) continue;
      EXPECT_EQ(decoded(decoder, schema, record), record.end_offsets) << name << " in round " << round;
    }
    seen[(schema.has_row_versions() ? 2U : 0U) + (schema.has_instant_columns() ? 1U : 0U)] += 1;
  }
  for (const int kind : seen) EXPECT_GT(kind, 200);
}

TEST(RecordOffsets, TheOldDecoderRefusesWhatItDoesNotKnow) {
  const Schema schema({{.fixed_bytes = 4}, {.fixed_bytes = 4, .added_version = 1}});
  const Record record = encode(schema, std::vector<Value>(2), {.version = 1});
  EXPECT_THROW(decoded(Decoder::v57, schema, record), std::invalid_argument);
  EXPECT_THROW(encode(schema, std::vector<Value>(2), {.version = 2}), std::invalid_argument);
  EXPECT_THROW(encode(schema, std::vector<Value>(1)), std::invalid_argument);
  EXPECT_THROW(Schema(std::vector<FieldType>{}), std::invalid_argument);
}

TEST(FieldStore, ConvertsByHandInEveryVariant) {
  const std::array<std::byte, 8> data{std::byte{0x80}, std::byte{0},   std::byte{0},
                                      std::byte{5},    std::byte{'a'}, std::byte{'b'}};
  const std::vector<Template> templates{{.offset = 0, .bytes = 4, .kind = FieldKind::integer},
                                        {.offset = 4, .bytes = 4, .kind = FieldKind::varying},
                                        {.offset = 9, .bytes = 4, .kind = FieldKind::fixed_text}};
  const std::vector<StoredField> fields{{data.data(), 4}, {data.data() + 4, 2}, {data.data() + 4, 2}};
  for (const auto& [name, path] : names::table_of<FatalPath>.all) {
    std::vector<std::byte> out(13, std::byte{'.'});
    store_rows(path, templates, fields, 1, out.data(), 13);
    const std::string text(reinterpret_cast<const char*>(out.data()), out.size());
    EXPECT_EQ(text, std::string("\x05\0\0\0\x02"
                                "ab..ab  ",
                                13))
        << name;
  }
}

TEST(FieldStore, TheFailureStillFires) {
  std::array<std::byte, 8> data{};
  const std::vector<Template> templates{{.bytes = 4, .kind = FieldKind::raw, .is_multi_value = true}};
  const std::vector<StoredField> fields{{data.data(), 4}};
  std::vector<std::byte> out(8);
  EXPECT_NO_THROW(store_rows(FatalPath::none, templates, fields, 1, out.data(), 8));
  for (const FatalPath path : {FatalPath::inline_stream, FatalPath::cold_call, FatalPath::expect}) {
    try {
      store_rows(path, templates, fields, 1, out.data(), 8);
      FAIL() << names::of(path);
    } catch (const std::logic_error& error) {
      EXPECT_STREQ(error.what(), "multi-value field 0 at offset 0 of a row");
    }
  }
}

TEST(Measure, DecodersAgreeOnTheWorkTheyAreTimedWith) {
  const RecordWork plain{.records = 50, .passes = 2};
  const std::uint64_t expected = measure_offsets(Decoder::v57, plain).checksum;
  for (const auto& [name, decoder] : names::table_of<Decoder>.all)
    EXPECT_EQ(measure_offsets(decoder, plain).checksum, expected);
  const RecordWork versions{.row_versions = 5, .records = 50, .passes = 2};
  EXPECT_EQ(measure_offsets(Decoder::v80, versions).checksum,
            measure_offsets(Decoder::by_state, versions).checksum);
  EXPECT_EQ(measure_insert(Container::reserved, 10, 3, 2).operations, 20U);
  EXPECT_THROW(measure_offsets(Decoder::v80, {.columns = 3, .row_versions = 3}), std::invalid_argument);
}

TEST(LowConcurrencyOptions, DescribeEveryMember) {
  tests::expect_described<FieldType, Inserted, RecordWork, StoreWork>();
}

}  // namespace
}  // namespace engineroom::low_concurrency
