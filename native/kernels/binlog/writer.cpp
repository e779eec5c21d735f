#include "binlog/writer.hpp"

#include <algorithm>
#include <bit>
#include <map>

#include "common/require.hpp"

namespace engineroom::binlog {

namespace {

constexpr std::uint16_t kSuppressUse = 8;   // of BEGIN: it stands for no database
constexpr std::uint16_t kIgnorable = 0x80;  // an old replica may skip it
constexpr std::uint16_t kOwnTableMap = 1;   // of a table map: its types are the binary log's

/// Bytes that each type of event has between its header and its own fields, from type 1 on (9.7.4).
constexpr std::array<std::uint8_t, 42> kPostHeaderBytes = {
    0, 13, 0, 8, 0, 0, 0, 0, 4,  0,  4,  0,  0,  0, 99, 0,  4, 26, 8,  0, 0,
    0, 0,  0, 0, 2, 0, 0, 0, 10, 10, 10, 42, 42, 0, 18, 52, 0, 10, 40, 0, 0};

enum Variable : std::uint8_t {
  kOptions = 0,
  kSqlMode = 1,
  kAutoIncrement = 3,
  kCollations = 4,
  kTimeZone = 5,
  kCatalog = 6,
  kTablesForUpdate = 9,
  kUtf8mb4Collation = 18,
};

enum Metadata : std::uint8_t { kSigns = 1, kDefaultCollation = 2, kCollationOfEach = 3 };

enum PayloadField : std::uint8_t { kEnd = 0, kSize = 1, kCompression = 2, kUncompressedSize = 3 };

std::size_t packed_bytes(std::uint64_t value) {
  return value < 251 ? 1 : value < (1U << 16) ? 3 : value < (1U << 24) ? 4 : 9;
}

void put_field(Buffer& out, std::uint8_t type, Span value) {
  out.little(type, 1);
  out.packed(value.size());
  out.put(value);
}

/// Signs of all numbers, the first in the highest bit, and the collations of all texts, in the shorter of two ways.
void put_optional_metadata(Buffer& out, const std::vector<Column>& columns) {
  std::vector<std::uint8_t> signs;
  std::size_t numbers = 0;
  std::vector<std::uint16_t> collations;
  for (const Column& column : columns) {
    if (is_number(column.type)) {
      if (numbers % 8 == 0) signs.push_back(0);
      if (column.is_unsigned) signs.back() = static_cast<std::uint8_t>(signs.back() | 0x80 >> numbers % 8);
      ++numbers;
    }
    if (has_collation(column.type)) collations.push_back(column.collation);
  }
  if (!signs.empty()) put_field(out, kSigns, signs);
  if (collations.empty()) return;
  std::map<std::uint16_t, std::size_t> uses;
  for (const std::uint16_t collation : collations) ++uses[collation];
  const auto [common, most] = *std::max_element(
      uses.begin(), uses.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  Buffer value;
  if (collations.size() < 1 + 2 * (collations.size() - most)) {
    for (const std::uint16_t collation : collations) value.packed(collation);
    return put_field(out, kCollationOfEach, value.span());
  }
  value.packed(common);
  for (std::size_t i = 0; i < collations.size(); ++i) {
    if (collations[i] == common) continue;
    value.packed(i);
    value.packed(collations[i]);
  }
  put_field(out, kDefaultCollation, value.span());
}

/// An image: the columns that it has of the i-th row. `n_in` is how many those are.
void put_image(Buffer& out, const Columns& in, std::size_t n_in, const PackedRows& rows, std::size_t i) {
  if (n_in == rows.columns()) return out.put(rows.whole(i));
  const PackedRow row = rows[i];
  // The bitmap of NULLs has a bit per column of the image, not of the table.
  const std::size_t nulls_at = out.size();
  std::memset(out.grow(bitmap_bytes(n_in)), 0, bitmap_bytes(n_in));
  std::size_t nth = 0;
  for (std::size_t column = 0; column < rows.columns(); ++column) {
    if (!in.has(column)) continue;
    if (row.is_null(column)) {
      std::uint8_t& byte = out.data()[nulls_at + nth / 8];
      byte = static_cast<std::uint8_t>(byte | 1U << nth % 8);
    }
    out.put(row.value(column));
    ++nth;
  }
}

}  // namespace

std::size_t Columns::count() const {
  std::size_t n = 0;
  for (std::size_t i = 0; i < bits_.size(); ++i) {
    const unsigned unused = i + 1 == bits_.size() && n_ % 8 > 0 ? 8 - n_ % 8 : 0;
    n += static_cast<std::size_t>(std::popcount(static_cast<std::uint8_t>(bits_[i] << unused)));
  }
  return n;
}

Columns all_columns(std::size_t n) { return {std::vector<std::uint8_t>(bitmap_bytes(n), 0xFF), n}; }

Images images(RowImage image, RowChange change, const std::vector<Column>& columns, const Columns& key,
              const Columns& written) {
  const std::size_t n = columns.size();
  Images found{all_columns(n), all_columns(n)};
  // Without a key a replica looks for the row by all of it.
  const bool has_key = key.count() > 0;
  if (image == RowImage::minimal) {
    found.after = written;
    if (has_key) found.before = key;
  } else if (image == RowImage::noblob) {
    Columns before(n);
    Columns after(n);
    for (std::size_t i = 0; i < n; ++i) {
      if (!is_blob(columns[i]) || key.has(i)) before.add(i);
      if (!is_blob(columns[i]) || written.has(i)) after.add(i);
    }
    if (has_key) found.before = before;
    found.after = after;
  }
  if (change == RowChange::insert) found.before = {};
  if (change == RowChange::remove) found.after = {};
  return found;
}

std::size_t Writer::open(EventType type) {
  const std::size_t begin = out_.size();
  std::uint8_t* const header = out_.grow(kHeaderBytes);
  Buffer::store_little(header, timestamp, 4);
  header[4] = static_cast<std::uint8_t>(type);
  Buffer::store_little(header + 5, server_id, 4);
  return begin;
}

void Writer::close(std::size_t begin, std::uint16_t flags) {
  const std::size_t size = out_.size() - begin + (has_checksums_ ? kChecksumBytes : 0);
  if (size > 0xFFFFFFFF) refuse("an event has less than 4 GiB, got " + std::to_string(size) + " bytes");
  std::uint8_t* const header = out_.data() + begin;
  Buffer::store_little(header + 9, size, 4);
  if (position_ > 0) position_ += size;
  Buffer::store_little(header + 13, position_, 4);
  Buffer::store_little(header + 17, flags, 2);
  if (has_checksums_) out_.little(crc32(out_.span().subspan(begin)), kChecksumBytes);
}

void Writer::format_description(std::string_view server_version, std::uint32_t created, std::uint16_t flags) {
  if (server_version.size() >= 50)
    refuse("the server's version has less than 50 bytes, got " + std::to_string(server_version.size()));
  const std::size_t begin = open(EventType::format_description);
  out_.little(4, 2);  // the format since 5.0
  out_.put(server_version);
  std::memset(out_.grow(50 - server_version.size()), 0, 50 - server_version.size());
  out_.little(created, 4);
  out_.little(kHeaderBytes, 1);
  out_.put(Span(kPostHeaderBytes));
  out_.little(has_checksums_ ? 1 : 0, 1);
  if (!has_checksums_) {
    // This event has a checksum whatever the others have; the sum is taken without the flag that the file is in use.
    has_checksums_ = true;
    close(begin, flags);
    has_checksums_ = false;
    return;
  }
  close(begin, flags);
}

void Writer::previous_gtids(std::span<const GtidInterval> intervals) {
  const std::size_t begin = open(EventType::previous_gtids);
  std::vector<std::array<std::uint8_t, 16>> servers;
  for (const GtidInterval& one : intervals) servers.push_back(one.uuid);
  std::sort(servers.begin(), servers.end());
  servers.erase(std::unique(servers.begin(), servers.end()), servers.end());
  out_.little(servers.size(), 8);
  for (const auto& uuid : servers) {
    out_.put(Span(uuid));
    out_.little(static_cast<std::uint64_t>(std::count_if(intervals.begin(), intervals.end(),
                                                         [&](const auto& one) { return one.uuid == uuid; })),
                8);
    for (const GtidInterval& one : intervals) {
      if (one.uuid != uuid) continue;
      out_.little(static_cast<std::uint64_t>(one.first), 8);
      out_.little(static_cast<std::uint64_t>(one.last) + 1, 8);
    }
  }
  close(begin, kIgnorable);
}

void Writer::gtid(const Gtid& gtid) {
  const std::size_t begin = open(gtid.number == 0 ? EventType::anonymous_gtid : EventType::gtid);
  out_.little(gtid.may_have_statements ? 1 : 0, 1);
  out_.put(Span(gtid.uuid));
  out_.little(static_cast<std::uint64_t>(gtid.number), 8);
  out_.little(2, 1);  // logical timestamps follow
  out_.little(static_cast<std::uint64_t>(gtid.last_committed), 8);
  out_.little(static_cast<std::uint64_t>(gtid.sequence_number), 8);
  // The highest bit says that the original's time follows because it is another.
  const bool is_original = gtid.commit_us == gtid.original_commit_us;
  out_.little(gtid.commit_us | (is_original ? 0 : std::uint64_t{1} << 55), 7);
  if (!is_original) out_.little(gtid.original_commit_us, 7);
  out_.packed(gtid.transaction_bytes);
  out_.little(gtid.server_version, 4);
  close(begin, 0);
}

void Writer::begin(const Session& session) {
  const std::size_t begin = open(EventType::query);
  out_.little(session.thread_id, 4);
  out_.little(session.seconds, 4);
  out_.little(session.database.size(), 1);
  out_.little(0, 2);  // error
  const std::size_t length_at = out_.size();
  out_.little(0, 2);
  out_.little(kOptions, 1);
  out_.little(session.options, 4);
  out_.little(kSqlMode, 1);
  out_.little(session.sql_mode, 8);
  out_.little(kCatalog, 1);
  out_.little(3, 1);
  out_.put("std");
  if (session.auto_increment_increment != 1 || session.auto_increment_offset != 1) {
    out_.little(kAutoIncrement, 1);
    out_.little(session.auto_increment_increment, 2);
    out_.little(session.auto_increment_offset, 2);
  }
  out_.little(kCollations, 1);
  out_.little(session.client_collation, 2);
  out_.little(session.connection_collation, 2);
  out_.little(session.server_collation, 2);
  if (!session.time_zone.empty()) {
    out_.little(kTimeZone, 1);
    out_.little(session.time_zone.size(), 1);
    out_.put(session.time_zone);
  }
  if (session.tables_for_update != 0) {
    out_.little(kTablesForUpdate, 1);
    out_.little(session.tables_for_update, 8);
  }
  out_.little(kUtf8mb4Collation, 1);
  out_.little(session.utf8mb4_collation, 2);
  Buffer::store_little(out_.data() + length_at, out_.size() - length_at - 2, 2);
  out_.put(session.database);
  out_.little(0, 1);
  out_.put("BEGIN");
  close(begin, kSuppressUse);
}

std::vector<std::uint8_t> table_map_body(const Table& table) {
  Buffer out;
  out.little(table.id, 6);
  out.little(kOwnTableMap, 2);
  for (const std::string* name : {&table.database, &table.name}) {
    out.little(name->size(), 1);
    out.put(*name);
    out.little(0, 1);
  }
  out.packed(table.columns.size());
  for (const Column& column : table.columns) out.little(type_code(column), 1);
  Buffer metadata;
  for (const Column& column : table.columns) put_metadata(metadata, column);
  out.packed(metadata.size());
  out.put(metadata.span());
  Columns nullable(table.columns.size());
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (table.columns[i].is_nullable) nullable.add(i);
  }
  out.put(nullable.bytes());
  put_optional_metadata(out, table.columns);
  return {out.data(), out.data() + out.size()};
}

void Writer::table_map(Span body) {
  const std::size_t begin = open(EventType::table_map);
  out_.put(body);
  close(begin, 0);
}

void Writer::rows(const Table& table, RowChange change, const Images& images, const PackedRows& before,
                  const PackedRows& after, std::uint16_t flags, std::optional<Partitions> partitions,
                  std::size_t most_bytes) {
  const bool has_before = change != RowChange::insert;
  const bool has_after = change != RowChange::remove;
  const std::size_t n_rows = has_before ? before.size() : after.size();
  if (n_rows == 0) refuse("a statement that changes no row writes no rows event");
  if (before.size() != (has_before ? n_rows : 0) || after.size() != (has_after ? n_rows : 0)) {
    refuse("an insert has rows after, a delete rows before, an update as many of both, got " +
           std::to_string(before.size()) + " before and " + std::to_string(after.size()) + " after");
  }
  const EventType type = change == RowChange::insert   ? EventType::write_rows
                         : change == RowChange::update ? EventType::update_rows
                                                       : EventType::delete_rows;
  const std::size_t n = table.columns.size();
  if ((has_before && before.columns() != n) || (has_after && after.columns() != n))
    refuse("a row of table " + table.name + " has not a value for each column");
  for (const Columns* in : {&images.before, &images.after}) {
    if (in->of() != 0 && in->of() != n)
      refuse("table " + table.name + " has " + std::to_string(n) + " columns, an image is about " +
             std::to_string(in->of()));
  }
  const auto head = [&] {
    const std::size_t begin = open(type);
    out_.little(table.id, 6);
    out_.little(0, 2);
    const bool is_update = change == RowChange::update;
    out_.little(2U + (partitions ? (is_update ? 5U : 3U) : 0U), 2);
    if (partitions) {
      out_.little(1, 1);  // what follows is about partitions
      out_.little(partitions->to, 2);
      if (is_update) out_.little(partitions->from, 2);
    }
    out_.packed(n);
    if (has_before) out_.put(images.before.bytes());
    if (has_after) out_.put(images.after.bytes());
    return begin;
  };
  const auto end = [&](std::size_t begin, bool is_last) {
    Buffer::store_little(out_.data() + begin + kHeaderBytes + 6, flags | (is_last ? kEndOfStatement : 0U), 2);
    close(begin, 0);
  };
  std::size_t begin = head();
  const std::size_t head_bytes = out_.size() - begin;
  const std::size_t n_before = images.before.count();
  const std::size_t n_after = images.after.count();
  Buffer row_behind;
  for (std::size_t i = 0; i < n_rows; ++i) {
    const std::size_t row_at = out_.size();
    if (has_before) put_image(out_, images.before, n_before, before, i);
    if (has_after) put_image(out_, images.after, n_after, after, i);
    const bool is_first = row_at == begin + head_bytes;
    if (!is_first && out_.size() - begin - kHeaderBytes > most_bytes) {
      // It goes into the next event.
      row_behind.clear();
      row_behind.put(out_.span().subspan(row_at));
      out_.cut(row_at);
      end(begin, false);
      begin = head();
      out_.put(row_behind.span());
    }
  }
  end(begin, true);
}

void Writer::xid(std::uint64_t number) {
  const std::size_t begin = open(EventType::xid);
  out_.little(number, 8);
  close(begin, 0);
}

void Writer::rotate(std::string_view next_file, std::uint64_t next_position) {
  const std::size_t begin = open(EventType::rotate);
  out_.little(next_position, 8);
  out_.put(next_file);
  close(begin, 0);
}

void Writer::payload(Span compressed, std::uint64_t uncompressed_bytes) {
  const std::size_t begin = open(EventType::transaction_payload);
  const auto number = [&](PayloadField field, std::uint64_t value) {
    out_.little(field, 1);
    out_.packed(packed_bytes(value));
    out_.packed(value);
  };
  number(kCompression, 0);  // zstd
  number(kUncompressedSize, uncompressed_bytes);
  number(kSize, compressed.size());
  out_.little(kEnd, 1);
  out_.put(compressed);
  close(begin, 0);
}

}  // namespace engineroom::binlog
