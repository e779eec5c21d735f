#include "filesort/design.hpp"

#include <algorithm>
#include <string>

#include "common/require.hpp"

namespace engineroom::filesort {

namespace {

constexpr std::uint64_t kRowidBytes = 4;
constexpr std::uint64_t kUnbounded = 4294967295;
constexpr std::uint64_t kPointerBytes = 8;
constexpr std::uint64_t kLargestAddonBlob = 70'000;
constexpr std::uint64_t kLeastGainOfPacking = 10;
constexpr std::uint64_t kLengthBytes = 4;  // of a packed record; 2 before 8.0, which decides nothing here

bool can_be_packed(const Table& table, ColumnSet carried) {
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < table.columns().size(); ++i) {
    const Column& column = table.columns()[i];
    if (carried.has(i) && column.type != Type::integer) bytes += column.most_bytes();
  }
  return bytes >= kLeastGainOfPacking + kLengthBytes;
}

}  // namespace

std::uint64_t length_bytes(const Column& column) {
  switch (column.type) {
    case Type::integer:
      return 0;
    case Type::fixed_char:  // packed without its trailing spaces by the server, hence a length
    case Type::varchar:
      return column.declared_bytes < 256 ? 1 : 2;
    case Type::text:
      return 2;
    case Type::medium_text:
      return 3;
    case Type::long_text:
    case Type::json:
      break;
  }
  return 4;
}

void check_query(const Table& table, const Query& query) {
  const std::size_t columns = table.columns().size();
  const auto known = [&](std::size_t column, const char* name) {
    if (column < columns) return;
    refuse(std::string(name) + " must be a column from 0 to " + std::to_string(columns - 1) + ", got " +
           std::to_string(column));
  };
  if (query.selected.empty()) refuse("selected must name a column at least, got none");
  for (const std::size_t column : query.selected) known(column, "selected");
  known(query.order_by, "order_by");
  if (query.where_column) {
    known(*query.where_column, "where");
    if (table.columns()[*query.where_column].type != Type::integer) {
      refuse("where must be an integer column, got column " + std::to_string(*query.where_column));
    }
  }
}

ColumnSet columns_read(const Query& query) {
  ColumnSet columns{query.order_by};
  for (const std::size_t column : query.selected) columns.add(column);
  if (query.where_column) columns.add(*query.where_column);
  return columns;
}

std::uint64_t key_bytes(const Column& column, const Settings& settings) {
  const std::uint64_t most = column.type == Type::integer ? 4 : column.most_bytes();
  return std::min(most, settings.max_sort_length) + (column.is_nullable ? 1 : 0);
}

std::uint64_t record_bytes(const Table& table, const Query& query, const Settings& settings, Attach attach) {
  const std::uint64_t key = key_bytes(table.columns()[query.order_by], settings);
  if (attach == Attach::rowid) return key + kRowidBytes;
  const ColumnSet carried = columns_read(query);
  std::uint64_t bytes = key;
  std::uint64_t nullable = 0;
  for (std::size_t i = 0; i < table.columns().size(); ++i) {
    if (!carried.has(i)) continue;
    bytes += table.columns()[i].most_bytes() + length_bytes(table.columns()[i]);
    nullable += table.columns()[i].is_nullable ? 1 : 0;
  }
  return std::min(bytes + (nullable + 7) / 8, kUnbounded);
}

Design choose(Release release, const Table& table, const Query& query, const Settings& settings) {
  const ColumnSet carried = columns_read(query);
  bool is_rowid = false;
  for (std::size_t i = 0; i < table.columns().size(); ++i) {
    const Column& column = table.columns()[i];
    if (!carried.has(i) || !column.is_blob()) continue;
    if (release != Release::mysql_9_7) {
      is_rowid = true;
    } else if (column.type != Type::json && column.most_bytes() > kLargestAddonBlob) {
      is_rowid = true;
    }
  }
  const std::uint64_t longest = record_bytes(table, query, settings, Attach::addon);
  if (release != Release::mysql_9_7 && longest > settings.max_length_for_sort_data) is_rowid = true;
  const bool is_narrow = release != Release::mysql_9_7;
  if (is_rowid) return {.attach = Attach::rowid, .is_read_set_narrow = is_narrow};

  const std::uint64_t rows = settings.estimated_rows.value_or(table.rows());
  const bool has_queue =
      query.limit && uses_priority_queue(rows, *query.limit, longest, settings.sort_buffer_bytes);
  const bool is_packed = release != Release::mysql_5_6 && !has_queue && can_be_packed(table, carried);
  return {.attach = is_packed ? Attach::packed_addon : Attach::addon, .is_read_set_narrow = is_narrow};
}

bool uses_priority_queue(std::uint64_t rows, std::uint64_t limit, std::uint64_t record,
                         std::uint64_t sort_buffer_bytes) {
  if (record >= kUnbounded) return false;
  const std::uint64_t fit = sort_buffer_bytes / (record + kPointerBytes);
  // A row costs about three times as much in the queue as in a sort of everything.
  if (rows < fit) return 3 * limit < rows;
  return limit + 1 < fit;
}

}  // namespace engineroom::filesort
