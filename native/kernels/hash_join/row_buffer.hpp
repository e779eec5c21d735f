// The hash table of the hybrid hash join: each key once, with a list of its rows, newest first.
//
// Models      HashJoinRowBuffer of 9.7: keys and rows in a MEM_ROOT, a table with open addressing (robin
//             hood, at most 80 % full) of 8-byte buckets over a segmented vector of 16-byte values
// Leaves out  keys that are not one 64-bit number; wide keys stored as a hash
// Cost        9 bytes of key for each different key, 1 to 10 bytes of list for each row beside its own
//             bytes
//
// The limit is for rows and table together, but the table is charged when it has grown and the rows' memory
// when a block of it is made. So rows and table each stay below the limit (but for the last row and the last
// doubling), and together can reach twice of it: a buffer of 16 KiB holds a first block of 16 KiB whatever
// the table takes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "hash_join/row_memory.hpp"

namespace engineroom::hash_join {

class RowBuffer {
 public:
  enum class Stored : std::uint8_t {
    yes,
    duplicate,  // the key is there already and duplicates are rejected: nothing was stored
    full,       // stored, but it was the last row that may be
  };

  struct Match {
    std::span<const std::byte> row;  // begins with the row's bytes
    std::optional<Address> next;     // an older row with the same key
  };

  explicit RowBuffer(std::uint64_t limit_bytes) : limit_bytes_(limit_bytes) { clear(); }

  void clear();
  Stored store(std::int64_t key, std::span<const std::byte> row, bool reject_duplicates);
  /// The newest row with `key`.
  std::optional<Address> find(std::int64_t key);
  Match match(Address address) const;

  bool empty() const { return entries_ == 0; }
  std::uint64_t keys() const { return entries_; }
  std::uint64_t table_bytes() const {
    return buckets_.size() * sizeof(Bucket) + segments_.size() * sizeof(Segment);
  }
  std::uint64_t bytes() const { return memory_.allocated() + table_bytes(); }

  /// Counted since the buffer was made, over all its fillings.
  std::uint64_t buckets_visited() const { return buckets_visited_; }
  std::uint64_t comparisons() const { return comparisons_; }

 private:
  /// A bucket is 8 bytes so that eight of them share a cache line: a look-up seldom needs a second line.
  struct Bucket {
    std::uint32_t
        distance_and_fingerprint;  // 0: empty; distance from home + 1 above, 8 bits of the hash below
    std::uint32_t entry;
  };
  static_assert(sizeof(Bucket) == 8);

  struct Entry {
    Address key;
    Address newest;
  };
  static_assert(sizeof(Entry) == 16);

  /// Values do not move when the table grows, and no growth copies them.
  using Segment = std::array<Entry, 256>;
  static_assert(sizeof(Segment) == 4096);

  static constexpr std::uint32_t kOneStep = 256;

  Entry& entry(std::uint32_t i) { return (*segments_[i / 256])[i % 256]; }
  std::int64_t key_at(Address address) const;
  Entry* find_entry(std::int64_t key, std::uint64_t hash);
  Entry& insert(std::uint64_t hash, Address key_address);
  void place(std::uint64_t hash, std::uint32_t entry);
  void grow();
  std::size_t home(std::uint64_t hash) const { return static_cast<std::size_t>(hash >> shift_); }
  std::size_t after(std::size_t bucket) const { return bucket + 1 == buckets_.size() ? 0 : bucket + 1; }
  static std::uint32_t first_step(std::uint64_t hash) {
    return kOneStep | static_cast<std::uint32_t>(hash & 0xFF);
  }

  std::uint64_t limit_bytes_;
  RowMemory memory_;
  std::vector<Bucket> buckets_;
  std::vector<std::unique_ptr<Segment>> segments_;
  std::uint32_t entries_ = 0;
  unsigned shift_ = 62;
  std::uint64_t buckets_visited_ = 0;
  std::uint64_t comparisons_ = 0;
};

}  // namespace engineroom::hash_join
