// Bytes as a binary log has them: little-endian numbers, big-endian ones where values must sort, packed lengths.
//
// Models      the pack and unpack macros of the server (5.6 to 9.7)
// Leaves out  strings that end with a zero byte: the log says every length
// Cost        a comparison per number, on both sides
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#if defined(__cpp_exceptions)
#include <stdexcept>
#endif

namespace engineroom::binlog {

using Span = std::span<const std::uint8_t>;

#if defined(__cpp_exceptions)
/// The bytes are not a binary log's. `position` is where in the file; inside a compressed transaction, where its event begins.
class Damaged : public std::runtime_error {
 public:
  Damaged(std::uint64_t position, const std::string& problem)
      : std::runtime_error("at position " + std::to_string(position) + ": " + problem), position(position) {}
  std::uint64_t position;
};
#endif

[[noreturn]] inline void damaged([[maybe_unused]] std::uint64_t position,
                                 [[maybe_unused]] const std::string& problem) {
#if defined(__cpp_exceptions)
  throw Damaged(position, problem);
#else
  __builtin_trap();
#endif
}

/// Bytes that grow; what was reserved and not yet written is not initialised.
class Buffer {
 public:
  const std::uint8_t* data() const { return bytes_.get(); }
  std::uint8_t* data() { return bytes_.get(); }
  std::size_t size() const { return size_; }
  Span span() const { return {bytes_.get(), size_}; }
  void clear() { size_ = 0; }

  /// Room for n more bytes, which count as written.
  std::uint8_t* grow(std::size_t n) {
    if (capacity_ - size_ < n) enlarge(n);
    std::uint8_t* const at = bytes_.get() + size_;
    size_ += n;
    return at;
  }
  void put(Span bytes) {
    if (!bytes.empty()) std::memcpy(grow(bytes.size()), bytes.data(), bytes.size());
  }
  void put(std::string_view text) { put({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}); }
  /// The lowest n bytes of a number, lowest first.
  void little(std::uint64_t value, std::size_t n) { store_little(grow(n), value, n); }
  /// The same, highest first.
  void big(std::uint64_t value, std::size_t n) {
    std::uint8_t* const at = grow(n);
    for (std::size_t i = 0; i < n; ++i) at[i] = static_cast<std::uint8_t>(value >> (8 * (n - 1 - i)));
  }
  /// A length: one byte below 251, else a byte that says how many follow.
  void packed(std::uint64_t value) {
    if (value < 251) {
      little(value, 1);
    } else if (value < (1U << 16)) {
      *grow(1) = 252;
      little(value, 2);
    } else if (value < (1U << 24)) {
      *grow(1) = 253;
      little(value, 3);
    } else {
      *grow(1) = 254;
      little(value, 8);
    }
  }
  static void store_little(std::uint8_t* at, std::uint64_t value, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) at[i] = static_cast<std::uint8_t>(value >> (8 * i));
  }
  /// Keeps the first n bytes.
  void cut(std::size_t n) { size_ = n; }
  /// Drops the first n bytes.
  void drop(std::size_t n) {
    size_ -= n;
    if (size_ > 0) std::memmove(bytes_.get(), bytes_.get() + n, size_);
  }

 private:
  void enlarge(std::size_t n) {
    capacity_ = std::max({size_ + n, capacity_ * 2, std::size_t{4096}});
    auto larger = std::make_unique_for_overwrite<std::uint8_t[]>(capacity_);
    if (size_ > 0) std::memcpy(larger.get(), bytes_.get(), size_);
    bytes_ = std::move(larger);
  }

  std::unique_ptr<std::uint8_t[]> bytes_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

inline std::uint64_t load_little(const std::uint8_t* at, std::size_t n) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < n; ++i) value |= static_cast<std::uint64_t>(at[i]) << (8 * i);
  return value;
}

inline std::uint64_t load_big(const std::uint8_t* at, std::size_t n) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < n; ++i) value = value << 8 | at[i];
  return value;
}

/// Reads bytes in order and never past their end. `event` is the position that an error names.
class Cursor {
 public:
  Cursor(Span bytes, std::uint64_t event) : bytes_(bytes), event_(event) {}

  std::size_t left() const { return bytes_.size() - at_; }
  std::size_t offset() const { return at_; }
  std::uint64_t event() const { return event_; }
  bool at_end() const { return left() == 0; }

  Span take(std::uint64_t n, const char* what) {
    if (n > left()) {
      damaged(event_, std::string(what) + " needs " + std::to_string(n) + " bytes and " +
                          std::to_string(left()) + " are left in the event");
    }
    const Span taken = bytes_.subspan(at_, static_cast<std::size_t>(n));
    at_ += static_cast<std::size_t>(n);
    return taken;
  }
  std::uint64_t little(std::size_t n, const char* what) { return load_little(take(n, what).data(), n); }
  std::uint64_t packed(const char* what) {
    const std::uint64_t first = little(1, what);
    if (first < 251) return first;
    if (first == 251 || first == 255) {
      damaged(event_, std::string(what) + " begins with byte " + std::to_string(first) +
                          ", which begins no packed number");
    }
    return little(first == 252 ? 2 : first == 253 ? 3 : 8, what);
  }

 private:
  Span bytes_;
  std::size_t at_ = 0;
  std::uint64_t event_;
};

/// Whether the bytes are UTF-8 as JSON takes it: no surrogates, and nothing longer than it has to be.
inline bool is_utf8(Span text) {
  for (std::size_t i = 0; i < text.size();) {
    const std::uint8_t first = text[i++];
    if (first < 0x80) continue;
    const std::size_t more = first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : 1;
    if (first < 0xC2 || first > 0xF4 || more > text.size() - i) return false;
    const std::uint8_t least = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
    const std::uint8_t most = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
    if (text[i] < least || text[i] > most) return false;
    for (std::size_t k = 1; k < more; ++k) {
      if ((text[i + k] & 0xC0) != 0x80) return false;
    }
    i += more;
  }
  return true;
}

inline bool bit(Span bits, std::size_t i) { return (bits[i / 8] >> (i % 8) & 1) != 0; }
inline std::size_t bitmap_bytes(std::size_t n) { return (n + 7) / 8; }

/// The CRC-32 of Ethernet and zlib, as `binlog_checksum=CRC32` writes it; `before` continues one.
std::uint32_t crc32(Span bytes, std::uint32_t before = 0);

}  // namespace engineroom::binlog
