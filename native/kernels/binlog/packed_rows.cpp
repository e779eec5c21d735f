#include "binlog/packed_rows.hpp"

#include <limits>

#include "common/require.hpp"

namespace engineroom::binlog {

void PackedRows::add(const std::vector<Column>& columns, std::span<const Value> values) {
  if (values.size() != columns.size()) {
    refuse("a row of " + std::to_string(columns.size()) + " columns has a value for each, got " +
           std::to_string(values.size()));
  }
  n_columns_ = columns.size();
  const std::size_t begin = bytes_.size();
  std::memset(bytes_.grow(bitmap_bytes(n_columns_)), 0, bitmap_bytes(n_columns_));
  for (std::size_t i = 0; i < n_columns_; ++i) {
    if (is_null(values[i])) {
      std::uint8_t& byte = bytes_.data()[begin + i / 8];
      byte = static_cast<std::uint8_t>(byte | 1U << i % 8);
    } else {
      put_value(bytes_, columns[i], values[i]);
    }
    const std::size_t end = bytes_.size() - begin;
    if (end > std::numeric_limits<std::uint32_t>::max()) {
      refuse("a row has less than 4 GiB, got " + std::to_string(end) + " bytes");
    }
    ends_.push_back(static_cast<std::uint32_t>(end));
  }
  begins_.push_back(begin);
}

}  // namespace engineroom::binlog
