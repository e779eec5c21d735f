// Events out of a file that is handed over piece by piece, and rows out of events.
//
// Models      what a replica or mysqlbinlog reads: files of 5.6 to 9.7 and of MariaDB, relay logs, checksums, compressed
//             transactions, MariaDB's compressed events
// Leaves out  encrypted files, which it refuses by name; the meaning of statements
// Cost        a byte is looked at twice: for its checksum and for what it says. Memory: what is not read yet of one event, which
//             is never more than the file still has, and the tables that are in use
//
// Whatever the bytes are, the answer is events or a Damaged with the position: no length is believed before it is compared
// with what is there.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "binlog/writer.hpp"

namespace engineroom::binlog {

struct Event {
  std::uint8_t type = 0;
  std::uint16_t flags = 0;
  std::uint32_t timestamp = 0;
  std::uint32_t server_id = 0;
  std::uint64_t position = 0;  // in the file; of the payload event for an event that was inside
  std::uint64_t bytes = 0;     // header and checksum included
  bool is_inner = false;       // out of a compressed transaction or event
  bool is_packed = false;      // what it holds follows as inner events
  bool is_mariadb = false;
  bool has_checksum = false;
  std::uint32_t server_version = 0;  // that wrote it, 80015 for 8.0.15; 0 if its text is none
  Span all{};                        // header included, checksum not
  Span body{};                       // behind the header

  EventType kind() const { return static_cast<EventType>(type); }
};

/// What the events of a file have in common, from its format description.
struct Format {
  std::string server_version;
  std::uint32_t version = 0;  // the same as a number
  bool is_mariadb = false;
  bool has_checksums = false;
  bool is_in_use = false;  // the server has not closed the file
  bool is_relay = false;  // a replica wrote the file: events have the positions that they had in the source's
};

/// Hands over what zstd (of MySQL) or zlib (of MariaDB) compressed, in as many pieces as it likes. Returns what is wrong with the
/// bytes, or nothing.
using Inflate = std::function<std::string(Span compressed, const std::function<void(Span)>& take)>;

class Reader {
 public:
  using Take = std::function<void(const Event&)>;

  /// `file_bytes` is how long the file is, which bounds what its events may say of themselves.
  Reader(std::uint64_t file_bytes, Take take, Inflate inflate);

  /// The next bytes of the file; calls `take` for each event that is complete with them.
  void feed(Span bytes);
  /// The file ends here. It may end inside an event only if the server still writes it.
  void end();
  const Format& format() const { return format_; }
  /// Where the next event begins.
  std::uint64_t position() const { return position_; }

 private:
  /// Takes whole events off the bytes; how many bytes they had.
  std::size_t take_events(Span bytes);
  void file_event(Event event);
  void describe_format(const Event& event);
  void payload(const Event& event);
  void expand(const Event& event);

  std::uint64_t file_bytes_;
  Take take_;
  Inflate inflate_;
  Format format_;
  std::uint64_t position_ = 0;
  std::uint64_t fed_ = 0;
  Buffer rest_;
  Buffer expanded_;
  bool has_format_ = false;
};

/// What begins a transaction.
struct ReadGtid {
  std::string text;  // "uuid:7", "uuid:tag:7", MariaDB's "0-1-7"; empty for an anonymous one
  std::uint64_t commit_us =
      0;  // since 1970, on the server where it was executed first; 0 where the event does not tell
  bool is_alone = false;  // nothing commits it: a statement of MariaDB's that is a transaction
};

bool is_gtid(const Event& event);
ReadGtid read_gtid(const Event& event);

/// What a table map says of a table.
struct MappedTable : Table {
  std::uint64_t serial = 0;        // another one for every parsed map
  std::vector<std::string> names;  // of the columns; empty unless binlog_row_metadata=FULL
  std::vector<std::size_t> key;    // columns of the primary key; empty unless binlog_row_metadata=FULL
};

MappedTable read_table_map(const Event& event);

/// The rows of one event: a cursor over images.
struct RowsEvent {
  RowChange change;
  bool is_partial = false;     // JSON columns of after images may hold diffs
  std::size_t bitmaps_at = 0;  // in the event, behind the number of its columns
  Columns before;
  Columns after;
  Span rows;
};

std::uint64_t table_id_of(const Event& event);
bool is_rows_event(std::uint8_t type);
RowsEvent read_rows_event(const Event& event, const MappedTable& table);

/// Reads one image. `visit(i, column, value)` for each column in it; the value is nullptr for NULL.
template <typename Visit>
void read_image(Cursor& cursor, const MappedTable& table, const Columns& in, const Visit& visit,
                Span json_diffs = {}) {
  const Span nulls = cursor.take(bitmap_bytes(in.count()), "the bitmap of an image's NULLs");
  std::size_t nth = 0;
  std::size_t nth_json = 0;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const Column& column = table.columns[i];
    const bool is_json = column.type == Type::json;
    const bool is_diff = is_json && !json_diffs.empty() && bit(json_diffs, nth_json);
    if (is_json) ++nth_json;
    if (!in.has(i)) continue;
    if (bit(nulls, nth++)) {
      visit(i, column, static_cast<const Span*>(nullptr));
      continue;
    }
    const Span value = take_value(column, cursor);
    // A diff has its length before it, as a document, and is no document.
    visit(i, is_diff ? Column{.type = Type::blob, .metadata = 4, .collation = 63} : column, &value);
  }
}

/// Reads which JSON columns of a partial update's after image hold diffs: a bit per JSON column of the table.
Span read_json_diffs(Cursor& cursor, const RowsEvent& rows, const MappedTable& table);

/// The tables that rows events may name. Maps of one table are parsed once as long as they say the same.
class Tables {
 public:
  const MappedTable& map(const Event& event);
  const MappedTable& of(const Event& rows_event) const;
  void clear() { known_.clear(); }

 private:
  struct Known {
    std::vector<std::uint8_t> body;
    std::unique_ptr<MappedTable> table;
  };
  std::unordered_map<std::uint64_t, Known> known_;
  std::uint64_t maps_ = 0;
};

}  // namespace engineroom::binlog
