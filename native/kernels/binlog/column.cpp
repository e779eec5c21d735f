#include "binlog/column.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <vector>

#include "binlog/json.hpp"
#include "common/require.hpp"

namespace engineroom::binlog {

namespace {

constexpr std::array<std::uint8_t, 10> kDigitBytes = {0, 1, 1, 2, 2, 3, 3, 4, 4, 4};

struct Charset {
  std::string_view name;
  std::uint16_t collation;  // the default one of 9.7
  std::uint16_t bytes;      // per character at most
};
constexpr std::array<Charset, 5> kCharsets = {
    {{"utf8mb4", 255, 4}, {"latin1", 8, 1}, {"ascii", 11, 1}, {"utf8mb3", 33, 3}, {"binary", 63, 1}}};

/// Words, numbers and signs of a declaration, in lower case; quoted members count and are left out.
class Words {
 public:
  explicit Words(std::string_view text) : text_(text) {
    for (std::size_t i = 0; i < text.size();) {
      const char c = text[i];
      if (c == ' ' || c == ',' || c == '(' || c == ')') {
        ++i;
      } else if (c == '\'') {
        const std::size_t end = text.find('\'', i + 1);
        if (end == std::string_view::npos) unknown();
        ++members_;
        i = end + 1;
      } else {
        const std::size_t end = std::min(text.find_first_of(" ,()'", i), text.size());
        std::string word(text.substr(i, end - i));
        for (char& letter : word) {
          if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
        }
        words_.push_back(std::move(word));
        i = end;
      }
    }
    if (words_.empty()) unknown();
  }

  [[noreturn]] void unknown() const {
    refuse("a column is declared like \"varchar(50) not null\" or \"int unsigned\", got \"" +
           std::string(text_) + "\"");
  }
  std::string_view first() const { return words_[0]; }
  std::size_t members() const { return members_; }
  /// The next number, or what stands for a missing one.
  std::size_t number(std::size_t otherwise, std::size_t least, std::size_t most) {
    std::size_t value = otherwise;
    if (next_ < words_.size()) {
      const std::string& word = words_[next_];
      const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
      if (error == std::errc{} && end == word.data() + word.size()) {
        ++next_;
      } else {
        value = otherwise;
      }
    }
    if (value < least || value > most) unknown();
    return value;
  }
  bool is_next(std::string_view word) {
    if (next_ >= words_.size() || words_[next_] != word) return false;
    ++next_;
    return true;
  }
  Charset charset(std::string_view otherwise) {
    std::string_view name = otherwise;
    if (is_next("character")) {
      if (!is_next("set") || next_ >= words_.size()) unknown();
      name = words_[next_++];
    }
    for (const Charset& charset : kCharsets) {
      if (charset.name == name) return charset;
    }
    unknown();
  }
  void end() const {
    if (next_ != words_.size()) unknown();
  }

 private:
  std::string_view text_;
  std::vector<std::string> words_;
  std::size_t next_ = 1;
  std::size_t members_ = 0;
};

std::uint16_t narrow(std::uint64_t value) { return static_cast<std::uint16_t>(value); }

std::size_t set_bytes(std::size_t members) {
  const std::size_t bytes = (members + 7) / 8;
  return bytes > 4 ? 8 : bytes;
}

std::optional<Type> integer_type(std::string_view word) {
  if (word == "tinyint") return Type::tiny;
  if (word == "smallint") return Type::small;
  if (word == "mediumint") return Type::medium;
  if (word == "int" || word == "integer") return Type::integer;
  if (word == "bigint") return Type::big;
  return std::nullopt;
}

std::size_t integer_bytes(Type type) {
  switch (type) {
    case Type::tiny:
      return 1;
    case Type::small:
      return 2;
    case Type::medium:
      return 3;
    case Type::integer:
      return 4;
    default:
      return 8;
  }
}

/// The bytes of a BLOB's or TEXT's length, 0 for another word.
std::size_t blob_length_bytes(std::string_view word) {
  if (word == "tinyblob" || word == "tinytext") return 1;
  if (word == "blob" || word == "text") return 2;
  if (word == "mediumblob" || word == "mediumtext") return 3;
  if (word == "longblob" || word == "longtext") return 4;
  return 0;
}

void append(std::string& out, std::int64_t value) { out += std::to_string(value); }

void append_digits(std::string& out, std::uint64_t value, std::size_t digits) {
  const std::string text = std::to_string(value);
  if (text.size() < digits) out.append(digits - text.size(), '0');
  out += text;
}

void append_fraction(std::string& out, std::uint64_t microseconds, std::size_t digits) {
  if (digits == 0) return;
  std::string six;
  append_digits(six, microseconds, 6);
  out += '.';
  out.append(six, 0, digits);
}

void append_date(std::string& out, std::uint64_t year, std::uint64_t month, std::uint64_t day) {
  append_digits(out, year, 4);
  out += '-';
  append_digits(out, month, 2);
  out += '-';
  append_digits(out, day, 2);
}

void append_clock(std::string& out, std::uint64_t hour, std::uint64_t minute, std::uint64_t second) {
  append_digits(out, hour, 2);
  out += ':';
  append_digits(out, minute, 2);
  out += ':';
  append_digits(out, second, 2);
}

/// Microseconds of a fraction that is stored in 0 to 3 bytes.
std::uint64_t microseconds(Span fraction) {
  constexpr std::array<std::uint64_t, 4> kUnit = {0, 10'000, 100, 1};
  return load_big(fraction.data(), fraction.size()) * kUnit[fraction.size()];
}

void append_time(std::string& out, Span value, std::size_t digits) {
  // Sorted as bytes: the middle of the range is zero, and a negative time has a negative fraction.
  const std::size_t n = value.size();
  const auto middle = std::int64_t{0x80} << (8 * (n - 1));
  std::int64_t packed = static_cast<std::int64_t>(load_big(value.data(), n)) - middle;
  if (packed < 0) {
    out += '-';
    packed = -packed;
  }
  const auto whole = static_cast<std::uint64_t>(packed >> (8 * (n - 3)));
  append_clock(out, whole >> 12 & 1023, whole >> 6 & 63, whole & 63);
  std::array<std::uint8_t, 3> fraction{};
  for (std::size_t i = 0; i < n - 3; ++i) {
    fraction[i] = static_cast<std::uint8_t>(packed >> (8 * (n - 4 - i)));
  }
  append_fraction(out, microseconds({fraction.data(), n - 3}), digits);
}

void append_datetime(std::string& out, Span value, std::size_t digits) {
  const std::uint64_t packed = load_big(value.data(), 5) - 0x8000000000ULL;
  const std::uint64_t months = packed >> 22 & 0x1FFFF;
  append_date(out, months / 13, months % 13, packed >> 17 & 31);
  out += ' ';
  append_clock(out, packed >> 12 & 31, packed >> 6 & 63, packed & 63);
  append_fraction(out, microseconds(value.subspan(5)), digits);
}

/// The civil date of a number of days since 1970-01-01, in UTC.
void append_utc(std::string& out, std::uint64_t seconds) {
  const std::uint64_t days = seconds / 86'400 + 719'468;  // since 0000-03-01
  const std::uint64_t era = days / 146'097;
  const std::uint64_t of_era = days % 146'097;
  const std::uint64_t year_of_era = (of_era - of_era / 1460 + of_era / 36'524 - of_era / 146'096) / 365;
  const std::uint64_t of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const std::uint64_t shifted = (5 * of_year + 2) / 153;
  const std::uint64_t month = shifted < 10 ? shifted + 3 : shifted - 9;
  append_date(out, era * 400 + year_of_era + (month <= 2 ? 1 : 0), month,
              of_year - (153 * shifted + 2) / 5 + 1);
  const std::uint64_t of_day = seconds % 86'400;
  out += ' ';
  append_clock(out, of_day / 3600, of_day / 60 % 60, of_day % 60);
}

void append_timestamp(std::string& out, Span value, std::size_t digits, bool is_big_endian) {
  const std::uint64_t seconds = is_big_endian ? load_big(value.data(), 4) : load_little(value.data(), 4);
  if (seconds == 0) {
    out += "0000-00-00 00:00:00";
  } else {
    append_utc(out, seconds);
  }
  append_fraction(out, microseconds(value.subspan(4)), digits);
}

void append_bytes(std::string& out, Span value) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  out += "0x";
  for (const std::uint8_t byte : value) {
    out += kHex[byte >> 4];
    out += kHex[byte & 15];
  }
}

template <typename Real>
void append_real(std::string& out, Span value) {
  Real number;
  std::memcpy(&number, value.data(), sizeof number);
  std::array<char, 40> text;
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), number);
  out.append(text.data(), end);
}

}  // namespace

bool is_number(Type type) {
  switch (type) {
    case Type::tiny:
    case Type::small:
    case Type::medium:
    case Type::integer:
    case Type::big:
    case Type::decimal:
    case Type::real4:
    case Type::real8:
    case Type::year:
      return true;
    default:
      return false;
  }
}

bool has_collation(Type type) { return type == Type::string || type == Type::varchar || type == Type::blob; }

std::size_t decimal_bytes(std::size_t precision, std::size_t scale) {
  const std::size_t whole = precision - scale;
  return whole / 9 * 4 + kDigitBytes[whole % 9] + scale / 9 * 4 + kDigitBytes[scale % 9];
}

Column declared(std::string_view text) {
  Words words(text);
  Column column;
  const std::string_view first = words.first();
  if (const auto type = integer_type(first)) {
    column.type = *type;
    words.number(0, 0, 255);  // a display width
  } else if (first == "float" || first == "double") {
    column.type = first == "float" ? Type::real4 : Type::real8;
    column.metadata = first == "float" ? 4 : 8;
  } else if (first == "decimal") {
    column.type = Type::decimal;
    const std::size_t precision = words.number(10, 1, 65);
    const std::size_t scale = words.number(0, 0, std::min<std::size_t>(30, precision));
    column.metadata = narrow(precision << 8 | scale);
  } else if (first == "bit") {
    column.type = Type::bit;
    column.metadata = narrow(words.number(1, 1, 64));
  } else if (first == "char" || first == "binary") {
    column.type = Type::string;
    const std::size_t length = words.number(1, 0, 255);
    const Charset charset = words.charset(first == "char" ? "utf8mb4" : "binary");
    column.metadata = narrow(length * charset.bytes);
    column.collation = charset.collation;
  } else if (first == "varchar" || first == "varbinary") {
    column.type = Type::varchar;
    const std::size_t length = words.number(65536, 0, 65535);
    const Charset charset = words.charset(first == "varchar" ? "utf8mb4" : "binary");
    if (length * charset.bytes > 65535) words.unknown();
    column.metadata = narrow(length * charset.bytes);
    column.collation = charset.collation;
  } else if (const std::size_t bytes = blob_length_bytes(first); bytes > 0) {
    column.type = Type::blob;
    column.metadata = narrow(bytes);
    column.collation = words.charset(first.ends_with("text") ? "utf8mb4" : "binary").collation;
  } else if (first == "enum" || first == "set") {
    const bool is_set = first == "set";
    if (words.members() == 0 || words.members() > (is_set ? 64U : 65535U)) words.unknown();
    column.type = is_set ? Type::set : Type::enumeration;
    column.metadata = narrow(is_set ? set_bytes(words.members()) : words.members() < 256 ? 1 : 2);
  } else if (first == "date" || first == "year") {
    column.type = first == "date" ? Type::date : Type::year;
    column.is_unsigned = first == "year";
  } else if (first == "time" || first == "datetime" || first == "timestamp") {
    column.type = first == "time" ? Type::time : first == "datetime" ? Type::datetime : Type::timestamp;
    column.metadata = narrow(words.number(0, 0, 6));
  } else if (first == "json") {
    column.type = Type::json;
    column.metadata = 4;
  } else {
    words.unknown();
  }
  if (words.is_next("unsigned")) {
    if (!is_number(column.type)) words.unknown();
    column.is_unsigned = true;
  }
  if (words.is_next("not")) {
    if (!words.is_next("null")) words.unknown();
    column.is_nullable = false;
  }
  words.end();
  return column;
}

std::uint8_t type_code(const Column& column) {
  const bool is_in_string = column.type == Type::enumeration || column.type == Type::set;
  return static_cast<std::uint8_t>(is_in_string ? Type::string : column.type);
}

void put_metadata(Buffer& out, const Column& column) {
  const std::size_t meta = column.metadata;
  switch (column.type) {
    case Type::real4:
    case Type::real8:
    case Type::blob:
    case Type::json:
    case Type::geometry:
    case Type::vector:
    case Type::time:
    case Type::datetime:
    case Type::timestamp:
      out.little(meta, 1);
      break;
    case Type::decimal:
      out.big(meta, 2);
      break;
    case Type::bit:
      out.little(meta % 8, 1);
      out.little(meta / 8, 1);
      break;
    case Type::varchar:
      out.little(meta, 2);
      break;
    case Type::enumeration:
    case Type::set:
      out.little(static_cast<std::uint8_t>(column.type), 1);
      out.little(meta, 1);
      break;
    case Type::string:
      // A length above 255 lends two bits to the type, inverted, so that old files read as before.
      out.little(static_cast<std::uint8_t>(Type::string) ^ (meta >> 8 & 3) << 4, 1);
      out.little(meta & 255, 1);
      break;
    default:
      break;
  }
}

Column take_column(std::uint8_t code, Cursor& metadata) {
  // MariaDB's compressed columns hold bytes that are read as such.
  constexpr std::uint8_t kMariaCompressedBlob = 140;
  constexpr std::uint8_t kMariaCompressedVarchar = 141;
  if (code == kMariaCompressedBlob) code = static_cast<std::uint8_t>(Type::blob);
  if (code == kMariaCompressedVarchar) code = static_cast<std::uint8_t>(Type::varchar);
  constexpr const char* kWhat = "the metadata of a column";
  Column column{.type = static_cast<Type>(code)};
  switch (column.type) {
    case Type::tiny:
    case Type::small:
    case Type::medium:
    case Type::integer:
    case Type::big:
    case Type::date:
    case Type::timestamp_old:
    case Type::time_old:
    case Type::datetime_old:
    case Type::null:
      return column;
    case Type::year:
      column.is_unsigned = true;
      return column;
    case Type::real4:
    case Type::real8:
      metadata.little(1, kWhat);
      column.metadata = column.type == Type::real4 ? 4 : 8;
      return column;
    case Type::blob:
    case Type::json:
    case Type::geometry:
    case Type::vector:
      column.metadata = narrow(metadata.little(1, kWhat));
      if (column.metadata >= 1 && column.metadata <= 4) return column;
      break;
    case Type::time:
    case Type::datetime:
    case Type::timestamp:
      column.metadata = narrow(metadata.little(1, kWhat));
      if (column.metadata <= 6) return column;
      break;
    case Type::decimal: {
      const std::uint64_t precision = metadata.little(1, kWhat);
      const std::uint64_t scale = metadata.little(1, kWhat);
      column.metadata = narrow(precision << 8 | scale);
      if (precision >= 1 && precision <= 65 && scale <= 30 && scale <= precision) return column;
      break;
    }
    case Type::bit: {
      const std::uint64_t rest = metadata.little(1, kWhat);
      column.metadata = narrow(metadata.little(1, kWhat) * 8 + rest);
      if (rest < 8 && column.metadata >= 1 && column.metadata <= 64) return column;
      break;
    }
    case Type::varchar:
      column.metadata = narrow(metadata.little(2, kWhat));
      return column;
    case Type::string: {
      const std::uint64_t type = metadata.little(1, kWhat);
      const std::uint64_t length = metadata.little(1, kWhat);
      if (type == static_cast<std::uint8_t>(Type::enumeration) ||
          type == static_cast<std::uint8_t>(Type::set)) {
        column.type = static_cast<Type>(type);
        column.metadata = narrow(length);
        const bool is_set = column.type == Type::set;
        if (length == 1 || length == 2 || (is_set && (length == 3 || length == 4 || length == 8)))
          return column;
        break;
      }
      if ((type & 0xCF) != 0xCE) break;
      column.metadata = narrow(((type ^ static_cast<std::uint8_t>(Type::string)) & 0x30) << 4 | length);
      return column;
    }
    default:
      damaged(metadata.event(),
              "a table has a column of type " + std::to_string(code) + ", which no server writes");
  }
  damaged(metadata.event(), "a column of type " + std::string(names::of(column.type)) + " has the metadata " +
                                std::to_string(column.metadata) + ", which no server writes");
}

Span take_value(const Column& column, Cursor& values) {
  constexpr const char* kWhat = "a column's value";
  const std::size_t meta = column.metadata;
  switch (column.type) {
    case Type::tiny:
    case Type::year:
      return values.take(1, kWhat);
    case Type::small:
      return values.take(2, kWhat);
    case Type::medium:
    case Type::date:
    case Type::time_old:
      return values.take(3, kWhat);
    case Type::integer:
    case Type::real4:
    case Type::timestamp_old:
      return values.take(4, kWhat);
    case Type::big:
    case Type::real8:
    case Type::datetime_old:
      return values.take(8, kWhat);
    case Type::varchar:
    case Type::string:
    case Type::blob:
    case Type::json:
    case Type::geometry:
    case Type::vector:
      return values.take(values.little(length_bytes(column), kWhat), kWhat);
    case Type::decimal:
      return values.take(decimal_bytes(meta >> 8, meta & 255), kWhat);
    case Type::bit:
      return values.take((meta + 7) / 8, kWhat);
    case Type::enumeration:
    case Type::set:
      return values.take(meta, kWhat);
    case Type::time:
      return values.take(3 + fraction_bytes(meta), kWhat);
    case Type::datetime:
      return values.take(5 + fraction_bytes(meta), kWhat);
    case Type::timestamp:
      return values.take(4 + fraction_bytes(meta), kWhat);
    default:
      return {};
  }
}

namespace {

void append_decimal(std::string& out, const Column& column, Span value) {
  const std::size_t scale = column.metadata & 255U;
  const std::size_t whole = (column.metadata >> 8) - scale;
  std::array<std::uint8_t, 32> bytes{};
  std::copy(value.begin(), value.end(), bytes.begin());
  const bool is_negative = (bytes[0] & 0x80) == 0;
  bytes[0] ^= 0x80;
  if (is_negative) {
    for (std::size_t i = 0; i < value.size(); ++i) bytes[i] = static_cast<std::uint8_t>(~bytes[i]);
    out += '-';
  }
  std::string digits;
  std::size_t at = 0;
  const auto group = [&](std::size_t n) {
    append_digits(digits, load_big(bytes.data() + at, kDigitBytes[n]), n);
    at += kDigitBytes[n];
  };
  if (whole % 9 > 0) group(whole % 9);
  for (std::size_t i = 0; i < whole / 9; ++i) group(9);
  const std::size_t first = std::min(digits.find_first_not_of('0'), digits.size());
  out += first == digits.size() ? "0" : digits.substr(first);
  if (scale == 0) return;
  digits.clear();
  for (std::size_t i = 0; i < scale / 9; ++i) group(9);
  if (scale % 9 > 0) group(scale % 9);
  out += '.';
  out += digits;
}

}  // namespace

void append_text(std::string& out, const Column& column, Span value, std::uint64_t event) {
  const std::uint8_t* const at = value.data();
  const std::size_t n = value.size();
  switch (column.type) {
    case Type::tiny:
    case Type::small:
    case Type::medium:
    case Type::integer:
    case Type::big: {
      const std::uint64_t bits = load_little(at, n);
      if (column.is_unsigned) {
        out += std::to_string(bits);
      } else {
        const std::size_t unused = 64 - 8 * integer_bytes(column.type);
        append(out, static_cast<std::int64_t>(bits << unused) >> unused);
      }
      return;
    }
    case Type::year:
      out += *at == 0 ? "0000" : std::to_string(1900 + *at);
      return;
    case Type::real4:
      return append_real<float>(out, value);
    case Type::real8:
      return append_real<double>(out, value);
    case Type::decimal:
      return append_decimal(out, column, value);
    case Type::bit:
      out += std::to_string(load_big(at, n));
      return;
    case Type::enumeration:
    case Type::set:
      out += std::to_string(load_little(at, n));
      return;
    case Type::date: {
      const std::uint64_t packed = load_little(at, 3);
      return append_date(out, packed >> 9, packed >> 5 & 15, packed & 31);
    }
    case Type::time:
      return append_time(out, value, column.metadata);
    case Type::datetime:
      return append_datetime(out, value, column.metadata);
    case Type::timestamp:
      return append_timestamp(out, value, column.metadata, true);
    case Type::timestamp_old:
      return append_timestamp(out, value, 0, false);
    case Type::time_old: {
      const auto signed_bits = static_cast<std::int32_t>(load_little(at, 3) << 8) >> 8;
      if (signed_bits < 0) out += '-';
      const auto packed = static_cast<std::uint64_t>(std::abs(signed_bits));
      return append_clock(out, packed / 10'000, packed / 100 % 100, packed % 100);
    }
    case Type::datetime_old: {
      const std::uint64_t packed = load_little(at, 8);
      append_date(out, packed / 10'000'000'000, packed / 100'000'000 % 100, packed / 1'000'000 % 100);
      out += ' ';
      return append_clock(out, packed / 10'000 % 100, packed / 100 % 100, packed % 100);
    }
    case Type::json:
      out += json_text(value, event);
      return;
    case Type::varchar:
    case Type::string:
    case Type::blob:
      if (column.collation != 63) {
        out.append(reinterpret_cast<const char*>(at), n);
        return;
      }
      [[fallthrough]];
    default:
      append_bytes(out, value);
  }
}

std::string describe(const Column& column) {
  std::string text(names::of(column.type));
  const std::size_t meta = column.metadata;
  // Appended piece by piece: gcc 12 takes the other way for an overlap when it inlines it.
  const auto in_brackets = [&](std::size_t first, const std::string& rest) {
    text += '(';
    text += std::to_string(first);
    text += rest;
    text += ')';
  };
  switch (column.type) {
    case Type::decimal: {
      std::string scale(",");
      scale += std::to_string(meta & 255);
      in_brackets(meta >> 8, scale);
      break;
    }
    case Type::varchar:
    case Type::string:
      in_brackets(meta, " bytes");
      break;
    case Type::bit:
      in_brackets(meta, "");
      break;
    case Type::time:
    case Type::datetime:
    case Type::timestamp:
      if (meta > 0) in_brackets(meta, "");
      break;
    case Type::blob: {
      constexpr std::array<std::string_view, 5> kSizes = {"", "tiny", "", "medium", "long"};
      text = kSizes[meta];
      text += column.collation != 63 && column.collation != 0 ? "text" : "blob";
      break;
    }
    default:
      break;
  }
  if (column.is_unsigned && column.type != Type::year) text += " unsigned";
  return text;
}

}  // namespace engineroom::binlog
