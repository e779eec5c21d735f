#include "validation/primitives.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>
#include <iterator>
#include <numeric>
#include <system_error>
#include <thread>

#include "machine/host_machine.hpp"
#include "machine/parking.hpp"
#include "sync/latch.hpp"

#if defined(__linux__)
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/timerfd.h>
#endif

namespace engineroom::validation {

using machine::HostMachine;
using machine::kForEver;
using machine::park_on;
using machine::Task;
using machine::wake_parked;

namespace {

using Atomic = std::atomic<std::uint64_t>;
using Clock = std::chrono::steady_clock;

struct alignas(64) Padded {
  Atomic value = 0;
};

/// The time of one of `n` repetitions inside `work`.
template <typename Work>
double ns_each(std::uint64_t n, Work work) {
  const auto start = Clock::now();
  work();
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count() / static_cast<double>(n);
}

/// The same of a loop that does it.
double ns_of_loop(std::uint64_t n, auto once) {
  return ns_each(n, [&] {
    for (std::uint64_t i = 0; i < n; ++i) once(i);
  });
}

double ns_of(Clock::duration passed) { return std::chrono::duration<double, std::nano>(passed).count(); }

/// Keeps the calling thread on a CPU, where the system can; -1 sets it free.
void stay_on(int cpu) {
#if defined(__linux__)
  cpu_set_t set;
  CPU_ZERO(&set);
  const int n = static_cast<int>(std::thread::hardware_concurrency());
  for (int i = 0; i < n; ++i) {
    if (cpu < 0 || i == cpu % n) CPU_SET(static_cast<std::size_t>(i), &set);
  }
  sched_setaffinity(0, sizeof(set), &set);
#else
  (void)cpu;
#endif
}

constexpr std::size_t kRing = std::size_t{16} << 20;

/// Two threads on the CPUs given take turns `n` times each; the time of one hand-over.
template <typename Wait, typename Wake>
double hand_over(std::uint64_t n, int first_cpu, int second_cpu, Wait wait, Wake wake) {
  Padded turn;
  const auto play = [&](std::uint64_t mine, int cpu) {
    stay_on(cpu);
    for (std::uint64_t i = 0; i < n; ++i) {
      for (;;) {
        const std::uint64_t seen = turn.value.load();
        if (seen % 2 == mine) break;
        wait(turn.value, seen);
      }
      turn.value.fetch_add(1);
      wake(turn.value);
    }
  };
  double ns = 0;
  {
    std::jthread other(play, 1, second_cpu);
    ns = ns_each(2 * n, [&] { play(0, first_cpu); });
  }
  stay_on(-1);
  return ns;
}

/// CPU time of this thread.
double thread_cpu_ns() {
  timespec used{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) * 1e9 + static_cast<double>(used.tv_nsec);
}

/// How long a CPU is idle before it is woken, or its timer goes off, in turn: what that takes depends on it.
constexpr std::uint64_t kIdleUs[] = {50, 100, 200, 400};
constexpr std::uint64_t kTimerUs[] = {20, 50, 100, 200};

#if defined(__linux__)
/// What setting a timer takes, drawn so often. A thread sleeps only when its timer goes off later, so that the share of
/// parks that sleep, for one time after the other, is how often setting one takes less.
std::vector<double> set_timers(Atomic& word) {
  constexpr std::size_t kMostUs = 24;
  constexpr std::uint64_t kParks = 40;
  const auto sleeps = [] {
    rusage used{};
    getrusage(RUSAGE_THREAD, &used);
    return static_cast<std::uint64_t>(used.ru_nvcsw);
  };
  const int slack_ns = prctl(PR_GET_TIMERSLACK);  // by which the system may be late, so that timers coincide
  prctl(PR_SET_TIMERSLACK, 1);
  std::vector<std::uint64_t> slept(kMostUs);
  for (std::uint64_t i = 0; i < kParks; ++i) {
    for (std::size_t us = 1; us <= kMostUs; ++us) {
      const std::uint64_t before = sleeps();
      park_on(word, word.load(), 1000 * us);
      if (sleeps() > before) ++slept[us - 1];
    }
  }
  prctl(PR_SET_TIMERSLACK, slack_ns);
  std::ranges::sort(slept);  // a longer time sleeps more often, but for chance
  std::vector<double> ns;
  for (std::uint64_t i = 0; i < kParks; ++i) {
    const auto never_us = std::ranges::upper_bound(slept, i) - slept.begin();
    ns.push_back(1000 * (static_cast<double>(never_us) + 0.5));
  }
  return ns;
}
#endif

struct Woken {
  double cost_ns;               // of the caller, a wake-up
  std::vector<double> late_ns;  // until the last of them runs
};
/// What it costs to wake so many threads that are parked on an idle CPU.
Woken wake_elsewhere(std::uint64_t n, std::uint64_t sleepers) {
  Padded turn;
  Padded asleep;
  double cost_ns = 0;
  std::vector<Clock::time_point> called(n);
  std::vector<Clock::time_point> runs(n);
  const auto sleep = [&] {
    stay_on(1);
    for (std::uint64_t i = 0; i < n; ++i) {
      asleep.value.fetch_add(1);
      while (turn.value.load() == i) park_on(turn.value, i, kForEver);
      runs[i] = Clock::now();
    }
  };
  {
    std::vector<std::jthread> threads;
    for (std::uint64_t i = 0; i < sleepers; ++i) threads.emplace_back(sleep);
    stay_on(0);
    for (std::uint64_t i = 0; i < n; ++i) {
      while (asleep.value.load() < (i + 1) * sleepers) std::this_thread::yield();
      // It says so before it sleeps. The waker sleeps too: who wakes others has mostly been woken itself, and finds
      // its caches cold.
      std::this_thread::sleep_for(std::chrono::microseconds(kIdleUs[i % std::size(kIdleUs)]));
      called[i] = Clock::now();
      turn.value.store(i + 1);
      cost_ns += ns_each(1, [&] { wake_parked(turn.value, sleepers); });
    }
  }
  stay_on(-1);
  std::vector<double> late_ns;
  for (std::uint64_t i = 0; i < n; ++i) {
    late_ns.push_back(ns_of(runs[i] - called[i]));
  }
  return {cost_ns / static_cast<double>(n), late_ns};
}

/// The CPU time of one of `n` cycles: a thread sleeps and then wakes so many that park again on another CPU. Of all of
/// them together.
double cpu_of_cycle(std::uint64_t n, std::uint64_t sleepers) {
  Padded turn;
  std::atomic<double> cpu_ns = 0;
  {
    std::vector<std::jthread> threads;
    for (std::uint64_t i = 0; i < sleepers; ++i) {
      threads.emplace_back([&] {
        stay_on(1);
        const double before = thread_cpu_ns();
        for (std::uint64_t seen = 0; seen < n; seen = turn.value.load()) park_on(turn.value, seen, kForEver);
        cpu_ns.fetch_add(thread_cpu_ns() - before);
      });
    }
    stay_on(0);
    const double before = thread_cpu_ns();
    for (std::uint64_t i = 0; i < n; ++i) {
      std::this_thread::sleep_for(std::chrono::microseconds(kIdleUs[i % std::size(kIdleUs)]));
      turn.value.fetch_add(1);
      if (sleepers > 0) wake_parked(turn.value, sleepers);
    }
    cpu_ns.fetch_add(thread_cpu_ns() - before);
  }
  stay_on(-1);
  return cpu_ns / static_cast<double>(n);
}

/// How long something else ran each time, on the CPU given.
std::vector<double> interruptions_on(int cpu, std::chrono::nanoseconds run) {
  constexpr double kShortestNs = 1000;
  std::vector<double> all;
  all.reserve(1 << 16);
  stay_on(cpu);
  const auto start = Clock::now();
  for (auto before = start; before - start < run;) {
    const auto now = Clock::now();
    const double passed_ns = ns_of(now - before);
    if (passed_ns > kShortestNs) all.push_back(passed_ns);
    before = now;
  }
  stay_on(-1);
  return all;
}

#if defined(__linux__)
/// What a timer that goes off takes from the thread that computes on its CPU: the longest time in which that one could not look at
/// the clock.
double interrupted_by_timer() {
  constexpr long kAfterNs = 60'000;
  const int timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
  if (timer < 0) throw std::system_error(errno, std::generic_category(), "cannot make a timer");
  const itimerspec once{.it_interval = {}, .it_value = {.tv_sec = 0, .tv_nsec = kAfterNs}};
  timerfd_settime(timer, 0, &once, nullptr);
  const auto start = Clock::now();
  auto longest = Clock::duration::zero();
  for (auto before = start; before - start < std::chrono::nanoseconds(2 * kAfterNs);) {
    const auto now = Clock::now();
    longest = std::max(longest, now - before);
    before = now;
  }
  close(timer);
  return ns_of(longest);
}
#endif

void pause_once() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb");
#endif
}

Task<> awaited_loads(HostMachine& m, HostMachine::Word& word, std::uint64_t n, std::uint64_t& sum) {
  for (std::uint64_t i = 0; i < n; ++i) {
    const std::uint64_t value = co_await m.load(word);
    sum += value;
  }
}

Task<> one_load(HostMachine& m, HostMachine::Word& word, std::uint64_t& sum) {
  const std::uint64_t value = co_await m.load(word);
  sum += value;
}

Task<> called_tasks(HostMachine& m, HostMachine::Word& word, std::uint64_t n, std::uint64_t& sum) {
  for (std::uint64_t i = 0; i < n; ++i) co_await one_load(m, word, sum);
}

Task<> awaited_pairs(HostMachine& m, sync::Latch<HostMachine>& latch, std::uint64_t n) {
  for (std::uint64_t i = 0; i < n; ++i) {
    co_await latch.lock(m);
    co_await latch.unlock(m);
  }
}

class ScratchFile {
 public:
  explicit ScratchFile(const std::string& folder) : path_(folder + "/engineroom-calibrate-XXXXXX") {
    fd_ = mkstemp(path_.data());
    if (fd_ < 0) throw std::system_error(errno, std::generic_category(), "cannot create a file in " + folder);
  }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;
  ~ScratchFile() {
    close(fd_);
    unlink(path_.c_str());
  }
  void write(const std::vector<char>& bytes, std::uint64_t offset) const {
    if (pwrite(fd_, bytes.data(), bytes.size(), static_cast<off_t>(offset)) < 0) fail("write");
  }
  void sync() const {
#if defined(__APPLE__)
    if (fsync(fd_) != 0) fail("sync");
#else
    if (fdatasync(fd_) != 0) fail("sync");
#endif
  }

 private:
  void fail(const char* what) const {
    throw std::system_error(errno, std::generic_category(), std::string("cannot ") + what + " " + path_);
  }
  std::string path_;
  int fd_ = -1;
};

}  // namespace

double measure_line_transfer(std::uint64_t n) {
  return hand_over(
      n, 0, 1, [](Atomic&, std::uint64_t) {}, [](Atomic&) {});
}

CopyBesideWrite measure_copy_beside_write() {
  constexpr std::size_t kGroup = 65536;
  // Each has one half, so that neither meets what the other has just had: which of two would depend on who is faster.
  constexpr std::uint64_t kInRing = 2;
  constexpr std::uint64_t kGroups = kRing / kGroup / kInRing;
  constexpr std::uint64_t kUntimed = 2 * kInRing;  // until every page is there
  constexpr std::uint64_t kPieces = 4 * kInRing;
  HostMachine m({.seed = 1, .fsync_ns = 0, .folder = {}, .keeps_contents = false, .profile = false});
  HostMachine::File file(m, "emulated");
  std::vector<std::byte> ring(kRing, std::byte{1});
  Padded copied;
  Padded written;
  const auto each = [&](int cpu, const Atomic& before, std::uint64_t ahead, Atomic& done, auto&& work) {
    stay_on(cpu);
    double ns = 0;
    for (std::uint64_t piece = 0; piece < kUntimed + kPieces; ++piece) {
      while (before.load() + ahead <= piece) std::this_thread::yield();
      const double each_ns = ns_each(kGroups, [&] {
        for (std::uint64_t i = 0; i < kGroups; ++i) work((piece % kInRing * kGroups + i) * kGroup);
      });
      if (piece >= kUntimed) ns += each_ns;
      done.store(piece + 1);
    }
    stay_on(-1);
    return ns / static_cast<double>(kPieces);
  };
  CopyBesideWrite found;
  // As every log does: block by block, between a header and a trailer that the writer fills in.
  constexpr std::size_t kBlock = 512;
  constexpr std::size_t kHeader = 12;
  constexpr std::size_t kData = 496;
  std::jthread writer([&] {
    found.write_ns = each(1, copied.value, 0, written.value, [&](std::size_t at) {
      for (std::size_t block = at; block < at + kGroup; block += kBlock) {
        ring[block] = ring[block + kBlock - 1] = ring[block + kHeader];
      }
      m.pwrite(file, at, std::span(ring).subspan(at, kGroup));
    });
  });
  const std::vector<std::byte> group(kGroup, std::byte{1});
  const double blocks_ns = each(0, written.value, kInRing, copied.value, [&](std::size_t at) {
    for (std::size_t block = 0; block < kGroup; block += kBlock) {
      std::memcpy(&ring[at + block + kHeader], &group[block], kData);
    }
  });
  found.copy_ns = blocks_ns * kBlock / kData;
  writer.join();
  return found;
}

Primitives measure_primitives(std::uint64_t samples, const std::string& folder,
                              const std::function<void(std::uint64_t)>& poll) {
  Primitives all;
  // Several primitives of each sample; a sample may give a primitive several times.
  const auto measure_all = [&](const std::vector<std::string>& names, std::uint64_t n, auto once) {
    const std::size_t first = all.size();
    for (const std::string& name : names) all.push_back({name, {}});
    for (std::uint64_t i = 0; i < n; ++i) {
      once(std::span(all).subspan(first));
      poll(0);
    }
  };
  const auto measure = [&](const char* name, auto once) {
    measure_all({name}, samples, [&](std::span<Primitive> into) { into[0].ns.push_back(once()); });
  };
  const auto measure_loop = [&](const char* name, std::uint64_t n, auto once) {
    measure(name, [&] { return ns_of_loop(n, once); });
  };
  const auto append = [](std::vector<double>& to, const std::vector<double>& more) {
    to.insert(to.end(), more.begin(), more.end());
  };
  constexpr std::uint64_t kMany = 2'000'000;
  const bool has_two = std::thread::hardware_concurrency() > 1;

  Padded word;
  measure("load", [&] {
    std::uint64_t sum = 0;
    return ns_each(kMany, [&] {
      // Each load's address depends on the one before, so that they do not overlap.
      for (std::uint64_t i = 0; i < kMany; ++i) sum += *(&word.value + (sum & 0));
      asm volatile("" : : "r"(sum));
    });
  });
  measure_loop("atomic_add", kMany, [&](std::uint64_t) { word.value.fetch_add(1); });
  measure_loop("pause", kMany / 10, [](std::uint64_t) { pause_once(); });
  if (has_two) {
    measure("line_transfer", [] { return measure_line_transfer(50'000); });
    measure("atomic_add_shared_by_two", [&] {
      constexpr std::uint64_t kShared = 500'000;
      const auto add = [&](int cpu) {
        stay_on(cpu);
        for (std::uint64_t i = 0; i < kShared; ++i) word.value.fetch_add(1);
      };
      double ns = 0;
      {
        std::jthread other(add, 1);
        ns = ns_each(kShared, [&] { add(0); });
      }
      stay_on(-1);
      return ns;
    });
    measure("futex_hand_over_between_cpus", [&] {
      return hand_over(
          5'000, 0, 1, [](Atomic& turn, std::uint64_t seen) { park_on(turn, seen, kForEver); },
          [](Atomic& turn) { wake_parked(turn, 1); });
    });
    measure_all({"wake_on_another_cpu", "wake_four_on_another_cpu", "woken_on_another_cpu"}, samples,
                [&](std::span<Primitive> into) {
                  const auto [cost_ns, late_ns] = wake_elsewhere(200, 1);
                  into[0].ns.push_back(cost_ns);
                  into[1].ns.push_back(wake_elsewhere(200, 4).cost_ns);
                  append(into[2].ns, late_ns);
                });
    measure("cycle_that_wakes_nobody_cpu_time", [] { return cpu_of_cycle(400, 0); });
    measure("cycle_that_wakes_one_cpu_time", [] { return cpu_of_cycle(400, 1); });
    measure("cycle_that_wakes_four_cpu_time", [] { return cpu_of_cycle(400, 4); });
  }
  measure("futex_hand_over_on_one_cpu", [&] {
    return hand_over(
        5'000, 0, 0, [](Atomic& turn, std::uint64_t seen) { park_on(turn, seen, kForEver); },
        [](Atomic& turn) { wake_parked(turn, 1); });
  });
  measure("switch_by_yield_on_one_cpu", [&] {
    return hand_over(
        5'000, 0, 0, [](Atomic&, std::uint64_t) { std::this_thread::yield(); }, [](Atomic&) {});
  });
  measure_loop("yield_alone", 20'000, [](std::uint64_t) { std::this_thread::yield(); });
  measure_loop("wake_nobody", 20'000, [&](std::uint64_t) { wake_parked(word.value, 1); });
  word.value = 1;
  measure_loop("park_on_changed_word", 20'000, [&](std::uint64_t) { park_on(word.value, 0, 1'000'000); });
  word.value = 0;
  measure("timer_lateness", [&] {
    constexpr std::uint64_t kSleep = 200'000;
    const timespec wanted{.tv_sec = 0, .tv_nsec = kSleep};
    return ns_of_loop(20, [&](std::uint64_t) { nanosleep(&wanted, nullptr); }) - kSleep;
  });
  measure("timed_park_cpu_time", [&] {
    constexpr std::uint64_t kParks = 200;
    const double before = thread_cpu_ns();
    for (std::uint64_t i = 0; i < kParks; ++i) {
      park_on(word.value, word.value.load(), 1000 * kTimerUs[i % std::size(kTimerUs)]);
    }
    return (thread_cpu_ns() - before) / kParks;
  });
#if defined(__linux__)
  measure_all({"set_timer"}, samples,
              [&](std::span<Primitive> into) { append(into[0].ns, set_timers(word.value)); });
  measure("interrupted_by_timer", [] {
    constexpr std::size_t kTimers = 101;
    std::vector<double> ns(kTimers);
    std::ranges::generate(ns, interrupted_by_timer);
    std::ranges::nth_element(ns, ns.begin() + kTimers / 2);  // others interrupt, too
    return ns[kTimers / 2];
  });
#endif
  measure_loop("clock", kMany / 10, [](std::uint64_t) { static_cast<void>(Clock::now()); });
  measure("copy_1_kib", [&] {
    std::vector<char> from(1024, 'x');
    std::vector<char> to(1024);
    return ns_of_loop(20'000, [&](std::uint64_t) {
      std::memcpy(to.data(), from.data(), from.size());
      asm volatile("" : : "r"(to.data()) : "memory");
    });
  });
  {
    const ScratchFile file(folder);
    const std::vector<char> block(512, 'x');
    const std::vector<char> large(65536, 'x');
    file.write(large, 0);
    file.sync();
    measure_loop("pwrite_512", 2'000, [&](std::uint64_t i) { file.write(block, i % 128 * 512); });
    measure_loop("pwrite_64_kib", 200, [&](std::uint64_t) { file.write(large, 0); });
    // Each call for itself: its distribution is what a disk is known by.
    measure_all({"fdatasync_512"}, 20 * samples, [&](std::span<Primitive> into) {
      file.write(block, into[0].ns.size() % 128 * 512);
      into[0].ns.push_back(ns_each(1, [&] { file.sync(); }));
    });
  }
  {
    // The disk that is emulated in memory, and the log buffer that is written to it, which is larger than a cache.
    HostMachine m({.seed = 1, .fsync_ns = 0, .folder = {}, .keeps_contents = false, .profile = false});
    HostMachine::File file(m, "emulated");
    std::vector<std::byte> ring(kRing, std::byte{1});
    measure_loop("emulated_write_512", kRing / 512,
                 [&](std::uint64_t i) { m.pwrite(file, 512 * i, std::span(ring).subspan(512 * i, 512)); });
    measure_all({"copy_64_kib_beside_a_write", "emulated_write_64_kib_beside_a_copy"}, samples,
                [](std::span<Primitive> into) {
                  const auto [copy_ns, write_ns] = measure_copy_beside_write();
                  into[0].ns.push_back(copy_ns);
                  into[1].ns.push_back(write_ns);
                });
  }
  {
    HostMachine m;
    HostMachine::Word a_word(1);
    sync::Latch<HostMachine> latch(m, "latch");
    std::uint64_t sum = 0;
    const auto call_tasks = [&] { called_tasks(m, a_word, kMany / 10, sum).result(); };
    measure("called_task", [&] { return ns_each(kMany / 10, call_tasks); });
    const auto await_loads = [&] { awaited_loads(m, a_word, kMany, sum).result(); };
    measure("awaited_load", [&] { return ns_each(kMany, await_loads); });
    const HostMachine::Ref ref = a_word;
    measure("plain_load", [&] {
      return ns_each(kMany, [&] {
        for (std::uint64_t i = 0; i < kMany; ++i) sum += ref.word->load();
        asm volatile("" : : "r"(sum));
      });
    });
    const auto await_pairs = [&] { awaited_pairs(m, latch, kMany).result(); };
    measure("latch_pair", [&] { return ns_each(kMany, await_pairs); });
    measure_loop("plain_pair", kMany, [&](std::uint64_t) {
      std::uint64_t expected = 0;
      word.value.compare_exchange_strong(expected, 1);
      word.value.exchange(0);
    });
  }
  return all;
}

Interruptions measure_interruptions(std::uint64_t run_ns) {
  const std::chrono::nanoseconds run(run_ns);
  const bool has_two = std::thread::hardware_concurrency() > 1;
  std::vector<double> of_the_other;
  Interruptions found;
  {
    std::jthread other([&] {
      if (has_two) of_the_other = interruptions_on(1, run);
    });
    found.ns = interruptions_on(0, run);
  }
  found.ns.insert(found.ns.end(), of_the_other.begin(), of_the_other.end());
  if (!found.ns.empty()) {
    const double computed = static_cast<double>(run_ns) * (has_two ? 2 : 1) -
                            std::accumulate(found.ns.begin(), found.ns.end(), 0.0);
    found.every_ns = std::max(0.0, computed) / static_cast<double>(found.ns.size());
  }
  return found;
}

}  // namespace engineroom::validation
