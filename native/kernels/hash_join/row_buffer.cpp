#include "hash_join/row_buffer.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "hash_join/key_hash.hpp"

namespace engineroom::hash_join {

namespace {

constexpr std::size_t kKeyBytes = 1 + sizeof(std::int64_t);  // length, then the key
constexpr std::size_t kMostLinkBytes = 10;

/// The link to the next older row: its distance, small numbers in few bytes; 0 for none.
std::size_t write_link(std::int64_t distance, std::span<std::byte> bytes) {
  auto left = (static_cast<std::uint64_t>(distance) << 1) ^ static_cast<std::uint64_t>(distance >> 63);
  std::size_t n = 0;
  for (; left >= 0x80; left >>= 7) bytes[n++] = static_cast<std::byte>(left | 0x80);
  bytes[n++] = static_cast<std::byte>(left);
  return n;
}

std::pair<std::int64_t, std::size_t> read_link(std::span<const std::byte> bytes) {
  std::uint64_t folded = 0;
  std::size_t n = 0;
  for (unsigned shift = 0;; shift += 7) {
    const auto byte = static_cast<std::uint64_t>(bytes[n++]);
    folded |= (byte & 0x7F) << shift;
    if (byte < 0x80) break;
  }
  return {static_cast<std::int64_t>((folded >> 1) ^ (~(folded & 1) + 1)), n};
}

}  // namespace

void RowBuffer::clear() {
  memory_.clear();
  memory_.set_capacity(limit_bytes_);
  buckets_.assign(4, Bucket{0, 0});
  segments_.clear();
  entries_ = 0;
  shift_ = 62;
}

RowBuffer::Stored RowBuffer::store(std::int64_t key, std::span<const std::byte> row, bool reject_duplicates) {
  const std::uint64_t hash = table_hash(key);
  bool full = false;
  const auto room = [&](std::size_t bytes) {
    std::span<std::byte> found = memory_.room(bytes);
    if (found.empty()) {
      full = true;
      found = memory_.overflow_room(bytes);
    }
    return found;
  };

  Entry* entry = find_entry(key, hash);
  std::optional<Address> older;
  if (entry == nullptr) {
    const std::span<std::byte> bytes = room(kKeyBytes);
    bytes[0] = std::byte{sizeof key};
    std::memcpy(&bytes[1], &key, sizeof key);
    entry = &insert(hash, memory_.take(kKeyBytes));
    // The table may have grown, and what it takes the rows can no longer have. Blocks that are there stay.
    full = full || table_bytes() >= limit_bytes_;
    memory_.set_capacity(limit_bytes_ - std::min(limit_bytes_ - 1, table_bytes()));
  } else {
    if (reject_duplicates) return Stored::duplicate;
    older = entry->newest;
  }

  const std::span<std::byte> bytes = room(kMostLinkBytes + row.size());
  const std::int64_t distance = older ? memory_.distance(memory_.next_address(), *older) : 0;
  const std::size_t link_bytes = write_link(distance, bytes);
  std::copy(row.begin(), row.end(), bytes.begin() + static_cast<std::ptrdiff_t>(link_bytes));
  entry->newest = memory_.take(link_bytes + row.size());
  return full ? Stored::full : Stored::yes;
}

std::optional<Address> RowBuffer::find(std::int64_t key) {
  const Entry* const found = find_entry(key, table_hash(key));
  if (found == nullptr) return std::nullopt;
  return found->newest;
}

RowBuffer::Match RowBuffer::match(Address address) const {
  const std::span<const std::byte> bytes = memory_.at(address);
  const auto [distance, link_bytes] = read_link(bytes);
  if (distance == 0) return {bytes.subspan(link_bytes), std::nullopt};
  return {bytes.subspan(link_bytes), memory_.before(address, distance)};
}

std::int64_t RowBuffer::key_at(Address address) const {
  std::int64_t key = 0;
  std::memcpy(&key, memory_.at(address).data() + 1, sizeof key);
  return key;
}

RowBuffer::Entry* RowBuffer::find_entry(std::int64_t key, std::uint64_t hash) {
  std::uint32_t sought = first_step(hash);
  for (std::size_t i = home(hash);; i = after(i), sought += kOneStep) {
    ++buckets_visited_;
    const Bucket& bucket = buckets_[i];
    // The row that sits here is nearer to its home than the key would be: the key would have displaced it.
    if (bucket.distance_and_fingerprint < sought) return nullptr;
    if (bucket.distance_and_fingerprint == sought) {
      ++comparisons_;
      Entry& candidate = entry(bucket.entry);
      if (key_at(candidate.key) == key) return &candidate;
    }
  }
}

RowBuffer::Entry& RowBuffer::insert(std::uint64_t hash, Address key_address) {
  if (entries_ % 256 == 0) segments_.push_back(std::make_unique<Segment>());
  const std::uint32_t added = entries_++;
  entry(added) = {key_address, 0};
  if (entries_ * std::uint64_t{5} > buckets_.size() * std::uint64_t{4}) {
    grow();
  } else {
    place(hash, added);
  }
  return entry(added);
}

void RowBuffer::place(std::uint64_t hash, std::uint32_t entry) {
  Bucket moving{first_step(hash), entry};
  for (std::size_t i = home(hash);; i = after(i), moving.distance_and_fingerprint += kOneStep) {
    ++buckets_visited_;
    Bucket& bucket = buckets_[i];
    if (bucket.distance_and_fingerprint == 0) {
      bucket = moving;
      return;
    }
    if (bucket.distance_and_fingerprint < moving.distance_and_fingerprint) std::swap(bucket, moving);
  }
}

void RowBuffer::grow() {
  const std::size_t buckets = buckets_.size() * 2;
  // The old buckets go before the new ones come: nothing in them is needed, and both would be too much.
  std::vector<Bucket>().swap(buckets_);
  buckets_.assign(buckets, Bucket{0, 0});
  --shift_;
  for (std::uint32_t i = 0; i < entries_; ++i) place(table_hash(key_at(entry(i).key)), i);
}

}  // namespace engineroom::hash_join
