#include "hash_join/key_array.hpp"

#include <algorithm>
#include <limits>

namespace engineroom::hash_join {

namespace {

constexpr std::size_t kSample = 256;

/// Rows at even distances.
template <typename Visit>
void for_some(std::size_t rows, const Visit& visit) {
  const std::size_t n = std::min(rows, kSample);
  for (std::size_t i = 0; i < n; ++i) visit(rows / n * i);
}

std::uint64_t distance(std::int64_t from, std::int64_t to) {
  return static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from);
}

}  // namespace

std::optional<KeyRange> KeyArray::range_of(const Relation& relation) {
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  std::int64_t most = std::numeric_limits<std::int64_t>::min();
  const auto look_at = [&](std::size_t row) {
    if (relation.is_null(row)) return;
    least = std::min(least, relation.key[row]);
    most = std::max(most, relation.key[row]);
  };
  const auto is_dense = [&] { return distance(least, most) / kMostPlacesPerRow < relation.size(); };
  for_some(relation.size(), look_at);
  if (least > most || !is_dense()) return std::nullopt;
  if (relation.key_is_null.empty()) {
    for (const std::int64_t key : relation.key) {
      least = std::min(least, key);
      most = std::max(most, key);
    }
  } else {
    for (std::size_t row = 0; row < relation.size(); ++row) look_at(row);
  }
  if (!is_dense()) return std::nullopt;
  return KeyRange{.least = least, .places = distance(least, most) + 1};
}

bool KeyArray::comes_in_order(const Relation& relation) {
  constexpr std::uint64_t kNear = 512;  // places of one page
  std::size_t asked = 0;
  std::size_t near = 0;
  for_some(relation.size(), [&](std::size_t row) {
    if (row + 1 == relation.size()) return;
    const std::int64_t a = relation.key[row];
    const std::int64_t b = relation.key[row + 1];
    ++asked;
    near += distance(std::min(a, b), std::max(a, b)) <= kNear;
  });
  return near * 8 >= asked * 7;
}

KeyArray::KeyArray(const KeyRange& range, Meter& meter)
    : least_(range.least),
      values_(MeteredAllocator<std::uint64_t>(meter)),
      present_(MeteredAllocator<std::uint64_t>(meter)) {
  values_.resize(range.places);
  present_.resize(range.places / 64 + 1);
  std::ranges::fill(present_, 0);
}

bool KeyArray::insert(const Relation& relation, std::size_t begin, std::size_t end, bool values_are_rows) {
  const bool has_payload = !relation.payload.empty();
  for (std::size_t row = begin; row < end; ++row) {
    if (relation.is_null(row)) continue;
    const std::uint64_t place = place_of(relation.key[row]);
    if (has(place)) return false;
    present_[place / 64] |= std::uint64_t{1} << place % 64;
    values_[place] =
        values_are_rows ? row : (has_payload ? static_cast<std::uint64_t>(relation.payload[row]) : 0);
    ++rows_;
  }
  return true;
}

// No branch depends on the data: a row without a match reads the first place and adds nothing.
template <bool kFull, bool kPayload, bool kNulls>
void KeyArray::count(const Relation& probe, std::size_t begin, std::size_t end, CountAndSum& found) const {
  const std::uint64_t n = values_.size();
  const std::uint64_t* const values = values_.data();
  const std::uint64_t* const present = present_.data();
  std::uint64_t count = 0;
  std::uint64_t sum = 0;
  for (std::size_t row = begin; row < end; ++row) {
    const std::uint64_t asked = place_of(probe.key[row]);
    std::uint64_t match = asked < n;
    const std::uint64_t place = asked & (0 - match);
    if constexpr (!kFull) match &= present[place / 64] >> place % 64;
    if constexpr (kNulls) match &= static_cast<std::uint64_t>(!probe.key_is_null[row]);
    count += match;
    const std::uint64_t payload = kPayload ? static_cast<std::uint64_t>(probe.payload[row]) : 0;
    sum += (values[place] + payload) & (0 - match);
  }
  found.count += count;
  found.sum += sum;
}

void KeyArray::count_matches(const Relation& probe, std::size_t begin, std::size_t end,
                             CountAndSum& found) const {
  const bool payload = !probe.payload.empty();
  if (!probe.key_is_null.empty()) {
    return payload ? count<false, true, true>(probe, begin, end, found)
                   : count<false, false, true>(probe, begin, end, found);
  }
  if (is_full_) {
    return payload ? count<true, true, false>(probe, begin, end, found)
                   : count<true, false, false>(probe, begin, end, found);
  }
  return payload ? count<false, true, false>(probe, begin, end, found)
                 : count<false, false, false>(probe, begin, end, found);
}

}  // namespace engineroom::hash_join
