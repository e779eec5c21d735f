// A hash table whose look-up reads one cache line and takes no branch that depends on the data.
//
// Idea        a bucket is a line of 64 bytes: four hashes beside their four values. What does not fit goes to
//             an array sorted by bucket, read only for the look-ups that need it, later, in a loop of its own
// Models      nothing of MySQL: the memory-conscious end of what its in-memory hash join could be
// Leaves out  deletion, growth, and any defence against keys chosen to collide (the hash has no secret)
// Cost        45 bytes per row at three rows for two buckets; about 1.6 % of the rows overflow. Rows of one
//             key lie side by side in the overflow, so that a million duplicates cost a scan, and only to
//             callers who ask for them
//
// The hash is a bijection of the key: equal hashes are equal keys, and no key is stored.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "common/metered.hpp"
#include "common/read_ahead.hpp"

namespace engineroom::hash_join {

/// A row on its way through a join: the hash of its key, and its payload or its number.
struct HashedRow {
  std::uint64_t hash;
  std::uint64_t value;
};
static_assert(sizeof(HashedRow) == 16);

/// One to one (each step can be undone), and every bit of the key reaches the upper bits, which choose
/// partition and bucket.
constexpr std::uint64_t hash_of(std::int64_t key) {
  constexpr std::uint64_t kOdd = 0xd6e8feb86659fd93;
  auto x = static_cast<std::uint64_t>(key);
  x ^= x >> 32;
  x *= kOdd;
  x ^= x >> 32;
  x *= kOdd;
  return x;
}

/// hash[i] = hash_of(key[i]), with the widest multiplication that the processor has.
void hash_keys(std::span<const std::int64_t> keys, std::uint64_t* hash);

/// Some rows: row i is hash[i * stride], value[i * stride].
struct HashedRows {
  const std::uint64_t* hash;
  const std::uint64_t* value;
  std::size_t stride;
  std::size_t size;

  HashedRows(const std::uint64_t* hashes, const std::uint64_t* values, std::size_t n)
      : hash(hashes), value(values), stride(1), size(n) {}
  explicit HashedRows(std::span<const HashedRow> rows)
      : hash(rows.empty() ? nullptr : &rows.front().hash),
        value(rows.empty() ? nullptr : &rows.front().value),
        stride(2),
        size(rows.size()) {}

  HashedRows part(std::size_t begin, std::size_t n) const {
    HashedRows rows = *this;
    rows.hash += begin * stride;
    rows.value += begin * stride;
    rows.size = n;
    return rows;
  }
};

/// What an inner join that keeps no rows collects.
struct CountAndSum {
  std::uint64_t count = 0;
  std::uint64_t sum = 0;          // of build and probe values, wrapping around
  std::uint64_t comparisons = 0;  // of two hashes
};

class FastTable {
 public:
  static constexpr std::size_t kSlots = 4;
  /// Buckets for so many rows. With fewer, look-ups go to the overflow too often; with more, lines that are
  /// mostly empty push others out of the cache.
  static constexpr std::size_t buckets_for(std::size_t rows) { return rows / 3 * 2 + 2; }
  /// Memory for a row but for the overflow, rounded up.
  static constexpr std::size_t kBytesPerRow = (64 + 4) * 2 / 3 + 1;
  /// The most rows that one call of count_matches takes.
  static constexpr std::size_t kBlock = 1024;
  /// So many rows ahead a look-up asks for its line; measured flat from 8 to 24.
  static constexpr std::size_t kAhead = 12;
  /// Memory for a row when all rows have one key: its share of a line, and twice in the overflow while
  /// sorting.
  static constexpr std::size_t kMostBytesPerRow = kBytesPerRow + 32;

  /// An empty table of at least `buckets` for hashes that agree in their first `prefix_bits`.
  FastTable(std::size_t buckets, unsigned prefix_bits, Meter& meter);

  /// Empties the table and makes it one of `buckets` and another prefix; keeps the memory.
  void reset(std::size_t buckets);

  /// Sets memory aside for an overflow of `rows`, so that finish() takes no more.
  void reserve_overflow(std::size_t rows) { overflow_.reserve(rows); }

  /// Stores rows whose overflow goes to `overflow`, and asks `ahead` for what comes next. Several threads may
  /// insert at once if no two of them meet in a bucket, each with an overflow of its own.
  void insert(const HashedRows& rows, MeteredVector<HashedRow>& overflow, ReadAhead ahead);
  /// Sorts the overflow in; after this, rows can be looked up and not inserted.
  void finish(std::span<MeteredVector<HashedRow>> overflows);

  /// Looks up at most kBlock rows and adds up their matches; asks `ahead` for what comes next.
  void count_matches(const HashedRows& rows, CountAndSum& found, ReadAhead& ahead) const;

  /// Calls visit(value) for each match of `hash`, in order of insertion, until it returns false; returns the
  /// number of hashes compared.
  template <typename Visit>
  std::uint64_t for_each_match(std::uint64_t hash, Visit visit) const {
    const std::size_t b = bucket(hash);
    const Line& line = lines_[b];
    for (std::size_t i = 0; i < kSlots; ++i) {
      if (line.hash[i] == hash && !visit(line.value[i])) return i + 1;
    }
    std::uint64_t compared = kSlots;
    for (std::uint32_t i = ends_[b]; i < ends_[b + 1]; ++i) {
      ++compared;
      if (overflow_[i].hash == hash && !visit(overflow_[i].value)) break;
    }
    return compared;
  }

 private:
  struct alignas(64) Line {
    std::array<std::uint64_t, kSlots> hash;
    std::array<std::uint64_t, kSlots> value;
  };
  static_assert(sizeof(Line) == 64);  // a look-up is to touch one line, and the next look-up another

  std::size_t bucket(std::uint64_t hash) const {
    return static_cast<std::size_t>((((hash << prefix_bits_) >> 32) * buckets_) >> 32);
  }

  template <bool kSplits>
  void count_portable(const HashedRows& rows, CountAndSum& found) const;
  template <bool kSplits, std::size_t kStride>
  void count_avx2(const HashedRows& rows, CountAndSum& found, ReadAhead& ahead) const;
  void count_overflow(std::uint64_t hash, std::uint64_t value, CountAndSum& found) const;

  std::uint64_t buckets_ = 0;
  unsigned prefix_bits_;
  bool splits_ = false;  // some key has rows in a line and in the overflow
  MeteredVector<Line> lines_;
  // While inserting, ends_[b + 1] is the number of rows in bucket b; afterwards where its overflow ends.
  MeteredVector<std::uint32_t> ends_;
  MeteredVector<HashedRow> overflow_;
};

}  // namespace engineroom::hash_join
