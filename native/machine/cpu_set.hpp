// A set of up to 256 CPUs as four words.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace engineroom::machine {

class CpuSet {
 public:
  static constexpr std::uint32_t kMost = 256;

  bool has(std::uint32_t cpu) const { return (words_[cpu / 64] >> (cpu % 64)) & 1; }
  void add(std::uint32_t cpu) { words_[cpu / 64] |= std::uint64_t{1} << (cpu % 64); }
  void remove(std::uint32_t cpu) { words_[cpu / 64] &= ~(std::uint64_t{1} << (cpu % 64)); }
  bool none() const { return (words_[0] | words_[1] | words_[2] | words_[3]) == 0; }
  bool only(std::uint32_t cpu) const {
    CpuSet rest = *this;
    rest.remove(cpu);
    return has(cpu) && rest.none();
  }
  /// The one that is in it, or kMost where there is none or another.
  std::uint32_t only_one() const {
    std::uint32_t found = kMost;
    for (std::uint32_t i = 0; i < words_.size(); ++i) {
      if (words_[i] == 0) continue;
      if (found != kMost || !std::has_single_bit(words_[i])) return kMost;
      found = 64 * i + static_cast<std::uint32_t>(std::countr_zero(words_[i]));
    }
    return found;
  }
  void become(std::uint32_t cpu) {
    words_ = {};
    add(cpu);
  }
  /// Whether there is one in [from, to).
  bool any_in(std::uint32_t from, std::uint32_t to) const { return first_in(from, to) < to; }
  /// The first in [from, to), or `to`.
  std::uint32_t first_in(std::uint32_t from, std::uint32_t to) const {
    for (std::uint32_t at = from; at < to; at = (at / 64 + 1) * 64) {
      const std::uint64_t word = words_[at / 64] >> (at % 64);
      if (word != 0) {
        const std::uint32_t found = at + static_cast<std::uint32_t>(std::countr_zero(word));
        return found < to ? found : to;
      }
    }
    return to;
  }

 private:
  std::array<std::uint64_t, 4> words_{};
};

}  // namespace engineroom::machine
