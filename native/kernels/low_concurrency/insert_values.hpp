// Parses the rows of INSERT ... VALUES into items and lists, then walks them as the resolver does.
//
// Models      the grammar's rule for VALUES, PT_item_list, PT_insert_values_list::contextualize and the
//             virtual itemize of each item, which costs more than any list
// Leaves out  everything else of the parser; all literals are integers
// Cost        O(rows x columns); the container decides the bytes
#pragma once

#include <cstdint>

#include "common/interrupt.hpp"
#include "common/names.hpp"

namespace engineroom::low_concurrency {

enum class Container { list_5_7, deque_8_0, deque_9_7, reserved };
constexpr auto named(names::Of<Container>) { return names::as_written<Container::reserved>("container"); }

/// The size of an Item_int of 8.0 is of this order; it is the same for every container.
inline constexpr std::uint64_t kItemBytes = 128;

/// The header of each row's list: what List<Item> (24) and mem_root_deque<Item *> (40) take on a 64-bit
/// machine.
std::uint64_t header_bytes(Container container);

struct ParsedInsert {
  std::uint64_t values = 0;
  std::uint64_t checksum = 0;         // of the values in the order of the walk
  std::uint64_t container_bytes = 0;  // headers, nodes, blocks and arrays of pointers, the dead ones too
  std::uint64_t item_bytes = 0;
  std::uint64_t reserved_bytes = 0;  // in the arena's blocks
  std::uint64_t arena_blocks = 0;
  std::uint64_t build_ns = 0;
  std::uint64_t walk_ns = 0;
};

using Clock = std::uint64_t (*)();

/// Parses `rows` rows of `columns` integers. `now` times the two phases; without it (in the browser) they
/// stay 0.
ParsedInsert parse_insert(Container container, std::uint64_t rows, std::uint64_t columns, Clock now = nullptr,
                          Interrupt interrupt = {});

/// The formula of the same: bytes of all containers, exact.
std::uint64_t container_bytes(Container container, std::uint64_t rows, std::uint64_t columns);

}  // namespace engineroom::low_concurrency
