#include "hash_join/row_memory.hpp"

#include <algorithm>

namespace engineroom::hash_join {

std::span<std::byte> RowMemory::room(std::size_t bytes) {
  if (!blocks_.empty()) {
    Block& block = blocks_.back();
    if (block.size - block.used >= bytes) return {block.bytes.get() + block.used, block.size - block.used};
  }
  const std::uint64_t left = capacity_ > allocated_ ? capacity_ - allocated_ : 0;
  if (bytes > left) return {};
  const std::size_t wanted = std::max(bytes, next_block_bytes_);
  next_block_bytes_ += next_block_bytes_ / 2;
  return add_block(static_cast<std::size_t>(std::min<std::uint64_t>(wanted, left)));
}

std::span<std::byte> RowMemory::overflow_room(std::size_t bytes) { return add_block(bytes); }

std::span<std::byte> RowMemory::add_block(std::size_t bytes) {
  blocks_.push_back({std::make_unique<std::byte[]>(bytes), bytes, 0, allocated_ + kBlockHeaderBytes});
  allocated_ += bytes + kBlockHeaderBytes;
  return {blocks_.back().bytes.get(), bytes};
}

Address RowMemory::take(std::size_t bytes) {
  const Address address = next_address();
  blocks_.back().used += bytes;
  return address;
}

Address RowMemory::before(Address from, std::int64_t distance) const {
  const std::uint64_t sought = position(from) + static_cast<std::uint64_t>(distance);
  auto block = static_cast<std::size_t>(from >> 32);
  while (sought < blocks_[block].position) --block;
  return (static_cast<Address>(block) << 32) | (sought - blocks_[block].position);
}

void RowMemory::clear() {
  blocks_.clear();
  next_block_bytes_ = kFirstBlockBytes;
  allocated_ = 0;
}

}  // namespace engineroom::hash_join
