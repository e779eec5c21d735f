#include "common/metered.hpp"

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace engineroom {

namespace {

constexpr std::size_t kLine = 64;
constexpr std::size_t kHugePage = std::size_t{2} << 20;

void* allocate_aligned(std::size_t bytes) {
#ifdef __linux__
  if (bytes >= kHugePage) {
    // A huge page must begin on its own boundary: take one more than needed and give the ends back.
    const std::size_t size = (bytes + kHugePage - 1) / kHugePage * kHugePage;
    void* const got =
        mmap(nullptr, size + kHugePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (got == MAP_FAILED) throw std::bad_alloc();
    char* const begin = static_cast<char*>(got);
    const std::size_t before = (kHugePage - reinterpret_cast<std::uintptr_t>(got) % kHugePage) % kHugePage;
    if (before != 0) munmap(begin, before);
    munmap(begin + before + size, kHugePage - before);
    madvise(begin + before, size, MADV_HUGEPAGE);  // a wish: without huge pages all is right, only slower
    return begin + before;
  }
#endif
  return ::operator new (bytes, std::align_val_t{kLine});
}

void free_aligned(void* memory, [[maybe_unused]] std::size_t bytes) {
#ifdef __linux__
  if (bytes >= kHugePage) {
    munmap(memory, (bytes + kHugePage - 1) / kHugePage * kHugePage);
    return;
  }
#endif
  ::operator delete (memory, std::align_val_t{kLine});
}

}  // namespace

Workspace::~Workspace() {
  for (const auto& [bytes, memory] : blocks_) free_aligned(memory, bytes);
}

void* Workspace::take(std::size_t bytes) {
  const std::lock_guard lock(guard_);
  const auto found = blocks_.find(bytes);
  if (found == blocks_.end()) return nullptr;
  void* const memory = found->second;
  blocks_.erase(found);
  return memory;
}

void Workspace::leave(void* memory, std::size_t bytes) {
  const std::lock_guard lock(guard_);
  blocks_.emplace(bytes, memory);
}

void* Meter::allocate(std::size_t bytes) {
  void* memory = workspace_ != nullptr && bytes >= kHugePage ? workspace_->take(bytes) : nullptr;
  if (memory == nullptr) memory = allocate_aligned(bytes);
  add(bytes);
  return memory;
}

void Meter::free(void* memory, std::size_t bytes) {
  remove(bytes);
  if (workspace_ != nullptr && bytes >= kHugePage) {
    workspace_->leave(memory, bytes);
  } else {
    free_aligned(memory, bytes);
  }
}

}  // namespace engineroom
