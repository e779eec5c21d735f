// Converts one field from the storage engine's format to the server's, in four builds that differ only in
// what they do about an impossible field.
//
// Models      row_sel_field_store_in_mysql_format_func (row0sel.cc): 5.7.32 without a check; 8.0.39 and
//             9.7.4, which begin with `if (templ->is_multi_val) ib::fatal(...) << ...`, whose logger is
//             built in place
// Leaves out  character sets of several bytes, BLOB, geometry, system columns
// Cost        a switch and a copy a field; called for each column of each row that a statement reads
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "common/names.hpp"

namespace engineroom::low_concurrency {

enum class FieldKind : std::uint8_t { integer, varying, fixed_text, raw };

/// How a field looks in the row that the server gets.
struct Template {
  std::uint32_t offset = 0;  // in the server's row
  std::uint32_t bytes = 0;   // there: of an integer, of the longest text
  FieldKind kind = FieldKind::raw;
  bool is_unsigned = false;
  bool is_multi_value = false;  // of an index on a JSON array; a row has none, so this is a bug
  std::uint8_t length_bytes = 1;
};

struct StoredField {
  const std::byte* data = nullptr;
  std::uint32_t bytes = 0;
};

enum class FatalPath {
  none,           // 5.7
  inline_stream,  // 8.0: the message is streamed in the function itself
  cold_call,      // the repair: another function, never inlined, that does not return
  expect,         // the same stream behind a branch that is marked as unlikely
};
constexpr auto named(names::Of<FatalPath>) { return names::as_written<FatalPath::expect>("path"); }

/// Converts `rows` rows: `fields` holds their fields one row after the other, `out` their rows of
/// `row_bytes`. Raises std::logic_error for a multi-value field in every variant but `none`.
void store_rows(FatalPath path, std::span<const Template> templates, std::span<const StoredField> fields,
                std::size_t rows, std::byte* out, std::size_t row_bytes);

// One translation unit each, so that a compiler decides on inlining for each alone.
using StoreRows = void(std::span<const Template>, std::span<const StoredField>, std::size_t, std::byte*,
                       std::size_t);
StoreRows store_rows_none;
StoreRows store_rows_inline_stream;
StoreRows store_rows_cold_call;
StoreRows store_rows_expect;

}  // namespace engineroom::low_concurrency
