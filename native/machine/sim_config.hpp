// The parameters of the simulated machine: plain integers, each measured or cited where a preset lies
// (data/machine/*.json).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/described.hpp"
#include "common/require.hpp"
#include "machine/cpu_set.hpp"
#include "machine/random.hpp"

namespace engineroom::machine {

/// Virtual time: picoseconds, so that a cost below a nanosecond still counts. 2^63 of them are 106 days.
using Time = std::int64_t;
constexpr Time kNever = INT64_MAX;
constexpr Time kPerNs = 1000;
/// So many ns, at most about 26 days: sums of it do not overflow.
constexpr Time time_of(std::uint64_t ns) {
  return static_cast<Time>(ns < INT64_MAX / 4096 ? ns : INT64_MAX / 4096) * kPerNs;
}

/// A time drawn anew for each request.
struct Distribution {
  /// One value: constant. More: equally spaced quantiles, straight lines between them.
  std::vector<Time> quantiles_ps{0};
  /// Exponential with this mean instead, when positive.
  Time exponential_mean_ps = 0;

  Time draw(Random& random) const {
    if (exponential_mean_ps > 0) {
      return static_cast<Time>(exponential(random.next(), static_cast<std::uint64_t>(exponential_mean_ps)));
    }
    if (quantiles_ps.size() == 1) return quantiles_ps[0];
    const std::uint64_t bits = random.next();
    const auto cell = static_cast<std::size_t>(high_product(bits, quantiles_ps.size() - 1));
    const std::uint64_t within = (bits * (quantiles_ps.size() - 1)) >> 44;  // of the cell, in units of 2^-20
    const Time low = quantiles_ps[cell];
    return low + (((quantiles_ps[cell + 1] - low) * static_cast<Time>(within)) >> 20);
  }
};

/// What a simulated machine costs, in picoseconds unless a name says otherwise. What each means, and what it may be, is
/// described below; where a preset's numbers come from stands in data/machine.
struct SimConfig {
  std::uint32_t sockets = 1;
  std::uint32_t cores_per_socket = 2;
  std::uint32_t threads_per_core = 1;
  std::uint32_t smt_permille = 600;
  // Of the speed of the only core that is busy, what is left while all are: frequency, shared caches and memory. In a straight line between.
  std::uint32_t all_busy_permille = 1000;

  Time load_ps = 1'000;
  Time rmw_ps = 5'000;
  Time same_core_ps = 10'000;
  Time same_socket_ps = 50'000;
  Time other_socket_ps = 150'000;
  Time first_touch_ps = 20'000;
  Time read_occupancy_ps = 10'000;
  // Of the way of the next request, so much passes until it reaches the CPU that has the line. Till then that one goes on using
  // it, and operations take effect when the line has come. 0: a line has gone when it is asked for, and an operation takes
  // effect in the order of the requests.
  std::uint32_t line_stay_permille = 0;

  Time task_ps = 0;
  Time await_ps = 0;
  Time clock_ps = 0;
  Time pause_ps = 20'000;
  Time copy_ps_per_kib = 100'000;

  Time switch_ps = 1'500'000;
  // On a virtual machine no two are the same, and who comes first may depend on it.
  Distribution wake{{3'000'000}};
  Time wake_counted_ps = 0;
  Time park_ps = 500'000;
  Time unpark_ps = 300'000;
  Time wake_each_ps = 1'000'000;
  Time woken_ps = 0;
  Time yield_ps = 300'000;
  Time slice_ps = 3'000'000'000;
  Time wakeup_granularity_ps = 1'000'000'000;
  // Virtual run time, when positive: of the threads that wait for a CPU the one comes next that has had least of it, who has slept
  // is not behind those that kept it, and all are to have a turn within this time. 0: they come in the order in which they began to wait.
  Time latency_ps = 0;
  // Round robin (SCHED_RR), when positive: slices are whole ticks of the clock and end at one, a thread that
  // sleeps keeps the rest of its slice, nobody takes another's place before, and who wakes while all CPUs are
  // busy waits where it ran.
  Time tick_ps = 0;
  Time timer_slack_ps = 50'000'000;
  // What leaves a virtual machine costs its processor time: setting the timer of a sleep or a timed park, and
  // setting the next one when it is over; a timer that goes off while its CPU computes; and interrupting an
  // idle CPU to wake a thread there. No two timers are set in the same time, and a short one may go off before
  // its thread sleeps: what setting it takes is drawn where that is known, and else as long as the next one.
  Time timer_ps = 0;
  Distribution set_timer{};
  Time timer_interrupt_ps = 0;
  Time kick_ps = 0;
  // A CPU that goes idle while a thread waits for another's asks that one for it, as Linux does for real-time threads:
  // what the one and the other send costs so much CPU time each, and the thread comes as one that is woken on an idle
  // CPU. 0: it takes the thread at once.
  Time pull_ps = 0;
  // A CPU that computes is interrupted by the system and, on a virtual machine, by its host.
  Time interrupt_every_ps = 0;
  Distribution interrupt{};

  // The disk, behind a page cache: pwrite copies, fsync carries to the disk what was copied since.
  Time pwrite_ps = 1'500'000;
  Time pwrite_ps_per_kib = 200'000;
  Time fsync_ps = 1'000'000;
  Distribution disk_fsync{};
  Time disk_ps_per_kib = 1'000'000;  // 1 ns per byte: about 1 GB/s
  std::uint32_t disk_queue_depth = 1;
  bool disk_is_timer = false;

  bool client_is_timer = false;

  std::uint64_t seed = 1;  // no option: whoever runs the machine gives it
  bool random_schedule = false;
  bool no_timeouts = false;
  bool os_event = false;
  std::uint64_t trace_intervals = 0;

  std::uint32_t cpus() const { return sockets * cores_per_socket * threads_per_core; }
};

/// An hour at most for one operation, and one second for a KiB: a run adds many of them up, and 2^63 ps are 106 days. What is drawn is multiplied
/// by 2^20 before (Distribution).
constexpr options::Range kCost{.most = 3'600 * 1'000'000'000'000};
constexpr options::Range kDrawn{.most = 8 * 1'000'000'000'000};
constexpr options::Range kCostOfKib{.most = 1'000'000'000'000};

constexpr auto described(options::Of<SimConfig>) {
  using options::only_element;
  using options::option;
  using C = SimConfig;
  using D = Distribution;
  return options::list<C>(
      "a simulated machine",
      {
          option<&C::sockets>({.least = 1}, "processors, each with its own part of the memory"),
          option<&C::cores_per_socket>({.least = 1}, "cores of each"),
          option<&C::threads_per_core>({.least = 1}, "CPUs of each core, at most 256 in all"),
          option<&C::smt_permille>({.least = 1, .most = 1000}, "speed of a CPU whose sibling is busy, too"),
          option<&C::all_busy_permille>({.least = 1, .most = 1000}, "speed of a core while all are busy"),
          option<&C::load_ps>(kCost, "a look at a line that is here"),
          option<&C::rmw_ps>(kCost, "an atomic operation on a line that is here alone"),
          option<&C::same_core_ps>(kCost, "how long a line takes from a sibling of the core"),
          option<&C::same_socket_ps>(kCost, "how long a line takes from another core of the socket"),
          option<&C::other_socket_ps>(kCost, "how long a line takes from another socket"),
          option<&C::first_touch_ps>(kCost, "a line that nobody has used"),
          option<&C::read_occupancy_ps>(kCost, "how long one reader keeps the line from the next"),
          option<&C::line_stay_permille>(
              {.most = 1000},
              "of the way of the next request, what passes until it takes the line away; 0: it does at once"),
          option<&C::await_ps>(kCost, "what the program does around each operation on a shared word"),
          option<&C::task_ps>(kCost, "a call of a task, besides what it does"),
          option<&C::pause_ps>(kCost, "one PAUSE instruction"),
          option<&C::copy_ps_per_kib>(kCostOfKib, "memcpy, for each KiB"),
          option<&C::switch_ps>(kCost, "from one thread to another on a CPU"),
          only_element<&C::wake, &D::quantiles_ps>(
              "wake_ps", kDrawn,
              "from a wake-up to the first instruction on an idle CPU, besides the switch"),
          option<&C::wake, &D::quantiles_ps>("wake_quantiles_ps", kDrawn,
                                             "the same, drawn anew each time: equally spaced quantiles"),
          option<&C::park_ps>(kCost, "a futex wait up to the switch"),
          option<&C::unpark_ps>(kCost, "a futex wake that finds nobody"),
          option<&C::wake_each_ps>(kCost, "what a futex wake takes for each thread that it wakes"),
          option<&C::woken_ps>(kCost, "what such a thread takes itself until it goes on, besides the switch"),
          option<&C::wake_counted_ps>(
              kCost, "of a wake-up by another thread, what the system counts as CPU time of the woken one"),
          option<&C::clock_ps>(kCost, "a look at the clock"),
          option<&C::yield_ps>(kCost, "a sched_yield"),
          option<&C::slice_ps>({.least = 1, .most = kCost.most},
                               "how long a thread runs while others wait for its CPU"),
          option<&C::wakeup_granularity_ps>(kCost,
                                            "how long it runs before a thread that wakes may take its place"),
          option<&C::latency_ps>(kCost,
                                 "the time within which all that wait for a CPU are to run, by virtual run "
                                 "time; 0: first come, first served"),
          option<&C::tick_ps>(kCost,
                              "a tick of the clock by which slices end, round robin; 0: the fair scheduler"),
          option<&C::timer_slack_ps>(kCost, "how much later a timer goes off than it was set for"),
          option<&C::timer_ps>(
              kCost, "setting a timer, and setting the next one when it is over; 0: timers are free"),
          option<&C::timer_interrupt_ps>(kCost, "a timer that goes off while its CPU computes"),
          option<&C::kick_ps>(kCost, "interrupting an idle CPU to wake a thread there"),
          option<&C::pull_ps>(
              kCost, "asking another CPU for a thread that waits there, each of the two; 0: it is free"),
          option<&C::interrupt_every_ps>(kCost,
                                         "computing time between two interruptions, mean; 0: never any"),
          option<&C::set_timer, &D::quantiles_ps>(
              "set_timer_quantiles_ps", kDrawn,
              "setting a timer, where it is known better than timer_ps; one: as timer_ps"),
          option<&C::interrupt, &D::quantiles_ps>("interrupt_quantiles_ps", kDrawn,
                                                  "how long an interruption lasts"),
          option<&C::pwrite_ps>(kCost, "a pwrite, besides its bytes"),
          option<&C::pwrite_ps_per_kib>(kCostOfKib, "a pwrite, for each KiB"),
          option<&C::fsync_ps>(kCost, "CPU time of an fsync"),
          option<&C::disk_ps_per_kib>(kCostOfKib, "the disk's time for each KiB that an fsync carries to it"),
          option<&C::disk_queue_depth>({.least = 1, .most = 65'536},
                                       "fsyncs that the disk works on at the same time"),
          option<&C::disk_is_timer>("whether the disk is emulated: an fsync is a sleep"),
          option<&C::client_is_timer>("whether clients are emulated: waiting for one is a sleep"),
          option<&C::random_schedule>("whether costs and scheduling vary wildly by seed and threads wake "
                                      "for no reason: to find what a kernel forgot"),
          option<&C::no_timeouts>(
              "whether a park's timeout never comes: to find a wait that only its timeout ends"),
          option<&C::os_event>(
              "whether events have a mutex, through which who slept on one returns, and latches an array of "
              "their sleepers with a mutex, too"),
          option<&C::trace_intervals>({.most = 1'000'000'000},
                                      "intervals kept for a trace; what does not fit is counted"),
          option<&C::disk_fsync, &D::quantiles_ps>("disk_fsync_quantiles_ps", kDrawn,
                                                   "the disk's time for an fsync without its bytes"),
          option<&C::disk_fsync, &D::exponential_mean_ps>(
              "disk_fsync_exponential_mean_ps", kCost, "the same, exponential with this mean, when positive"),
      });
}

inline void check_together(const SimConfig& config) {
  if (config.latency_ps > 0 && config.tick_ps > 0) {
    refuse("latency_ps and tick_ps are two schedulers: one of them must be 0, got " +
           std::to_string(config.latency_ps) + " and " + std::to_string(config.tick_ps));
  }
  if (std::uint64_t{config.sockets} * config.cores_per_socket * config.threads_per_core <= CpuSet::kMost)
    return;
  refuse("the machine must have at most " + std::to_string(CpuSet::kMost) + " CPUs, got " +
         std::to_string(config.sockets) + " sockets x " + std::to_string(config.cores_per_socket) +
         " cores x " + std::to_string(config.threads_per_core) + " threads");
}

}  // namespace engineroom::machine
