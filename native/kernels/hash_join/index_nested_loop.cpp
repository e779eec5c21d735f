#include "hash_join/index_nested_loop.hpp"

#include "hash_join/sorted_index.hpp"

namespace engineroom::hash_join {

JoinResult index_nested_loop_join(const Relation& build, const Relation& probe,
                                  const IndexNestedLoopOptions& options, Interrupt interrupt) {
  check(build, probe, options.extra);
  const SortedIndex index(build, options.entries_per_page);
  JoinResult result;
  Output output(result, options.keep_rows);
  Counters& counters = result.counters;
  SortedIndex::Visits visits;
  const bool stops_at_match = options.join == JoinType::semi || options.join == JoinType::anti;

  for (std::size_t p = 0; p < probe.size(); ++p) {
    const auto probe_row = static_cast<std::int64_t>(p);
    const std::int64_t probe_payload = probe.payload_of(p);
    bool matched = false;
    auto position = probe.is_null(p) ? std::nullopt : index.find(probe.key[p], visits);
    while (position) {
      const auto row = static_cast<std::size_t>(index.row(*position));
      ++counters.build_rows_read;
      bool holds = true;
      if (options.extra.is_present()) {
        ++counters.condition_checks;
        holds = options.extra.holds(build.payload[row], probe_payload);
      }
      if (holds) {
        matched = true;
        if (stops_at_match) break;
        output.emit({static_cast<std::int64_t>(row), probe_row}, build.payload_of(row), probe_payload);
      }
      interrupt.advance(1);
      position = index.next(*position, visits);
    }
    interrupt.advance(1);
    if (options.join == JoinType::semi ? matched : !matched && options.join != JoinType::inner) {
      output.emit({kNoRow, probe_row}, 0, probe_payload);
    }
  }
  counters.probe_rows_read = probe.size();
  counters.page_visits = visits.pages;
  counters.comparisons = visits.comparisons;
  counters.peak_memory_bytes = index.bytes();
  return result;
}

}  // namespace engineroom::hash_join
