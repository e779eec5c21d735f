#include "hash_join/random_reads.hpp"

#include <algorithm>
#include <array>

#include "common/require.hpp"
#include "hash_join/fast_table.hpp"

namespace engineroom::hash_join {

RandomReads::RandomReads(std::size_t bytes) {
  const std::size_t lines = std::max<std::size_t>((bytes + 63) / 64, 1);
  words_.resize(lines * kWordsPerLine);
  std::ranges::fill(words_, 1);
}

std::uint64_t RandomReads::run(std::span<const std::int64_t> keys, std::span<const std::int64_t> values,
                               bool prefetch) const {
  if (keys.size() != values.size()) refuse("values must be as many as keys");
  constexpr std::size_t kBlock = FastTable::kBlock;
  constexpr std::size_t kAhead = FastTable::kAhead;
  const std::uint64_t lines = words_.size() / kWordsPerLine;
  std::array<std::uint64_t, kBlock + kAhead> word{};
  std::uint64_t sum = 0;
  for (std::size_t begin = 0; begin < keys.size(); begin += kBlock) {
    const std::size_t n = std::min(kBlock, keys.size() - begin);
    hash_keys(keys.subspan(begin, n), word.data());
    for (std::size_t i = 0; i < n; ++i) word[i] = (((word[i] >> 32) * lines) >> 32) * kWordsPerLine;
    if (prefetch) {
      for (std::size_t i = 0; i < n; ++i) {
        __builtin_prefetch(words_.data() + word[i + kAhead]);
        sum += words_[word[i]] + static_cast<std::uint64_t>(values[begin + i]);
      }
    } else {
      for (std::size_t i = 0; i < n; ++i) {
        sum += words_[word[i]] + static_cast<std::uint64_t>(values[begin + i]);
      }
    }
  }
  return sum;
}

}  // namespace engineroom::hash_join
