// The kernels' program for profile-guided builds: `low_concurrency WORKLOAD SCALE [KERNEL]` prints `kernel variant
// cpu_ns operations` lines, of one kernel such as "field_store/cold_call" if it is named.
//
// WORKLOAD is one of two that differ in every kernel: "narrow" (few columns, integers, no INSTANT columns)
// and "wide" (many columns, texts, records of several row versions). Three builds of it are compared
// (engineroom.chapters.low_concurrency.experiments).
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "low_concurrency/measure.hpp"
#include "redo_log/commit_cost.hpp"

namespace {

using namespace engineroom::low_concurrency;
namespace names = engineroom::names;

std::string only;

void print(const char* kernel, std::string_view variant, const auto& measure) {
  if (!only.empty() && only != std::string(kernel) + "/" + std::string(variant)) return;
  const Cost cost = measure();
  std::printf("%s %s %llu %llu\n", kernel, variant.data(), static_cast<unsigned long long>(cost.cpu_ns),
              static_cast<unsigned long long>(cost.operations));
}

}  // namespace

int main(int count, char** arguments) {
  const std::string workload = count > 1 ? arguments[1] : "";
  const std::uint64_t scale = count > 2 ? std::strtoull(arguments[2], nullptr, 10) : 1;
  if ((workload != "narrow" && workload != "wide") || scale == 0) {
    std::fprintf(stderr, "got workload '%s' and scale %llu; say narrow or wide, and a scale of at least 1\n",
                 workload.c_str(), static_cast<unsigned long long>(scale));
    return 2;
  }
  if (count > 3) only = arguments[3];
  const bool is_wide = workload == "wide";
  for (const auto& [name, container] : names::table_of<Container>.all)
    print("insert_values", name,
          [&] { return measure_insert(container, is_wide ? 1000 : 5000, is_wide ? 20 : 2, scale); });
  const RecordWork record = is_wide ? RecordWork{.columns = 60, .variable_percent = 60, .row_versions = 4}
                                    : RecordWork{.columns = 5, .nullable_percent = 20, .variable_percent = 0};
  for (const auto& [name, decoder] : names::table_of<Decoder>.all) {
    if (is_wide && decoder == Decoder::v57) continue;  // it knows no row versions
    RecordWork work = record;
    work.passes = (is_wide ? 3 : 20) * scale;
    print("record_offsets", name, [&] { return measure_offsets(decoder, work); });
  }
  const StoreWork store = is_wide ? StoreWork{.integers = 2, .varying = 10, .fixed_texts = 8}
                                  : StoreWork{.integers = 5, .varying = 0, .fixed_texts = 0};
  for (const auto& [name, path] : names::table_of<FatalPath>.all) {
    StoreWork work = store;
    work.passes = (is_wide ? 5 : 40) * scale;
    print("field_store", name, [&] { return measure_store(path, work); });
  }
  using engineroom::redo_log::Design;
  for (const Design design : {Design::log_5_7, Design::log_8_0}) {
    const std::uint64_t commits = 5000 * scale;
    print("mtr_commit", names::of(design), [&] {
      const auto seen = engineroom::redo_log::measure_commit(
          design, {.threads = 1, .commits_per_thread = commits, .mtr_bytes = is_wide ? 400U : 100U});
      return Cost{.cpu_ns = seen.cpu_ns, .operations = commits};
    });
  }
  return 0;
}
