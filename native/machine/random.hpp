// Random numbers that are equal on every compiler and processor: integers only, tables instead of logarithms.
//
// Models      think times, service times, the jitter of spin loops
// Leaves out  floating point; an exponential is exact to about 3 in a million
// Cost        a few ns per draw, no allocation
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace engineroom::machine {

/// Mixes 64 bits so that equal steps of the input give unrelated outputs (SplitMix64's finaliser).
constexpr std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
  return x ^ (x >> 31);
}

/// The upper half of a 64 by 64 bit product.
constexpr std::uint64_t high_product(std::uint64_t a, std::uint64_t b) {
  return static_cast<std::uint64_t>((static_cast<unsigned __int128>(a) * b) >> 64);
}

class Random {
 public:
  Random() = default;
  explicit constexpr Random(std::uint64_t seed, std::uint64_t stream = 0)
      : state_(mixed(seed + mixed(stream + 0x9E3779B97F4A7C15U))) {}

  constexpr std::uint64_t next() {
    state_ += 0x9E3779B97F4A7C15U;
    return mixed(state_);
  }
  /// Uniform in [0, n); n of 0 gives 0.
  constexpr std::uint64_t below(std::uint64_t n) { return high_product(next(), n); }
  /// Whether they give the same numbers from here on.
  constexpr bool operator==(const Random&) const = default;

 private:
  std::uint64_t state_ = 0;
};

namespace random_internal {

constexpr unsigned kTableBits = 8;

/// log2 of 1 + i/256 in units of 2^-32, by repeated squaring.
constexpr std::uint64_t log2_of(std::uint64_t i) {
  std::uint64_t x = (std::uint64_t{1} << 63) + (i << (63 - kTableBits));  // in units of 2^-63, 1 <= x < 2
  if (i >> kTableBits) return std::uint64_t{1} << 32;
  std::uint64_t log = 0;
  for (int bit = 0; bit < 33; ++bit) {
    const unsigned __int128 square = static_cast<unsigned __int128>(x) * x;  // in units of 2^-126
    log <<= 1;
    if (square >> 127) {
      log |= 1;
      x = static_cast<std::uint64_t>(square >> 64);
    } else {
      x = static_cast<std::uint64_t>(square >> 63);
    }
  }
  return (log + 1) >> 1;
}

constexpr auto make_table() {
  std::array<std::uint64_t, (std::size_t{1} << kTableBits) + 1> table{};
  for (std::size_t i = 0; i < table.size(); ++i) table[i] = log2_of(i);
  return table;
}

inline constexpr auto kLog2 = make_table();
inline constexpr std::uint64_t kLn2 = 2977044472;  // ln 2 in units of 2^-32

}  // namespace random_internal

/// Exponentially distributed with the mean given, from 64 uniform bits.
constexpr std::uint64_t exponential(std::uint64_t bits, std::uint64_t mean) {
  using namespace random_internal;
  bits |= 1;
  const auto zeros = static_cast<unsigned>(std::countl_zero(bits));
  const std::uint64_t fraction = (bits << zeros) << 1;  // of the mantissa, in units of 2^-64
  const auto cell = static_cast<std::size_t>(fraction >> (64 - kTableBits));
  const std::uint64_t within = (fraction << kTableBits) >> 32;  // in units of 2^-32
  const std::uint64_t low = kLog2[cell];
  const std::uint64_t log2 = low + (((kLog2[cell + 1] - low) * within) >> 32);
  const std::uint64_t minus_log2 = ((std::uint64_t{1} + zeros) << 32) - log2;
  const auto minus_ln = static_cast<std::uint64_t>((static_cast<unsigned __int128>(minus_log2) * kLn2) >> 32);
  return static_cast<std::uint64_t>((static_cast<unsigned __int128>(minus_ln) * mean) >> 32);
}

}  // namespace engineroom::machine
