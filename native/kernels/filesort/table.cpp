#include "filesort/table.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <utility>

#include "common/require.hpp"

namespace engineroom::filesort {

namespace {

constexpr std::size_t kHalfPage = 8126;                    // a longer record must give up its longest columns
constexpr std::size_t kLeafBytes = 16384 * 15 / 16 - 128;  // ascending inserts leave a sixteenth free
constexpr std::size_t kNodePointerBytes = 4 + 4 + 5 + 1;   // key, child, header, its share of the directory
constexpr std::size_t kShortestOffPage = 40;               // a shorter value would gain next to nothing
constexpr std::size_t kMostColumns = 64;
constexpr std::byte kNeverRead{0xA5};

/// Header, transaction id, roll pointer, NULL bits, lengths of the variable columns.
std::size_t row_overhead(const std::vector<Column>& columns) {
  std::size_t bytes = 5 + 6 + 7 + (columns.size() + 7) / 8;
  for (const Column& column : columns) {
    if (column.type >= Type::varchar) bytes += 2;
  }
  return bytes;
}

std::uint64_t split_mix(std::uint64_t& state) {
  std::uint64_t z = state += 0x9E3779B97F4A7C15ULL;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31);
}

}  // namespace

std::uint64_t Column::most_bytes() const {
  switch (type) {
    case Type::integer:
      return 4;
    case Type::fixed_char:
    case Type::varchar:
      return declared_bytes;
    case Type::text:
      return 65535;
    case Type::medium_text:
      return 16777215;
    case Type::long_text:
    case Type::json:
      break;
  }
  return 4294967295;
}

Table::Table(std::vector<Column> columns) : columns_(std::move(columns)) {
  if (columns_.empty() || columns_.size() > kMostColumns) {
    refuse("a table has 1 to 64 columns, got " + std::to_string(columns_.size()));
  }
}

void Table::append(std::span<const std::span<const std::byte>> values) {
  if (values.size() != columns_.size()) {
    refuse("a row needs a value for each of the " + std::to_string(columns_.size()) + " columns, got " +
           std::to_string(values.size()));
  }
  std::size_t record = row_overhead(columns_);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool is_fixed = columns_[i].type <= Type::fixed_char;
    const std::uint64_t most = columns_[i].most_bytes();
    if (values[i].size() > most || (is_fixed && values[i].size() != most)) {
      refuse("column " + std::to_string(i) + " takes " + (is_fixed ? "" : "at most ") + std::to_string(most) +
             " bytes, got " + std::to_string(values[i].size()));
    }
    record += values[i].size();
  }
  std::vector<bool> is_off_page(values.size(), false);
  while (record > kHalfPage) {
    std::size_t longest = values.size();
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (is_off_page[i] || columns_[i].type < Type::varchar || values[i].size() <= kShortestOffPage)
        continue;
      if (longest == values.size() || values[i].size() > values[longest].size()) longest = i;
    }
    if (longest == values.size()) {
      refuse("a row of " + std::to_string(record) +
             " bytes does not fit in half a page; shorten its columns");
    }
    is_off_page[longest] = true;
    record -= values[longest].size() - kReferenceBytes;
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::vector<std::byte>& to = is_off_page[i] ? off_page_ : in_page_;
    fields_.push_back({to.size(), static_cast<std::uint32_t>(values[i].size()), is_off_page[i]});
    to.insert(to.end(), values[i].begin(), values[i].end());
  }
  const bool is_new_leaf = record > leaf_free_bytes_;
  if (is_new_leaf) leaf_free_bytes_ = kLeafBytes;
  leaf_free_bytes_ -= std::min(record, leaf_free_bytes_);
  leaf_of_row_.push_back(leaf_of_row_.empty() ? 0 : leaf_of_row_.back() + (is_new_leaf ? 1 : 0));
}

std::uint32_t Table::height() const {
  std::uint32_t levels = 1;
  for (std::size_t pages = leaf_pages(); pages > 1; ++levels) {
    constexpr std::size_t fan_out = kLeafBytes / kNodePointerBytes;
    pages = (pages + fan_out - 1) / fan_out;
  }
  return levels;
}

std::span<const std::byte> Table::value(std::size_t row, std::size_t column) const {
  const Field& f = field(row, column);
  return std::span(f.is_off_page ? off_page_ : in_page_).subspan(static_cast<std::size_t>(f.offset), f.bytes);
}

Handle::Handle(const Table& table) : table_(&table) {
  for (std::size_t i = 0; i < table.columns().size(); ++i) {
    read_set.add(i);
    values_.emplace_back(4, kNeverRead);
  }
}

bool Handle::next(Counters& counters) {
  if (next_ == table_->rows()) return false;
  row_ = next_++;
  ++counters.rows_scanned;
  if (table_->leaf_of(row_) != leaf_) {
    leaf_ = table_->leaf_of(row_);
    ++counters.pages_touched;
  }
  copy_columns(counters);
  return true;
}

void Handle::fetch(std::size_t row, Counters& counters) {
  row_ = row;
  ++counters.rows_fetched;
  counters.pages_touched += table_->height();
  copy_columns(counters);
}

void Handle::copy_columns(Counters& counters) {
  for (std::size_t i = 0; i < values_.size(); ++i) {
    if (!read_set.has(i)) continue;
    const std::span<const std::byte> stored = table_->value(row_, i);
    if (table_->is_off_page(row_, i)) {
      ++counters.lob_reads;
      counters.pages_touched += (stored.size() + Table::kLobPageBytes - 1) / Table::kLobPageBytes;
    }
    values_[i].assign(stored.begin(), stored.end());
    counters.bytes_copied += stored.size();
  }
}

std::int32_t Handle::integer(std::size_t column) const {
  const std::span<const std::byte> bytes = value(column);
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < 4; ++i) number |= std::to_integer<std::uint32_t>(bytes[i]) << (8 * i);
  return static_cast<std::int32_t>(number);
}

Counters scan(Handle& handle) {
  Counters counters;
  handle.rewind();
  while (handle.next(counters)) {
  }
  return counters;
}

Table article_table(std::uint32_t rows, std::uint32_t lob_bytes, Type lob_type, std::uint32_t declared_bytes,
                    std::uint64_t seed, Interrupt interrupt) {
  Table table({{.type = Type::integer},
               {.type = Type::integer, .is_nullable = true},
               {.type = Type::integer, .is_nullable = true},
               {.type = Type::fixed_char, .declared_bytes = 255, .is_nullable = true},
               {.type = lob_type, .declared_bytes = declared_bytes, .is_nullable = true}});
  std::vector<std::uint32_t> keys(rows);
  std::iota(keys.begin(), keys.end(), 0U);
  std::uint64_t state = seed;
  for (std::uint32_t i = rows; i > 1; --i) std::swap(keys[i - 1], keys[split_mix(state) % i]);

  const auto bytes_of = [](std::uint32_t number) {
    std::array<std::byte, 4> bytes{};
    for (std::size_t i = 0; i < 4; ++i) bytes[i] = static_cast<std::byte>(number >> (8 * i));
    return bytes;
  };
  std::vector<std::byte> padding(255, std::byte{' '});
  std::vector<std::byte> lob(lob_bytes, std::byte{'x'});
  for (std::uint32_t row = 0; row < rows; ++row) {
    const auto id = bytes_of(row);
    const auto key = bytes_of(keys[row]);
    const auto filter = bytes_of(static_cast<std::uint32_t>(split_mix(state) % 100));
    // Every long value begins differently, so that a sort by it has something to do.
    const std::uint64_t letters = split_mix(state);
    for (std::size_t i = 0; i < std::min<std::size_t>(8, lob.size()); ++i) {
      lob[i] = static_cast<std::byte>('a' + (letters >> (8 * i)) % 26);
    }
    const std::array<std::span<const std::byte>, 5> values{id, key, filter, padding, lob};
    table.append(values);
    interrupt.advance(64 + lob_bytes / 8);
  }
  return table;
}

}  // namespace engineroom::filesort
