#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "binlog/json.hpp"
#include "binlog/reader.hpp"
#include "binlog/rows_text.hpp"
#include "binlog/sizes.hpp"
#include "common/tests/part_of.hpp"

namespace engineroom::binlog {
namespace {

using Bytes = std::vector<std::uint8_t>;

Table table_of(const std::vector<std::string>& columns) {
  Table table{.id = 77, .database = "shop", .name = "item", .columns = {}};
  for (const std::string& column : columns) table.columns.push_back(declared(column));
  return table;
}

Columns columns_of(std::size_t n, const std::vector<std::size_t>& some) {
  Columns in(n);
  for (const std::size_t i : some) in.add(i);
  return in;
}

PackedRows packed(const Table& table, const std::vector<std::vector<Value>>& rows) {
  PackedRows all;
  for (const std::vector<Value>& row : rows) all.add(table.columns, row);
  return all;
}

/// Hands the bytes over as they are, in two pieces: a compression that needs no library.
std::string pass_on(Span compressed, const std::function<void(Span)>& take) {
  take(compressed.first(compressed.size() / 2));
  take(compressed.subspan(compressed.size() / 2));
  return {};
}

TEST(Binlog, AnUpdateOfAWideRowHasTheBytesThatAreCountedByHand) {
  const Table table = table_of({"int not null", "int", "varchar(500)", "text"});
  const std::string b(400, 'x');
  const std::string c(5000, 'y');
  const std::vector<Value> before = {std::int64_t{1}, std::int64_t{1}, std::string_view(b),
                                     std::string_view(c)};
  std::vector<Value> after = before;
  after[1] = std::int64_t{2};
  const auto bytes = [&](RowImage image) {
    Buffer out;
    Writer writer(out, 4, true);
    writer.rows(table, RowChange::update,
                images(image, RowChange::update, table.columns, columns_of(4, {0}), columns_of(4, {1})),
                packed(table, {before}), packed(table, {after}));
    return out.size();
  };
  // Header, post-header, number of columns, two bitmaps, two images, checksum.
  const std::size_t frame = 19 + 10 + 1 + 2 + 4;
  EXPECT_EQ(bytes(RowImage::full), frame + 2 * (1 + 4 + 4 + (2 + 400) + (2 + 5000)));
  EXPECT_EQ(bytes(RowImage::noblob), frame + 2 * (1 + 4 + 4 + (2 + 400)));
  EXPECT_EQ(bytes(RowImage::minimal), frame + 2 * (1 + 4));
}

TEST(Binlog, WithoutAKeyTheRowBeforeIsWholeWhateverTheImage) {
  const Table table = table_of({"int", "text", "int"});
  for (const RowImage image : {RowImage::full, RowImage::minimal, RowImage::noblob}) {
    EXPECT_EQ(images(image, RowChange::remove, table.columns, Columns(3), Columns(3)).before.count(), 3U);
  }
}

TEST(Binlog, RowsAboveTheLimitGoIntoFurtherEventsAndTheLastEndsTheStatement) {
  const Table table = table_of({"int not null", "varchar(200)"});
  const std::string text(200, 'z');
  const std::vector<Value> values = {std::int64_t{1}, std::string_view(text)};
  Buffer out;
  Writer writer(out, 4, false);
  writer.rows(table, RowChange::insert,
              images(RowImage::full, RowChange::insert, table.columns, Columns(2), all_columns(2)), {},
              packed(table, std::vector(100, values)));
  std::vector<std::uint64_t> flags;
  for (std::size_t at = 0; at < out.size(); at += load_little(out.data() + at + 9, 4)) {
    EXPECT_LE(load_little(out.data() + at + 9, 4), kHeaderBytes + 8192);
    flags.push_back(load_little(out.data() + at + 19 + 6, 2));
  }
  EXPECT_EQ(flags, (std::vector<std::uint64_t>{0, 0, 1}));
}

TEST(Binlog, AValueThatItsColumnCannotHoldIsRefused) {
  Buffer out;
  const auto refuses = [&](const char* column, const Value& value) {
    EXPECT_THROW(put_value(out, declared(column), value), std::invalid_argument) << column;
  };
  refuses("tinyint", std::int64_t{128});
  refuses("tinyint unsigned", std::int64_t{-1});
  refuses("int", std::string_view("1"));
  refuses("varchar(2)", std::string_view("123456789"));
  refuses("decimal(3,1)", std::string_view("123.4"));
  refuses("decimal(3,1)", std::string_view("1x"));
  refuses("bit(3)", std::int64_t{8});
  refuses("year", std::int64_t{1900});
  refuses("datetime", Moment{.year = 2024, .month = 13, .day = 1});
  EXPECT_THROW(declared("integer of sorts"), std::invalid_argument);
  EXPECT_THROW(declared("varchar"), std::invalid_argument);
}

TEST(Binlog, JsonThatIsTooDeepIsRefusedAndOffsetsThatShareBytesAreDamage) {
  Json deep;
  for (int i = 0; i < 101; ++i) deep = {Json::Array{deep}};
  EXPECT_THROW(json_binary(deep), std::invalid_argument);
  // An array of two that both are the array itself would print for ever.
  const Bytes loop = {2, 2, 0, 10, 0, 2, 0, 0, 2, 0, 0};
  EXPECT_THROW(json_text(loop, 0), Damaged);
}

/// A small file. All together have every type of column, change and image, and compressed transactions.
struct Sample {
  std::vector<Bytes> events;  // without their positions

  Bytes file() const {
    Bytes all(kMagic.begin(), kMagic.end());
    for (const Bytes& event : events) {
      const std::size_t begin = all.size();
      all.insert(all.end(), event.begin(), event.end());
      Buffer::store_little(all.data() + begin + 9, event.size(), 4);
      Buffer::store_little(all.data() + begin + 13, all.size(), 4);
    }
    return all;
  }
};

void put_transaction(Writer& writer, const Table& table, const std::vector<Value>& one,
                     const std::vector<Value>& two, RowImage image) {
  const std::size_t n = table.columns.size();
  const auto in = [&](RowChange change) {
    return images(image, change, table.columns, columns_of(n, {0}), columns_of(n, {1, n - 1}));
  };
  writer.begin({});
  writer.table_map(table_map_body(table));
  writer.rows(table, RowChange::insert,
              images(RowImage::full, RowChange::insert, table.columns, Columns(n), all_columns(n)), {},
              packed(table, {one, two}));
  writer.rows(table, RowChange::update, in(RowChange::update), packed(table, {one}), packed(table, {two}));
  writer.rows(table, RowChange::remove, in(RowChange::remove), packed(table, {two}), {});
  writer.xid(9);
}

std::vector<Sample> samples(bool has_checksums) {
  Json::Object object;
  object.push_back({"k", {std::int64_t{-5}}});
  object.push_back(
      {"list", {Json::Array{{}, {true}, {0.5}, {std::string("text")}, {std::uint64_t{1} << 40}}}});
  const std::string document = json_binary({object});
  struct Columned {
    std::vector<std::string> columns;
    std::vector<Value> values;
  };
  const std::string text = "some text \xC3\xA9";
  const std::vector<Columned> tables = {
      {{"int not null", "tinyint", "smallint unsigned", "mediumint", "bigint", "float", "double", "year"},
       {std::int64_t{5}, std::int64_t{-1}, std::int64_t{2}, std::int64_t{-3}, std::int64_t{4}, 1.5, -2.5,
        std::int64_t{1999}}},
      {{"int not null", "decimal(30,10)", "bit(13)", "enum('a','b')", "set('a','b','c')", "char(80)",
        "varchar(20)", "varchar(200)"},
       {std::int64_t{6}, std::string_view("-123.45"), std::int64_t{77}, std::int64_t{2}, std::int64_t{5},
        std::string_view(text), std::string_view(text), std::string_view(text)}},
      {{"int not null", "tinyblob", "text", "mediumtext", "longblob", "json", "varbinary(9)"},
       {std::int64_t{7}, std::string_view(text), std::string_view(text), std::string_view(text),
        std::string_view(text), std::string_view(document), std::string_view("raw")}},
      {{"int not null", "date", "time(3)", "datetime(6)", "timestamp(1)"},
       {std::int64_t{8}, Moment{.year = 2024, .month = 2, .day = 29},
        Moment{.is_negative = true, .hour = 700, .minute = 1, .second = 2, .microsecond = 500'000},
        Moment{.year = 2024, .month = 2, .day = 29, .hour = 1, .minute = 2, .second = 3, .microsecond = 4},
        Moment{.year = 2024,
               .month = 2,
               .day = 29,
               .hour = 1,
               .minute = 2,
               .second = 3,
               .microsecond = 400'000}}},
  };
  std::vector<Sample> all;
  for (const Columned& one : tables) {
    const Table table = table_of(one.columns);
    std::vector<Value> two = one.values;
    two[1] = {};
    two.back() = {};
    for (const RowImage image : {RowImage::full, RowImage::minimal}) {
      Buffer out;
      Writer writer(out, 4, has_checksums);
      writer.format_description("9.7.4", 0, 0);
      writer.previous_gtids({});
      writer.gtid({.number = 3, .commit_us = 5, .original_commit_us = 5, .transaction_bytes = 900});
      if (image == RowImage::full) {
        put_transaction(writer, table, one.values, two, image);
      } else {
        Buffer inside;
        Writer inner(inside, 0, false);
        put_transaction(inner, table, one.values, two, image);
        writer.payload(inside.span(), inside.size());
      }
      Sample sample;
      for (std::size_t at = 0; at < out.size();) {
        const std::size_t size = load_little(out.data() + at + 9, 4);
        sample.events.emplace_back(out.data() + at, out.data() + at + size);
        at += size;
      }
      all.push_back(std::move(sample));
    }
  }
  return all;
}

/// The same rows as MariaDB writes them with log_bin_compress, for a compression that does nothing.
Sample of_mariadb(const Sample& sample) {
  Sample made;
  for (const Bytes& event : sample.events) {
    Buffer out;
    Writer writer(out, 4, false);
    const std::uint8_t type = event[4];
    if (type == static_cast<std::uint8_t>(EventType::format_description)) {
      writer.format_description("10.11.6-MariaDB", 0, 0);
    } else if (type == static_cast<std::uint8_t>(EventType::gtid)) {
      out.put(Span(event).first(kHeaderBytes));
      out.little(7, 8);
      out.little(0, 8);
      out.little(0, 3);
      out.data()[4] = static_cast<std::uint8_t>(EventType::maria_gtid);
    } else if (type >= 30 && type <= 32) {
      const std::size_t head = kHeaderBytes + 10 + 1 + (type == 31 ? 2 : 1);
      out.put(Span(event).first(head));
      out.little(0x84, 1);
      out.big(event.size() - head, 4);
      out.put(Span(event).subspan(head));
      out.data()[4] = static_cast<std::uint8_t>(type - 30 + 169);
    } else {
      out.put(Span(event));
    }
    made.events.emplace_back(out.data(), out.data() + out.size());
  }
  return made;
}

struct Outcome {
  bool is_damaged = false;
  std::uint64_t position = 0;
  std::string text;
};

Outcome read(const Bytes& file, std::size_t piece) {
  Outcome outcome;
  RowsText rows;
  Sizes sizes({}, [](const Units&) {});
  Reader reader(
      file.size(),
      [&](const Event& event) {
        rows.add(event, outcome.text);
        sizes.add(event);
      },
      &pass_on);
  try {
    for (std::size_t at = 0; at < file.size(); at += piece)
      reader.feed(Span(file).subspan(at, std::min(piece, file.size() - at)));
    reader.end();
    sizes.end();
  } catch (const Damaged& error) {
    outcome.is_damaged = true;
    outcome.position = error.position;
  }
  return outcome;
}

TEST(Binlog, AFileIsReadAlikeInPiecesOfAnySize) {
  for (const Sample& sample : samples(true)) {
    const Bytes file = sample.file();
    const Outcome whole = read(file, file.size());
    EXPECT_FALSE(whole.is_damaged);
    EXPECT_EQ(std::count(whole.text.begin(), whole.text.end(), '\n'), 4);
    for (const std::size_t piece : {1U, 7U, 100U}) EXPECT_EQ(read(file, piece).text, whole.text);
  }
}

TEST(Binlog, CompressedEventsOfMariaDBHaveTheRowsOfOthersAndItsGtid) {
  for (const Sample& sample : samples(false)) {
    if (sample.events.size() < 5) continue;  // a compressed transaction, which MariaDB does not write
    Outcome ours = read(sample.file(), 4096);
    const Outcome theirs = read(of_mariadb(sample).file(), 4096);
    EXPECT_FALSE(theirs.is_damaged);
    EXPECT_NE(theirs.text.find("\"gtid\": \"0-1-7\""), std::string::npos);
    const auto rows = [](const std::string& text) { return text.substr(text.rfind("\"table\"")); };
    EXPECT_EQ(rows(theirs.text), rows(ours.text));
  }
}

TEST(Binlog, EveryFlippedBitOfAFileWithChecksumsIsFoundAtItsEvent) {
  const Sample sample = samples(true).front();
  const Bytes file = sample.file();
  std::size_t begin = kFirstEvent;
  for (const Bytes& event : sample.events) {
    for (std::size_t at = begin; at < begin + event.size(); ++at) {
      Bytes damaged = file;
      damaged[at] ^= 0x10;
      const Outcome outcome = read(damaged, damaged.size());
      // A format that seems to announce no checksums is found by the next event at the latest.
      EXPECT_TRUE(outcome.is_damaged) << at;
      if (begin > kFirstEvent) {
        EXPECT_EQ(outcome.position, begin) << at;
      }
    }
    begin += event.size();
  }
}

/// Damage of all kinds: bytes, lengths, bits, pieces that are missing, twice there, or from elsewhere.
void damage(Bytes& bytes, std::mt19937_64& random, std::size_t from) {
  if (bytes.size() <= from) return;
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  const std::size_t at = from + below(bytes.size() - from);
  const auto there = bytes.begin() + static_cast<std::ptrdiff_t>(at);
  constexpr std::array<std::uint8_t, 8> kTelling = {0, 1, 0x7F, 0x80, 250, 252, 254, 255};
  const std::size_t span = std::min(1 + below(9), bytes.size() - at);
  switch (below(7)) {
    case 0:
      *there = static_cast<std::uint8_t>(random());
      break;
    case 1:
      *there = kTelling[below(kTelling.size())];
      break;
    case 2:
      *there = static_cast<std::uint8_t>(*there ^ 1U << below(8));
      break;
    case 3:
      std::fill_n(there, span, kTelling[below(kTelling.size())]);
      break;
    case 4:
      bytes.erase(there, there + static_cast<std::ptrdiff_t>(span));
      break;
    case 5: {
      const Bytes twice(there, there + static_cast<std::ptrdiff_t>(span));
      bytes.insert(there, twice.begin(), twice.end());
      break;
    }
    default:
      bytes.resize(at);
  }
}

TEST(Binlog, ADamagedFileGivesRowsOrAnErrorWithItsPositionAndNothingElse) {
  constexpr std::size_t kFiles = part_of(100'000);
  std::vector<Sample> all = samples(false);
  all.push_back(of_mariadb(all[0]));
  std::mt19937_64 random(18);
  std::size_t n_damaged = 0;
  for (std::size_t k = 0; k < kFiles; ++k) {
    Sample sample = all[k % all.size()];
    const std::size_t times = 1 + random() % 4;
    Bytes file;
    if (k % 4 == 3) {
      file = sample.file();
      for (std::size_t i = 0; i < times; ++i) damage(file, random, 0);
    } else {
      // Lengths and positions of the events fit what is left of them, so that the damage is met inside.
      for (std::size_t i = 0; i < times; ++i) {
        damage(sample.events[1 + random() % (sample.events.size() - 1)], random, kHeaderBytes);
      }
      file = sample.file();
    }
    const Outcome outcome = read(file, k % 2 == 0 ? file.size() + 1 : 256);
    n_damaged += outcome.is_damaged ? 1 : 0;
    ASSERT_LE(outcome.position, file.size());
    ASSERT_LE(outcome.text.size(), 4096 + 200 * file.size());
  }
  RecordProperty("damaged", static_cast<int>(n_damaged));
  EXPECT_GT(n_damaged, kFiles / 2);
  EXPECT_LT(n_damaged, kFiles);
}

}  // namespace
}  // namespace engineroom::binlog
