// Memory that a kernel counts: every array of a kernel with a memory bound comes from here.
//
// Large arrays lie on huge pages where the system has them: random reads over 32 MiB otherwise miss the TLB
// on nearly every read. Elements are not initialised.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

namespace engineroom {

/// Bytes in use now and at most. Threads may share one.
class Meter {
 public:
  void add(std::uint64_t bytes) {
    const std::uint64_t now = now_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    std::uint64_t peak = peak_.load(std::memory_order_relaxed);
    while (now > peak && !peak_.compare_exchange_weak(peak, now, std::memory_order_relaxed)) {
    }
  }
  void remove(std::uint64_t bytes) { now_.fetch_sub(bytes, std::memory_order_relaxed); }
  std::uint64_t peak() const { return peak_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> now_ = 0;
  std::atomic<std::uint64_t> peak_ = 0;
};

/// Bytes on a boundary of 64, uninitialised; from 2 MiB on huge pages if the system grants them.
void* allocate_aligned(std::size_t bytes);
void free_aligned(void* memory, std::size_t bytes);

template <typename T>
class MeteredAllocator {
 public:
  using value_type = T;

  explicit MeteredAllocator(Meter& meter) : meter_(&meter) {}
  template <typename U>
  MeteredAllocator(const MeteredAllocator<U>& other) : meter_(&other.meter()) {}

  T* allocate(std::size_t n) {
    T* const memory = static_cast<T*>(allocate_aligned(n * sizeof(T)));
    meter_->add(n * sizeof(T));
    return memory;
  }
  void deallocate(T* memory, std::size_t n) {
    free_aligned(memory, n * sizeof(T));
    meter_->remove(n * sizeof(T));
  }

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
