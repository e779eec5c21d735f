// Hash join that keeps what fits into the join buffer and spills the rest.
//
// Models      what MySQL's hash join does, in its order: rows kept, rows written, files read (8.0.18 inner
//             joins, 8.0.20 and later all join types; memory as in 9.7)
// Leaves out  keys other than one integer column under `=`; the server's batch mode; errors while reading
// Cost        build rows + probe rows in memory; spilled, each row left is written and read once more, and
//             a chunk that does not fit is paid with another reading of its probe chunk for each filling
//
// Phase 1 fills the hash table from the build input. If it fits, every probe row is looked up and that is
// all. If the buffer fills first, the rest of the build input goes to chunk files by another hash; then the
// probe rows are looked up in what is in memory AND written to their chunk files, since a match may lie
// there. Phase 2 joins each pair of chunk files as a small hash join. Without permission to spill (LIMIT),
// the table is filled, probed with the whole probe input, and filled again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "common/described.hpp"
#include "common/interrupt.hpp"
#include "common/storage.hpp"
#include "hash_join/join_result.hpp"
#include "hash_join/relation.hpp"

namespace engineroom::hash_join {

struct HybridOptions {
  JoinType join = JoinType::inner;
  ExtraCondition extra = {};
  bool keep_rows = true;
  std::uint64_t join_buffer_bytes = 262144;  // below 16 KiB it acts as 16 KiB
  /// What the optimizer believes. Decides the number of chunk files; the true number when not given.
  std::optional<std::uint64_t> estimated_build_rows = std::nullopt;
  bool allow_spill = true;
  std::optional<std::size_t> row_bytes = {};  // width of a packed row on both sides
  std::uint32_t max_chunks = 128;             // a power of two up to 128
  /// Look for a first probe row before anything is built: nothing is built for an empty probe input.
  bool probe_row_first = false;
  std::size_t trace_limit = 0;  // steps to keep
};
constexpr auto described(options::Of<HybridOptions>) {
  using C = HybridOptions;
  return options::list<C>(
      "a hybrid hash join",
      {options::option<&C::join>(kJoinMeaning),
       options::option<&C::extra, &ExtraCondition::max_diff>(kMaxDiffMeaning),
       options::option<&C::join_buffer_bytes>({.least = 128},
                                              "as the variable of the server; below 16384 it acts as 16384"),
       options::option<&C::estimated_build_rows>(
           "what the optimizer believes, which decides the number of chunk files; None for the true number"),
       options::option<&C::allow_spill>("False for refill mode, as under LIMIT: no chunk files, the probe "
                                        "input is read again for each filling"),
       options::option<&C::row_bytes>({.least = 1},
                                      "of a packed row on both sides; None for what the columns need, 12 or "
                                      "with a payload 20"),
       options::option<&C::max_chunks>({.least = 1, .most = 128, .is_power_of_two = true},
                                       "most pairs of chunk files"),
       options::option<&C::probe_row_first>("read a probe row before anything is built, so that an empty "
                                            "probe input ends the join at once"),
       options::option<&C::trace_limit>("trace",
                                        "number of steps to keep in Result.trace; what each did is a Step")});
}

/// Number of pairs of chunk files: enough for each to fill nine tenths of the memory, as far as the estimate
/// knows, and a power of two. The server counts the different keys in memory where rows would be right (seen
/// on 9.7.4): a build side of 8000 rows with 80 keys gets 128 pairs when two would do.
std::uint32_t chunk_count(std::uint64_t estimated_build_rows, std::uint64_t keys_in_memory,
                          std::uint32_t max_chunks);

/// In memory, the result comes in probe order and the matches of a row newest first; spilled, in no order.
JoinResult hybrid_hash_join(const Relation& build, const Relation& probe, const HybridOptions& options,
                            Storage& storage, Interrupt interrupt = {});

}  // namespace engineroom::hash_join
