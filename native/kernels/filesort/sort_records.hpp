// Records and their writer: a key that memcmp orders, then the row id or the carried columns.
//
// Models      make_sortkey and Addon_fields: in a record of one length every column has its longest place,
//             in a packed one it takes what it has
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "filesort/design.hpp"
#include "filesort/merge.hpp"
#include "filesort/table.hpp"

namespace engineroom::filesort {

class SortRecords {
 public:
  SortRecords(const Handle& handle, const Query& query, const Settings& settings, Attach attach,
              Counters& counters);

  const RecordFormat& format() const { return format_; }
  /// Bytes that the record of the handle's row takes.
  std::size_t size() const;
  /// Writes the record of the handle's row.
  void write(std::byte* record);
  /// The row id in a record without columns.
  static std::uint32_t rowid(const std::byte* record, const RecordFormat& format);
  /// The carried values of a record, by column; columns that are not carried are empty.
  std::vector<std::span<const std::byte>> values(const std::byte* record) const;

 private:
  void write_key(std::byte* to) const;

  const Handle* handle_;
  std::size_t order_by_;
  std::vector<std::size_t> carried_;
  std::size_t null_bytes_ = 0;
  RecordFormat format_;
  Counters* counters_;
};

}  // namespace engineroom::filesort
