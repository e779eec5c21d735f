#include "hash_join/block_nested_loop.hpp"

#include <algorithm>
#include <vector>

#include "hash_join/packed_row.hpp"

namespace engineroom::hash_join {

namespace {

struct BufferedRow {
  std::int64_t payload;
  std::size_t number;
  bool is_null;
  bool is_matched;
};

}  // namespace

JoinResult block_nested_loop_join(const Relation& build, const Relation& probe,
                                  const BlockNestedLoopOptions& options, Interrupt interrupt) {
  check(build, probe, options.extra);
  options::check(options);
  const std::uint64_t row_bytes = options.row_bytes.value_or(packed_bytes(probe));
  const auto buffer_rows = static_cast<std::size_t>(std::clamp<std::uint64_t>(
      options.join_buffer_bytes / row_bytes, 1, std::max<std::size_t>(probe.size(), 1)));

  JoinResult result;
  Output output(result, options.keep_rows);
  Counters& counters = result.counters;
  const bool keeps_all_matches = options.join == JoinType::inner || options.join == JoinType::left;
  std::vector<std::int64_t> keys;  // of the buffered rows, side by side: all that most comparisons read
  std::vector<BufferedRow> buffer;
  keys.reserve(buffer_rows);
  buffer.reserve(buffer_rows);

  for (std::size_t first = 0; first < probe.size(); first += buffer_rows) {
    const std::size_t end = std::min(probe.size(), first + buffer_rows);
    keys.assign(probe.key.begin() + static_cast<std::ptrdiff_t>(first),
                probe.key.begin() + static_cast<std::ptrdiff_t>(end));
    buffer.clear();
    for (std::size_t row = first; row < end; ++row) {
      buffer.push_back({probe.payload_of(row), row, probe.is_null(row), false});
    }
    ++counters.passes;
    counters.probe_rows_read += buffer.size();
    counters.peak_memory_bytes = std::max(counters.peak_memory_bytes, buffer.size() * row_bytes);

    for (std::size_t row = 0; row < build.size(); ++row) {
      const bool is_null = build.is_null(row);
      const std::int64_t key = build.key[row];
      std::uint64_t compared = buffer.size();
      for (std::size_t i = 0; i < buffer.size(); ++i) {
        BufferedRow& outer = buffer[i];
        // The match flag spares a semijoin or antijoin the comparison.
        if (!keeps_all_matches && outer.is_matched) {
          --compared;
          continue;
        }
        if (keys[i] != key || is_null || outer.is_null) continue;
        if (options.extra.is_present()) {
          ++counters.condition_checks;
          if (!options.extra.holds(build.payload[row], outer.payload)) continue;
        }
        outer.is_matched = true;
        if (keeps_all_matches) {
          output.emit({static_cast<std::int64_t>(row), static_cast<std::int64_t>(outer.number)},
                      build.payload_of(row), outer.payload);
        }
      }
      counters.comparisons += compared;
      interrupt.advance(buffer.size());
    }
    counters.build_rows_read += build.size();

    if (options.join == JoinType::inner) continue;
    for (const BufferedRow& outer : buffer) {
      if (outer.is_matched != (options.join == JoinType::semi)) continue;
      output.emit({kNoRow, static_cast<std::int64_t>(outer.number)}, 0, outer.payload);
    }
  }
  return result;
}

}  // namespace engineroom::hash_join
