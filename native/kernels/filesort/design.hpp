// What a sort carries beside its key, and what the scan under it reads: the choice that changed in 8.0.20.
//
// Models      Filesort::get_addon_fields and find_all_keys (5.6 to 8.0.19), SortWillBeOnRowId and
//             check_if_pq_applicable (8.0.20 and later, numbers of 9.7)
// Leaves out  full-text searches, tables in memory, updates (all of which sort row ids), the rule of 5.6 to
//             8.0.15 that takes the columns away again when that makes a queue cheap, the few bytes more
//             that records have in 5.6 (2) and 9.7.4 (4, behind the key)
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "common/described.hpp"
#include "filesort/table.hpp"

namespace engineroom::filesort {

/// 8.0.15 stands for 8.0 before 8.0.20, 9.7 for everything since.
enum class Release : std::uint8_t { mysql_5_6, mysql_5_7, mysql_8_0_15, mysql_9_7 };
constexpr auto named(names::Of<Release>) {
  return names::table<Release>("release", {{"5.6", Release::mysql_5_6},
                                           {"5.7", Release::mysql_5_7},
                                           {"8.0.15", Release::mysql_8_0_15},
                                           {"9.7", Release::mysql_9_7}});
}

enum class Attach : std::uint8_t { rowid, addon, packed_addon };
constexpr auto named(names::Of<Attach>) {
  return names::table<Attach>("attach", {{"rowid", Attach::rowid},
                                         {"additional_fields", Attach::addon},
                                         {"packed_additional_fields", Attach::packed_addon}});
}

struct Design {
  Attach attach = Attach::rowid;
  /// The scan reads the columns of the sort and of the condition (and those it carries) instead of the
  /// statement's.
  bool is_read_set_narrow = true;

  bool operator==(const Design&) const = default;
};

/// SELECT selected FROM table WHERE where_column < where_below ORDER BY order_by LIMIT limit
struct Query {
  std::vector<std::size_t> selected;
  std::size_t order_by = kKey;
  std::optional<std::size_t> where_column = {};
  std::int32_t where_below = 0;
  std::optional<std::uint64_t> limit = {};
};

struct Settings {
  std::uint64_t sort_buffer_bytes = 262144;
  std::uint64_t max_length_for_sort_data = 1024;  // no effect from 8.0.20 on
  std::uint64_t max_sort_length = 1024;
  /// What the optimizer believes; the true number of rows when absent.
  std::optional<std::uint64_t> estimated_rows = {};
};
// What a sort has of them, too (filesort.hpp).
inline constexpr options::Range kSortBufferBytes{.least = 1, .most = std::int64_t{1} << 31};
inline constexpr options::Range kMaxSortLength{.least = 1};
inline constexpr std::string_view kVariableMeaning = "as the variable of the server";
inline constexpr std::string_view kEstimatedRowsMeaning =
    "what the optimizer believes; None for the true number of rows";
constexpr auto described(options::Of<Settings>) {
  using C = Settings;
  return options::list<C>(
      "the settings",
      {options::option<&C::sort_buffer_bytes>(kSortBufferBytes, kVariableMeaning),
       options::option<&C::max_length_for_sort_data>("as the variable of the server; no effect in '9.7'"),
       options::option<&C::max_sort_length>(kMaxSortLength, kVariableMeaning),
       options::option<&C::estimated_rows>(kEstimatedRowsMeaning)});
}

/// Refuses a query that names a column which the table lacks, or a condition on what is no integer.
void check_query(const Table& table, const Query& query);

/// The columns that the statement reads: selected, sorted by, or asked for in the condition.
ColumnSet columns_read(const Query& query);

/// Bytes in front of a value in a sort record that tell its length: 0 for types of one length.
std::uint64_t length_bytes(const Column& column);

/// Bytes of the key of a sort by this column.
std::uint64_t key_bytes(const Column& column, const Settings& settings);

/// Bytes of the longest sort record: key, then row id or columns with their NULL bits. Saturates at 2^32 - 1,
/// the server's "unbounded".
std::uint64_t record_bytes(const Table& table, const Query& query, const Settings& settings, Attach attach);

/// What the release does with the statement.
Design choose(Release release, const Table& table, const Query& query, const Settings& settings);

/// Whether the best rows are kept in a heap of limit + 1 slots of `record` bytes instead of sorting all.
bool uses_priority_queue(std::uint64_t rows, std::uint64_t limit, std::uint64_t record,
                         std::uint64_t sort_buffer_bytes);

}  // namespace engineroom::filesort
