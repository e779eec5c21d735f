#include "redo_log/fast_log.hpp"

#include <time.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <string>
#include <thread>

#include "common/require.hpp"
#include "redo_log/mtr.hpp"

#if defined(__linux__)
#include <sched.h>
#include <sys/prctl.h>
#endif

namespace engineroom::redo_log {

namespace {

Sn up_to_block(Sn sn) { return (sn + kDataBytes - 1) / kDataBytes * kDataBytes; }

std::uint64_t ns_since(std::chrono::steady_clock::time_point start) {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - start).count());
}

}  // namespace

FastLog::FastLog(std::size_t buffer_bytes, Sink sink, Mistake mistake)
    : sink_(std::move(sink)), mistake_(mistake), ring_(buffer_bytes) {
  if (buffer_bytes % kBlockBytes != 0 || buffer_bytes < 4 * kStretchBlocks * kBlockBytes) {
    refuse("buffer_bytes is " + std::to_string(buffer_bytes) + ": pass a multiple of 512 from " +
           std::to_string(4 * kStretchBlocks * kBlockBytes) + " on");
  }
}

std::shared_ptr<FastLog::Stretch> FastLog::take(std::size_t group_bytes, std::size_t blocks) {
  const std::uint64_t buffer = ring_.size() / kBlockBytes * kDataBytes;
  if (up_to_block(group_bytes) > buffer / 2) {
    refuse("a group has " + std::to_string(group_bytes) + " bytes: make the buffer larger than " +
           std::to_string(ring_.size()));
  }
  // No line of the buffer is touched and nothing is allocated under the mutex: whoever else comes would wait
  // for lines that the last round's writer still has.
  auto stretch = std::make_shared<Stretch>();
  stretch->bytes =
      std::max(std::min<std::uint64_t>(blocks * kDataBytes, buffer / 4), up_to_block(group_bytes));
  const std::lock_guard lock(guard_);
  if (end_ + stretch->bytes - written_ > buffer) write_out_under_guard();
  stretch->start = end_;
  end_ += stretch->bytes;
  stretches_.push_back(stretch);
  return stretch;
}

Lsn FastLog::Appender::append_slowly(std::span<const std::byte> group, Lsn after) {
  for (;;) {
    // What is left of the old one is for the writer to pad.
    const bool is_used_up = used_ + group.size() > bytes_;
    const bool is_closed =
        stretch_ == nullptr || (stretch_->state.fetch_or(kClosed, std::memory_order_acq_rel) & kClosed) != 0;
    blocks_ = is_used_up && !is_closed ? std::min(2 * blocks_, kLongestStretch) : kStretchBlocks;
    stretch_ = log_.take(group.size(), blocks_);
    used_ = 0;
    bytes_ = stretch_->bytes;
    lsn_ = lsn_of(stretch_->start);
    to_ = log_.at(lsn_);
    room_ = kDataBytes;
    // Before anything is reserved, or the writer would wait for bytes that never come.
    if (after > lsn_) refuse("after is LSN " + std::to_string(after) + ", which this log has not reached");
    const std::uint64_t before = stretch_->state.fetch_add(group.size(), std::memory_order_acq_rel);
    if ((before & kClosed) != 0) continue;
    set_first_group(Block(to_ - kHeaderBytes, kBlockBytes), kHeaderBytes);
    copy(group);
    stretch_->filled.store(used_, std::memory_order_release);
    return lsn_;
  }
}

void FastLog::Appender::copy(std::span<const std::byte> group) {
  const std::size_t size = group.size();
  if (size < room_) {
    std::memcpy(to_, group.data(), size);
    to_ += size;
    room_ -= size;
    lsn_ += size;
    used_ += size;
    return;
  }
  for (std::size_t done = 0; done < size;) {
    const std::size_t piece = std::min(size - done, room_);
    std::memcpy(to_, &group[done], piece);
    done += piece;
    to_ += piece;
    room_ -= piece;
    lsn_ += piece;
    if (room_ == 0) {
      lsn_ += kTrailerBytes + kHeaderBytes;
      to_ = log_.at(lsn_);
      room_ = kDataBytes;
      if (done < size) set_first_group(Block(to_ - kHeaderBytes, kBlockBytes), 0);
    }
  }
  used_ += size;
  // Behind the stretch's end another one begins, whose owner knows its first group.
  if (used_ < bytes_) set_first_group(Block(log_.at(block_of(lsn_)), kBlockBytes), offset_in_block(lsn_));
}

void FastLog::pad(Sn from, Sn to) {
  for (Sn sn = from; sn < to;) {
    const Sn block_end = std::min(to, sn / kDataBytes * kDataBytes + kDataBytes);
    std::memset(at(lsn_of(sn)), static_cast<int>(kPad), static_cast<std::size_t>(block_end - sn));
    if (sn % kDataBytes == 0) set_first_group(Block(at(block_of(lsn_of(sn))), kBlockBytes), kHeaderBytes);
    sn = block_end;
  }
  padded_bytes_ += to - from;
}

Lsn FastLog::write_out() {
  const std::lock_guard lock(guard_);
  return write_out_under_guard();
}

Lsn FastLog::write_out_under_guard() {
  for (; !stretches_.empty(); stretches_.pop_front()) {
    Stretch& stretch = *stretches_.front();
    const std::uint64_t closed = mistake_ == Mistake::stretch_left_open ? 0 : kClosed;
    const std::uint64_t used = stretch.state.fetch_or(closed, std::memory_order_acq_rel) & ~kClosed;
    while (stretch.filled.load(std::memory_order_acquire) < used) std::this_thread::yield();
    const Sn end = stretch.start + used;
    // The last stretch gives back its empty blocks; the others' are padding.
    const bool is_last = stretches_.size() == 1;
    const Sn padded = is_last ? up_to_block(end) : stretch.start + stretch.bytes;
    if (mistake_ != Mistake::no_padding) pad(end, padded);
    if (is_last) end_ = padded;
  }
  if (sink_ && end_ > written_) {
    for (Sn sn = written_; sn < end_;) {
      const Lsn lsn = block_of(lsn_of(sn));
      const std::size_t left = static_cast<std::size_t>((end_ - sn) / kDataBytes * kBlockBytes);
      const std::size_t whole = std::min(left, ring_.size() - static_cast<std::size_t>(lsn % ring_.size()));
      for (std::size_t i = 0; i < whole; i += kBlockBytes) {
        seal(Block(at(lsn + i), kBlockBytes), lsn + i, kBlockBytes, 0);
      }
      sink_(lsn, std::span<const std::byte>(at(lsn), whole));
      sn += whole / kBlockBytes * kDataBytes;
    }
  }
  written_ = end_;
  return lsn_of(end_);
}

namespace {

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
