// The statement's memory: a pointer moves through blocks that grow, and nothing is given back before the end.
//
// Models      MEM_ROOT (my_alloc.h, 8.0 and later): 8-byte alignment, a first block of the caller's size (8
//             KiB for a statement), each further block half as large again, larger objects in blocks of
//             their own
// Leaves out  the header of a block, memory instruments, the error on exceeding a limit
// Cost        an addition for an object; a malloc for a block
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace engineroom::low_concurrency {

class Arena {
 public:
  static constexpr std::size_t kFirstBlockBytes = 8192;

  explicit Arena(std::size_t first_block_bytes = kFirstBlockBytes) : next_block_bytes_(first_block_bytes) {}

  void* allocate(std::size_t bytes) {
    bytes = (bytes + 7) & ~std::size_t{7};
    used_bytes_ += bytes;
    if (bytes > static_cast<std::size_t>(end_ - at_)) [[unlikely]]
      return from_a_new_block(bytes);
    return std::exchange(at_, at_ + bytes);
  }

  std::uint64_t used_bytes() const { return used_bytes_; }          // asked for, rounded up to 8
  std::uint64_t reserved_bytes() const { return reserved_bytes_; }  // in blocks: what an instrument shows
  std::uint64_t blocks() const { return blocks_.size(); }

 private:
  void* from_a_new_block(std::size_t bytes);

  std::byte* at_ = nullptr;
  std::byte* end_ = nullptr;
  std::size_t next_block_bytes_;
  std::uint64_t used_bytes_ = 0;
  std::uint64_t reserved_bytes_ = 0;
  std::vector<std::unique_ptr<std::byte[]>> blocks_;
};

}  // namespace engineroom::low_concurrency
