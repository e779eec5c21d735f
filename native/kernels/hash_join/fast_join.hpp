// Our own equi-join: what a hash join can do with the caches and the threads of one machine.
//
// Idea        a table of one cache line per bucket; when it is larger than the caches, both sides are first cut
//             into partitions whose tables fit the second-level cache, and written out where memory ends. Keys that are
//             dense are an array, without hash and partition; of many probe rows of which few match, a filter
//             leaves out the others before they are cut; where only count and sum are asked for, the smaller side
//             is built
// Models      nothing of MySQL; the yardstick beside the server's hybrid hash join (hybrid.hpp)
// Leaves out  extra conditions, more than one level of partitions, keys other than 64-bit integers
// Cost        16 bytes per row of both sides (partitioned) or 64 bytes per build row (one table); `make bench`
//             measures the time, beside other engines. Memory outside the bound: the two relations, the
//             result, the places that bring its rows into order, and the system's page cache, in which rows
//             that were written out are read in place: a first spill to a cold disk takes longer
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "common/described.hpp"
#include "common/interrupt.hpp"
#include "common/metered.hpp"
#include "common/storage.hpp"
#include "common/workers.hpp"
#include "hash_join/join_result.hpp"
#include "hash_join/relation.hpp"

namespace engineroom::hash_join {

/// How the table is laid out; `automatic` decides by its size.
enum class FastLayout : std::uint8_t { automatic, one_table, partitioned, array };
constexpr auto named(names::Of<FastLayout>) { return names::as_written<FastLayout::array>("layout"); }

struct FastJoinOptions {
  JoinType join = JoinType::inner;
  bool keep_rows = true;
  std::size_t threads = 1;
  std::optional<std::uint64_t> memory_bytes = std::nullopt;  // none: as much as it takes
  FastLayout layout = FastLayout::automatic;
  bool may_swap = true;            // an inner join without rows may build the other side, where it is smaller
  Workspace* workspace = nullptr;  // large blocks come from here and go back
};
constexpr auto described(options::Of<FastJoinOptions>) {
  using C = FastJoinOptions;
  return options::list<C>(
      "our own join",
      {options::option<&C::join>(kJoinMeaning),
       options::option<&C::threads>({.least = 1, .most = 256},
                                    "how many work at once; the result is the same for any number"),
       options::option<&C::memory_bytes>(
           {.least = 1},
           "the most that the join takes besides its two inputs and its result; "
           "what does not fit is written to storage; None for no bound"),
       options::option<&C::layout>(
           "'partitioned' cuts both sides so that each part's table fits the cache; a "
           "table that does not fit into memory_bytes is always partitioned; 'array' takes rows by their key "
           "where keys are different numbers that lie close together, as 'automatic' does where it pays"),
       options::option<&C::may_swap>(
           "build the smaller side, where only count and sum of an inner join are asked for; False builds "
           "the side that is called so")});
}

/// Rows come in order of the probe row, then of the build row, whatever the threads and the memory. `storage`
/// is used only under a memory bound, from all threads, and each file from one thread at a time. `workers`
/// runs the threads; `interrupt` is asked on the calling thread only.
JoinResult fast_join(const Relation& build, const Relation& probe, const FastJoinOptions& options,
                     Storage& storage, const Workers& workers, Interrupt interrupt = {});

}  // namespace engineroom::hash_join
