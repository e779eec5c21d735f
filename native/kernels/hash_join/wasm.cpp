// The hybrid hash join for the browser: draws the keys, joins, leaves the counters for JavaScript to read.
//
// Leaves out  result rows (only their count), NULL keys, join types other than inner; chunk files are memory
//             that is counted
#include <array>
#include <cstdint>
#include <vector>

#include "common/storage.hpp"
#include "hash_join/hybrid.hpp"
#include "hash_join/skewed_keys.hpp"
#include "wasm/exports.hpp"

namespace {

namespace hash_join = engineroom::hash_join;

constexpr std::size_t kRowBytes = 100;  // a key and a few columns beside it
constexpr std::uint64_t kBuildSeed = 1;
constexpr std::uint64_t kProbeSeed = 2;

std::array<std::uint64_t, 15> values;  // in the order of COUNTERS in hash_join.js

}  // namespace

/// Joins `build_rows` rows whose keys have the skew with `probe_rows` rows whose keys have none, out of as
/// many different keys as there are build rows. Returns the address of `values`.
ENGINEROOM_EXPORT("run")
const std::uint64_t* run(std::uint32_t build_rows, std::uint32_t probe_rows, std::uint32_t skew_quarters,
                         std::uint32_t estimated_build_rows, std::uint32_t join_buffer_bytes) {
  const std::vector<std::int64_t> build =
      hash_join::skewed_keys(build_rows, build_rows, skew_quarters, kBuildSeed);
  const std::vector<std::int64_t> probe = hash_join::skewed_keys(probe_rows, build_rows, 0, kProbeSeed);
  const hash_join::HybridOptions options{.keep_rows = false,
                                         .join_buffer_bytes = join_buffer_bytes,
                                         .estimated_build_rows = estimated_build_rows,
                                         .row_bytes = kRowBytes};
  engineroom::MemoryStorage storage;
  const hash_join::JoinResult result = hybrid_hash_join({.key = build}, {.key = probe}, options, storage);
  const hash_join::Counters& c = result.counters;
  values = {result.count, c.build_rows_in_memory, c.passes,           c.chunk_files,     c.rows_written,
            c.rows_read,  c.bytes_written,        c.bytes_read,       c.hash_probes,     c.peak_memory_bytes,
            c.work_build, c.work_probe,           c.work_spill_write, c.work_spill_read, c.work_chunk_join};
  return values.data();
}
