// An index on the key column: pages of sorted entries, and above them pages that say which page begins where.
//
// Models      a secondary index of InnoDB (btr_cur_search_to_nth_level): 16 KiB pages, fan-out in the
//             hundreds, binary search in each page on the way down
// Leaves out  inserts and splits (pages are full), the look-up of the clustered index that follows when the
//             index does not cover the query, the adaptive hash index, latches
// Cost        one page a level, log2(fan-out) comparisons in each
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "hash_join/relation.hpp"

namespace engineroom::hash_join {

class SortedIndex {
 public:
  struct Entry {
    std::int64_t key;
    std::uint64_t row;
  };

  /// Sorts the rows of `relation` by key and row number; rows with a NULL key are not in it, since no `=`
  /// ever looks for them.
  SortedIndex(const Relation& relation, std::size_t entries_per_page);

  /// Counted by every descent and every step.
  struct Visits {
    std::uint64_t pages = 0;
    std::uint64_t comparisons = 0;
  };

  /// Position of the first entry with `key`, if there is one.
  std::optional<std::size_t> find(std::int64_t key, Visits& visits) const;
  /// Position of the next entry if it has the same key.
  std::optional<std::size_t> next(std::size_t position, Visits& visits) const;

  std::uint64_t row(std::size_t position) const { return entries_[position].row; }
  std::size_t levels() const { return separators_.size() + 1; }
  std::uint64_t bytes() const;

 private:
  std::size_t entries_per_page_;
  std::vector<Entry> entries_;                         // the leaves, one after the other
  std::vector<std::vector<std::int64_t>> separators_;  // [level above the leaves][page below]: its first key
};

}  // namespace engineroom::hash_join
