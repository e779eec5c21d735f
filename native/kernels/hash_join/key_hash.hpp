// The two hashes of the hybrid hash join. They must have nothing to do with each other: all rows of a chunk
// agree in some bits of the first, and would crowd into few buckets of a table that uses the same bits.
#pragma once

#include <bit>
#include <cstdint>

namespace engineroom::hash_join {

/// xxHash64 (its public specification) of the eight bytes of a key, with the seed of the server's chunk
/// files.
inline std::uint64_t chunk_hash(std::int64_t key, std::uint64_t seed = 899339) {
  constexpr std::uint64_t kPrime1 = 0x9E3779B185EBCA87;
  constexpr std::uint64_t kPrime2 = 0xC2B2AE3D27D4EB4F;
  constexpr std::uint64_t kPrime3 = 0x165667B19E3779F9;
  constexpr std::uint64_t kPrime4 = 0x85EBCA77C2B2AE63;
  constexpr std::uint64_t kPrime5 = 0x27D4EB2F165667C5;
  const std::uint64_t lane = std::rotl(static_cast<std::uint64_t>(key) * kPrime2, 31) * kPrime1;
  std::uint64_t hash = seed + kPrime5 + sizeof(key);
  hash = std::rotl(hash ^ lane, 27) * kPrime1 + kPrime4;
  hash = (hash ^ (hash >> 33)) * kPrime2;
  hash = (hash ^ (hash >> 29)) * kPrime3;
  return hash ^ (hash >> 32);
}

/// The hash of the in-memory table: both halves of a 128-bit product, as in the table that 9.7 uses.
inline std::uint64_t table_hash(std::int64_t key) {
  const auto product = static_cast<unsigned __int128>(static_cast<std::uint64_t>(key) ^ 0xA0761D6478BD642F) *
                       0x9E3779B97F4A7C15;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

}  // namespace engineroom::hash_join
