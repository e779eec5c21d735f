// A page of rows on its way to a file: of each column the upper bytes that all rows share, once, and of each
// row the lower ones.
//
// Rows of a partition share the first bits of their hash, and payloads are often small: a page of such rows
// is nearly half as large, and so is the time that the system takes to copy it to a file and back.
#pragma once

#include <cstddef>
#include <span>

#include "hash_join/fast_table.hpp"

namespace engineroom::hash_join {

/// Rows are stored and loaded in whole registers, this much behind the last one.
constexpr std::size_t kUnpackSlack = 64;

/// What pack_page may use for `rows` rows.
constexpr std::size_t most_packed_bytes(std::size_t rows) {
  constexpr std::size_t kHeader = 24;
  return kHeader + rows * sizeof(HashedRow) + kUnpackSlack;
}

/// Packs at least one row to `to`; returns the bytes used.
std::size_t pack_page(std::span<const HashedRow> rows, std::byte* to);

/// The rows again. `from` must be readable kUnpackSlack further than what was packed.
void unpack_page(const std::byte* from, std::span<HashedRow> rows);

}  // namespace engineroom::hash_join
