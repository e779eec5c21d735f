// What the chapter's kernels cost on the machine at hand, each on a workload made from a few numbers.
//
// Models      nothing: these are the clocks around the kernels
// Leaves out  everything but the calling thread's CPU time
// Cost        it is the measurement
#pragma once

#include <cstdint>
#include <string_view>

#include "common/described.hpp"
#include "common/interrupt.hpp"
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
  std::uint64_t row_versions = 0;
  std::uint64_t records = 1000;
  std::uint64_t passes = 100;
  std::uint64_t seed = 1;
};
inline constexpr std::string_view kPassesMeaning = "how often it is done";
inline constexpr std::string_view kSeedMeaning = "which data";
constexpr auto described(options::Of<RecordWork>) {
  using C = RecordWork;
  return options::list<C>(
      "the records",
      {options::option<&C::columns>({.least = 1}, "of each record"),
       options::option<&C::nullable_percent>({.most = 100}, "of the columns, by chance"),
       options::option<&C::variable_percent>({.most = 100}, "of the columns have no fixed length, by chance"),
       options::option<&C::row_versions>(
           {.most = 64},
           "columns added INSTANT, each in a version of its own; there are records of all versions"),
       options::option<&C::records>({.least = 1}, "how many"),
       options::option<&C::passes>({.least = 1}, kPassesMeaning), options::option<&C::seed>(kSeedMeaning)});
}
void check_together(const RecordWork& work);

struct Cost {
  std::uint64_t cpu_ns = 0;
  std::uint64_t operations = 0;
  std::uint64_t checksum = 0;  // equal for all variants of one workload
};
/// Finds the offsets of all records, `passes` times. An operation is a record.
Cost measure_offsets(Decoder decoder, const RecordWork& work, Interrupt interrupt = {});

struct StoreWork {
  std::uint64_t integers = 6;
  std::uint64_t varying = 2;
  std::uint64_t fixed_texts = 2;
  std::uint64_t rows = 500;
  std::uint64_t passes = 100;
  std::uint64_t seed = 1;
};
constexpr auto described(options::Of<StoreWork>) {
  using C = StoreWork;
  return options::list<C>("the rows", {options::option<&C::integers>("fields of this kind in a row"),
                                       options::option<&C::varying>("fields of varying length in a row"),
                                       options::option<&C::fixed_texts>("texts of fixed length in a row"),
                                       options::option<&C::rows>({.least = 1}, "how many"),
                                       options::option<&C::passes>({.least = 1}, kPassesMeaning),
                                       options::option<&C::seed>(kSeedMeaning)});
}
void check_together(const StoreWork& work);

/// Converts all rows, `passes` times. An operation is a field.
Cost measure_store(FatalPath path, const StoreWork& work, Interrupt interrupt = {});

/// Parses an INSERT `passes` times, each with an arena of its own. An operation is a row.
Cost measure_insert(Container container, std::uint64_t rows, std::uint64_t columns, std::uint64_t passes);

}  // namespace engineroom::low_concurrency
