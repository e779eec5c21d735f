// The value lists of an INSERT for the browser: parses with the three containers and leaves bytes and blocks.
//
// Leaves out  times, which a browser's clock is too coarse for; more rows than a tab has memory for are taken
// by the
//             formula, which the native tests compare with the kernel
#include <array>
#include <cstdint>

#include "low_concurrency/insert_values.hpp"
#include "wasm/exports.hpp"

namespace {

namespace low_concurrency = engineroom::low_concurrency;
using low_concurrency::Container;

constexpr std::array kShown{Container::list_5_7, Container::deque_8_0, Container::deque_9_7};
constexpr std::uint64_t kMostValuesParsed = 20'000;

std::array<double, 3 * kShown.size() + 2> values;  // in the order of low_concurrency.js

}  // namespace

/// Fills `values`: bytes of the containers, bytes of the first row's container, and blocks of the arena (0 if
/// not parsed) for each container; then bytes of the items, and whether the rows were parsed.
ENGINEROOM_EXPORT("run")
const double* run(std::uint32_t rows, std::uint32_t columns) {
  const bool is_parsed = std::uint64_t{rows} * columns <= kMostValuesParsed;
  std::size_t at = 0;
  for (const Container container : kShown) {
    const std::uint64_t by_formula = low_concurrency::container_bytes(container, rows, columns);
    std::uint64_t bytes = by_formula;
    std::uint64_t blocks = 0;
    if (is_parsed) {
      const low_concurrency::ParsedInsert parsed = low_concurrency::parse_insert(container, rows, columns);
      bytes = parsed.container_bytes;
      blocks = parsed.arena_blocks;
    }
    values[at++] = static_cast<double>(bytes);
    values[at++] = static_cast<double>(low_concurrency::container_bytes(container, 2, columns) -
                                       low_concurrency::container_bytes(container, 1, columns));
    values[at++] = static_cast<double>(blocks);
  }
  values[at++] = static_cast<double>(std::uint64_t{rows} * columns * low_concurrency::kItemBytes);
  values[at++] = is_parsed ? 1 : 0;
  return values.data();
}
