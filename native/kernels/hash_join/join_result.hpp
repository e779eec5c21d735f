// What every join of this chapter gives back: rows or their count and sum, and what it counted on the way.
#pragma once

#include <cstdint>
#include <vector>

#include "hash_join/relation.hpp"

namespace engineroom::hash_join {

/// The number that stands for "no row": the NULL-complemented side of an outer join, and the build side of
/// a semijoin or antijoin, whose columns are not part of the result.
inline constexpr std::int64_t kNoRow = -1;

/// One row of the result, by the numbers of the rows it was made of.
struct JoinedRow {
  std::int64_t build_row;
  std::int64_t probe_row;
};

/// What a join did, exact and the same on every machine. A counter that has no meaning for a join stays 0.
struct Counters {
  std::uint64_t build_rows_read = 0;       // from the build (inner) input, all scans together
  std::uint64_t probe_rows_read = 0;       // from the probe (outer) input, all scans together
  std::uint64_t comparisons = 0;           // of two keys
  std::uint64_t condition_checks = 0;      // of the extra condition
  std::uint64_t hash_probes = 0;           // look-ups of a probe row in a hash table
  std::uint64_t buckets_visited = 0;       // by inserts and look-ups together
  std::uint64_t page_visits = 0;           // of the index, root and leaves included
  std::uint64_t passes = 0;                // times a hash table or join buffer was filled and used
  std::uint64_t build_rows_in_memory = 0;  // stored before the first spill or refill
  std::uint64_t build_keys_in_memory = 0;  // different keys among them
  std::uint64_t chunk_files = 0;           // two per pair
  std::uint64_t rows_written = 0;          // to chunk files and to probe row saving files
  std::uint64_t rows_read = 0;             // back from them
  std::uint64_t bytes_written = 0;
  std::uint64_t bytes_read = 0;
  std::uint64_t file_writes = 0;           // calls that the buffers of the files left over
  std::uint64_t probe_rows_saved = 0;      // the part of rows_written that went to saving files
  std::uint64_t peak_memory_bytes = 0;     // of hash table and rows, or join buffer, or index
  std::uint64_t peak_table_bytes = 0;      // the part of it that is buckets and values, not rows
  std::uint64_t peak_io_buffer_bytes = 0;  // of the files' buffers: outside any join buffer

  // Counted work by phase, for shares. A unit is a row touched, a bucket visited, two keys compared, an
  // extra condition checked, or a cache line of 64 bytes copied.
  std::uint64_t work_build = 0;
  std::uint64_t work_probe = 0;
  std::uint64_t work_spill_write = 0;
  std::uint64_t work_spill_read = 0;
  std::uint64_t work_chunk_join = 0;
};

/// What happened to one row, in the order in which it happened.
enum class Step : std::uint8_t {
  build_stored,                   // build row -> hash table
  build_skipped_null,             // build row with a NULL key: can never match
  build_duplicate,                // build row of a semijoin or antijoin whose key is there already
  buffer_full,                    // the build row just stored was the last one that fits
  build_to_chunk,                 // build row -> chunk file
  probe_lookup,                   // probe row looked up in the hash table
  probe_to_chunk,                 // probe row -> chunk file
  probe_saved,                    // probe row -> saving file, it will be read again
  chunk_loading,                  // a pass over a pair of chunk files begins
  build_stored_from_chunk,        // build row of a chunk file -> hash table
  probe_lookup_from_chunk,        // probe row of a chunk file looked up
  probe_lookup_from_saving_file,  // probe row of a saving file looked up
  output,                         // a row of the result
};

/// One step. Fields that have no meaning for it are -1.
struct Event {
  Step step;
  std::int32_t chunk;
  std::int32_t pass;  // fillings of the hash table so far
  std::int64_t build_row;
  std::int64_t probe_row;
};

struct JoinResult {
  std::vector<JoinedRow> rows;  // empty when only the count was asked for
  std::uint64_t count = 0;
  std::int64_t sum = 0;  // see Output::emit
  Counters counters;
  std::vector<Event> trace;  // at most as many as asked for
};

/// Collects the result rows.
class Output {
 public:
  Output(JoinResult& result, bool keep_rows) : result_(result), keep_rows_(keep_rows) {}

  /// Adds a row. The sum of all payloads in the result wraps around at 64 bits, so that it does not depend
  /// on the order; the NULL of a missing row counts as 0.
  void emit(JoinedRow row, std::int64_t build_payload, std::int64_t probe_payload) {
    ++result_.count;
    sum_ += static_cast<std::uint64_t>(build_payload) + static_cast<std::uint64_t>(probe_payload);
    result_.sum = static_cast<std::int64_t>(sum_);
    if (keep_rows_) result_.rows.push_back(row);
  }

 private:
  JoinResult& result_;
  std::uint64_t sum_ = 0;
  bool keep_rows_;
};

}  // namespace engineroom::hash_join
