#include "binlog/rows_text.hpp"

#include <array>
#include <string_view>

#include "binlog/json.hpp"

namespace engineroom::binlog {

namespace {

constexpr std::string_view kHex = "0123456789abcdef";

/// As a JSON string. Text of a character set that is not UTF-8 is shown by its bytes, each as the code point of its number.
void append_quoted(std::string& out, std::string_view text, bool is_utf8) {
  out += '"';
  std::size_t plain = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<std::uint8_t>(text[i]);
    if (byte >= 32 && byte != '"' && byte != '\\' && (byte < 128 || is_utf8)) continue;
    out.append(text, plain, i - plain);
    plain = i + 1;
    if (byte == '"' || byte == '\\') {
      out += '\\';
      out += text[i];
    } else {
      out += "\\u00";
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    }
  }
  out.append(text, plain, text.size() - plain);
  out += '"';
}

bool is_bare(Type type) {
  return (is_number(type) && type != Type::decimal) || type == Type::bit || type == Type::enumeration ||
         type == Type::set || type == Type::json;
}

bool is_latin1(std::uint16_t collation) {
  return collation == 5 || collation == 8 || collation == 15 || collation == 31 ||
         (collation >= 47 && collation <= 49) || collation == 94;
}

void append_value(std::string& out, const Column& column, Span value, std::uint64_t event) {
  if (is_bare(column.type)) return append_text(out, column, value, event);
  if (has_collation(column.type) && column.collation != 63) {
    const std::string_view text(reinterpret_cast<const char*>(value.data()), value.size());
    if (is_latin1(column.collation)) return append_quoted(out, text, false);
    if (is_utf8(value)) return append_quoted(out, text, true);
    // Bytes of another character set, or of a BLOB where the log does not tell the two apart.
    out += '"';
    append_text(out, {.type = Type::blob, .metadata = 4, .collation = 63}, value, event);
    out += '"';
    return;
  }
  out += '"';
  append_text(out, column, value, event);
  out += '"';
}

void append_name(std::string& out, const MappedTable& table, std::size_t i) {
  if (table.names.empty()) {
    out += "\"@";
    out += std::to_string(i + 1);
    out += '"';
  } else {
    append_quoted(out, table.names[i], true);
  }
  out += ": ";
}

void append_diff(std::string& out, Span diff, std::uint64_t event) {
  constexpr const char* kWhat = "a JSON diff";
  constexpr std::array<std::string_view, 3> kOperations = {"replace", "insert", "remove"};
  out += '[';
  for (Cursor cursor(diff, event); !cursor.at_end();) {
    if (cursor.offset() > 0) out += ", ";
    const std::uint64_t operation = cursor.little(1, kWhat);
    if (operation >= kOperations.size())
      damaged(event, "a JSON diff has operation " + std::to_string(operation));
    const Span path = cursor.take(cursor.packed(kWhat), kWhat);
    if (!is_utf8(path)) damaged(event, "the path of a JSON diff is no UTF-8");
    out += "{\"op\": \"" + std::string(kOperations[operation]) + "\", \"path\": ";
    append_quoted(out, {reinterpret_cast<const char*>(path.data()), path.size()}, true);
    if (operation != 2) out += ", \"value\": " + json_text(cursor.take(cursor.packed(kWhat), kWhat), event);
    out += '}';
  }
  out += ']';
}

void append_image(std::string& out, Cursor& cursor, const MappedTable& table, const Columns& in,
                  Span json_diffs = {}) {
  out += '{';
  bool is_first = true;
  std::string diffs;
  read_image(
      cursor, table, in,
      [&](std::size_t i, const Column& column, const Span* value) {
        if (value != nullptr && column.type != table.columns[i].type) {
          if (!diffs.empty()) diffs += ", ";
          append_name(diffs, table, i);
          append_diff(diffs, *value, cursor.event());
          return;
        }
        if (!is_first) out += ", ";
        is_first = false;
        append_name(out, table, i);
        if (value != nullptr) {
          append_value(out, column, *value, cursor.event());
        } else {
          out += "null";
        }
      },
      json_diffs);
  out += '}';
  if (!diffs.empty()) out += ", \"json_diffs\": {" + diffs + '}';
}

}  // namespace

void RowsText::add(const Event& event, std::string& out) {
  if (event.kind() == EventType::table_map) {
    tables_.map(event);
    return;
  }
  if (is_gtid(event)) gtid_ = read_gtid(event).text;
  if (!is_rows_event(event.type)) return;
  const MappedTable& table = tables_.of(event);
  const RowsEvent rows = read_rows_event(event, table);
  std::string head = "{";
  if (!file_.empty()) {
    head += "\"file\": ";
    append_quoted(head, file_, true);
    head += ", ";
  }
  head += "\"at\": " + std::to_string(event.position) + ", \"time\": \"";
  std::array<std::uint8_t, 4> seconds;
  Buffer::store_little(seconds.data(), event.timestamp, seconds.size());
  append_text(head, {.type = Type::timestamp_old}, seconds, event.position);
  if (!gtid_.empty()) head += "\", \"gtid\": \"" + gtid_;
  head += "\", \"table\": ";
  append_quoted(head, table.database + "." + table.name, true);
  head += ", \"change\": \"" + std::string(names::of(rows.change)) + "\"";
  Cursor cursor(rows.rows, event.position);
  while (!cursor.at_end()) {
    const std::size_t before = cursor.offset();
    out += head;
    if (rows.change != RowChange::insert) {
      out += ", \"before\": ";
      append_image(out, cursor, table, rows.before);
    }
    if (rows.change != RowChange::remove) {
      out += ", \"after\": ";
      const Span json_diffs = read_json_diffs(cursor, rows, table);
      append_image(out, cursor, table, rows.after, json_diffs);
    }
    out += "}\n";
    if (cursor.offset() == before) damaged(event.position, "an image without columns has bytes");
  }
}

}  // namespace engineroom::binlog
