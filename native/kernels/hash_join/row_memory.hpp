// Memory that is handed out in pieces and given back all at once, up to a capacity.
//
// Models      MEM_ROOT as the hash join uses it: first block 16 KiB, each next one half as large again, the
//             last one cut to what the capacity leaves
// Leaves out  keeping blocks for the next filling
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace engineroom::hash_join {

/// Where a piece begins: the block in the upper half, the byte in the lower one. Eight bytes on every
/// machine, so that a browser counts the same memory as a server.
using Address = std::uint64_t;

class RowMemory {
 public:
  static constexpr std::size_t kFirstBlockBytes = 16 * 1024;
  /// Charged for each block, as the server's links between them.
  static constexpr std::size_t kBlockHeaderBytes = 16;

  /// At least `bytes` of room in the current block or in a new one; empty when the capacity forbids it.
  std::span<std::byte> room(std::size_t bytes);
  /// Room outside the capacity, for the one row that may overflow.
  std::span<std::byte> overflow_room(std::size_t bytes);
  /// Takes the first `bytes` of the room that was given last, and says where they are.
  Address take(std::size_t bytes);
  /// Where `take` would begin.
  Address next_address() const {
    return (static_cast<Address>(blocks_.size() - 1) << 32) | blocks_.back().used;
  }

  std::span<const std::byte> at(Address address) const {
    const Block& block = blocks_[address >> 32];
    return {block.bytes.get() + (address & 0xFFFFFFFF),
            block.size - static_cast<std::size_t>(address & 0xFFFFFFFF)};
  }

  /// How far apart two pieces would lie if the blocks followed each other in memory.
  std::int64_t distance(Address from, Address to) const {
    return static_cast<std::int64_t>(position(to) - position(from));
  }
  /// The piece at `distance`, which is not positive, from `from`.
  Address before(Address from, std::int64_t distance) const;

  void set_capacity(std::uint64_t bytes) { capacity_ = bytes; }
  std::uint64_t allocated() const { return allocated_; }
  void clear();

 private:
  struct Block {
    std::unique_ptr<std::byte[]> bytes;
    std::size_t size;
    std::size_t used;
    std::uint64_t position;  // of the first byte, all blocks before it and their headers counted
  };

  std::uint64_t position(Address address) const {
    return blocks_[address >> 32].position + (address & 0xFFFFFFFF);
  }
  std::span<std::byte> add_block(std::size_t bytes);

  std::vector<Block> blocks_;
  std::size_t next_block_bytes_ = kFirstBlockBytes;
  std::uint64_t capacity_ = 0;
  std::uint64_t allocated_ = 0;
};

}  // namespace engineroom::hash_join
