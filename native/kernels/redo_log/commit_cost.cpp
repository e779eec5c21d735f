#include "redo_log/commit_cost.hpp"

#include <time.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "redo_log/block.hpp"

namespace engineroom::redo_log {

namespace {

constexpr std::size_t kLine = 64;
/// A piece of the mini-transaction's private log (dyn_buf), copied and reported by itself in 8.0.
constexpr std::size_t kPieceBytes = 512;

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

std::uint64_t thread_cpu_ns() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(t.tv_nsec);
}

std::uint64_t next_random(std::uint64_t& random) {
  random = random * 6364136223846793005 + 1442695040888963407;
  return random >> 33;
}

/// Computing that no compiler leaves out: a chain of multiplications.
void compute(std::uint64_t steps) {
  std::uint64_t x = steps | 1;
  for (std::uint64_t i = 0; i < steps; ++i) {
    x *= 0x9E3779B97F4A7C15U;
    asm volatile("" : "+r"(x));
  }
}

/// Steps of compute() in 1024 ns: the most of several tries, since others only slow it down.
std::uint64_t steps_per_1024_ns() {
  static const std::uint64_t measured = [] {
    std::uint64_t most = 1;
    for (int i = 0; i < 20; ++i) {
      constexpr std::uint64_t kSteps = 100'000;
      const std::uint64_t start = thread_cpu_ns();
      compute(kSteps);
      most = std::max(most, kSteps * 1024 / std::max<std::uint64_t>(1, thread_cpu_ns() - start));
    }
    return most;
  }();
  return measured;
}

thread_local CommitCounts counted;

/// An atomic word that counts what the calling thread does to any of them.
template <typename T>
struct CountingAtomic : std::atomic<T> {
  using std::atomic<T>::atomic;
  static constexpr auto kOrder = std::memory_order_seq_cst;
  T fetch_add(T more, std::memory_order order = kOrder) {
    ++counted.locked_ops;
    return std::atomic<T>::fetch_add(more, order);
  }
  T exchange(T value, std::memory_order order = kOrder) {
    ++counted.locked_ops;
    return std::atomic<T>::exchange(value, order);
  }
  bool compare_exchange_strong(T& expected, T value, std::memory_order order = kOrder) {
    ++counted.locked_ops;
    return std::atomic<T>::compare_exchange_strong(expected, value, order);
  }
  void store(T value, std::memory_order order) {
    ++counted.atomic_stores;
    std::atomic<T>::store(value, order);
  }
};
/// TTASEventMutex: try, spin 30 rounds of up to 6 * 50 pauses (innodb_spin_wait_delay 6), then sleep.
template <template <typename> class Atomic>
class alignas(kLine) EventMutex {
 public:
  /// True when it had to wait.
  bool lock(std::uint64_t& random) {
    std::uint32_t free = 0;
    if (word_.compare_exchange_strong(free, 1, std::memory_order_acquire)) return false;
    // A thread that has slept takes the mutex with a 2, since others may sleep still: at worst one needless wake-up.
    for (std::uint32_t taken = 1;; taken = 2) {
      for (int round = 0; round < 30; ++round) {
        for (std::uint64_t i = next_random(random) % 7 * 50; i > 0; --i) pause();
        // Not an exchange: it could take away the 2 of somebody who has just gone to sleep.
        free = 0;
        if (word_.load(std::memory_order_relaxed) == 0 &&
            word_.compare_exchange_strong(free, taken, std::memory_order_acquire)) {
          return true;
        }
      }
      if (word_.exchange(2, std::memory_order_acquire) == 0) return true;
      word_.wait(2, std::memory_order_relaxed);
    }
  }
  void unlock() {
    if (word_.exchange(0, std::memory_order_release) == 2) word_.notify_one();
  }

 private:
  Atomic<std::uint32_t> word_{0};
};

/// Link_buf, as in 8.0.26 and later: the slot holds the absolute end, so that nothing is ever cleared.
template <template <typename> class Atomic>
class LinkBuffer {
 public:
  LinkBuffer(std::size_t capacity, std::uint64_t start)
      : slots_(new Atomic<std::uint64_t>[capacity]()), mask_(capacity - 1), tail_(start) {}

  bool has_space(std::uint64_t position) {
    if (tail_.load(std::memory_order_acquire) + mask_ + 1 > position) return true;
    advance();
    return tail_.load(std::memory_order_acquire) + mask_ + 1 > position;
  }
  std::uint64_t tail() const { return tail_.load(std::memory_order_acquire); }

  void add_link_advance_tail(std::uint64_t from, std::uint64_t to) {
    if (tail_.load(std::memory_order_acquire) == from) {
      // Nobody else can move the tail past a link that is not there.
      tail_.store(to, std::memory_order_release);
      return;
    }
    slots_[from & mask_].store(to, std::memory_order_release);
    advance();
  }

  void advance() {
    std::uint64_t position = tail_.load(std::memory_order_acquire);
    for (;;) {
      Atomic<std::uint64_t>& slot = slots_[position & mask_];
      std::uint64_t next = slot.load(std::memory_order_acquire);
      if (next <= position) return;
      if (next > position + mask_) {
        // The link of a later round: the tail went on while this thread stood still.
        position = tail_.load(std::memory_order_acquire);
        continue;
      }
      // One thread claims the first link and with it the right to move the tail.
      if (slot.compare_exchange_strong(next, position, std::memory_order_acq_rel)) {
        position = next;
        break;
      }
      position = tail_.load(std::memory_order_acquire);
    }
    for (;;) {
      const std::uint64_t next = slots_[position & mask_].load(std::memory_order_acquire);
      if (next <= position) break;
      position = next;
    }
    tail_.store(position, std::memory_order_release);
  }

 private:
  std::unique_ptr<Atomic<std::uint64_t>[]> slots_;
  std::uint64_t mask_;
  alignas(kLine) Atomic<std::uint64_t> tail_;
};

/// The log of 5.7: all state under one mutex.
template <template <typename> class Atomic>
class Log57 {
 public:
  explicit Log57(const CommitWork& work)
      : halves_(2 * work.log_buffer_bytes),
        half_(halves_.data()),
        other_half_(half_ + work.log_buffer_bytes),
        full_from_(work.log_buffer_bytes - (4 * kBlockBytes + 8192 + work.mtr_bytes * 5 / 4)) {
    begin_block(0);
  }

  void commit(const std::byte* bytes, std::size_t size, std::uint64_t& random, CommitCost& cost) {
    cost.latch_waits += mutex_.lock(random) ? 1 : 0;
    if (buf_free_ > full_from_) {
      switch_halves();
      ++cost.buffer_waits;
    }
    std::byte* const half = half_;
    const std::size_t start_block = buf_free_ / kBlockBytes;
    sn_ += size;
    // log_write_low: up to the end of the block, trailer and header skipped, the length kept in the header.
    while (size > 0) {
      const std::size_t in_block = buf_free_ % kBlockBytes;
      const std::size_t piece = std::min(size, kBlockBytes - kTrailerBytes - in_block);
      std::memcpy(half + buf_free_, bytes, piece);
      bytes += piece;
      size -= piece;
      std::byte* const block = half + buf_free_ / kBlockBytes * kBlockBytes;
      lsn_ += piece;
      buf_free_ += piece;
      if (in_block + piece == kBlockBytes - kTrailerBytes) {
        store_big_endian(block + 4, kBlockBytes, 2);
        store_big_endian(block + 8, checkpoint_, 4);
        lsn_ += kTrailerBytes + kHeaderBytes;
        buf_free_ += kTrailerBytes;
        begin_block(buf_free_);
      } else {
        store_big_endian(block + 4, in_block + piece, 2);
      }
    }
    // log_close: the first group that starts in this block starts behind ours.
    if (buf_free_ / kBlockBytes != start_block) {
      store_big_endian(half + buf_free_ / kBlockBytes * kBlockBytes + 6, buf_free_ % kBlockBytes, 2);
    }
    if (lsn_ - last_checkpoint_ > kMaxCheckpointAge)
      last_checkpoint_ = lsn_;  // the margin check, always passed
    mutex_.unlock();
  }
  std::uint64_t sn() const { return sn_; }

 private:
  static constexpr std::uint64_t kMaxCheckpointAge = 64 << 20;

  void begin_block(std::size_t at) {
    std::byte* const block = half_ + at;
    store_big_endian(block, block_number(lsn_), 4);
    store_big_endian(block + 4, kHeaderBytes, 2);
    store_big_endian(block + 6, 0, 2);
    buf_free_ = at + kHeaderBytes;
  }
  /// log_buffer_switch: the last, incomplete block goes on in the other half.
  void switch_halves() {
    const std::size_t last = buf_free_ / kBlockBytes * kBlockBytes;
    std::memcpy(other_half_, half_ + last, kBlockBytes);
    std::swap(half_, other_half_);
    buf_free_ -= last;
  }

  EventMutex<Atomic> mutex_;
  alignas(kLine) std::vector<std::byte> halves_;
  std::byte* half_;
  std::byte* other_half_;
  std::size_t full_from_;
  std::size_t buf_free_ = 0;
  Lsn lsn_ = kStartLsn + kHeaderBytes;
  Lsn last_checkpoint_ = kStartLsn;
  std::uint64_t sn_ = 0;
  std::uint32_t checkpoint_ = 0;
};

/// The log of 8.0: no latch between mini-transactions.
template <template <typename> class Atomic>
class Log80 {
 public:
  Log80(bool has_writer, std::size_t ring_bytes)
      : ring_(ring_bytes), ring_bytes_(ring_bytes), has_writer_(has_writer) {
    written_to(kStartLsn + kHeaderBytes);
  }

  void commit(const std::byte* bytes, std::size_t size, CommitCost& cost) {
    const Sn start_sn = sn_.fetch_add(size);
    if ((start_sn & kLocked) != 0) locked();
    const Lsn start = lsn_of(start_sn);
    const Lsn end = lsn_of(start_sn + size);
    if (start_sn + size > buf_limit_sn_.load(std::memory_order_acquire)) {
      ++cost.buffer_waits;
      wait_for_room(start_sn + size);
    }
    Lsn lsn = start;
    for (std::size_t done = 0; done < size;) {
      const std::size_t piece = std::min(size - done, kPieceBytes);
      const Lsn piece_end = write(lsn, bytes + done, piece);
      done += piece;
      if (done == size && block_of(end) != block_of(start)) {
        store_big_endian(&ring_[block_of(end) % ring_bytes_ + 6], offset_in_block(end), 2);
      }
      while (!recent_written_.has_space(lsn)) wait_20_us();
      // The server has a release fence here; the release of the link or the tail does the same.
      recent_written_.add_link_advance_tail(lsn, piece_end);
      if (closest_waiter_.load(std::memory_order_relaxed) <= piece_end) ++cost.buffer_waits;
      lsn = piece_end;
    }
    while (!recent_closed_.has_space(start)) wait_20_us();
    // Here the dirty pages enter the flush list; these pages are in it already.
    recent_closed_.add_link_advance_tail(start, end);
  }

  /// log_writer: whatever is ready counts as written, and its room in the ring is free.
  void write_ready() {
    recent_written_.advance();
    const Lsn ready = recent_written_.tail();
    if (ready != write_lsn_.load(std::memory_order_relaxed)) written_to(ready);
  }
  void run_writer(const std::atomic<bool>& stop) {
    while (!stop.load(std::memory_order_relaxed)) {
      write_ready();
      pause();
    }
  }
  std::uint64_t sn() const { return sn_.load() - kStartSn; }

 private:
  static constexpr Sn kLocked = Sn{1} << 63;

  /// log_buffer_write: around trailers and headers, the first-group field of each new block zeroed.
  Lsn write(Lsn lsn, const std::byte* bytes, std::size_t size) {
    std::size_t at = lsn % ring_bytes_;
    while (size > 0) {
      const std::size_t in_block = at % kBlockBytes;
      const std::size_t room = kBlockBytes - kTrailerBytes - in_block;
      const std::size_t piece = std::min(size, room);
      std::memcpy(&ring_[at], bytes, piece);
      bytes += piece;
      size -= piece;
      lsn += piece;
      at += piece;
      if (piece == room) {
        lsn += kTrailerBytes + kHeaderBytes;
        at = lsn % ring_bytes_;
        store_big_endian(&ring_[at - kHeaderBytes + 6], 0, 2);
      }
    }
    return lsn;
  }
  void written_to(Lsn lsn) {
    write_lsn_.store(lsn, std::memory_order_release);
    buf_limit_sn_.store(sn_of(lsn) + ring_bytes_ / kBlockBytes * kDataBytes - 2 * kBlockBytes,
                        std::memory_order_release);
  }
  void wait_for_room(Sn end_sn) {
    while (end_sn > buf_limit_sn_.load(std::memory_order_acquire)) {
      if (has_writer_) {
        std::this_thread::yield();
        continue;
      }
      if (!writer_busy_.exchange(true, std::memory_order_acquire)) {
        write_ready();
        writer_busy_.store(false, std::memory_order_release);
      } else {
        std::this_thread::yield();
      }
    }
  }
  [[gnu::noinline, gnu::cold]] static void wait_20_us() {
    std::this_thread::sleep_for(std::chrono::microseconds(20));
  }
  /// The buffer is being resized; nobody does that here.
  [[gnu::noinline, gnu::cold]] static void locked() { std::this_thread::yield(); }

  alignas(kLine) Atomic<Sn> sn_{kStartSn};
  alignas(kLine) Atomic<Sn> buf_limit_sn_{0};
  alignas(kLine) Atomic<Lsn> write_lsn_{0};
  alignas(kLine) Atomic<Lsn> closest_waiter_{UINT64_MAX};
  alignas(kLine) Atomic<bool> writer_busy_{false};
  alignas(kLine) LinkBuffer<Atomic> recent_written_{std::size_t{1} << 20, kStartLsn + kHeaderBytes};
  alignas(kLine) LinkBuffer<Atomic> recent_closed_{std::size_t{2} << 20, kStartLsn + kHeaderBytes};
  alignas(kLine) std::vector<std::byte> ring_;
  std::size_t ring_bytes_;  // log.buf_size can be set, so that an address in the ring takes a real division
  bool has_writer_;
};

/// Sets a flag when a scope ends, whatever ends it.
struct SetAtEnd {
  std::atomic<bool>& flag;
  ~SetAtEnd() { flag.store(true); }
};

template <typename Commit>
CommitCost run(const CommitWork& work, const Interrupt& interrupt, const Commit& commit) {
  using Time = std::chrono::steady_clock::time_point;
  constexpr std::uint64_t kBetweenLooks = 1024;  // at `is_given_up`: rare against what is measured
  const std::uint64_t steps = work.work_ns * steps_per_1024_ns() / 1024;
  std::vector<CommitCost> costs(work.threads);
  std::atomic<std::size_t> ready{0};
  std::atomic<bool> go{false};
  std::atomic<bool> is_given_up{false};
  std::mutex guard;
  std::condition_variable one_has_ended;
  std::size_t running = work.threads;
  Time last_end{};
  std::vector<std::jthread> threads;
  const SetAtEnd give_up{is_given_up};
  for (std::size_t t = 0; t < work.threads; ++t) {
    threads.emplace_back([&, t] {
      const std::vector<std::byte> bytes(work.mtr_bytes, static_cast<std::byte>(t + 1));
      CommitCost mine;
      std::uint64_t random = t;
      std::uint64_t drawn = t;  // of its own: the same work whatever the commits draw
      ready.fetch_add(1);
      while (!go.load()) std::this_thread::yield();
      const std::uint64_t start = thread_cpu_ns();
      for (std::uint64_t i = 0; i < work.commits_per_thread; ++i) {
        if (i % kBetweenLooks == 0 && is_given_up.load(std::memory_order_relaxed)) break;
        if (steps > 0) compute(steps / 2 + next_random(drawn) % steps);
        commit(bytes.data(), bytes.size(), random, mine);
      }
      mine.cpu_ns = thread_cpu_ns() - start;
      costs[t] = mine;
      const std::lock_guard lock(guard);
      last_end = std::max(last_end, std::chrono::steady_clock::now());
      --running;
      one_has_ended.notify_one();
    });
  }
  while (ready.load() < work.threads) std::this_thread::yield();
  const auto start = std::chrono::steady_clock::now();
  go.store(true);
  {
    std::unique_lock lock(guard);
    while (!one_has_ended.wait_for(lock, std::chrono::milliseconds(50), [&] { return running == 0; })) {
      lock.unlock();
      interrupt.ask();
      lock.lock();
    }
  }
  threads.clear();
  CommitCost all{.elapsed_ns = static_cast<std::uint64_t>(
                     std::chrono::duration_cast<std::chrono::nanoseconds>(last_end - start).count())};
  for (const CommitCost& cost : costs) {
    all.cpu_ns += cost.cpu_ns;
    all.latch_waits += cost.latch_waits;
    all.buffer_waits += cost.buffer_waits;
  }
  return all;
}

CommitCost measured(const CommitWork& work, const Interrupt& interrupt, const auto& commit) {
  const CommitCost alone = run(
      work, interrupt, [](const std::byte*, std::size_t, std::uint64_t&, CommitCost&) { asm volatile(""); });
  CommitCost cost = run(work, interrupt, commit);
  cost.work_elapsed_ns = alone.elapsed_ns;
  cost.work_cpu_ns = alone.cpu_ns;
  return cost;
}

/// A log of this design on words of this kind, and `use(commit, log)`; its log_writer, if it has one, runs meanwhile.
template <template <typename> class Atomic>
auto with_log(Design design, const CommitWork& work, const auto& use) {
  if (design == Design::log_5_6)
    refuse("design is 5.6: pass 5.7, whose mini-transactions commit the same way");
  options::check(work);
  if (design == Design::log_5_7) {
    const auto log = std::make_unique<Log57<Atomic>>(work);
    return use([&](const std::byte* bytes, std::size_t size, std::uint64_t& random,
                   CommitCost& mine) { log->commit(bytes, size, random, mine); },
               *log);
  }
  const bool has_writer = design == Design::log_8_0;
  const auto log = std::make_unique<Log80<Atomic>>(has_writer, work.log_buffer_bytes);
  std::atomic<bool> stop{false};
  std::jthread writer;
  if (has_writer) writer = std::jthread([&] { log->run_writer(stop); });
  const SetAtEnd stop_writer{stop};  // before the thread is waited for
  return use([&](const std::byte* bytes, std::size_t size, std::uint64_t&,
                 CommitCost& mine) { log->commit(bytes, size, mine); },
             *log);
}

}  // namespace

void check_together(const CommitWork& work) {
  if (work.log_buffer_bytes % kBlockBytes != 0) {
    refuse("log_buffer_bytes is " + std::to_string(work.log_buffer_bytes) + ": pass a multiple of 512");
  }
  if (work.mtr_bytes > work.log_buffer_bytes / 16) {
    refuse("mtr_bytes is " + std::to_string(work.mtr_bytes) +
           ": pass at most a sixteenth of log_buffer_bytes");
  }
}

CommitCost measure_commit(Design design, const CommitWork& work, const Interrupt& interrupt) {
  return with_log<std::atomic>(design, work, [&](const auto& commit, const auto& log) {
    CommitCost cost = measured(work, interrupt, commit);
    cost.end_sn = log.sn();
    return cost;
  });
}

CommitCounts count_commits(Design design, const CommitWork& work) {
  return with_log<CountingAtomic>(design, work, [&](const auto& commit, const auto&) {
    const std::vector<std::byte> bytes(work.mtr_bytes);
    std::uint64_t random = 0;
    CommitCost unused;
    counted = {};
    for (std::uint64_t i = 0; i < work.commits_per_thread; ++i)
      commit(bytes.data(), bytes.size(), random, unused);
    return counted;
  });
}

}  // namespace engineroom::redo_log
