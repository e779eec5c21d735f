#include "binlog/value.hpp"

#include <array>
#include <string>

#include "common/require.hpp"

namespace engineroom::binlog {

namespace {

std::string shown(const Value& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) return std::to_string(*number);
  if (const auto* number = std::get_if<std::uint64_t>(&value)) return std::to_string(*number);
  if (const auto* number = std::get_if<double>(&value)) return std::to_string(*number);
  if (const auto* text = std::get_if<std::string_view>(&value)) {
    if (text->size() > 40) return std::to_string(text->size()) + " bytes";
    return names::quoted(*text);
  }
  return is_null(value) ? "NULL" : "a moment";
}

[[noreturn]] void unfit(const Column& column, const Value& value) {
  refuse("a column of type " + describe(column) + " cannot hold " + shown(value));
}

/// The number's lowest `bytes` bytes; it must fit into them, with or without a sign.
std::uint64_t whole(const Column& column, const Value& value, std::size_t bytes, bool is_signed) {
  std::uint64_t bits = 0;
  bool is_negative = false;
  if (const auto* number = std::get_if<std::int64_t>(&value)) {
    bits = static_cast<std::uint64_t>(*number);
    is_negative = *number < 0;
  } else if (const auto* natural = std::get_if<std::uint64_t>(&value)) {
    bits = *natural;
  } else {
    unfit(column, value);
  }
  const std::size_t unused = 64 - 8 * bytes;
  const std::uint64_t most = ~std::uint64_t{0} >> unused;
  if (is_signed ? (is_negative ? ~bits : bits) > most / 2 : is_negative || bits > most) unfit(column, value);
  return bits;
}

void put_text(Buffer& out, const Column& column, const Value& value) {
  const auto* given = std::get_if<std::string_view>(&value);
  if (given == nullptr) unfit(column, value);
  std::string_view text = *given;
  const std::size_t meta = column.metadata;
  const std::size_t prefix = length_bytes(column);
  if (column.type == Type::string) {
    // A fixed column's padding is not written: spaces of text, zeros of bytes.
    const char pad = column.collation == 63 ? '\0' : ' ';
    while (!text.empty() && text.back() == pad) text.remove_suffix(1);
    if (text.size() > meta) unfit(column, value);
  } else if (column.type == Type::varchar) {
    if (text.size() > meta) unfit(column, value);
  } else {
    if (meta < sizeof(std::size_t) && text.size() >> (8 * meta) != 0) unfit(column, value);
  }
  std::uint8_t* const at = out.grow(prefix + text.size());
  Buffer::store_little(at, text.size(), prefix);
  if (!text.empty()) std::memcpy(at + prefix, text.data(), text.size());
}

void put_decimal(Buffer& out, const Column& column, const Value& value) {
  constexpr std::array<std::uint8_t, 10> kDigitBytes = {0, 1, 1, 2, 2, 3, 3, 4, 4, 4};
  const auto* given = std::get_if<std::string_view>(&value);
  if (given == nullptr) unfit(column, value);
  const std::size_t scale = column.metadata & 255U;
  const std::size_t whole_digits = (column.metadata >> 8) - scale;
  std::string_view text = *given;
  const bool is_negative = text.starts_with('-');
  if (is_negative || text.starts_with('+')) text.remove_prefix(1);
  const std::size_t point = std::min(text.find('.'), text.size());
  std::string_view before = text.substr(0, point);
  const std::string_view after = point < text.size() ? text.substr(point + 1) : std::string_view{};
  while (before.starts_with('0')) before.remove_prefix(1);
  const bool is_number = text.size() > (point < text.size() ? 1U : 0U) &&
                         before.find_first_not_of("0123456789") == std::string_view::npos &&
                         after.find_first_not_of("0123456789") == std::string_view::npos;
  if (!is_number || before.size() > whole_digits || after.size() > scale) unfit(column, value);
  // All digits of the column, then groups of nine from the point outwards.
  std::array<char, 65> digits;
  digits.fill('0');
  std::copy(before.begin(), before.end(),
            digits.begin() + static_cast<std::ptrdiff_t>(whole_digits - before.size()));
  std::copy(after.begin(), after.end(), digits.begin() + static_cast<std::ptrdiff_t>(whole_digits));
  const bool is_zero = std::all_of(digits.begin(), digits.end(), [](char c) { return c == '0'; });
  const std::size_t begin = out.size();
  std::size_t at = 0;
  const auto group = [&](std::size_t n) {
    std::uint64_t number = 0;
    for (std::size_t i = 0; i < n; ++i) number = number * 10 + static_cast<std::uint64_t>(digits[at++] - '0');
    out.big(number, kDigitBytes[n]);
  };
  if (whole_digits % 9 > 0) group(whole_digits % 9);
  for (std::size_t i = 0; i < whole_digits / 9; ++i) group(9);
  for (std::size_t i = 0; i < scale / 9; ++i) group(9);
  if (scale % 9 > 0) group(scale % 9);
  // So that bytes sort as numbers: a sign bit that is 1 for positive ones, and all bits turned for negative ones.
  if (is_negative && !is_zero) {
    for (std::size_t i = begin; i < out.size(); ++i)
      out.data()[i] = static_cast<std::uint8_t>(~out.data()[i]);
  }
  out.data()[begin] ^= 0x80;
}

void put_fraction(Buffer& out, std::uint32_t microsecond, std::size_t digits) {
  constexpr std::array<std::uint32_t, 4> kUnit = {1, 10'000, 100, 1};
  const std::size_t bytes = fraction_bytes(digits);
  out.big(microsecond / kUnit[bytes], bytes);
}

std::uint64_t clock_bits(const Moment& moment) {
  return std::uint64_t{moment.hour} << 12 | moment.minute << 6 | moment.second;
}

/// Seconds since 1970 of a civil time in UTC.
std::uint64_t epoch_seconds(const Moment& moment) {
  const std::uint64_t year = moment.year - (moment.month <= 2 ? 1 : 0);
  const std::uint64_t era = year / 400;
  const std::uint64_t of_era = year % 400;
  const std::uint64_t shifted = moment.month > 2 ? moment.month - 3 : moment.month + 9;
  const std::uint64_t of_year = (153 * shifted + 2) / 5 + moment.day - 1;
  const std::uint64_t days = era * 146'097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719'468;
  return days * 86'400 + moment.hour * 3600ULL + moment.minute * 60ULL + moment.second;
}

void put_moment(Buffer& out, const Column& column, const Value& value) {
  const auto* given = std::get_if<Moment>(&value);
  if (given == nullptr) unfit(column, value);
  const Moment& moment = *given;
  const std::size_t digits = column.metadata;
  const bool is_time = column.type == Type::time;
  const bool fits = moment.month <= 12 && moment.day <= 31 && moment.hour <= (is_time ? 838U : 23U) &&
                    moment.minute <= 59 && moment.second <= 59 && moment.microsecond <= 999'999 &&
                    moment.year <= 9999 && (is_time || !moment.is_negative);
  if (!fits) unfit(column, value);
  if (column.type == Type::date) {
    out.little(moment.year << 9 | moment.month << 5 | moment.day, 3);
  } else if (column.type == Type::datetime) {
    const std::uint64_t day = (moment.year * 13ULL + moment.month) << 5 | moment.day;
    out.big(0x8000000000ULL + (day << 17 | clock_bits(moment)), 5);
    put_fraction(out, moment.microsecond, digits);
  } else if (column.type == Type::timestamp) {
    const std::uint64_t seconds = moment.year == 0 ? 0 : epoch_seconds(moment);
    if ((moment.year != 0 && moment.year < 1970) || seconds > 0xFFFFFFFF) unfit(column, value);
    out.big(seconds, 4);
    put_fraction(out, moment.microsecond, digits);
  } else {
    // Whole seconds above the fraction's bytes, as one number around the middle of its range.
    constexpr std::array<std::uint32_t, 4> kUnit = {1, 10'000, 100, 1};
    const std::size_t bytes = fraction_bytes(digits);
    const std::uint64_t fraction = bytes == 0 ? 0 : moment.microsecond / kUnit[bytes];
    const std::uint64_t size = clock_bits(moment) << (8 * bytes) | fraction;
    const std::uint64_t middle = std::uint64_t{0x80} << (8 * (bytes + 2));
    out.big(moment.is_negative ? middle - size : middle + size, 3 + bytes);
  }
}

void put_real(Buffer& out, const Column& column, const Value& value) {
  double number = 0;
  if (const auto* real = std::get_if<double>(&value)) {
    number = *real;
  } else if (const auto* integer = std::get_if<std::int64_t>(&value)) {
    number = static_cast<double>(*integer);
  } else {
    unfit(column, value);
  }
  if (column.type == Type::real4) {
    const auto single = static_cast<float>(number);
    std::memcpy(out.grow(4), &single, 4);
  } else {
    std::memcpy(out.grow(8), &number, 8);
  }
}

}  // namespace

void put_value(Buffer& out, const Column& column, const Value& value) {
  switch (column.type) {
    case Type::tiny:
      return out.little(whole(column, value, 1, !column.is_unsigned), 1);
    case Type::small:
      return out.little(whole(column, value, 2, !column.is_unsigned), 2);
    case Type::medium:
      return out.little(whole(column, value, 3, !column.is_unsigned), 3);
    case Type::integer:
      return out.little(whole(column, value, 4, !column.is_unsigned), 4);
    case Type::big:
      return out.little(whole(column, value, 8, !column.is_unsigned), 8);
    case Type::year: {
      const std::uint64_t year = whole(column, value, 2, false);
      if (year != 0 && (year < 1901 || year > 2155)) unfit(column, value);
      return out.little(year == 0 ? 0 : year - 1900, 1);
    }
    case Type::bit: {
      const std::uint64_t bits = whole(column, value, 8, false);
      if (column.metadata < 64 && bits >> column.metadata != 0) unfit(column, value);
      return out.big(bits, (column.metadata + 7U) / 8);
    }
    case Type::enumeration:
    case Type::set:
      return out.little(whole(column, value, column.metadata, false), column.metadata);
    case Type::real4:
    case Type::real8:
      return put_real(out, column, value);
    case Type::decimal:
      return put_decimal(out, column, value);
    case Type::date:
    case Type::time:
    case Type::datetime:
    case Type::timestamp:
      return put_moment(out, column, value);
    case Type::string:
    case Type::varchar:
    case Type::blob:
    case Type::json:
    case Type::geometry:
    case Type::vector:
      return put_text(out, column, value);
    default:
      refuse("a column of type " + describe(column) + " is read and not written");
  }
}

}  // namespace engineroom::binlog
