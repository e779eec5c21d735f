// A row as the bytes that a join keeps in its buffer and in its files, all columns back to back.
//
// Models      pack_rows (StoreFromTableBuffers), without NULL flags: only a key can be NULL, and such a row
//             is never kept on the build side and is flagged in the file on the probe side
// Leaves out  columns of variable length; `row_bytes` above the columns' own width stands for more columns,
//             as bytes that are really copied and written
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "hash_join/relation.hpp"

namespace engineroom::hash_join {

struct Row {
  std::uint32_t number;
  std::int64_t key;
  std::int64_t payload;
};

/// Bytes of a row with the columns of `relation`: its number (4), the key (8), the payload (8 where there is
/// one).
inline std::size_t packed_bytes(const Relation& relation) { return relation.payload.empty() ? 12 : 20; }

inline Row row_at(const Relation& relation, std::size_t row) {
  return {static_cast<std::uint32_t>(row), relation.key[row], relation.payload_of(row)};
}

/// Writes `row` to the front of `bytes`, which is 12 bytes long or at least 20.
inline void pack(const Row& row, std::span<std::byte> bytes) {
  std::memcpy(bytes.data(), &row.number, 4);
  std::memcpy(bytes.data() + 4, &row.key, 8);
  if (bytes.size() >= 20) std::memcpy(bytes.data() + 12, &row.payload, 8);
}

inline Row unpack(std::span<const std::byte> bytes) {
  Row row{};
  std::memcpy(&row.number, bytes.data(), 4);
  std::memcpy(&row.key, bytes.data() + 4, 8);
  if (bytes.size() >= 20) std::memcpy(&row.payload, bytes.data() + 12, 8);
  return row;
}

}  // namespace engineroom::hash_join
