// Rows with every value as the log has it, so that an image of all columns is one copy.
//
// Models      the record buffer of the server: a statement puts its values there as numbers, decimals and times of the log's
//             form, and the log copies them
// Leaves out  what a record has besides: room for the longest VARCHAR, pointers to BLOBs
// Cost        packing: a switch per value. 4 bytes per value beside it, to find the columns of a smaller image
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "binlog/bytes.hpp"
#include "binlog/column.hpp"
#include "binlog/value.hpp"

namespace engineroom::binlog {

/// A row of a table's columns. The bytes belong to PackedRows.
struct PackedRow {
  Span whole;                           // the bitmap of NULLs, a bit per column, then all values
  std::span<const std::uint32_t> ends;  // of each column's value in `whole`

  bool is_null(std::size_t i) const { return bit(whole, i); }
  Span value(std::size_t i) const {
    const std::size_t begin = i == 0 ? bitmap_bytes(ends.size()) : ends[i - 1];
    return whole.subspan(begin, ends[i] - begin);
  }
};

class PackedRows {
 public:
  /// Refuses a row that has not a value per column, and a value that its column cannot hold.
  void add(const std::vector<Column>& columns, std::span<const Value> values);
  std::size_t size() const { return begins_.size(); }
  /// Of the rows; 0 while there is none.
  std::size_t columns() const { return n_columns_; }
  /// Valid until a row is added.
  PackedRow operator[](std::size_t i) const {
    return {whole(i), std::span(ends_).subspan(i * n_columns_, n_columns_)};
  }
  /// The bitmap of NULLs and all values of a row.
  Span whole(std::size_t i) const {
    const std::size_t end = i + 1 < begins_.size() ? begins_[i + 1] : bytes_.size();
    return bytes_.span().subspan(begins_[i], end - begins_[i]);
  }

 private:
  Buffer bytes_;
  std::vector<std::size_t> begins_;
  std::vector<std::uint32_t> ends_;
  std::size_t n_columns_ = 0;
};

}  // namespace engineroom::binlog
