// Block nested loop join: a bufferful of outer rows shares one scan of the inner table.
//
// Models      JOIN_CACHE_BNL (5.6 to 8.0.19), match flags in the buffer included
// Leaves out  the fields' offsets in the buffer; skipping a buffer whose rows are all matched
// Cost        outer rows * inner rows comparisons, as a nested loop: only the scans of the inner table get
//             fewer
#pragma once

#include <cstdint>
#include <optional>

#include "common/described.hpp"
#include "common/interrupt.hpp"
#include "hash_join/join_result.hpp"
#include "hash_join/relation.hpp"

namespace engineroom::hash_join {

struct BlockNestedLoopOptions {
  JoinType join = JoinType::inner;
  ExtraCondition extra = {};
  bool keep_rows = true;
  std::uint64_t join_buffer_bytes = 262144;
  std::optional<std::uint64_t> row_bytes = {};
};
constexpr auto described(options::Of<BlockNestedLoopOptions>) {
  using C = BlockNestedLoopOptions;
  return options::list<C>(
      "a block nested loop join",
      {options::option<&C::join>(kJoinMeaning),
       options::option<&C::extra, &ExtraCondition::max_diff>(kMaxDiffMeaning),
       options::option<&C::join_buffer_bytes>({.least = 1}, "a buffer smaller than a row takes one row"),
       options::option<&C::row_bytes>({.least = 1},
                                      "of a probe row in the buffer; None for what the columns need, 12 or "
                                      "with a payload 20")});
}

/// Here the probe rows are the buffered, outer ones and the build rows the scanned, inner ones. A buffer
/// smaller than a row takes one row. The result comes buffer by buffer, in each in inner order; then the
/// buffer's unmatched rows.
JoinResult block_nested_loop_join(const Relation& build, const Relation& probe,
                                  const BlockNestedLoopOptions& options, Interrupt interrupt = {});

}  // namespace engineroom::hash_join
