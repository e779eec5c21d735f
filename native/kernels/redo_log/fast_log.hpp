// Our own redo log: each thread has a stretch of it to itself, so that appending touches no line that others
// write.
//
// Models      no server; per-thread regions as in partitioned logs (compare PostgreSQL's WALInsertLock,
//             which it avoids)
// Leaves out  a file used in a circle, checkpoints
// Cost        one addition on a line of one's own and the copy; a mutex once a stretch, for some ten
//             instructions. A stretch has 16 blocks, and twice as many as the last one, up to 128, when its
//             owner used that up before anybody wrote it out. So a commit pads, for each other thread that
//             wrote since the last one, at most 8 KiB or what that thread has written meanwhile
//
// LSNs stay unique and are recovered in order, but two threads' LSNs do not tell who came first. A thread
// that changes something that another thread has changed passes that LSN as `after`: a stretch that lies before it is
// given up.
//
// A stretch is shared by its owner and the log, so that an owner that comes back late finds its own, closed.
// `state` counts the bytes that its owner has reserved, and has a bit that closes it; `filled` counts the
// bytes that are copied. The writer closes a stretch by one atomic or, and then waits, if at all, for the
// owner's running copy.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "redo_log/block.hpp"

namespace engineroom::redo_log {

/// What keeps the log whole; a test breaks one of them at a time.
struct SoundStretches {
  /// The writer closes a stretch before it counts what its owner has reserved.
  static std::uint64_t close(std::atomic<std::uint64_t>& state, std::uint64_t closed) {
    return state.fetch_or(closed, std::memory_order_acq_rel);
  }
  /// What the owner of a stretch leaves empty is filled up.
  static Sn fill_up([[maybe_unused]] Sn from, Sn to) { return to; }
};

template <typename Rules>
class StretchLog {
 public:
  /// Gets whole sealed blocks at their place in the log; may be empty, then nothing is sealed either.
  using Sink = std::function<void(Lsn block_lsn, std::span<const std::byte> blocks)>;

  StretchLog(std::size_t buffer_bytes, Sink sink);
  StretchLog(const StretchLog&) = delete;
  StretchLog& operator=(const StretchLog&) = delete;

 private:
  static constexpr std::uint64_t kClosed = std::uint64_t{1} << 63;
  static constexpr std::size_t kStretchBlocks = 16;
  static constexpr std::size_t kLongestStretch = 128;

  struct Stretch {
    alignas(64) std::atomic<std::uint64_t> state{0};
    std::atomic<std::uint64_t> filled{0};
    Sn start = 0;
    std::uint64_t bytes = 0;  // of data, whole blocks
  };
  static_assert(sizeof(Stretch) == 64, "the writer of one stretch must not disturb that of the next");

 public:
  /// A thread's way into the log; it must not outlive the log.
  class Appender {
   public:
    explicit Appender(StretchLog& log) : log_(log) {}

    /// Appends one record group; its LSNs lie behind `after`. Gives the LSN of its end.
    Lsn append(std::span<const std::byte> group, Lsn after = 0) {
      if (used_ + group.size() <= bytes_ && after <= lsn_) {
        const std::uint64_t before = stretch_->state.fetch_add(group.size(), std::memory_order_acq_rel);
        if ((before & kClosed) == 0) {
          copy(group);
          // Whoever closes the stretch waits for this before it reads the bytes.
          stretch_->filled.store(used_, std::memory_order_release);
          return lsn_;
        }
        used_ = bytes_;
      }
      return append_slowly(group, after);
    }

   private:
    Lsn append_slowly(std::span<const std::byte> group, Lsn after);
    void copy(std::span<const std::byte> group);

    StretchLog& log_;
    std::shared_ptr<Stretch> stretch_;
    std::byte* to_ = nullptr;
    std::size_t room_ = 0;  // left in the block
    std::uint64_t used_ = 0;
    std::uint64_t bytes_ = 0;
    std::size_t blocks_ = kStretchBlocks;  // of the stretch, unless its group needed more
    Lsn lsn_ = 0;
  };

  /// Gives everything that was appended to the sink; the LSN up to which the log is complete.
  Lsn write_out();
  std::uint64_t padded_bytes() const { return padded_bytes_; }

 private:
  std::shared_ptr<Stretch> take(std::size_t group_bytes, std::size_t blocks);
  void pad(Sn from, Sn to);
  std::byte* at(Lsn lsn) { return &ring_[static_cast<std::size_t>(lsn % ring_.size())]; }
  Lsn write_out_under_guard();

  Sink sink_;
  std::vector<std::byte> ring_;
  std::mutex guard_;
  // Under the mutex.
  std::deque<std::shared_ptr<Stretch>> stretches_;  // that are not written, in the order of their LSNs
  Sn end_ = kStartSn;                               // of the last stretch
  Sn written_ = kStartSn;                           // start of the first block that is not written
  std::uint64_t padded_bytes_ = 0;
};

extern template class StretchLog<SoundStretches>;
using FastLog = StretchLog<SoundStretches>;

/// Elapsed time of `threads` that each append so many groups; nothing is sealed or written.
std::uint64_t append_ns(std::size_t threads, std::uint64_t appends_per_thread, std::size_t group_bytes);
/// The same bytes with nothing but one fetch_add on a shared word and a memcpy.
std::uint64_t fetch_add_and_copy_ns(std::size_t threads, std::uint64_t appends_per_thread,
                                    std::size_t group_bytes);

struct GroupCommit {
  std::uint64_t commits = 0;
  std::uint64_t fsyncs = 0;
  std::uint64_t elapsed_ns = 0;
};
/// Clients that append and wait until it is durable, over a disk in memory whose fsync takes `fsync_ns`.
GroupCommit group_commit(std::size_t clients, std::uint64_t fsync_ns, std::uint64_t run_ns,
                         std::size_t group_bytes);

}  // namespace engineroom::redo_log
