// Where the bytes of a binary log go, and what the same transactions would take with minimal row images.
//
// Models      binlog_row_image=MINIMAL for changes that were logged with full images, and the unit of
//             binlog_transaction_compression: everything of a transaction behind its GTID event. Events of a statement that have
//             become short are one, up to the default of binlog_row_event_max_size
// Leaves out  which columns a statement named: a column counts as written by an event if one of its rows changed it, and
//             inserts stay as they are. A transaction that turns out after 16 MiB not to be one that the server compresses
//             counts as one all the same.
// Cost        one pass; memory for one event and for the transactions that wait to be compressed, in pieces of 16 MiB
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "binlog/reader.hpp"

namespace engineroom::binlog {

struct Count {
  std::uint64_t events = 0;
  std::uint64_t bytes = 0;
};

struct ColumnSizes {
  std::uint64_t before_bytes = 0;
  std::uint64_t after_bytes = 0;
  std::uint64_t unchanged_bytes = 0;  // of after images of updates, where the row before has the same
};

struct ChangeSizes {
  std::uint64_t events = 0;
  std::uint64_t rows = 0;
  std::uint64_t bytes = 0;
  std::uint64_t minimal_bytes = 0;  // with minimal row images
};

struct TableSizes {
  std::string name;  // "shop.item"
  std::vector<std::string> columns;
  std::vector<std::string> types;
  std::vector<std::size_t> key;
  enum class KeyFrom : std::uint8_t { given, logged, assumed } key_from = KeyFrom::assumed;
  Count maps;
  std::array<ChangeSizes, 3> changes;  // in the order of RowChange
  std::vector<ColumnSizes> of_columns;
};
constexpr auto named(names::Of<TableSizes::KeyFrom>) {
  return names::as_written<TableSizes::KeyFrom::assumed>("key_from");
}

/// Transactions that the server would compress, each as the bytes that it would hand to zstd.
struct Units {
  struct Unit {
    std::uint64_t full_bytes = 0;
    std::uint64_t minimal_bytes = 0;
    std::uint64_t events = 0;
    std::uint64_t minimal_events = 0;
    /// Bytes of its GTID event without the transaction's length, which is packed; 0 where it has none and in later pieces.
    std::uint64_t gtid_bytes = 0;
  };
  Buffer full;
  Buffer minimal;
  std::vector<Unit> units;
};

/// A transaction in the file: where it begins, and how long it took.
struct Transaction {
  std::string gtid;            // empty where it has none
  std::uint64_t position = 0;  // of its first event
  std::uint64_t bytes = 0;     // as the file has them
  std::uint64_t rows = 0;
  std::uint32_t begin_s = 0;  // since 1970: when its first statement began
  double seconds = 0;         // until its commit, as far as the log tells
};

/// What was committed in one minute.
struct Minute {
  std::uint64_t bytes = 0;
  std::uint64_t transactions = 0;
};

class Sizes {
 public:
  using Keys = std::map<std::string, std::vector<std::size_t>>;
  using Take = std::function<void(const Units&)>;

  /// `keys` are columns of primary keys by table; a table that has none there and none in the log is taken to have its first
  /// column as key. `take` gets the transactions some at a time, and may be empty.
  Sizes(Keys keys, Take take) : keys_(std::move(keys)), take_(std::move(take)) {}

  void add(const Event& event);
  /// Hands over what is left.
  void end();

  /// All by the number of the event's type. `in_file` as the file has them, `uncompressed` as if nothing were compressed.
  const std::map<std::uint8_t, Count>& in_file() const { return in_file_; }
  const std::map<std::uint8_t, Count>& uncompressed() const { return uncompressed_; }
  std::vector<const TableSizes*> tables() const;
  std::uint64_t transactions() const { return transactions_; }
  /// The most bytes first, and the most seconds first.
  const std::vector<Transaction>& largest() const { return largest_; }
  const std::vector<Transaction>& longest() const { return longest_; }
  /// By minutes since 1970, UTC.
  const std::map<std::uint32_t, Minute>& minutes() const { return minutes_; }
  /// Bytes, uncompressed, of transactions that the server would compress, GTID events not among them.
  std::uint64_t unit_bytes() const { return unit_bytes_; }
  /// What minimal images save outside them.
  std::uint64_t saved_outside() const { return saved_outside_; }
  /// Of GTID events with the transaction's length, those packed lengths.
  std::uint64_t packed_length_bytes() const { return packed_length_bytes_; }

 private:
  struct Value {
    Span bytes;  // its length included; empty for NULL
    bool is_in = false;
    bool is_null = false;
    bool is_diff = false;  // what an update changed in a JSON document; nothing where its length is 0
  };
  /// The values of a change, one per column; none of an image that the change lacks.
  struct Change {
    std::vector<Value> before;
    std::vector<Value> after;
  };

  /// What is known of the transaction of the events that come.
  struct Group : Transaction {
    bool is_fresh = false;  // its GTID was read, and not yet its BEGIN
    bool has_begun = false;
    std::uint32_t last_s = 0;
    std::uint64_t commit_us = 0;
  };

  void begin_group(const Event& event);
  void end_group();
  void in_transaction(const Event& event, Span minimal, std::uint64_t logical, std::uint64_t saved);
  std::uint64_t hold(const Event& event, Span minimal, std::uint64_t logical);
  void let_go();
  void close(bool is_compressible);
  void hand_over();
  TableSizes& sizes_of(const MappedTable& table);
  Span rows(const Event& event, std::uint64_t logical);
  Span rewritten(const Event& event, const MappedTable& table, const RowsEvent& rows, const Columns& key,
                 const Columns& changed);
  template <typename Visit>
  void each_change(const Event& event, const MappedTable& table, const RowsEvent& rows, const Visit& visit);

  Keys keys_;
  Take take_;
  Tables known_;
  std::map<std::uint8_t, Count> in_file_;
  std::map<std::uint8_t, Count> uncompressed_;
  std::map<std::string, TableSizes> tables_;
  std::uint64_t transactions_ = 0;
  std::uint64_t unit_bytes_ = 0;
  std::uint64_t saved_outside_ = 0;
  std::uint64_t packed_length_bytes_ = 0;

  bool has_checksums_ = false;
  bool is_open_ = false;
  bool is_compressible_ = true;
  std::uint64_t open_bytes_ = 0;
  std::uint64_t open_saved_ = 0;
  std::uint64_t open_events_ = 0;
  std::uint64_t open_minimal_events_ = 0;
  std::uint64_t gtid_bytes_ = 0;
  std::uint64_t gtid_packed_ = 0;
  std::size_t full_at_ = 0;  // where the open transaction begins
  std::size_t minimal_at_ = 0;
  bool is_handed_over_ = false;  // the first pieces of the open one are
  Units units_;
  Buffer rewritten_;
  std::size_t rewritten_rows_at_ = 0;  // 0 where the event stays as it is
  Buffer held_;                        // a minimal event that the next may join
  std::size_t held_rows_at_ = 0;
  Group group_;
  std::vector<Transaction> largest_;
  std::vector<Transaction> longest_;
  std::map<std::uint32_t, Minute> minutes_;
  Change change_;
  std::unordered_map<std::uint64_t, TableSizes*> by_serial_;
};

}  // namespace engineroom::binlog
