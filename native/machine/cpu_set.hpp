// A set of up to 256 CPUs as four words.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace engineroom::machine {

class CpuSet {
 public:
  static constexpr std::uint32_t kMost = 256;

  bool has(std::uint32_t cpu) const { return (words_[cpu / 64] >> (cpu % 64)) & 1; }
  void add(std::uint32_t cpu) { words_[cpu / 64] |= bit(cpu); }
  void remove(std::uint32_t cpu) { words_[cpu / 64] &= ~bit(cpu); }
  bool none() const { return (words_[0] | words_[1] | words_[2] | words_[3]) == 0; }
  bool only(std::uint32_t cpu) const {
    std::uint64_t others = 0;
    for (std::uint32_t i = 0; i < words_.size(); ++i) others |= words_[i] ^ (i == cpu / 64 ? bit(cpu) : 0);
    return others == 0;
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
  /// Whether the two have one in common.
  bool meets(const CpuSet& other) const {
    std::uint64_t common = 0;
    for (std::size_t i = 0; i < words_.size(); ++i) common |= words_[i] & other.words_[i];
    return common != 0;
  }
  /// Whether each is in the other, too.
  bool is_within(const CpuSet& other) const {
    std::uint64_t outside = 0;
    for (std::size_t i = 0; i < words_.size(); ++i) outside |= words_[i] & ~other.words_[i];
    return outside == 0;
  }
  void become(std::uint32_t cpu) {
    words_ = {};
    add(cpu);
  }
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
  static std::uint64_t bit(std::uint32_t cpu) { return std::uint64_t{1} << (cpu % 64); }

  std::array<std::uint64_t, 4> words_{};
};

}  // namespace engineroom::machine
