// A column as the binary log knows it: a type code and its metadata, and what a table map says of it besides.
//
// Models      the type codes and metadata of table map events (5.6 to 9.7), the old temporal types of 5.5 included
// Leaves out  names, keys, and members of ENUM and SET: the server writes them with binlog_row_metadata=FULL only
// Cost        16 bytes per column
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "binlog/bytes.hpp"
#include "common/names.hpp"

namespace engineroom::binlog {

/// The server's numbers. CHAR, ENUM and SET share `string` in a table map, and the metadata tell them apart; here each has
/// its own.
enum class Type : std::uint8_t {
  decimal_old = 0,
  tiny = 1,
  small = 2,
  integer = 3,
  real4 = 4,
  real8 = 5,
  null = 6,
  timestamp_old = 7,
  big = 8,
  medium = 9,
  date = 10,
  time_old = 11,
  datetime_old = 12,
  year = 13,
  varchar = 15,
  bit = 16,
  timestamp = 17,
  datetime = 18,
  time = 19,
  vector = 242,
  json = 245,
  decimal = 246,
  enumeration = 247,
  set = 248,
  blob = 252,
  string = 254,
  geometry = 255,
};
constexpr auto named(names::Of<Type>) {
  return names::table<Type>("type", {{"decimal_old", Type::decimal_old},
                                     {"tinyint", Type::tiny},
                                     {"smallint", Type::small},
                                     {"int", Type::integer},
                                     {"float", Type::real4},
                                     {"double", Type::real8},
                                     {"null", Type::null},
                                     {"timestamp_old", Type::timestamp_old},
                                     {"bigint", Type::big},
                                     {"mediumint", Type::medium},
                                     {"date", Type::date},
                                     {"time_old", Type::time_old},
                                     {"datetime_old", Type::datetime_old},
                                     {"year", Type::year},
                                     {"varchar", Type::varchar},
                                     {"bit", Type::bit},
                                     {"timestamp", Type::timestamp},
                                     {"datetime", Type::datetime},
                                     {"time", Type::time},
                                     {"vector", Type::vector},
                                     {"json", Type::json},
                                     {"decimal", Type::decimal},
                                     {"enum", Type::enumeration},
                                     {"set", Type::set},
                                     {"blob", Type::blob},
                                     {"char", Type::string},
                                     {"geometry", Type::geometry}});
}

struct Column {
  Type type = Type::integer;
  bool is_unsigned = false;
  bool is_nullable = true;
  /// Bytes of a CHAR at most or of an ENUM or SET, precision << 8 | digits behind the point of a DECIMAL, bits of a BIT,
  /// bytes at most of a VARCHAR, bytes of a BLOB's length, digits of a second's fraction.
  std::uint16_t metadata = 0;
  std::uint16_t collation = 0;  // of character columns; 0 where nothing tells
};

/// Whether a table map says the sign of such a column, which is where numbers have one.
bool is_number(Type type);
/// Whether a table map says the collation of such a column. JSON and geometries have none.
bool has_collation(Type type);
/// BLOB and TEXT of every size: what `binlog_row_image=NOBLOB` leaves out. JSON is not one of them.
inline bool is_blob(const Column& column) { return column.type == Type::blob; }

/// Bytes of a DECIMAL(precision, scale): four per nine digits and fewer for the rest, on each side of the point.
std::size_t decimal_bytes(std::size_t precision, std::size_t scale);
/// Bytes of the fraction of a second with so many digits.
inline std::size_t fraction_bytes(std::size_t digits) { return (digits + 1) / 2; }

/// A column by its declaration: "int unsigned not null", "varchar(50)", "decimal(20,7)", "char(5) character set latin1",
/// "enum('a','b')", "datetime(6)". utf8mb4 is the default, as on a server of 8.0 and later. Refuses what it does not know
/// with the text.
Column declared(std::string_view text);

/// Writes the column's metadata block of a table map, and reads one.
void put_metadata(Buffer& out, const Column& column);
Column take_column(std::uint8_t type_code, Cursor& metadata);
/// The type code that a table map has for this column.
std::uint8_t type_code(const Column& column);

/// Bytes of the length before a value; 0 where its type says how long it is.
inline std::size_t length_bytes(const Column& column) {
  switch (column.type) {
    case Type::varchar:
    case Type::string:
      return column.metadata > 255 ? 2 : 1;
    case Type::blob:
    case Type::json:
    case Type::geometry:
    case Type::vector:
      return column.metadata;
    default:
      return 0;
  }
}

/// Bytes of a value that is not NULL, without its length; leaves the cursor behind it.
Span take_value(const Column& column, Cursor& values);
/// A value for people: numbers and times as SQL prints them, text as it is, bytes as 0x..., JSON as JSON.
void append_text(std::string& out, const Column& column, Span value, std::uint64_t event);
/// The declaration as far as the log tells it: "varchar(200 bytes)".
std::string describe(const Column& column);

}  // namespace engineroom::binlog
