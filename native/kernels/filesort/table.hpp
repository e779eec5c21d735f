// A table of pages whose long values lie elsewhere, read through a set of columns.
//
// Models      an InnoDB clustered index (DYNAMIC rows, 16 KiB pages) and row_sel_store_mysql_rec, which
//             copies the columns of the read set and nothing else
// Leaves out  NULL values, secondary indexes, versions of rows, pages that are not in memory, the unused
//             rest of a page that holds the end of a long value
// Cost        a read copies the bytes of the asked columns; an off-page one touches its own pages as well
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/interrupt.hpp"
#include "common/names.hpp"

namespace engineroom::filesort {

/// The type decides what a sort may carry along (design.hpp); here only how many bytes a value may have.
enum class Type : std::uint8_t { integer, fixed_char, varchar, text, medium_text, long_text, json };
constexpr auto named(names::Of<Type>) {
  return names::table<Type>("a column's type", {{"integer", Type::integer},
                                                {"char", Type::fixed_char},
                                                {"varchar", Type::varchar},
                                                {"text", Type::text},
                                                {"mediumtext", Type::medium_text},
                                                {"longtext", Type::long_text},
                                                {"json", Type::json}});
}

struct Column {
  Type type = Type::integer;
  std::uint32_t declared_bytes = 4;  // of a char or varchar; the other types have their own
  bool is_nullable = false;          // costs a byte of the key and a bit beside the values; no value is NULL

  /// BLOB_FLAG: the server's text, blob and JSON types.
  bool is_blob() const { return type >= Type::text; }
  std::uint64_t most_bytes() const;
};

/// A set of at most 64 columns, as the server's read_set.
class ColumnSet {
 public:
  ColumnSet() = default;
  ColumnSet(std::initializer_list<std::size_t> columns) {
    for (const std::size_t column : columns) add(column);
  }
  void add(std::size_t column) { bits_ |= std::uint64_t{1} << column; }
  bool has(std::size_t column) const { return ((bits_ >> column) & 1) != 0; }
  ColumnSet operator|(ColumnSet other) const {
    ColumnSet both;
    both.bits_ = bits_ | other.bits_;
    return both;
  }
  bool operator==(const ColumnSet&) const = default;

 private:
  std::uint64_t bits_ = 0;
};

struct Counters {
  std::uint64_t rows_scanned = 0;
  std::uint64_t rows_sorted = 0;  // that passed the condition
  std::uint64_t rows_returned = 0;
  std::uint64_t rows_fetched = 0;  // by row id, after the sort
  std::uint64_t pages_touched = 0;
  std::uint64_t lob_reads = 0;        // external values read, whole
  std::uint64_t bytes_copied = 0;     // from pages, into sort records, and to the client
  std::uint64_t heap_operations = 0;  // slots of the priority queue that a record was moved into
  std::uint64_t comparisons = 0;      // of keys
  std::uint64_t runs = 0;
  std::uint64_t merge_passes = 0;  // as the status counter: one a merge of some runs into one
  std::uint64_t bytes_written = 0;
  std::uint64_t bytes_read = 0;
  std::uint64_t record_bytes = 0;       // of the longest sort record, as the trace's row_size
  std::uint64_t peak_sort_bytes = 0;    // records and their pointers
  std::uint64_t is_priority_queue = 0;  // 0 or 1
};

class Table {
 public:
  static constexpr std::size_t kPageBytes = 16384;
  static constexpr std::size_t kLobPageBytes = 16327;  // payload of a page of a long value
  static constexpr std::size_t kReferenceBytes = 20;   // what DYNAMIC rows keep of an off-page value

  explicit Table(std::vector<Column> columns);

  /// Appends a row, in the order of its primary key, which is its number. An integer is four bytes, little
  /// end first.
  void append(std::span<const std::span<const std::byte>> values);

  const std::vector<Column>& columns() const { return columns_; }
  std::size_t rows() const { return leaf_of_row_.size(); }
  std::uint32_t leaf_of(std::size_t row) const { return leaf_of_row_[row]; }
  std::uint32_t leaf_pages() const { return leaf_of_row_.empty() ? 0 : leaf_of_row_.back() + 1; }
  /// Pages from the root to a row.
  std::uint32_t height() const;
  bool is_off_page(std::size_t row, std::size_t column) const { return field(row, column).is_off_page; }
  std::span<const std::byte> value(std::size_t row, std::size_t column) const;

 private:
  struct Field {
    std::uint64_t offset;
    std::uint32_t bytes;
    bool is_off_page;
  };
  const Field& field(std::size_t row, std::size_t column) const {
    return fields_[row * columns_.size() + column];
  }

  std::vector<Column> columns_;
  std::vector<Field> fields_;
  std::vector<std::uint32_t> leaf_of_row_;
  std::vector<std::byte> in_page_;
  std::vector<std::byte> off_page_;
  std::size_t leaf_free_bytes_ = 0;
};

/// A table opened by one statement: its read set and the row it stands on.
class Handle {
 public:
  explicit Handle(const Table& table);

  /// What next() and fetch() copy; the other columns of the row keep what they had.
  ColumnSet read_set;

  const Table& table() const { return *table_; }
  /// The row before the first.
  void rewind() { next_ = 0, leaf_ = -1; }
  /// Goes to the next row; false behind the last.
  bool next(Counters& counters);
  /// Goes to a row by its number: from the root, as nothing says that its page is near.
  void fetch(std::size_t row, Counters& counters);

  std::size_t row() const { return row_; }
  std::span<const std::byte> value(std::size_t column) const { return values_[column]; }
  std::int32_t integer(std::size_t column) const;

 private:
  void copy_columns(Counters& counters);

  const Table* table_;
  std::vector<std::vector<std::byte>> values_;
  std::size_t next_ = 0;
  std::size_t row_ = 0;
  std::int64_t leaf_ = -1;
};

/// Reads every row of the read set and does nothing with it: the part of a sort that is reading.
Counters scan(Handle& handle);

/// How many columns a table has rows for is up to the caller; this one is the source's: id, the sort key, a
/// filter of 0 to 99, a char(255), a long value. Keys are a permutation of 0..rows-1, by `seed`.
Table article_table(std::uint32_t rows, std::uint32_t lob_bytes, Type lob_type, std::uint32_t declared_bytes,
                    std::uint64_t seed, Interrupt interrupt = {});

/// Columns of article_table.
inline constexpr std::size_t kId = 0, kKey = 1, kFilter = 2, kChar = 3, kLob = 4;

}  // namespace engineroom::filesort
