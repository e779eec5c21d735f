// Nested loop join: for every probe (outer) row, look at every build (inner) row.
//
// Models      the server's NestedLoopIterator over two table scans, no index and no join buffer (all
//             versions; what is left in 8.0.20 and later when hash join is switched off by a hint)
// Leaves out  the storage engine: a row is an array element
// Cost        outer rows * inner rows comparisons; a semijoin or antijoin stops at the first match
#pragma once

#include "common/described.hpp"
#include "common/interrupt.hpp"
#include "hash_join/join_result.hpp"
#include "hash_join/relation.hpp"

namespace engineroom::hash_join {

struct NestedLoopOptions {
  JoinType join = JoinType::inner;
  ExtraCondition extra = {};
  bool keep_rows = true;
};
constexpr auto described(options::Of<NestedLoopOptions>) {
  using C = NestedLoopOptions;
  return options::list<C>("a nested loop join",
                          {options::option<&C::join>(kJoinMeaning),
                           options::option<&C::extra, &ExtraCondition::max_diff>(kMaxDiffMeaning)});
}

/// Result in probe order, the matches of a probe row in build order.
JoinResult nested_loop_join(const Relation& build, const Relation& probe, const NestedLoopOptions& options,
                            Interrupt interrupt = {});

}  // namespace engineroom::hash_join
