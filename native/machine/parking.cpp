#include "machine/parking.hpp"

#include "machine/concept.hpp"

#if defined(__linux__)

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <climits>
#include <ctime>

namespace engineroom::machine {

namespace {

std::uint32_t* lower_half(std::atomic<std::uint64_t>& word) {
  return reinterpret_cast<std::uint32_t*>(&word) + (std::endian::native == std::endian::big ? 1 : 0);
}

}  // namespace

void park_on(std::atomic<std::uint64_t>& word, std::uint64_t expected, std::uint64_t timeout_ns) {
  const bool is_timed = timeout_ns != kForEver;
  const timespec timeout{.tv_sec = static_cast<time_t>(timeout_ns / 1'000'000'000),
                         .tv_nsec = static_cast<long>(timeout_ns % 1'000'000'000)};
  syscall(SYS_futex, lower_half(word), FUTEX_WAIT_PRIVATE, static_cast<std::uint32_t>(expected),
          is_timed ? &timeout : nullptr, nullptr, 0);
}

std::uint64_t wake_parked(std::atomic<std::uint64_t>& word, std::uint64_t n) {
  const int most = static_cast<int>(std::min<std::uint64_t>(n, INT_MAX));
  const long woken = syscall(SYS_futex, lower_half(word), FUTEX_WAKE_PRIVATE, most, nullptr, nullptr, 0);
  return woken < 0 ? 0 : static_cast<std::uint64_t>(woken);
}

}  // namespace engineroom::machine

#else

#include <array>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>

namespace engineroom::machine {

namespace {

struct Bucket {
  std::mutex guard;
  std::condition_variable woken;
  std::uint64_t parked = 0;
};

Bucket& bucket_of(const void* word) {
  static std::array<Bucket, 256> buckets;
  return buckets[(std::hash<const void*>{}(word) >> 3) % buckets.size()];
}

}  // namespace

void park_on(std::atomic<std::uint64_t>& word, std::uint64_t expected, std::uint64_t timeout_ns) {
  Bucket& bucket = bucket_of(&word);
  std::unique_lock lock(bucket.guard);
  if (word.load() != expected) return;
  ++bucket.parked;
  if (timeout_ns == kForEver) {
    bucket.woken.wait(lock);
  } else {
    bucket.woken.wait_for(lock, std::chrono::nanoseconds(timeout_ns));
  }
  --bucket.parked;
}

// Words share buckets, so all are woken and those that were not meant return for no reason.
std::uint64_t wake_parked(std::atomic<std::uint64_t>& word, std::uint64_t n) {
  Bucket& bucket = bucket_of(&word);
  const std::lock_guard lock(bucket.guard);
  bucket.woken.notify_all();
  return bucket.parked < n ? bucket.parked : n;
}

}  // namespace engineroom::machine

#endif
