#include "filesort/sort_records.hpp"

#include <algorithm>
#include <cstring>

namespace engineroom::filesort {

namespace {

constexpr std::size_t kRowidBytes = 4;

}  // namespace

SortRecords::SortRecords(const Handle& handle, const Query& query, const Settings& settings, Attach attach,
                         Counters& counters)
    : handle_(&handle), order_by_(query.order_by), counters_(&counters) {
  const std::vector<Column>& columns = handle.table().columns();
  format_.key_bytes = static_cast<std::size_t>(key_bytes(columns[query.order_by], settings));
  format_.is_packed = attach == Attach::packed_addon;
  counters.record_bytes = record_bytes(handle.table(), query, settings, attach);
  format_.bytes = static_cast<std::size_t>(counters.record_bytes);
  if (attach == Attach::rowid) return;
  const ColumnSet read = columns_read(query);
  std::size_t nullable = 0;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (!read.has(i)) continue;
    carried_.push_back(i);
    nullable += columns[i].is_nullable ? 1 : 0;
  }
  null_bytes_ = (nullable + 7) / 8;
}

std::size_t SortRecords::size() const {
  if (!format_.is_packed) return format_.bytes;
  std::size_t bytes = RecordFormat::kLengthBytes + format_.key_bytes + null_bytes_;
  for (const std::size_t column : carried_) {
    bytes += static_cast<std::size_t>(length_bytes(handle_->table().columns()[column])) +
             handle_->value(column).size();
  }
  return bytes;
}

void SortRecords::write(std::byte* record) {
  std::byte* to = record + format_.key_offset();
  write_key(to);
  to += format_.key_bytes;
  if (carried_.empty()) {
    const auto row = static_cast<std::uint32_t>(handle_->row());
    std::memcpy(to, &row, kRowidBytes);
    counters_->bytes_copied += format_.bytes;
    return;
  }
  std::memset(to, 0, null_bytes_);
  to += null_bytes_;
  counters_->bytes_copied += static_cast<std::uint64_t>(to - record);
  for (const std::size_t i : carried_) {
    const Column& column = handle_->table().columns()[i];
    const std::span<const std::byte> value = handle_->value(i);
    const auto prefix = static_cast<std::size_t>(length_bytes(column));
    for (std::size_t k = 0; k < prefix; ++k) to[k] = static_cast<std::byte>(value.size() >> (8 * k));
    std::memcpy(to + prefix, value.data(), value.size());
    counters_->bytes_copied += prefix + value.size();
    const std::size_t place =
        format_.is_packed ? value.size() : static_cast<std::size_t>(column.most_bytes());
    to += prefix + place;
  }
  if (format_.is_packed) {
    const auto length = static_cast<std::uint32_t>(to - record);
    std::memcpy(record, &length, RecordFormat::kLengthBytes);
  }
}

std::uint32_t SortRecords::rowid(const std::byte* record, const RecordFormat& format) {
  std::uint32_t row = 0;
  std::memcpy(&row, record + format.key_offset() + format.key_bytes, kRowidBytes);
  return row;
}

std::vector<std::span<const std::byte>> SortRecords::values(const std::byte* record) const {
  std::vector<std::span<const std::byte>> values(handle_->table().columns().size());
  const std::byte* from = record + format_.key_offset() + format_.key_bytes + null_bytes_;
  for (const std::size_t i : carried_) {
    const Column& column = handle_->table().columns()[i];
    const auto prefix = static_cast<std::size_t>(length_bytes(column));
    std::size_t bytes = prefix == 0 ? static_cast<std::size_t>(column.most_bytes()) : 0;
    for (std::size_t k = 0; k < prefix; ++k) bytes |= std::to_integer<std::size_t>(from[k]) << (8 * k);
    values[i] = {from + prefix, bytes};
    from += prefix + (format_.is_packed ? bytes : static_cast<std::size_t>(column.most_bytes()));
  }
  return values;
}

void SortRecords::write_key(std::byte* to) const {
  const Column& column = handle_->table().columns()[order_by_];
  std::size_t bytes = format_.key_bytes;
  if (column.is_nullable) {
    *to++ = std::byte{1};
    --bytes;
  }
  if (column.type == Type::integer) {
    const std::uint32_t number = static_cast<std::uint32_t>(handle_->integer(order_by_)) ^ 0x80000000U;
    for (std::size_t i = 0; i < std::min<std::size_t>(bytes, 4); ++i) {
      to[i] = static_cast<std::byte>(number >> (24 - 8 * i));
    }
    return;
  }
  const std::span<const std::byte> value = handle_->value(order_by_);
  const std::size_t n = std::min(bytes, value.size());
  std::copy_n(value.begin(), n, to);
  std::memset(to + n, 0, bytes - n);
}

}  // namespace engineroom::filesort
