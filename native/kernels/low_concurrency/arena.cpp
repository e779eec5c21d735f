#include "low_concurrency/arena.hpp"

namespace engineroom::low_concurrency {

void* Arena::from_a_new_block(std::size_t bytes) {
  const bool has_its_own = bytes > next_block_bytes_;
  const std::size_t size = has_its_own ? bytes : next_block_bytes_;
  // Not zeroed: the first write to a page must cost what it costs the server.
  blocks_.push_back(std::make_unique_for_overwrite<std::byte[]>(size));
  std::byte* const block = blocks_.back().get();
  reserved_bytes_ += size;
  if (has_its_own) return block;  // what is left of the block before stays in use
  next_block_bytes_ += next_block_bytes_ / 2;
  at_ = block + bytes;
  end_ = block + size;
  return block;
}

}  // namespace engineroom::low_concurrency
