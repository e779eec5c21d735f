// Index nested loop join: for every probe (outer) row, one descent in an index on the build (inner) rows.
//
// Models      NestedLoopIterator over RefIterator ("Index lookup on ..." in a plan; all versions)
// Leaves out  what the index leaves out (sorted_index.hpp); the index is there before the join, so that
//             making it is not counted
// Cost        outer rows * (levels * log2(fan-out)) comparisons, plus one for each match
#pragma once

#include <cstddef>

#include "common/described.hpp"
#include "common/interrupt.hpp"
#include "hash_join/join_result.hpp"
#include "hash_join/relation.hpp"

namespace engineroom::hash_join {

struct IndexNestedLoopOptions {
  JoinType join = JoinType::inner;
  ExtraCondition extra = {};
  bool keep_rows = true;
  /// About what a 16 KiB page of a secondary index holds.
  std::size_t entries_per_page = 512;
};
constexpr auto described(options::Of<IndexNestedLoopOptions>) {
  using C = IndexNestedLoopOptions;
  return options::list<C>("an index nested loop join",
                          {options::option<&C::join>(kJoinMeaning),
                           options::option<&C::extra, &ExtraCondition::max_diff>(kMaxDiffMeaning),
                           options::option<&C::entries_per_page>({.least = 2}, "fan-out of the index")});
}

/// Result in probe order, the matches of a probe row in build order. Counters: build_rows_read are rows that
/// the index found, page_visits the pages read for them.
JoinResult index_nested_loop_join(const Relation& build, const Relation& probe,
                                  const IndexNestedLoopOptions& options, Interrupt interrupt = {});

}  // namespace engineroom::hash_join
