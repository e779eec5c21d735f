// Memory that a kernel counts: every array of a kernel with a memory bound comes from here.
//
// Large arrays lie on huge pages where the system has them: random reads over 32 MiB otherwise miss the TLB
// on nearly every read. Elements are not initialised.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

namespace engineroom {

/// Large blocks that one call leaves to the next, so that the system need not find, clear and map them again:
/// what a server does with its memory between two statements. Threads may share one.
class Workspace {
 public:
  Workspace() = default;
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;
  ~Workspace();

  /// A block of exactly `bytes` that was left here, or null.
  void* take(std::size_t bytes);
  void leave(void* memory, std::size_t bytes);

 private:
  std::mutex guard_;
  std::multimap<std::size_t, void*> blocks_;
};

/// Bytes in use now and at most. Threads may share one.
class Meter {
 public:
  Meter() = default;
  /// Large blocks come from `workspace` if it has them, and are left to it.
  explicit Meter(Workspace* workspace) : workspace_(workspace) {}
  Meter(const Meter&) = delete;
  Meter& operator=(const Meter&) = delete;

  /// Bytes on a boundary of 64, uninitialised; from 2 MiB on huge pages if the system grants them.
  void* allocate(std::size_t bytes);
  void free(void* memory, std::size_t bytes);
  std::uint64_t peak() const { return peak_.load(std::memory_order_relaxed); }

 private:
  void add(std::uint64_t bytes) {
    const std::uint64_t now = now_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    std::uint64_t peak = peak_.load(std::memory_order_relaxed);
    while (now > peak && !peak_.compare_exchange_weak(peak, now, std::memory_order_relaxed)) {
    }
  }
  void remove(std::uint64_t bytes) { now_.fetch_sub(bytes, std::memory_order_relaxed); }

  Workspace* workspace_ = nullptr;
  std::atomic<std::uint64_t> now_ = 0;
  std::atomic<std::uint64_t> peak_ = 0;
};

template <typename T>
class MeteredAllocator {
 public:
  using value_type = T;

  explicit MeteredAllocator(Meter& meter) : meter_(&meter) {}
  template <typename U>
  MeteredAllocator(const MeteredAllocator<U>& other) : meter_(&other.meter()) {}

  T* allocate(std::size_t n) { return static_cast<T*>(meter_->allocate(n * sizeof(T))); }
  void deallocate(T* memory, std::size_t n) { meter_->free(memory, n * sizeof(T)); }

  template <typename U>
  void construct(U* place) noexcept(std::is_nothrow_default_constructible_v<U>) {
    ::new (static_cast<void*>(place)) U;
  }
  template <typename U, typename... Args>
  void construct(U* place, Args&&... args) {
    ::new (static_cast<void*>(place)) U(std::forward<Args>(args)...);
  }

  Meter& meter() const { return *meter_; }
  bool operator==(const MeteredAllocator& other) const { return meter_ == other.meter_; }

 private:
  Meter* meter_;
};

template <typename T>
using MeteredVector = std::vector<T, MeteredAllocator<T>>;

}  // namespace engineroom
