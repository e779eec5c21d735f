// Which keys may be on the build side: one bit pattern per key in one word, to leave out probe rows early.
//
// Idea        a row that matches nothing need not be cut into a partition, kept and looked up
// Models      the bloom filter that other engines push into the scan of the probe side; MySQL has none
// Leaves out  deletion; a second word per key
// Cost        2 to 4 bytes per build row and one read per row. A word takes four keys on the average and each sets three
//             of its bits: about one row in a hundred that matches nothing passes
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "common/metered.hpp"
#include "hash_join/fast_table.hpp"

namespace engineroom::hash_join {

class KeyFilter {
 public:
  KeyFilter(std::size_t rows, Meter& meter) : words_(MeteredAllocator<std::uint64_t>(meter)) {
    const std::size_t n = std::bit_ceil(std::max<std::size_t>(rows / 4, 2));
    words_.resize(n);
    std::ranges::fill(words_, 0);
    shift_ = 64 - static_cast<unsigned>(std::countr_zero(n));
  }

  void insert(const HashedRows& rows) {
    for (std::size_t i = 0; i < rows.size; ++i)
      words_[word(rows.hash[i * rows.stride])] |= bits(rows.hash[i * rows.stride]);
  }

  /// Moves the hashes and values of the rows that may match to the front, in their order; returns how many they are.
  /// The arrays may be those of the rows.
  std::size_t keep(const HashedRows& rows, std::uint64_t* hash, std::uint64_t* value) const {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < rows.size; ++i) {
      const std::uint64_t h = rows.hash[i * rows.stride];
      const std::uint64_t asked = bits(h);
      hash[kept] = h;
      value[kept] = rows.value[i * rows.stride];
      kept += (words_[word(h)] & asked) == asked;
    }
    return kept;
  }

 private:
  // The word is chosen by the upper bits of the hash, as the bucket is; the bits by others.
  std::size_t word(std::uint64_t hash) const { return static_cast<std::size_t>(hash >> shift_); }
  static std::uint64_t bits(std::uint64_t hash) {
    return std::uint64_t{1} << (hash & 63) | std::uint64_t{1} << (hash >> 6 & 63) |
           std::uint64_t{1} << (hash >> 12 & 63);
  }

  MeteredVector<std::uint64_t> words_;
  unsigned shift_;
};

}  // namespace engineroom::hash_join
