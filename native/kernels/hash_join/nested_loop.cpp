#include "hash_join/nested_loop.hpp"

namespace engineroom::hash_join {

JoinResult nested_loop_join(const Relation& build, const Relation& probe, const NestedLoopOptions& options,
                            Interrupt interrupt) {
  check(build, probe, options.extra);
  JoinResult result;
  Output output(result, options.keep_rows);
  Counters& counters = result.counters;
  const bool stops_at_match = options.join == JoinType::semi || options.join == JoinType::anti;

  for (std::size_t p = 0; p < probe.size(); ++p) {
    const auto probe_row = static_cast<std::int64_t>(p);
    const bool probe_null = probe.is_null(p);
    const std::int64_t probe_key = probe.key[p];
    const std::int64_t probe_payload = probe.payload_of(p);
    bool matched = false;
    std::size_t b = 0;
    while (b < build.size()) {
      const std::size_t row = b++;
      if (probe_null || build.key[row] != probe_key || build.is_null(row)) continue;
      if (options.extra.is_present()) {
        ++counters.condition_checks;
        if (!options.extra.holds(build.payload[row], probe_payload)) continue;
      }
      matched = true;
      if (stops_at_match) break;
      output.emit({static_cast<std::int64_t>(row), probe_row}, build.payload_of(row), probe_payload);
    }
    counters.build_rows_read += b;
    interrupt.advance(b + 1);
    if (options.join == JoinType::semi ? matched : !matched && options.join != JoinType::inner) {
      output.emit({kNoRow, probe_row}, 0, probe_payload);
    }
  }
  // Every inner row read is compared once; a NULL on either side is a comparison too, with the answer
  // "unknown".
  counters.comparisons = counters.build_rows_read;
  counters.probe_rows_read = probe.size();
  return result;
}

}  // namespace engineroom::hash_join
