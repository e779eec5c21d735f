// A value of a row on its way into the log, and the row images that are written of it.
//
// Models      Field::pack of the server's columns; Field_string trims what pads a CHAR or a BINARY
// Leaves out  rounding and checking: what a column cannot hold is refused
// Cost        a switch per value
#pragma once

#include <cstdint>
#include <string_view>
#include <variant>

#include "binlog/column.hpp"

namespace engineroom::binlog {

/// A DATE, DATETIME or TIMESTAMP (in UTC), or a TIME in hours up to 838.
struct Moment {
  bool is_negative = false;
  std::uint32_t year = 0;
  std::uint32_t month = 0;
  std::uint32_t day = 0;
  std::uint32_t hour = 0;
  std::uint32_t minute = 0;
  std::uint32_t second = 0;
  std::uint32_t microsecond = 0;
};

/// NULL; a number of an integer, YEAR, BIT, ENUM (its member's number) or SET (a bit per member) column; a FLOAT or
/// DOUBLE; bytes of a string, of a DECIMAL as text or of a JSON document as it is stored; a moment.
using Value = std::variant<std::monostate, std::int64_t, std::uint64_t, double, std::string_view, Moment>;

inline bool is_null(const Value& value) { return std::holds_alternative<std::monostate>(value); }

/// Appends a value that is not NULL. Refuses one that the column cannot hold, with the value.
void put_value(Buffer& out, const Column& column, const Value& value);

}  // namespace engineroom::binlog
