// Rows by their key: what a hash table becomes where keys are different numbers that lie close together.
//
// Idea        the place of a row is its key less the least one. No hash is computed, no key is compared, and a place takes
//             8 bytes and a bit: keys that come in order are a stream, for which no partition is needed
// Models      nothing of MySQL, whose clustered index is the nearest to it: rows by an AUTO_INCREMENT key
// Leaves out  keys that come twice; gaps of more than half
// Cost        8 bytes and a bit per place
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "common/metered.hpp"
#include "hash_join/fast_table.hpp"
#include "hash_join/relation.hpp"

namespace engineroom::hash_join {

/// The least key and how many places there are from it to the greatest.
struct KeyRange {
  std::int64_t least;
  std::uint64_t places;
};

class KeyArray {
 public:
  /// Of so many places at least one in kMostPlacesPerRow has a row, or an array is no good.
  static constexpr std::uint64_t kMostPlacesPerRow = 2;

  /// The keys that are not NULL, if there are some and they are dense enough. Scattered keys are seen by a few of them.
  static std::optional<KeyRange> range_of(const Relation& relation);
  /// Whether most keys are near the key before them, so that an array is read in order and need not fit a cache.
  static bool comes_in_order(const Relation& relation);
  static std::uint64_t bytes_for(const KeyRange& range) { return 8 * range.places + range.places / 8 + 64; }

  KeyArray(const KeyRange& range, Meter& meter);

  /// Stores the rows from `begin` to `end`; false as soon as a key is there already. Values are rows or payloads.
  bool insert(const Relation& relation, std::size_t begin, std::size_t end, bool values_are_rows);
  /// After the last row.
  void finish() { is_full_ = rows_ == values_.size(); }
  std::uint64_t rows() const { return rows_; }

  /// The value of a key, if it has a row.
  std::optional<std::uint64_t> find(std::int64_t key) const {
    const std::uint64_t place = place_of(key);
    if (place >= values_.size() || !has(place)) return std::nullopt;
    return values_[place];
  }
  /// Adds up the matches of the probe rows from `begin` to `end`, payloads as values.
  void count_matches(const Relation& probe, std::size_t begin, std::size_t end, CountAndSum& found) const;

 private:
  std::uint64_t place_of(std::int64_t key) const {
    return static_cast<std::uint64_t>(key) - static_cast<std::uint64_t>(least_);
  }
  bool has(std::uint64_t place) const { return (present_[place / 64] >> place % 64 & 1) != 0; }
  template <bool kFull, bool kPayload, bool kNulls>
  void count(const Relation& probe, std::size_t begin, std::size_t end, CountAndSum& found) const;

  std::int64_t least_;
  std::uint64_t rows_ = 0;
  bool is_full_ = false;
  MeteredVector<std::uint64_t> values_;   // by place; those of places without a row mean nothing
  MeteredVector<std::uint64_t> present_;  // a bit per place
};

}  // namespace engineroom::hash_join
