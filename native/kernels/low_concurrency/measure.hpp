// What the chapter's kernels cost on the machine at hand, each on a workload made from a few numbers.
//
// Models      nothing: these are the clocks around the kernels
// Leaves out  everything but the calling thread's CPU time
// Cost        it is the measurement
#pragma once

#include <cstdint>

#include "low_concurrency/field_store.hpp"
#include "low_concurrency/insert_values.hpp"
#include "low_concurrency/record.hpp"

namespace engineroom::low_concurrency {

/// CPU time of the calling thread.
std::uint64_t thread_cpu_ns();

struct RecordWork {
  std::uint64_t columns = 20;
  std::uint64_t nullable_percent = 50;
  std::uint64_t variable_percent = 30;
  std::uint64_t row_versions = 0;  // columns added INSTANT, one a version; records of all versions
  std::uint64_t records = 1000;
  std::uint64_t passes = 100;
  std::uint64_t seed = 1;
};
struct Cost {
  std::uint64_t cpu_ns = 0;
  std::uint64_t operations = 0;
  std::uint64_t checksum = 0;  // equal for all variants of one workload
};
/// Finds the offsets of all records, `passes` times. An operation is a record.
Cost measure_offsets(Decoder decoder, const RecordWork& work);

struct StoreWork {
  std::uint64_t integers = 6;  // fields of each kind in a row
  std::uint64_t varying = 2;
  std::uint64_t fixed_texts = 2;
  std::uint64_t rows = 500;
  std::uint64_t passes = 100;
  std::uint64_t seed = 1;
};
/// Converts all rows, `passes` times. An operation is a field.
Cost measure_store(FatalPath path, const StoreWork& work);

/// Parses an INSERT `passes` times, each with an arena of its own. An operation is a row.
Cost measure_insert(Container container, std::uint64_t rows, std::uint64_t columns, std::uint64_t passes);

}  // namespace engineroom::low_concurrency
