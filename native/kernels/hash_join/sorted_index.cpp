#include "hash_join/sorted_index.hpp"

#include <algorithm>
#include <string>
#include <tuple>

#include "common/require.hpp"

namespace engineroom::hash_join {

SortedIndex::SortedIndex(const Relation& relation, std::size_t entries_per_page)
    : entries_per_page_(entries_per_page) {
  if (entries_per_page < 2) {
    refuse("entries_per_page must be at least 2, got " + std::to_string(entries_per_page));
  }
  entries_.reserve(relation.size());
  for (std::size_t row = 0; row < relation.size(); ++row) {
    if (!relation.is_null(row)) entries_.push_back({relation.key[row], row});
  }
  std::sort(entries_.begin(), entries_.end(),
            [](const Entry& a, const Entry& b) { return std::tie(a.key, a.row) < std::tie(b.key, b.row); });

  const auto first_keys = [&](std::size_t size, const auto& key_at) {
    std::vector<std::int64_t> keys;
    for (std::size_t i = 0; i < size; i += entries_per_page) keys.push_back(key_at(i));
    return keys;
  };
  std::vector<std::int64_t> level =
      first_keys(entries_.size(), [&](std::size_t i) { return entries_[i].key; });
  while (level.size() > 1) {
    separators_.push_back(level);
    level = first_keys(separators_.back().size(), [&](std::size_t i) { return separators_.back()[i]; });
  }
}

std::optional<std::size_t> SortedIndex::find(std::int64_t key, Visits& visits) const {
  const auto is_less = [&](std::int64_t a, std::int64_t b) {
    ++visits.comparisons;
    return a < b;
  };
  std::size_t page = 0;
  for (std::size_t level = separators_.size(); level-- > 0;) {
    ++visits.pages;
    const std::vector<std::int64_t>& keys = separators_[level];
    const std::size_t begin = page * entries_per_page_;
    const std::size_t end = std::min(begin + entries_per_page_, keys.size());
    // The last page that begins below the key: equal keys may already stand at its end.
    const auto at = std::lower_bound(keys.begin() + static_cast<std::ptrdiff_t>(begin),
                                     keys.begin() + static_cast<std::ptrdiff_t>(end), key, is_less);
    const auto found = static_cast<std::size_t>(at - keys.begin());
    page = found > begin ? found - 1 : begin;
  }
  ++visits.pages;
  const std::size_t begin = page * entries_per_page_;
  const std::size_t end = std::min(begin + entries_per_page_, entries_.size());
  const auto at =
      std::lower_bound(entries_.begin() + static_cast<std::ptrdiff_t>(begin),
                       entries_.begin() + static_cast<std::ptrdiff_t>(end), key,
                       [&](const Entry& entry, std::int64_t sought) { return is_less(entry.key, sought); });
  const auto position = static_cast<std::size_t>(at - entries_.begin());
  if (position == end && end < entries_.size()) ++visits.pages;
  if (position == entries_.size()) return std::nullopt;
  ++visits.comparisons;
  if (entries_[position].key != key) return std::nullopt;
  return position;
}

std::optional<std::size_t> SortedIndex::next(std::size_t position, Visits& visits) const {
  const std::size_t following = position + 1;
  if (following == entries_.size()) return std::nullopt;
  if (following % entries_per_page_ == 0) ++visits.pages;
  ++visits.comparisons;
  if (entries_[following].key != entries_[position].key) return std::nullopt;
  return following;
}

std::uint64_t SortedIndex::bytes() const {
  std::uint64_t bytes = entries_.size() * sizeof(Entry);
  for (const std::vector<std::int64_t>& level : separators_) bytes += level.size() * 2 * sizeof(std::int64_t);
  return bytes;
}

}  // namespace engineroom::hash_join
