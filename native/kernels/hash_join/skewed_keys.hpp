// Join keys with a chosen skew: the k-th most frequent of `distinct` values appears in proportion to k to the
// power of minus skew, as in a Zipf law.
//
// Models      the join columns of a test table, from all keys equally frequent to one key that holds most
//             rows
// Leaves out  order: keys come in random order, as rows of a table that is not sorted by them
// Cost        O(distinct) once, then O(log distinct) a key
//
// Integers only, so that the browser and every compiler draw the same keys: the power of a quarter is two
// integer square roots.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/interrupt.hpp"

namespace engineroom::hash_join {

inline constexpr std::uint32_t kMaxSkewQuarters = 8;  // a skew of 2
/// Beyond it the sum of weights could overflow.
inline constexpr std::size_t kMaxDistinct = std::size_t{1} << 24;

/// `rows` keys out of `distinct` values, drawn by `seed`; the skew is `skew_quarters` / 4, and 0 is no skew.
/// The values are scattered over all of int64 and depend on the rank alone: two calls share their keys.
std::vector<std::int64_t> skewed_keys(std::size_t rows, std::size_t distinct, std::uint32_t skew_quarters,
                                      std::uint64_t seed, Interrupt interrupt = {});

}  // namespace engineroom::hash_join
