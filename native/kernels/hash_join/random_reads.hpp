// The most that memory gives to look-ups: reads of one cache line each, none of which waits for another.
//
// Idea        the same keys, hash, input streams and freedom to prefetch as the fast join's probe, and
//             nothing else
// Models      the limit that a probe is measured against
// Leaves out  comparing, matching, duplicates: the answer is a sum that has no meaning
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "common/metered.hpp"

namespace engineroom::hash_join {

class RandomReads {
 public:
  /// A table of `bytes`, rounded up to whole lines.
  explicit RandomReads(std::size_t bytes);

  /// Reads eight bytes of one line per key and adds them to the values, which are as many as the keys.
  std::uint64_t run(std::span<const std::int64_t> keys, std::span<const std::int64_t> values,
                    bool prefetch) const;

 private:
  static constexpr std::size_t kWordsPerLine = 8;

  Meter meter_;
  MeteredVector<std::uint64_t> words_{MeteredAllocator<std::uint64_t>(meter_)};
};

}  // namespace engineroom::hash_join
