// The filesort kernel for the browser: the source's table, one statement, three designs, their counters.
//
// Leaves out  the rows handed out (only counted), conditions, other types than varchar; the temporary file is
//             memory that is counted
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "common/storage.hpp"
#include "filesort/filesort.hpp"
#include "wasm/exports.hpp"

namespace {

namespace fs = engineroom::filesort;

constexpr std::size_t kDesigns = 3;
constexpr std::size_t kValues = 12;  // of each design, in the order of COUNTERS in filesort.js
constexpr std::uint64_t kSeed = 1;

std::array<std::uint64_t, kDesigns * kValues> values;

}  // namespace

/// Sorts `rows` rows with a long value of `lob_bytes` and returns the first `limit`, all when it is 0, in
/// three designs: row ids and a narrow read set (5.6), what 9.7 does with a varchar, and what it does with a
/// longtext. Returns the address of `values`.
ENGINEROOM_EXPORT("run")
const std::uint64_t* run(std::uint32_t rows, std::uint32_t limit, std::uint32_t lob_bytes,
                         std::uint32_t sort_buffer_bytes) {
  const fs::Table table =
      fs::article_table(rows, lob_bytes, fs::Type::varchar, std::max(lob_bytes, 1U), kSeed);
  fs::Query query{.selected = {fs::kId, fs::kKey, fs::kFilter, fs::kChar, fs::kLob}};
  if (limit > 0) query.limit = limit;
  const fs::Settings settings{.sort_buffer_bytes = sort_buffer_bytes};
  const std::array<fs::Design, kDesigns> designs{
      fs::Design{.attach = fs::Attach::rowid, .is_read_set_narrow = true},
      fs::choose(fs::Release::mysql_9_7, table, query, settings),
      fs::Design{.attach = fs::Attach::rowid, .is_read_set_narrow = false}};
  const std::uint64_t lob_pages = rows > 0 && table.is_off_page(0, fs::kLob)
                                      ? (lob_bytes + fs::Table::kLobPageBytes - 1) / fs::Table::kLobPageBytes
                                      : 0;
  for (std::size_t i = 0; i < kDesigns; ++i) {
    engineroom::MemoryStorage storage;
    fs::Handle handle(table);
    const fs::Options options{.settings = settings, .design = designs[i], .keep_values = false};
    const fs::Counters c = fs::filesort(handle, query, options, storage).counters;
    const std::uint64_t fetched = c.rows_fetched * (table.height() + lob_pages);
    const std::array<std::uint64_t, kValues> counted{table.leaf_pages(),
                                                     c.pages_touched - table.leaf_pages() - fetched,
                                                     fetched,
                                                     c.lob_reads,
                                                     c.bytes_copied,
                                                     c.heap_operations,
                                                     c.comparisons,
                                                     c.runs,
                                                     c.merge_passes,
                                                     c.bytes_written,
                                                     c.record_bytes,
                                                     c.is_priority_queue};
    std::copy(counted.begin(), counted.end(), values.begin() + static_cast<std::ptrdiff_t>(i * kValues));
  }
  return values.data();
}
