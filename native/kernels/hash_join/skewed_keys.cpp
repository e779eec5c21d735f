#include "hash_join/skewed_keys.hpp"

#include <algorithm>
#include <string>

#include "common/require.hpp"

namespace engineroom::hash_join {

namespace {

/// The finaliser of splitmix64: one to one, so that different ranks give different keys.
std::uint64_t scatter(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

/// The largest integer whose square is at most `x`.
std::uint64_t integer_sqrt(std::uint64_t x) {
  std::uint64_t root = 0;
  for (std::uint64_t bit = std::uint64_t{1} << 62; bit != 0; bit >>= 2) {
    if (x >= root + bit) {
      x -= root + bit;
      root = (root >> 1) + bit;
    } else {
      root >>= 1;
    }
  }
  return root;
}

/// 2^32 * rank^(-skew), at least 1.
std::uint64_t weight(std::uint64_t rank, std::uint32_t skew_quarters) {
  const std::uint64_t fourth_root = integer_sqrt(integer_sqrt(rank << 32) << 16);  // 16 bits after the point
  std::uint64_t result = std::uint64_t{1} << 32;
  for (std::uint32_t i = 0; i < skew_quarters; ++i) result = (result << 16) / fourth_root;
  return std::max<std::uint64_t>(result, 1);
}

}  // namespace

std::vector<std::int64_t> skewed_keys(std::size_t rows, std::size_t distinct, std::uint32_t skew_quarters,
                                      std::uint64_t seed, Interrupt interrupt) {
  if (distinct < 1 || distinct > kMaxDistinct) {
    refuse("distinct is " + std::to_string(distinct) + ": pass 1 to " + std::to_string(kMaxDistinct));
  }
  if (skew_quarters > kMaxSkewQuarters) {
    refuse("skew_quarters is " + std::to_string(skew_quarters) + ": pass 0 to " +
           std::to_string(kMaxSkewQuarters));
  }
  std::vector<std::uint64_t> total(distinct);  // of the weights of ranks 1 to i + 1
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < distinct; ++i) {
    total[i] = sum += weight(i + 1, skew_quarters);
    interrupt.advance(32);  // two roots, bit by bit
  }

  // Not filled in advance: memory that is touched for the first time takes as long as a key, and cannot be interrupted.
  std::vector<std::int64_t> keys;
  keys.reserve(rows);
  for (std::size_t row = 0; row < rows; ++row) {
    interrupt.advance(8);  // a binary search
    // The remainder's bias is below 2^-8 even at the largest sum, and the same everywhere.
    const std::uint64_t drawn = scatter(scatter(seed) + row) % sum;
    const auto rank =
        static_cast<std::uint64_t>(std::upper_bound(total.begin(), total.end(), drawn) - total.begin());
    keys.push_back(static_cast<std::int64_t>(scatter(rank)));
  }
  return keys;
}

}  // namespace engineroom::hash_join
