// Memory that is read next, asked for a cache line at a time while something else is computed.
//
// A processor foresees a stream only once it has seen a few of its lines, and forgets it at the end of a
// page: of rows that lie in many small pieces it sees little but beginnings.
#pragma once

#include <cstddef>
#include <span>

namespace engineroom {

/// Up to two pieces of memory, one after the other. Asking changes nothing but time.
class ReadAhead {
 public:
  /// A caller that takes a step so often asks for as many bytes as it works through, at 16 bytes per row.
  static constexpr std::size_t kRowsPerStep = 4;

  ReadAhead() = default;
  template <typename T, typename U = std::byte>
  explicit ReadAhead(std::span<const T> first, std::span<const U> second = {})
      : next_(std::as_bytes(first)), second_(std::as_bytes(second)) {}

  /// Asks for one line, if one is left.
  void step() {
    if (next_.empty()) {
      if (second_.empty()) return;
      next_ = second_;
      second_ = {};
    }
#if defined(__GNUC__)
    __builtin_prefetch(next_.data());
#endif
    next_ = next_.subspan(next_.size() < kLine ? next_.size() : kLine);
  }

 private:
  static constexpr std::size_t kLine = 64;

  std::span<const std::byte> next_;
  std::span<const std::byte> second_;
};

}  // namespace engineroom
