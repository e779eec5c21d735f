#include "common/memory_files.hpp"

#include <algorithm>
#include <cassert>
#include <cstdlib>
#include <cstring>
#include <new>

namespace engineroom {

class MemoryFiles::Lent final : public File {
 public:
  explicit Lent(MemoryFiles& storage) : storage_(storage) {
    const std::lock_guard lock(storage_.guard_);
    // Room for its return, so that a destructor need not ask for memory.
    storage_.kept_.reserve(storage_.kept_.size() + ++storage_.n_lent_);
    if (storage_.kept_.empty()) return;
    block_ = storage_.kept_.back();
    storage_.kept_.pop_back();
  }

  ~Lent() override {
    const std::lock_guard lock(storage_.guard_);
    --storage_.n_lent_;
    storage_.kept_.push_back(block_);
  }

  void write(std::uint64_t offset, std::span<const std::byte> bytes) override {
    const std::size_t end = static_cast<std::size_t>(offset) + bytes.size();
    if (end > block_.bytes) grow(end);
    if (!bytes.empty()) std::memcpy(block_.begin + offset, bytes.data(), bytes.size());
  }

  void read(std::uint64_t offset, std::span<std::byte> bytes) override {
    assert(offset + bytes.size() <= block_.bytes);
    if (!bytes.empty()) std::memcpy(bytes.data(), block_.begin + offset, bytes.size());
  }

  std::span<const std::byte> map(std::size_t bytes) override {
    assert(bytes <= block_.bytes);
    return {block_.begin, bytes};
  }

 private:
  void grow(std::size_t least) {
    constexpr std::size_t kFirstBytes = std::size_t{1} << 20;
    const std::size_t bytes = std::max({least, 2 * block_.bytes, kFirstBytes});
    void* const grown = std::realloc(block_.begin, bytes);  // moves pages, not bytes, where there are many
    if (grown == nullptr) throw std::bad_alloc();
    block_ = {static_cast<std::byte*>(grown), bytes};
  }

  MemoryFiles& storage_;
  Block block_;
};

MemoryFiles::~MemoryFiles() {
  for (const Block& block : kept_) std::free(block.begin);
}

std::unique_ptr<File> MemoryFiles::create() { return std::make_unique<Lent>(*this); }

}  // namespace engineroom
