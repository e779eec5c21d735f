// The events of row-based transactions, byte for byte as a server of 9.7 writes them.
//
//   format description, previous GTIDs                                  once per file
//   GTID, then BEGIN, per statement and table a map and its rows, XID   per transaction
//   GTID, then one payload event with all of the above behind it        per compressed transaction
//
// Models      the event writers of libs/mysql/binlog/event and sql/log_event.cc; row images as binlog_row_image chooses them
// Leaves out  statements other than BEGIN, tagged GTIDs, JSON diffs, the names that binlog_row_metadata=FULL adds;
//             compression itself: zstd is called where the bytes go next
// Cost        a full image: one copy of its packed row; others: one per column. Nothing is allocated per row or event, and what a
//             table map says of its table is written once per table
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "binlog/column.hpp"
#include "binlog/packed_rows.hpp"
#include "common/names.hpp"

namespace engineroom::binlog {

enum class EventType : std::uint8_t {
  query = 2,
  rotate = 4,
  format_description = 15,
  xid = 16,
  table_map = 19,
  write_rows_v1 = 23,
  update_rows_v1 = 24,
  delete_rows_v1 = 25,
  rows_query = 29,
  write_rows = 30,
  update_rows = 31,
  delete_rows = 32,
  gtid = 33,
  anonymous_gtid = 34,
  previous_gtids = 35,
  partial_update_rows = 39,
  transaction_payload = 40,
  tagged_gtid = 42,
  maria_gtid = 162,
  start_encryption = 164,
  maria_compressed_query = 165,  // then those of rows: write, update, delete of version 1, and of version 2
  maria_compressed_delete_rows = 171,
};

enum class RowChange : std::uint8_t { insert, update, remove };
constexpr auto named(names::Of<RowChange>) {
  return names::table<RowChange>(
      "change",
      {{"insert", RowChange::insert}, {"update", RowChange::update}, {"delete", RowChange::remove}});
}

enum class RowImage : std::uint8_t { full, minimal, noblob };
constexpr auto named(names::Of<RowImage>) { return names::as_written<RowImage::noblob>("image"); }

constexpr std::size_t kHeaderBytes = 19;
constexpr std::size_t kChecksumBytes = 4;
constexpr std::uint64_t kFirstEvent = 4;  // behind the four bytes that say "binary log"
constexpr std::array<std::uint8_t, 4> kMagic = {0xFE, 'b', 'i', 'n'};
constexpr std::uint16_t kEndOfStatement = 1;

struct Table {
  std::uint64_t id = 0;
  std::string database;
  std::string name;
  std::vector<Column> columns;
};

/// What a table map says of a table: all of the event but its header and checksum.
std::vector<std::uint8_t> table_map_body(const Table& table);

/// A set of columns, a bit each. What is left of the last byte is of no column; the server leaves ones there when it has
/// set all.
class Columns {
 public:
  Columns() = default;
  explicit Columns(std::size_t n) : bits_(bitmap_bytes(n)), n_(n) {}
  Columns(std::vector<std::uint8_t> bits, std::size_t n) : bits_(std::move(bits)), n_(n) {}
  bool has(std::size_t i) const { return bit(bits_, i); }
  void add(std::size_t i) { bits_[i / 8] = static_cast<std::uint8_t>(bits_[i / 8] | 1U << i % 8); }
  /// How many columns there are to choose from.
  std::size_t of() const { return n_; }
  std::size_t count() const;
  Span bytes() const { return bits_; }

 private:
  std::vector<std::uint8_t> bits_;
  std::size_t n_ = 0;
};

Columns all_columns(std::size_t n);

/// What an image holds of the row before and of the row after; the one that a change has not is empty.
struct Images {
  Columns before;
  Columns after;
};

/// Which columns `binlog_row_image` leaves in. `key` is the primary key, or a unique key of NOT NULL columns where there is
/// none, or empty; `written` what the statement gives values to.
Images images(RowImage image, RowChange change, const std::vector<Column>& columns, const Columns& key,
              const Columns& written);

/// What BEGIN says of its session.
struct Session {
  std::uint32_t thread_id = 0;
  std::uint32_t seconds = 0;  // from the first statement's start until BEGIN was written
  std::string database{};
  std::uint32_t options = 0;  // OPTION_... of the session that change how a statement works
  std::uint64_t sql_mode = 0;
  std::uint16_t auto_increment_increment = 1;
  std::uint16_t auto_increment_offset = 1;
  std::uint16_t client_collation = 255;
  std::uint16_t connection_collation = 255;
  std::uint16_t server_collation = 255;
  std::uint16_t utf8mb4_collation = 255;
  std::string time_zone{};              // empty unless the statement used it
  std::uint64_t tables_for_update = 0;  // a bit per table of an UPDATE over several
};

struct Gtid {
  std::array<std::uint8_t, 16> uuid{};
  std::int64_t number = 0;  // 0 with an anonymous one
  std::int64_t last_committed = 0;
  std::int64_t sequence_number = 0;
  std::uint64_t commit_us = 0;           // microseconds since 1970, at the server that executes it
  std::uint64_t original_commit_us = 0;  // the same at the server where it began; equal there
  std::uint64_t transaction_bytes = 0;   // all events of the transaction, this one included
  std::uint32_t server_version = 0;      // 90704 for 9.7.4
  bool may_have_statements = false;
};

/// An interval of numbers of one server, its end included.
struct GtidInterval {
  std::array<std::uint8_t, 16> uuid{};
  std::int64_t first = 0;
  std::int64_t last = 0;
};

/// The partitions that a change of a partitioned table goes to, and comes from.
struct Partitions {
  std::uint16_t to = 0;
  std::uint16_t from = 0;  // of an update
};

/// Appends events. In a file they have positions and checksums, in a payload neither.
class Writer {
 public:
  /// `position` is that of the next event; 0 for events of a payload.
  Writer(Buffer& out, std::uint64_t position, bool has_checksums)
      : out_(out), position_(position), has_checksums_(has_checksums) {}

  std::uint32_t timestamp = 0;  // seconds since 1970, of the statement
  std::uint32_t server_id = 1;

  std::uint64_t position() const { return position_; }

  void format_description(std::string_view server_version, std::uint32_t created, std::uint16_t flags);
  void previous_gtids(std::span<const GtidInterval> intervals);
  void gtid(const Gtid& gtid);
  void begin(const Session& session);
  void table_map(Span body);
  /// All rows of one statement on one table, in events of at most `most_bytes` where more than one row would be in one. Rows before
  /// a change and after it are as many; those that the change has not are none.
  void rows(const Table& table, RowChange change, const Images& images, const PackedRows& before,
            const PackedRows& after, std::uint16_t flags = 0,
            std::optional<Partitions> partitions = std::nullopt, std::size_t most_bytes = 8192);
  void xid(std::uint64_t number);
  void rotate(std::string_view next_file, std::uint64_t next_position);
  /// The compressed events of a transaction.
  void payload(Span compressed, std::uint64_t uncompressed_bytes);

 private:
  std::size_t open(EventType type);
  void close(std::size_t begin, std::uint16_t flags);

  Buffer& out_;
  std::uint64_t position_;
  bool has_checksums_;
};

}  // namespace engineroom::binlog
