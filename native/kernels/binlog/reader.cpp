#include "binlog/reader.hpp"

#include <bit>
#include <charconv>
#include <optional>
#include <utility>

namespace engineroom::binlog {

namespace {

constexpr std::uint16_t kInUse = 1;
constexpr std::uint16_t kRelay = 0x40;
constexpr std::uint64_t kMostEventBytes = std::uint64_t{1} << 30;  // max_allowed_packet at most
constexpr std::size_t kMostColumns = 4096;                         // of a table of the server
// A table map is forgotten when its statement ends; what is kept longer saves parsing, not correctness.
constexpr std::size_t kMostTables = 4096;

/// "5.6.24-log" as 50624.
std::uint32_t version_number(std::string_view text) {
  std::uint32_t number = 0;
  for (int i = 0; i < 3; ++i) {
    std::uint32_t part = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), part);
    if (error != std::errc{} || part > 99) return 0;
    number = number * 100 + part;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (text.starts_with('.')) text.remove_prefix(1);
  }
  return number;
}

/// The first version that writes checksums, and says in its format description whether.
std::uint32_t first_with_checksums(const Format& format) { return format.is_mariadb ? 50300 : 50601; }

Event header(Span bytes, std::uint64_t position) {
  Event event{.type = bytes[4],
              .flags = static_cast<std::uint16_t>(load_little(bytes.data() + 17, 2)),
              .timestamp = static_cast<std::uint32_t>(load_little(bytes.data(), 4)),
              .server_id = static_cast<std::uint32_t>(load_little(bytes.data() + 5, 4)),
              .position = position,
              .bytes = load_little(bytes.data() + 9, 4)};
  return event;
}

std::uint64_t next_position(Span bytes) { return load_little(bytes.data() + 13, 4); }

/// Events that follow each other without magic, positions or checksums: the inside of a compressed transaction.
class Inside {
 public:
  Inside(const Event& payload, const Reader::Take& take)
      : position_(payload.position), version_(payload.server_version), take_(take) {}

  void feed(Span bytes, std::uint64_t left) {
    if (rest_.size() > 0) {
      rest_.put(bytes);
      rest_.drop(take_events(rest_.span(), left));
    } else {
      rest_.put(bytes.subspan(take_events(bytes, left)));
    }
  }
  void end() const {
    if (rest_.size() > 0) damaged(position_, "a compressed transaction ends inside an event");
  }

 private:
  std::size_t take_events(Span bytes, std::uint64_t left) {
    std::size_t done = 0;
    while (bytes.size() - done >= kHeaderBytes) {
      const Span rest = bytes.subspan(done);
      Event event = header(rest, position_);
      if (event.bytes < kHeaderBytes || event.bytes > rest.size() + left)
        damaged(position_, "an event in a compressed transaction says that it has " +
                               std::to_string(event.bytes) + " bytes; " + std::to_string(rest.size() + left) +
                               " are left of it");
      if (event.type == static_cast<std::uint8_t>(EventType::transaction_payload))
        damaged(position_, "a compressed transaction has a compressed transaction inside");
      if (event.bytes > rest.size()) break;
      event.is_inner = true;
      event.server_version = version_;
      event.all = rest.first(static_cast<std::size_t>(event.bytes));
      event.body = event.all.subspan(kHeaderBytes);
      take_(event);
      done += event.all.size();
    }
    return done;
  }

  std::uint64_t position_;
  std::uint32_t version_;
  const Reader::Take& take_;
  Buffer rest_;
};

std::string text_of(Span text, const Cursor& cursor, const char* what) {
  if (!is_utf8(text)) damaged(cursor.event(), std::string(what) + " is no UTF-8");
  return {reinterpret_cast<const char*>(text.data()), text.size()};
}

std::string name_of(Cursor& cursor, const char* what) {
  const Span text = cursor.take(cursor.little(1, what), what);
  cursor.take(1, what);
  return text_of(text, cursor, what);
}

/// A number of the serialization of tagged GTIDs: the ones at the low end of the first byte say how many bytes follow.
std::uint64_t take_tagged(Cursor& cursor) {
  constexpr const char* kWhat = "a tagged GTID";
  const std::uint64_t first = cursor.little(1, kWhat);
  const auto more = static_cast<std::size_t>(std::countr_one(first));
  if (more >= 8) return cursor.little(8, kWhat);
  return first >> (more + 1) | cursor.little(more, kWhat) << (7 - more);
}

void append_uuid(std::string& out, Span uuid) {
  constexpr std::string_view kHex = "0123456789abcdef";
  for (std::size_t i = 0; i < uuid.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) out += '-';
    out += kHex[uuid[i] >> 4];
    out += kHex[uuid[i] & 15];
  }
}

/// Fields by number: 1 the UUID, 2 the number, 3 the tag, 6 and 7 when it was committed here and first.
ReadGtid read_tagged_gtid(Cursor& cursor) {
  constexpr const char* kWhat = "a tagged GTID";
  ReadGtid gtid;
  std::array<std::uint8_t, 16> uuid{};
  std::uint64_t number = 0;
  std::string tag;
  for (int i = 0; i < 3; ++i) take_tagged(cursor);  // version, size, the last field that must be known
  for (std::uint64_t field = 0, last = 0; !cursor.at_end(); last = field) {
    field = take_tagged(cursor);
    if (field > 7 || (last > 0 && field <= last)) break;
    const auto value = [&] { return take_tagged(cursor); };
    if (field == 1) {
      for (std::uint8_t& byte : uuid) byte = static_cast<std::uint8_t>(value());
    } else if (field == 3) {
      tag = text_of(cursor.take(value(), kWhat), cursor, kWhat);
    } else {
      const std::uint64_t n = value();
      if (field == 2) number = n >> 1;  // a number with a sign, which is its lowest bit
      if (field >= 6) gtid.commit_us = n;
    }
  }
  append_uuid(gtid.text, uuid);
  if (!tag.empty()) gtid.text += ':' + tag;
  gtid.text += ':' + std::to_string(number);
  return gtid;
}

enum Metadata : std::uint64_t {
  kSigns = 1,
  kDefaultCollation = 2,
  kCollationOfEach = 3,
  kNames = 4,
  kKey = 8,
  kKeyWithPrefixes = 9,
};

/// The columns that have a bit in the signs, in order. A YEAR has one on 9.7.4, which is 1 as for every number without a sign,
/// and has none on 8.0.15; between the two its own bit tells.
std::vector<std::size_t> signed_columns(const MappedTable& table, Span signs, std::uint32_t server_version) {
  std::vector<std::size_t> with_years;
  std::vector<std::size_t> without;
  bool years_have_bits = server_version > 80015;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const Type type = table.columns[i].type;
    if (!is_number(type)) continue;
    const std::size_t nth = with_years.size();
    const bool is_set = nth / 8 < signs.size() && (signs[nth / 8] & 0x80 >> nth % 8) != 0;
    if (type == Type::year && !is_set) years_have_bits = false;
    if (type != Type::year) without.push_back(i);
    with_years.push_back(i);
  }
  return years_have_bits ? with_years : without;
}

/// What follows the columns since 8.0. A field that is not known is skipped, one that does not fit is damage.
void read_optional_metadata(Cursor& cursor, MappedTable& table, std::uint32_t server_version) {
  std::vector<std::size_t> texts;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (has_collation(table.columns[i].type)) texts.push_back(i);
  }
  const auto text_column = [&](std::uint64_t nth) -> Column& {
    if (nth >= texts.size())
      damaged(cursor.event(), "a table map gives more collations than the table has texts");
    return table.columns[texts[nth]];
  };
  while (!cursor.at_end()) {
    const std::uint64_t type = cursor.little(1, "optional metadata");
    Cursor field(cursor.take(cursor.packed("optional metadata"), "optional metadata"), cursor.event());
    const auto number = [&] { return field.packed("optional metadata"); };
    if (type == kSigns) {
      const Span signs = field.take(field.left(), "the signs of columns");
      const std::vector<std::size_t> numbers = signed_columns(table, signs, server_version);
      for (std::size_t k = 0; k < numbers.size() && k / 8 < signs.size(); ++k) {
        Column& column = table.columns[numbers[k]];
        column.is_unsigned = column.type == Type::year || (signs[k / 8] & 0x80 >> k % 8) != 0;
      }
    } else if (type == kDefaultCollation) {
      const std::uint64_t common = number();
      for (const std::size_t i : texts) table.columns[i].collation = static_cast<std::uint16_t>(common);
      while (!field.at_end()) {
        Column& column = text_column(number());
        column.collation = static_cast<std::uint16_t>(number());
      }
    } else if (type == kCollationOfEach) {
      for (std::size_t nth = 0; !field.at_end(); ++nth)
        text_column(nth).collation = static_cast<std::uint16_t>(number());
    } else if (type == kNames) {
      while (!field.at_end()) {
        const Span text = field.take(number(), "a column's name");
        table.names.push_back(text_of(text, field, "a column's name"));
      }
      if (table.names.size() != table.columns.size())
        damaged(cursor.event(), "a table map gives " + std::to_string(table.names.size()) + " names to " +
                                    std::to_string(table.columns.size()) + " columns");
    } else if (type == kKey || type == kKeyWithPrefixes) {
      while (!field.at_end()) {
        const std::uint64_t i = number();
        if (type == kKeyWithPrefixes) number();
        if (i >= table.columns.size()) damaged(cursor.event(), "a table's key has a column that it lacks");
        table.key.push_back(static_cast<std::size_t>(i));
      }
    }
  }
}

}  // namespace

Reader::Reader(std::uint64_t file_bytes, Take take, Inflate inflate)
    : file_bytes_(file_bytes), take_(std::move(take)), inflate_(std::move(inflate)) {}

void Reader::feed(Span bytes) {
  fed_ += bytes.size();
  if (rest_.size() > 0) {
    rest_.put(bytes);
    rest_.drop(take_events(rest_.span()));
  } else {
    rest_.put(bytes.subspan(take_events(bytes)));
  }
}

std::size_t Reader::take_events(Span bytes) {
  std::size_t done = 0;
  if (position_ == 0) {
    if (bytes.size() < kMagic.size()) return 0;
    if (!std::equal(kMagic.begin(), kMagic.end(), bytes.begin())) {
      if (bytes[0] == 0xFD && std::equal(kMagic.begin() + 1, kMagic.end(), bytes.begin() + 1))
        damaged(0,
                "the file is encrypted; read it through its server with mysqlbinlog "
                "--read-from-remote-server --raw");
      damaged(0, "the file does not begin as a binary log does");
    }
    done = kMagic.size();
    position_ = kFirstEvent;
  }
  while (bytes.size() - done >= kHeaderBytes) {
    const Span rest = bytes.subspan(done);
    Event event = header(rest, position_);
    const std::uint64_t least = kHeaderBytes + (format_.has_checksums ? kChecksumBytes : 0);
    if (event.bytes < least)
      damaged(position_, "an event says that it has " + std::to_string(event.bytes) +
                             " bytes; the shortest has " + std::to_string(least));
    const std::uint64_t left = file_bytes_ > position_ ? file_bytes_ - position_ : 0;
    if (event.bytes > left && !format_.is_in_use)
      damaged(position_, "an event says that it has " + std::to_string(event.bytes) +
                             " bytes; the file has " + std::to_string(left) + " more");
    const auto next =
        static_cast<std::uint32_t>(position_ + event.bytes);  // files above 4 GiB count on from 0
    if (next_position(rest) != next && !format_.is_relay)
      damaged(position_, "an event of " + std::to_string(event.bytes) +
                             " bytes says that the next is at position " +
                             std::to_string(next_position(rest)) + " instead of " + std::to_string(next));
    if (event.bytes > rest.size()) break;
    event.all = rest.first(static_cast<std::size_t>(event.bytes));
    file_event(event);
    done += event.all.size();
    position_ += event.all.size();
  }
  return done;
}

void Reader::file_event(Event event) {
  const bool is_format = event.kind() == EventType::format_description;
  if (!has_format_ && !is_format)
    damaged(position_,
            "the first event is of type " + std::to_string(event.type) + "; it must describe the format");
  event.body = event.all.subspan(kHeaderBytes);
  if (is_format) describe_format(event);
  if (event.kind() == EventType::start_encryption)
    damaged(
        position_,
        "the file is encrypted from here on; read it through its server with mysqlbinlog or mariadb-binlog "
        "--read-from-remote-server --raw");
  event.server_version = format_.version;
  event.is_mariadb = format_.is_mariadb;
  event.has_checksum = is_format ? format_.version >= first_with_checksums(format_) : format_.has_checksums;
  if (event.has_checksum) {
    // The format's own sum is taken without the flag that says that the file is in use.
    const Span summed = event.all.first(event.all.size() - kChecksumBytes);
    std::uint32_t sum = 0;
    if (is_format && (event.flags & kInUse) != 0) {
      std::array<std::uint8_t, kHeaderBytes> closed;
      std::copy_n(summed.begin(), kHeaderBytes, closed.begin());
      closed[17] = static_cast<std::uint8_t>(closed[17] & ~kInUse);
      sum = crc32(summed.subspan(kHeaderBytes), crc32(closed));
    } else {
      sum = crc32(summed);
    }
    // A format that announces no checksums has one all the same, in most versions; nothing promises it.
    const bool counts = !is_format || format_.has_checksums;
    if (counts && sum != load_little(event.all.data() + summed.size(), kChecksumBytes))
      damaged(position_,
              "the checksum of an event of " + std::to_string(event.bytes) + " bytes does not fit its bytes");
    event.all = summed;
    event.body = summed.subspan(kHeaderBytes);
  }
  const bool is_compressed = event.is_mariadb && event.kind() >= EventType::maria_compressed_query &&
                             event.kind() <= EventType::maria_compressed_delete_rows;
  event.is_packed = is_compressed || event.kind() == EventType::transaction_payload;
  take_(event);
  if (is_compressed) return expand(event);
  if (event.is_packed) payload(event);
}

/// An event of MariaDB (log_bin_compress) whose statement or rows are compressed, as it is without.
void Reader::expand(const Event& event) {
  const char* const what = "a compressed event";
  const int nth = event.type - static_cast<int>(EventType::maria_compressed_query);
  Cursor cursor(event.body, position_);
  if (nth == 0) {
    cursor.take(8, what);
    const std::uint64_t database = cursor.little(1, what);
    cursor.take(2, what);
    cursor.take(cursor.little(2, what), what);
    cursor.take(database + 1, what);
  } else {
    cursor.take(8, what);
    if (nth > 3) {
      const std::uint64_t extra = cursor.little(2, what);
      cursor.take(extra < 2 ? 0 : extra - 2, what);
    }
    const std::size_t bitmap = bitmap_bytes(cursor.packed(what));
    cursor.take(nth % 3 == 2 ? 2 * bitmap : bitmap, what);
  }
  const std::size_t head_bytes = cursor.offset();
  // 0x80, the method (0 is zlib), how many bytes the length has; then the length, highest byte first.
  const std::uint64_t how = cursor.little(1, what);
  if ((how & 0xF8) != 0x80 || (how & 7) > 4)
    damaged(position_, "an event is compressed by an unknown method, " + std::to_string(how));
  const Span length = cursor.take(how & 7, what);
  const std::uint64_t bytes = load_big(length.data(), length.size());
  if (bytes > kMostEventBytes)
    damaged(position_, "a compressed event says that it has " + std::to_string(bytes) + " bytes without");
  expanded_.clear();
  expanded_.put(event.all.first(kHeaderBytes + head_bytes));
  const std::size_t most = expanded_.size() + bytes;
  const std::string problem = inflate_(cursor.take(cursor.left(), what), [&](Span piece) {
    if (piece.size() > most - expanded_.size())
      damaged(position_, "a compressed event is longer than it says");
    expanded_.put(piece);
  });
  if (!problem.empty()) damaged(position_, "a compressed event cannot be decompressed: " + problem);
  if (expanded_.size() < most) damaged(position_, "a compressed event is shorter than it says");
  constexpr std::array kKinds = {
      EventType::query,      EventType::write_rows_v1, EventType::update_rows_v1, EventType::delete_rows_v1,
      EventType::write_rows, EventType::update_rows,   EventType::delete_rows};
  Event whole = event;
  whole.type = static_cast<std::uint8_t>(kKinds[static_cast<std::size_t>(nth)]);
  whole.is_inner = true;
  whole.is_packed = false;
  whole.has_checksum = false;
  whole.bytes = expanded_.size();
  expanded_.data()[4] = whole.type;
  Buffer::store_little(expanded_.data() + 9, whole.bytes, 4);
  whole.all = expanded_.span();
  whole.body = whole.all.subspan(kHeaderBytes);
  take_(whole);
}

void Reader::describe_format(const Event& event) {
  Cursor cursor(event.body, position_);
  const char* const what = "the format description";
  const std::uint64_t version = cursor.little(2, what);
  if (version != 4)
    damaged(position_,
            "the file has format " + std::to_string(version) + "; servers since 5.0 write format 4");
  const Span text = cursor.take(50, what);
  const auto* const zero = static_cast<const std::uint8_t*>(std::memchr(text.data(), 0, text.size()));
  format_.server_version = text_of(
      text.first(zero == nullptr ? text.size() : static_cast<std::size_t>(zero - text.data())), cursor, what);
  format_.version = version_number(format_.server_version);
  format_.is_mariadb = format_.server_version.find("MariaDB") != std::string::npos;
  cursor.take(4, what);
  const std::uint64_t header_bytes = cursor.little(1, what);
  if (header_bytes != kHeaderBytes)
    damaged(position_, "its events have headers of " + std::to_string(header_bytes) + " bytes instead of 19");
  if (!has_format_) {  // what follows in a relay log is the source's
    format_.is_in_use = (event.flags & kInUse) != 0;
    format_.is_relay = (event.flags & kRelay) != 0;
  }
  format_.has_checksums = false;
  if (format_.version >= first_with_checksums(format_)) {
    if (cursor.left() < 1 + kChecksumBytes) damaged(position_, "the format description is too short");
    const std::uint8_t algorithm = event.body[event.body.size() - kChecksumBytes - 1];
    if (algorithm > 1)
      damaged(position_, "its events have checksums of an unknown kind, " + std::to_string(algorithm));
    format_.has_checksums = algorithm == 1;
  }
  has_format_ = true;
}

void Reader::payload(const Event& event) {
  Cursor cursor(event.body, position_);
  const char* const what = "a compressed transaction's header";
  std::optional<std::uint64_t> size;
  std::optional<std::uint64_t> uncompressed;
  std::uint64_t compression = 255;
  while (const std::uint64_t field = cursor.packed(what)) {
    Cursor value(cursor.take(cursor.packed(what), what), position_);
    if (field == 1) size = value.packed(what);
    if (field == 2) compression = value.packed(what);
    if (field == 3) uncompressed = value.packed(what);
  }
  if (!size || *size != cursor.left())
    damaged(position_, "a compressed transaction says that it has " + (size ? std::to_string(*size) : "no") +
                           " bytes; there are " + std::to_string(cursor.left()));
  const Span compressed = cursor.take(*size, what);
  Inside inside(event, take_);
  if (compression == 255) {
    inside.feed(compressed, 0);
    return inside.end();
  }
  if (compression != 0)
    damaged(position_,
            "a transaction is compressed by method " + std::to_string(compression) + "; 0 is zstd");
  if (!uncompressed) damaged(position_, "a compressed transaction does not say how long it is");
  std::uint64_t left = *uncompressed;
  const std::string problem = inflate_(compressed, [&](Span bytes) {
    if (bytes.size() > left)
      damaged(position_, "a compressed transaction is longer than the " + std::to_string(*uncompressed) +
                             " bytes that it says");
    left -= bytes.size();
    inside.feed(bytes, left);
  });
  if (!problem.empty()) damaged(position_, "a compressed transaction cannot be decompressed: " + problem);
  if (left > 0)
    damaged(position_, "a compressed transaction is " + std::to_string(left) + " bytes shorter than it says");
  inside.end();
}

void Reader::end() {
  if (fed_ == 0) damaged(0, "the file is empty");
  if (rest_.size() == 0 && has_format_) return;
  if (format_.is_in_use) return;
  damaged(position_, "the file ends inside an event, with " + std::to_string(rest_.size()) + " bytes of it");
}

bool is_gtid(const Event& event) {
  return event.kind() == EventType::gtid || event.kind() == EventType::anonymous_gtid ||
         event.kind() == EventType::tagged_gtid ||
         (event.is_mariadb && event.kind() == EventType::maria_gtid);
}

ReadGtid read_gtid(const Event& event) {
  constexpr const char* kWhat = "a GTID";
  Cursor cursor(event.body, event.position);
  if (event.kind() == EventType::tagged_gtid) return read_tagged_gtid(cursor);
  ReadGtid gtid;
  if (event.kind() == EventType::maria_gtid) {
    const std::uint64_t number = cursor.little(8, kWhat);
    gtid.text = std::to_string(cursor.little(4, kWhat)) + '-' + std::to_string(event.server_id) + '-' +
                std::to_string(number);
    gtid.is_alone = (cursor.little(1, kWhat) & 1) != 0;
    return gtid;
  }
  cursor.take(1, kWhat);
  const Span uuid = cursor.take(16, kWhat);
  const std::uint64_t number = cursor.little(8, kWhat);
  if (event.kind() == EventType::gtid) {
    append_uuid(gtid.text, uuid);
    gtid.text += ':' + std::to_string(number);
  }
  constexpr std::uint64_t kHasOriginal = std::uint64_t{1} << 55;
  if (cursor.left() < 17 + 7) return gtid;  // of 5.7
  cursor.take(17, kWhat);
  gtid.commit_us = cursor.little(7, kWhat);
  if ((gtid.commit_us & kHasOriginal) != 0) gtid.commit_us = cursor.little(7, kWhat);
  return gtid;
}

bool is_rows_event(std::uint8_t type) {
  switch (static_cast<EventType>(type)) {
    case EventType::write_rows_v1:
    case EventType::update_rows_v1:
    case EventType::delete_rows_v1:
    case EventType::write_rows:
    case EventType::update_rows:
    case EventType::delete_rows:
    case EventType::partial_update_rows:
      return true;
    default:
      return false;
  }
}

std::uint64_t table_id_of(const Event& event) {
  return Cursor(event.body, event.position).little(6, "the number of a table");
}

MappedTable read_table_map(const Event& event) {
  Cursor cursor(event.body, event.position);
  MappedTable table;
  table.id = cursor.little(6, "a table map");
  cursor.take(2, "a table map");
  table.database = name_of(cursor, "the name of a database");
  table.name = name_of(cursor, "the name of a table");
  const std::uint64_t n = cursor.packed("the columns of a table");
  if (n > kMostColumns)
    damaged(event.position, "a table has " + std::to_string(n) + " columns; a server has at most " +
                                std::to_string(kMostColumns));
  const Span types = cursor.take(n, "the columns of a table");
  Cursor metadata(cursor.take(cursor.packed("the metadata of columns"), "the metadata of columns"),
                  event.position);
  for (const std::uint8_t type : types) table.columns.push_back(take_column(type, metadata));
  const Span nullable = cursor.take(bitmap_bytes(n), "the bitmap of columns that may be NULL");
  for (std::size_t i = 0; i < n; ++i) table.columns[i].is_nullable = bit(nullable, i);
  read_optional_metadata(cursor, table, event.server_version);
  return table;
}

RowsEvent read_rows_event(const Event& event, const MappedTable& table) {
  Cursor cursor(event.body, event.position);
  RowsEvent rows;
  const auto type = static_cast<EventType>(event.type);
  const bool is_old = type == EventType::write_rows_v1 || type == EventType::update_rows_v1 ||
                      type == EventType::delete_rows_v1;
  rows.is_partial = type == EventType::partial_update_rows;
  rows.change = type == EventType::write_rows || type == EventType::write_rows_v1     ? RowChange::insert
                : type == EventType::delete_rows || type == EventType::delete_rows_v1 ? RowChange::remove
                                                                                      : RowChange::update;
  cursor.take(6, "a rows event");
  cursor.take(2, "a rows event");  // flags
  if (!is_old) {
    const std::uint64_t extra = cursor.little(2, "a rows event");
    if (extra < 2)
      damaged(event.position,
              "a rows event's extra data has " + std::to_string(extra) + " bytes; 2 is least");
    cursor.take(extra - 2, "a rows event's extra data");
  }
  const std::uint64_t n = cursor.packed("the columns of a rows event");
  if (n != table.columns.size())
    damaged(event.position, "a rows event has " + std::to_string(n) + " columns; its table " +
                                table.database + "." + table.name + " has " +
                                std::to_string(table.columns.size()));
  rows.bitmaps_at = kHeaderBytes + cursor.offset();
  const auto bitmap = [&] {
    const Span bits = cursor.take(bitmap_bytes(n), "the columns of an image");
    return Columns({bits.begin(), bits.end()}, n);
  };
  if (rows.change != RowChange::insert) rows.before = bitmap();
  if (rows.change != RowChange::remove) rows.after = bitmap();
  rows.rows = cursor.take(cursor.left(), "rows");
  return rows;
}

Span read_json_diffs(Cursor& cursor, const RowsEvent& rows, const MappedTable& table) {
  if (!rows.is_partial) return {};
  if ((cursor.packed("a partial image's options") & 1) == 0) return {};
  std::size_t n = 0;
  for (const Column& column : table.columns) n += column.type == Type::json ? 1 : 0;
  return cursor.take(bitmap_bytes(n), "the columns with JSON diffs");
}

const MappedTable& Tables::map(const Event& event) {
  const std::uint64_t id = table_id_of(event);
  if (const auto known = known_.find(id);
      known != known_.end() &&
      std::equal(known->second.body.begin(), known->second.body.end(), event.body.begin(), event.body.end()))
    return *known->second.table;
  if (known_.size() >= kMostTables) known_.clear();
  Known& known = known_[id];
  known.table = std::make_unique<MappedTable>(read_table_map(event));
  known.table->serial = ++maps_;
  known.body.assign(event.body.begin(), event.body.end());
  return *known.table;
}

const MappedTable& Tables::of(const Event& rows_event) const {
  const std::uint64_t id = table_id_of(rows_event);
  const auto known = known_.find(id);
  if (known == known_.end())
    damaged(rows_event.position,
            "a rows event is about table " + std::to_string(id) + ", which no table map described");
  return *known->second.table;
}

}  // namespace engineroom::binlog
