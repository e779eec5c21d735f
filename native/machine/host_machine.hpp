// The machine at hand: kernel threads are real threads, shared words are atomics, parking is the system's
// futex.
//
// Models      nothing: it is what the simulated machine is held against
// Leaves out  a park compares the lower 32 bits of the word once it sleeps, as a futex does
// Cost        an await is the operation itself; observation costs only where a thread waits
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "machine/concept.hpp"
#include "machine/observed.hpp"
#include "machine/parking.hpp"
#include "machine/random.hpp"
#include "machine/task.hpp"

namespace engineroom::machine {

class HostMachine;

struct HostConfig {
  std::uint64_t seed = 1;
  /// The emulated disk, on which one fsync runs at a time: a real one varies too much to compare with.
  std::uint64_t fsync_ns = 100'000;
  /// Files are real and lie in this folder, when it is not empty; fsync_ns is not used then.
  std::string folder{};
  /// Whether a file in memory can be read back. If not it needs 32 MiB however long the run is.
  bool keeps_contents = true;
  /// Whether enter() and leave() read the clock.
  bool profile = false;
  /// Whether a look at the clock also reads the thread's CPU time and its core: a system call a look.
  bool core_times = false;
  /// So many intervals a thread are kept for a trace; needs `core_times`.
  std::uint64_t trace_intervals = 0;
};

/// A file in memory whose fsync takes a given time, or a real one.
class HostFile {
 public:
  HostFile(HostMachine& m, std::string_view name);
  HostFile(const HostFile&) = delete;
  HostFile& operator=(const HostFile&) = delete;
  ~HostFile();

  Site site() const { return site_; }
  /// What programs read back.
  std::vector<std::byte> contents() const;
  std::uint64_t writes() const { return writes_.load(std::memory_order_relaxed); }
  std::uint64_t written_bytes() const { return written_bytes_.load(std::memory_order_relaxed); }
  std::uint64_t fsyncs() const { return fsyncs_.load(std::memory_order_relaxed); }

 private:
  friend class HostMachine;
  void write(std::uint64_t offset, std::span<const std::byte> bytes);
  void sync(std::uint64_t fsync_ns);

  Site site_;
  int fd_ = -1;  // none: emulated
  bool keeps_contents_;
  std::string path_;
  mutable std::mutex guard_;
  std::mutex device_;
  std::vector<std::byte> contents_;
  std::atomic<std::uint64_t> writes_ = 0;
  std::atomic<std::uint64_t> written_bytes_ = 0;
  std::atomic<std::uint64_t> fsyncs_ = 0;
};

class HostMachine {
 public:
  using Atomic = std::atomic<std::uint64_t>;
  static_assert(Atomic::is_always_lock_free);
  struct Ref {
    Atomic* word;
  };
  class Word {
   public:
    explicit Word(std::uint64_t initial = 0) : value_(initial) {}
    Word(const Word&) = delete;
    Word& operator=(const Word&) = delete;
    operator Ref() { return {&value_}; }  // NOLINT: a word is used as its reference

   private:
    alignas(64) Atomic value_;  // a line of its own, so that words do not disturb each other
  };
  class Words {
   public:
    static constexpr std::size_t kPerLine = 8;
    explicit Words(std::size_t n) : lines_((n + kPerLine - 1) / kPerLine), size_(n) {}
    Words(const Words&) = delete;
    Words& operator=(const Words&) = delete;
    Ref operator[](std::size_t i) { return {&lines_[i / kPerLine].words[i % kPerLine]}; }
    std::size_t size() const { return size_; }

   private:
    struct alignas(64) Line {
      Atomic words[kPerLine] = {};
    };
    static_assert(sizeof(Line) == 64, "eight words share a cache line");
    std::vector<Line> lines_;
    std::size_t size_;
  };
  class Lines {
   public:
    explicit Lines(std::size_t n) : lines_(n) {}
    Lines(const Lines&) = delete;
    Lines& operator=(const Lines&) = delete;
    std::size_t size() const { return lines_.size(); }

   private:
    friend class HostMachine;
    struct alignas(64) Line {
      Atomic first_word = 0;  // stands for the line: whoever has it has all of it
    };
    static_assert(sizeof(Line) == 64);
    std::vector<Line> lines_;
  };
  using File = HostFile;

  explicit HostMachine(const HostConfig& config = {});
  HostMachine(const HostMachine&) = delete;
  HostMachine& operator=(const HostMachine&) = delete;
  ~HostMachine();

  void spawn(std::string name, std::function<Task<>()> body);
  /// Until every thread has ended. The first exception of a thread is thrown again.
  void run();
  /// For so much time; then stop() and until every thread has ended.
  void run_for(std::uint64_t ns);
  /// Called about every 50 ms; ends the run by throwing.
  void set_poll(std::function<void(std::uint64_t now_ns)> poll) { poll_ = std::move(poll); }

  // What a kernel may call (concept.hpp). Everything is done by the time await_ready returns.
  template <typename T>
  struct Done {
    T value;
    bool await_ready() const noexcept { return true; }
    void await_suspend(std::coroutine_handle<>) const noexcept {}
    T await_resume() const noexcept { return value; }
  };
  struct DoneVoid {
    bool await_ready() const noexcept { return true; }
    void await_suspend(std::coroutine_handle<>) const noexcept {}
    void await_resume() const noexcept {}
  };
  Done<std::uint64_t> load(Ref ref) { return {ref.word->load()}; }
  DoneVoid store(Ref ref, std::uint64_t value) { return ref.word->store(value), DoneVoid{}; }
  Done<std::uint64_t> add(Ref ref, std::uint64_t value) { return {ref.word->fetch_add(value)}; }
  Done<std::uint64_t> xchg(Ref ref, std::uint64_t value) { return {ref.word->exchange(value)}; }
  Done<bool> cas(Ref ref, std::uint64_t& seen, std::uint64_t value) {
    return {ref.word->compare_exchange_strong(seen, value)};
  }
  std::uint64_t peek(Ref ref) const { return ref.word->load(); }

  void work(std::uint64_t ns);
  void work_elsewhere(std::uint64_t ns) {
    work(ns);
    elsewhere_ns_ += ns;
  }
  void charge(std::uint64_t) {}
  void copy(void* to, const void* from, std::size_t bytes) {
    if (bytes > 0) std::memcpy(to, from, bytes);
  }
  Done<SpinResult> spin_until(Ref ref, Until until, Spin spin);
  Done<ParkResult> park(Ref ref, std::uint64_t expected, Site site, std::uint64_t timeout_ns = kForEver,
                        Patience patience = Patience::until_stop);
  Done<std::uint64_t> unpark(Ref ref, std::uint64_t n) { return {wake_parked(*ref.word, n)}; }
  DoneVoid sleep(std::uint64_t ns);
  /// A sleep: clients that send messages would be threads of this machine, and take the processors from what is measured.
  /// Its timer has no slack, as every timer of these threads (start); what setting it costs is in SimConfig::client_is_timer.
  DoneVoid wait_for_client(std::uint64_t ns) { return sleep(ns); }
  DoneVoid touch(Lines& lines, std::size_t first, std::size_t count, Access access);
  DoneVoid yield() { return std::this_thread::yield(), DoneVoid{}; }
  DoneVoid pwrite(File& file, std::uint64_t offset, std::span<const std::byte> bytes) {
    return file.write(offset, bytes), DoneVoid{};
  }
  DoneVoid fsync(File& file);

  std::uint64_t now() const {
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - start_)
            .count());
  }
  std::uint64_t random();
  std::uint64_t cpu_ns() const;
  std::uint32_t cpus() const { return cpus_; }
  void stop();
  bool stopping() const { return stopping_.load(std::memory_order_relaxed); }

  Site site(std::string_view name);
  void waited(Site site, const Wait& wait);
  void enter(Site site) {
    if (config_.profile) enter_profiled(site);
  }
  void leave() {
    if (config_.profile) leave_profiled();
  }

  static constexpr bool reach(Ref, Access) { return true; }
  bool try_cas(Ref ref, std::uint64_t expected, std::uint64_t value) {
    return ref.word->compare_exchange_strong(expected, value);
  }
  std::uint64_t try_xchg(Ref ref, std::uint64_t value) { return ref.word->exchange(value); }
  std::uint64_t try_add(Ref ref, std::uint64_t value) { return ref.word->fetch_add(value); }
  std::uint64_t try_load(Ref ref) { return ref.word->load(); }

  // What a run is asked afterwards.
  const HostConfig& config() const { return config_; }
  const std::vector<WaitStats>& waits() const { return waits_; }
  const Names& names() const { return names_; }
  /// The threads' activities, merged; empty without `profile`. Computing counts as work, waiting for lines
  /// too; so does waiting for a core without `core_times`.
  const Activities& activities() const { return activities_; }
  /// Where each core's time went in the last run; empty without `core_times`. A thread's time goes to the
  /// core on which it is when it is looked at; what it computes in order to sleep or wake is switching, what
  /// other processes use is idle, and of that as much is io_wait as threads that were here waited for a disk.
  std::vector<CoreTime> core_times() const;
  /// Sorted by their start. On a core's track no two overlap: what does is on its thread's.
  const std::vector<Interval>& trace() const { return trace_; }
  std::uint64_t intervals_not_kept() const { return intervals_not_kept_; }
  std::size_t thread_count() const { return thread_names_.size(); }
  std::string thread_name(std::uint32_t id) const { return thread_names_[id] + " " + std::to_string(id); }

 private:
  struct Context;
  /// Where a thread is parked, so that a run that stops can wake it; none: nowhere.
  struct alignas(64) Parked {
    std::atomic<Atomic*> word = nullptr;
  };

  void start(std::string name, std::function<Task<>()> body, std::uint64_t number);
  void begin();
  void join_all();
  void wake_all_parked();
  void enter_profiled(Site site);
  void leave_profiled();
  void merge(const Context& context);
  void sort_trace();

  /// Charges a wait to what the thread does, when the clock is read at all.
  class Timed;

  HostConfig config_;
  std::uint32_t cpus_;
  std::chrono::steady_clock::time_point start_;
  std::atomic<bool> stopping_ = false;
  std::atomic<std::uint64_t> elsewhere_ns_ = 0;  // computed in the place of other processes
  std::mutex guard_;
  std::vector<std::jthread> threads_;
  std::deque<Parked> parked_;  // one per thread, under the guard
  struct Waiting {
    std::string name;
    std::function<Task<>()> body;
  };
  std::vector<Waiting> to_start_;
  bool running_ = false;
  std::uint64_t started_ = 0;
  std::uint64_t live_ = 0;  // under the guard
  std::condition_variable ended_;
  std::exception_ptr failure_;
  Names names_;
  std::vector<WaitStats> waits_;
  Activities activities_;
  std::vector<CoreTime> used_;  // io_wait not yet capped by what was idle
  std::vector<Interval> trace_;
  std::uint64_t intervals_not_kept_ = 0;
  std::uint64_t elapsed_ps_ = 0;
  std::vector<std::string> thread_names_;
  std::function<void(std::uint64_t)> poll_;
};

}  // namespace engineroom::machine
