#include "binlog/json.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "binlog/column.hpp"
#include "common/require.hpp"

namespace engineroom::binlog {

namespace {

enum Code : std::uint8_t {
  kSmallObject = 0,
  kLargeObject = 1,
  kSmallArray = 2,
  kLargeArray = 3,
  kLiteral = 4,
  kInt16 = 5,
  kUint16 = 6,
  kInt32 = 7,
  kUint32 = 8,
  kInt64 = 9,
  kUint64 = 10,
  kDouble = 11,
  kText = 12,
  kOpaque = 15,
};

constexpr std::size_t kDeepest = 100;

struct Scalar {
  Code code;
  std::uint64_t bits;
  std::size_t bytes;
};

Scalar integer(std::int64_t value) {
  const auto bits = static_cast<std::uint64_t>(value);
  if (value >= std::numeric_limits<std::int16_t>::min() && value <= std::numeric_limits<std::int16_t>::max())
    return {kInt16, bits, 2};
  if (value >= std::numeric_limits<std::int32_t>::min() && value <= std::numeric_limits<std::int32_t>::max())
    return {kInt32, bits, 4};
  return {kInt64, bits, 8};
}

Scalar natural(std::uint64_t value) {
  if (value <= std::numeric_limits<std::uint16_t>::max()) return {kUint16, value, 2};
  if (value <= std::numeric_limits<std::uint32_t>::max()) return {kUint32, value, 4};
  return {kUint64, value, 8};
}

/// What may stand in the place of an offset, or as it is.
std::optional<Scalar> scalar(const Json& json) {
  if (std::holds_alternative<std::monostate>(json.value)) return Scalar{kLiteral, 0, 1};
  if (const auto* is = std::get_if<bool>(&json.value)) return Scalar{kLiteral, *is ? 1U : 2U, 1};
  if (const auto* number = std::get_if<std::int64_t>(&json.value)) return integer(*number);
  if (const auto* number = std::get_if<std::uint64_t>(&json.value)) return natural(*number);
  if (const auto* number = std::get_if<double>(&json.value)) {
    std::uint64_t bits;
    std::memcpy(&bits, number, sizeof bits);
    return Scalar{kDouble, bits, 8};
  }
  return std::nullopt;
}

void put_length(Buffer& out, std::size_t length) {
  for (; length > 127; length >>= 7) out.little((length & 127) | 128, 1);
  out.little(length, 1);
}

Code put(Buffer& out, const Json& json, std::size_t depth);

/// Puts a container with offsets of so many bytes; false when they are too small for it.
bool put_container(Buffer& out, const std::vector<const std::string*>& keys,
                   const std::vector<const Json*>& values, std::size_t offset_bytes, std::size_t depth) {
  const std::size_t begin = out.size();
  const std::uint64_t most = offset_bytes == 2 ? 0xFFFF : 0xFFFFFFFF;
  if (values.size() > most) return false;
  const auto here = [&] { return out.size() - begin; };
  out.little(values.size(), offset_bytes);
  const std::size_t size_at = out.size();
  out.little(0, offset_bytes);
  std::size_t key_at =
      2 * offset_bytes + keys.size() * (offset_bytes + 2) + values.size() * (1 + offset_bytes);
  for (const std::string* key : keys) {
    if (key->size() > 0xFFFF)
      refuse("a key of a JSON object has at most 65535 bytes, got " + std::to_string(key->size()));
    if (key_at > most) return false;
    out.little(key_at, offset_bytes);
    out.little(key->size(), 2);
    key_at += key->size();
  }
  const std::size_t entries_at = out.size();
  out.grow(values.size() * (1 + offset_bytes));
  for (const std::string* key : keys) out.put(*key);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t entry = entries_at + i * (1 + offset_bytes);
    const auto one = scalar(*values[i]);
    if (one && one->bytes <= offset_bytes) {
      out.data()[entry] = one->code;
      Buffer::store_little(out.data() + entry + 1, one->bits, one->bytes);
      // A shorter number fills the place with its sign.
      const bool is_negative = (one->code == kInt16 || one->code == kInt32) && (one->bits >> 63) != 0;
      for (std::size_t k = one->bytes; k < offset_bytes; ++k)
        out.data()[entry + 1 + k] = is_negative ? 255 : 0;
      continue;
    }
    if (here() > most) return false;
    const std::size_t offset = here();
    const Code code = put(out, *values[i], depth + 1);
    out.data()[entry] = code;
    Buffer::store_little(out.data() + entry + 1, offset, offset_bytes);
  }
  if (here() > most) return false;
  Buffer::store_little(out.data() + size_at, here(), offset_bytes);
  return true;
}

Code put(Buffer& out, const Json& json, std::size_t depth) {
  if (const auto one = scalar(json)) {
    out.little(one->bits, one->bytes);
    return one->code;
  }
  if (const auto* text = std::get_if<std::string>(&json.value)) {
    put_length(out, text->size());
    out.put(*text);
    return kText;
  }
  if (depth >= kDeepest) refuse("a JSON document is at most 100 deep; this one is deeper");
  std::vector<const std::string*> keys;
  std::vector<const Json*> values;
  const auto* object = std::get_if<Json::Object>(&json.value);
  if (object != nullptr) {
    std::vector<const Json::Member*> members;
    for (const auto& member : *object) members.push_back(&member);
    std::sort(members.begin(), members.end(), [](const auto* a, const auto* b) {
      return a->key.size() != b->key.size() ? a->key.size() < b->key.size() : a->key < b->key;
    });
    for (const auto* member : members) {
      keys.push_back(&member->key);
      values.push_back(&member->value);
    }
  } else {
    for (const Json& one : std::get<Json::Array>(json.value)) values.push_back(&one);
  }
  const std::size_t begin = out.size();
  if (put_container(out, keys, values, 2, depth)) return object != nullptr ? kSmallObject : kSmallArray;
  out.cut(begin);
  if (!put_container(out, keys, values, 4, depth)) refuse("a JSON document has less than 4 GiB");
  return object != nullptr ? kLargeObject : kLargeArray;
}

/// Writes a document's text. Each value of a sound document has bytes of its own, so the sum of what was looked at is
/// bounded by the document; offsets that lead to the same bytes again and again are damage.
class Printer {
 public:
  Printer(Span document, std::uint64_t event) : event_(event), budget_(document.size()) {}

  void value(std::uint8_t code, Span bytes, std::size_t depth) {
    switch (code) {
      case kSmallObject:
      case kLargeObject:
      case kSmallArray:
      case kLargeArray:
        return container(code, bytes, depth);
      case kLiteral:
        return literal(number(bytes, 1));
      case kInt16:
        return append(static_cast<std::int16_t>(number(bytes, 2)));
      case kUint16:
        return append(number(bytes, 2));
      case kInt32:
        return append(static_cast<std::int32_t>(number(bytes, 4)));
      case kUint32:
        return append(number(bytes, 4));
      case kInt64:
        return append(static_cast<std::int64_t>(number(bytes, 8)));
      case kUint64:
        return append(number(bytes, 8));
      case kDouble:
        return real(number(bytes, 8));
      case kText: {
        const std::size_t length = take_length(bytes);
        return quoted(first(bytes, length));
      }
      case kOpaque:
        return opaque(bytes);
      default:
        bad("a value of type " + std::to_string(code));
    }
  }

  std::string text;

 private:
  [[noreturn]] void bad(const std::string& what) const {
    damaged(event_, "a JSON document holds " + what + ", which no server writes");
  }
  void spend(std::size_t bytes) {
    if (bytes > budget_) bad("offsets that lead to the same bytes twice");
    budget_ -= bytes;
  }
  static std::size_t size_at(const std::uint8_t* at, std::size_t n) {
    return static_cast<std::size_t>(load_little(at, n));
  }
  Span first(Span bytes, std::size_t n) {
    if (n > bytes.size()) bad("a value that ends behind it");
    spend(n);
    return bytes.first(n);
  }
  Span from(Span bytes, std::size_t offset) const {
    if (offset > bytes.size()) bad("an offset behind its end");
    return bytes.subspan(offset);
  }
  std::uint64_t number(Span bytes, std::size_t n) { return load_little(first(bytes, n).data(), n); }

  /// Takes the length off the bytes that it stands before.
  std::size_t take_length(Span& bytes) {
    std::size_t length = 0;
    for (std::size_t i = 0; i < 5; ++i) {
      const std::uint64_t byte = number(bytes, 1);
      bytes = bytes.subspan(1);
      length |= static_cast<std::size_t>(byte & 127) << (7 * i);
      if (byte < 128) return length;
    }
    bad("a length of more than 5 bytes");
  }

  template <typename Number>
  void append(Number value) {
    text += std::to_string(value);
  }

  void literal(std::uint64_t which) {
    constexpr std::array<const char*, 3> kLiterals = {"null", "true", "false"};
    if (which > 2) bad("the literal " + std::to_string(which));
    text += kLiterals[static_cast<std::size_t>(which)];
  }

  void real(std::uint64_t bits) {
    double value;
    std::memcpy(&value, &bits, sizeof value);
    std::array<char, 40> digits;
    const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), value);
    const std::string_view printed(digits.data(), static_cast<std::size_t>(end - digits.data()));
    text += printed;
    if (printed.find_first_not_of("-0123456789") == std::string_view::npos) text += ".0";
  }

  void quoted(Span bytes) {
    constexpr std::string_view kHex = "0123456789abcdef";
    if (!is_utf8(bytes)) bad("a text that is no UTF-8");
    text += '"';
    for (const std::uint8_t byte : bytes) {
      const char c = static_cast<char>(byte);
      if (c == '"' || c == '\\') {
        text += '\\';
        text += c;
      } else if (byte >= 32) {
        text += c;
      } else if (const std::size_t at = std::string_view("\b\t\n\f\r").find(c);
                 at != std::string_view::npos) {
        text += '\\';
        text += "btnfr"[at];
      } else {
        text += "\\u00";
        text += kHex[byte >> 4];
        text += kHex[byte & 15];
      }
    }
    text += '"';
  }

  void opaque(Span bytes) {
    const std::uint64_t type = number(bytes, 1);
    bytes = bytes.subspan(1);
    const std::size_t length = take_length(bytes);
    const Span data = first(bytes, length);
    if (type == static_cast<std::uint8_t>(Type::decimal) && length > 2) {
      const Column column{.type = Type::decimal,
                          .metadata = static_cast<std::uint16_t>(data[0] << 8 | data[1])};
      if (data[0] >= 1 && data[0] <= 65 && data[1] <= 30 && data[1] <= data[0] &&
          decimal_bytes(data[0], data[1]) == length - 2)
        return append_text(text, column, data.subspan(2), event_);
    }
    text += "\"type " + std::to_string(type) + " ";
    append_text(text, {.type = Type::blob, .metadata = 4, .collation = 63}, data, event_);
    text += '"';
  }

  void container(std::uint8_t code, Span bytes, std::size_t depth) {
    if (depth >= kDeepest) bad("more than 100 levels");
    const bool is_object = code == kSmallObject || code == kLargeObject;
    const std::size_t wide = code == kLargeObject || code == kLargeArray ? 4 : 2;
    const Span head = first(bytes, 2 * wide);
    const std::size_t n = size_at(head.data(), wide);
    const std::size_t size = size_at(head.data() + wide, wide);
    if (size > bytes.size()) bad("a container that ends behind it");
    bytes = bytes.first(size);
    const std::size_t key_entry = is_object ? wide + 2 : 0;
    const std::size_t entry = wide + 1;
    if (size < 2 * wide || n > (size - 2 * wide) / (key_entry + entry)) bad("more members than bytes");
    spend(n * (key_entry + entry));
    text += is_object ? '{' : '[';
    for (std::size_t i = 0; i < n; ++i) {
      if (i > 0) text += ", ";
      if (is_object) {
        const std::uint8_t* const at = bytes.data() + 2 * wide + i * key_entry;
        quoted(first(from(bytes, size_at(at, wide)), size_at(at + wide, 2)));
        text += ": ";
      }
      const Span value_entry = bytes.subspan(2 * wide + n * key_entry + i * entry, entry);
      const std::uint8_t type = value_entry[0];
      const bool is_inline = type == kLiteral || type == kInt16 || type == kUint16 ||
                             (wide == 4 && (type == kInt32 || type == kUint32));
      if (is_inline) {
        budget_ += 4;  // paid with the entry
        value(type, value_entry.subspan(1), depth + 1);
        budget_ -= std::min<std::size_t>(budget_, 4 - (type == kLiteral                    ? 1
                                                       : type == kInt16 || type == kUint16 ? 2
                                                                                           : 4));
      } else {
        value(type, from(bytes, size_at(value_entry.data() + 1, wide)), depth + 1);
      }
    }
    text += is_object ? '}' : ']';
  }

  std::uint64_t event_;
  std::size_t budget_;
};

}  // namespace

std::string json_binary(const Json& document) {
  Buffer body;
  const Code code = put(body, document, 0);
  std::string all(1, static_cast<char>(code));
  all.append(reinterpret_cast<const char*>(body.data()), body.size());
  return all;
}

std::string json_text(Span document, std::uint64_t event) {
  if (document.empty()) return "null";  // what an old row has where JSON became NOT NULL
  Printer printer(document.subspan(1), event);
  printer.value(document[0], document.subspan(1), 0);
  return std::move(printer.text);
}

}  // namespace engineroom::binlog
