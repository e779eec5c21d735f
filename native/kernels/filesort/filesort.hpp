// Filesort: read the rows, keep a key of each with its row id or its columns, sort, and hand the rows out.
//
// Models      filesort() with find_all_keys and rr_from_pointers (5.6, 5.7), SortingIterator (8.0, 9.7):
//             sort buffer, runs in a temporary file, merges of 7 runs while there are more than 15,
//             priority queue
// Leaves out  the radix sort of short keys in 5.6 and 5.7, sort buffers that grow piece by piece, reading
//             row ids in the order of the table (read_rnd_buffer_size), sorts of several columns, removal
//             of duplicates
// Cost        N log N comparisons, or about N + k log k log N with a queue; what is copied and read is the
//             design's (design.hpp)
#pragma once

#include <vector>

#include "common/interrupt.hpp"
#include "common/storage.hpp"
#include "filesort/design.hpp"
#include "filesort/table.hpp"

namespace engineroom::filesort {

struct Options {
  Settings settings = {};
  Design design = {};
  /// Keep what is handed out; without, it is copied and counted only.
  bool keep_values = true;
  /// A mistake for the tests: the condition's column is left out of the narrow read set.
  bool forget_condition = false;
};
constexpr auto described(options::Of<Options>) {
  using C = Options;
  return options::list<C>(
      "a sort",
      {options::option<&C::design, &Design::attach>("what goes with a key"),
       options::option<&C::design, &Design::is_read_set_narrow>(
           "scan with the sort's own columns instead of the statement's"),
       options::option<&C::settings, &Settings::sort_buffer_bytes>(kSortBufferBytes, kVariableMeaning),
       options::option<&C::settings, &Settings::max_sort_length>(kMaxSortLength, kVariableMeaning),
       options::option<&C::settings, &Settings::estimated_rows>(kEstimatedRowsMeaning),
       options::option<&C::forget_condition>(
           "leave the condition's column out of a narrow read set, a mistake")});
}

struct Result {
  std::vector<std::vector<std::byte>> values;  // of the selected columns, row by row
  Counters counters;
};

/// Runs the query. The handle's read set is the statement's afterwards as before, also when the storage
/// throws.
Result filesort(Handle& handle, const Query& query, const Options& options, Storage& storage,
                Interrupt interrupt = {});

}  // namespace engineroom::filesort
