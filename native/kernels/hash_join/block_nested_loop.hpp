// Block nested loop join: a bufferful of outer rows shares one scan of the inner table.
//
// Models      JOIN_CACHE_BNL (5.6 to 8.0.19), match flags in the buffer included
// Leaves out  the fields' offsets in the buffer; skipping a buffer whose rows are all matched
// Cost        outer rows * inner rows comparisons, as a nested loop: only the scans of the inner table get
//             fewer
#pragma once

#include <cstdint>

#include "common/interrupt.hpp"
#include "hash_join/join_result.hpp"
#include "hash_join/relation.hpp"

namespace engineroom::hash_join {

struct BlockNestedLoopOptions {
  JoinType join = JoinType::inner;
  ExtraCondition extra = {};
  bool keep_rows = true;
  std::uint64_t join_buffer_bytes = 262144;
  /// Bytes of an outer row in the buffer; 0 stands for what the columns need.
  std::uint64_t row_bytes = 0;
};

/// Here the probe rows are the buffered, outer ones and the build rows the scanned, inner ones. A buffer
/// smaller than a row takes one row. The result comes buffer by buffer, in each in inner order; then the
/// buffer's unmatched rows.
JoinResult block_nested_loop_join(const Relation& build, const Relation& probe,
                                  const BlockNestedLoopOptions& options, Interrupt interrupt = {});

}  // namespace engineroom::hash_join
