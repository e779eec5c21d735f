#include "redo_log/fast_log.hpp"

#include <time.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <thread>

#include "redo_log/fast_log_body.hpp"

#if defined(__linux__)
#include <sched.h>
#include <sys/prctl.h>
#endif

namespace engineroom::redo_log {

template class StretchLog<SoundStretches>;

namespace {

std::uint64_t ns_since(std::chrono::steady_clock::time_point start) {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - start).count());
}

/// Gives the calling thread the i-th of the processors that it may use, so that two threads do not share one.
void pin([[maybe_unused]] std::size_t i) {
#if defined(__linux__)
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return;
  i %= static_cast<std::size_t>(CPU_COUNT(&allowed));
  for (std::size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed) || i-- > 0) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof(one), &one);
    return;
  }
#endif
}

template <typename Body>
std::uint64_t timed(std::size_t threads, const Body& body) {
  std::atomic<std::size_t> ready{0};
  std::atomic<bool> go{false};
  std::vector<std::jthread> all;
  for (std::size_t t = 0; t < threads; ++t) {
    all.emplace_back([&, t] {
      pin(t);
      ready.fetch_add(1);
      while (!go.load()) std::this_thread::yield();
      body(t);
    });
  }
  while (ready.load() < threads) std::this_thread::yield();
  const auto start = std::chrono::steady_clock::now();
  go.store(true);
  all.clear();
  return ns_since(start);
}

constexpr std::size_t kBenchBuffer = std::size_t{16} << 20;

}  // namespace

std::uint64_t append_ns(std::size_t threads, std::uint64_t appends_per_thread, std::size_t group_bytes) {
  FastLog log(kBenchBuffer, {});
  return timed(threads, [&](std::size_t t) {
    const std::vector<std::byte> group(group_bytes, static_cast<std::byte>(t + 1));
    FastLog::Appender appender(log);
    for (std::uint64_t i = 0; i < appends_per_thread; ++i) appender.append(group);
  });
}

std::uint64_t fetch_add_and_copy_ns(std::size_t threads, std::uint64_t appends_per_thread,
                                    std::size_t group_bytes) {
  struct alignas(64) Shared {
    std::atomic<std::uint64_t> next{0};
  };
  const auto shared = std::make_unique<Shared>();
  std::vector<std::byte> ring(kBenchBuffer + group_bytes);
  return timed(threads, [&](std::size_t t) {
    const std::vector<std::byte> group(group_bytes, static_cast<std::byte>(t + 1));
    for (std::uint64_t i = 0; i < appends_per_thread; ++i) {
      const std::uint64_t at = shared->next.fetch_add(group_bytes) & (kBenchBuffer - 1);
      std::memcpy(&ring[at], group.data(), group_bytes);
    }
  });
}

GroupCommit group_commit(std::size_t clients, std::uint64_t fsync_ns, std::uint64_t run_ns,
                         std::size_t group_bytes) {
  std::vector<std::byte> disk(std::size_t{64} << 20);
  FastLog log(std::size_t{1} << 20, [&](Lsn lsn, std::span<const std::byte> blocks) {
    // A disk that begins again at its start; the copy is the page cache's.
    const std::size_t at = static_cast<std::size_t>(lsn % (disk.size() - (std::size_t{1} << 20)));
    std::memcpy(&disk[at], blocks.data(), blocks.size());
  });
  std::mutex guard;
  std::condition_variable asked;
  std::condition_variable reached;
  Lsn wanted = 0;  // the last LSN that somebody waits for
  Lsn durable = 0;
  bool is_over = false;
  GroupCommit seen;

  std::jthread flusher([&] {
#if defined(__linux__)
    prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);  // an emulated disk must not be 50 us late
#endif
    std::unique_lock lock(guard);
    for (;;) {
      // By LSN: who has been served and is not yet awake asks for nothing.
      asked.wait(lock, [&] { return wanted > durable || is_over; });
      if (is_over) return;
      lock.unlock();
      const Lsn written = log.write_out();
      timespec t{.tv_sec = static_cast<time_t>(fsync_ns / 1'000'000'000),
                 .tv_nsec = static_cast<long>(fsync_ns % 1'000'000'000)};
      nanosleep(&t, nullptr);
      lock.lock();
      durable = written;
      ++seen.fsyncs;
      lock.unlock();
      reached.notify_all();
      lock.lock();
    }
  });
  const auto start = std::chrono::steady_clock::now();
  std::vector<std::jthread> all;
  for (std::size_t c = 0; c < clients; ++c) {
    all.emplace_back([&, c] {
      const std::vector<std::byte> group(group_bytes, static_cast<std::byte>(c + 1));
      FastLog::Appender appender(log);
      std::uint64_t commits = 0;
      while (ns_since(start) < run_ns) {
        const Lsn mine = appender.append(group);
        std::unique_lock lock(guard);
        // Whoever asks while somebody has asked already need not wake the flusher again.
        const bool is_first = wanted <= durable;
        wanted = std::max(wanted, mine);
        if (is_first) asked.notify_one();
        reached.wait(lock, [&] { return durable >= mine; });
        ++commits;
      }
      const std::lock_guard lock(guard);
      seen.commits += commits;
    });
  }
  all.clear();
  seen.elapsed_ns = ns_since(start);
  {
    const std::lock_guard lock(guard);
    is_over = true;
  }
  asked.notify_one();
  return seen;
}

}  // namespace engineroom::redo_log
