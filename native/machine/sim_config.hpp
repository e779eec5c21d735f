// The parameters of the simulated machine: plain integers, each measured or cited where a preset lies
// (data/machine/*.json).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "machine/random.hpp"

namespace engineroom::machine {

/// Virtual time: picoseconds, so that a cost below a nanosecond still counts. 2^63 of them are 106 days.
using Time = std::int64_t;
constexpr Time kNever = INT64_MAX;
constexpr Time kPerNs = 1000;

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

struct SimConfig {
  // Topology. A core of several hardware threads counts as that many CPUs; at most 256 CPUs.
  std::uint32_t sockets = 1;
  std::uint32_t cores_per_socket = 2;
  std::uint32_t threads_per_core = 1;
  std::uint32_t smt_permille = 600;  // speed of a hardware thread whose sibling is busy too

  // Cache lines: what it costs when the line is here, and when it comes from elsewhere.
  Time load_ps = 1'000;
  Time rmw_ps = 5'000;
  Time same_core_ps = 10'000;
  Time same_socket_ps = 50'000;
  Time other_socket_ps = 150'000;
  Time first_touch_ps = 20'000;
  Time read_occupancy_ps = 10'000;  // how long one reader keeps the line from the next

  Time task_ps = 0;                // a call of a task, besides what it does
  Time await_ps = 0;               // what the program does around each operation on a shared word
  Time clock_ps = 0;               // a look at the clock
  Time pause_ps = 20'000;          // one PAUSE instruction
  Time copy_ps_per_kib = 100'000;  // memcpy

  // The operating system.
  Time switch_ps = 1'500'000;  // from one thread to another
  // From a wake-up to the first instruction on an idle CPU, besides the switch. On a virtual machine no two
  // are the same, and who comes first may depend on it.
  Distribution wake{{3'000'000}};
  // Of it, what the system counts as the processor time of a thread that another one woke.
  Time wake_counted_ps = 0;
  Time park_ps = 500'000;         // a futex wait up to the switch
  Time unpark_ps = 300'000;       // a futex wake that finds nobody
  Time wake_each_ps = 1'000'000;  // and for each thread that it wakes
  Time woken_ps = 0;              // what such a thread takes itself until it goes on, besides the switch
  Time yield_ps = 300'000;
  Time slice_ps = 3'000'000'000;               // how long a thread runs while others wait for its CPU
  Time wakeup_granularity_ps = 1'000'000'000;  // how long before a thread that wakes may take its place
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
  Distribution set_timer;
  Time timer_interrupt_ps = 0;
  Time kick_ps = 0;
  // A CPU that goes idle while a thread waits for another's asks that one for it, as Linux does for real-time threads:
  // what the one and the other send costs so much CPU time each, and the thread comes as one that is woken on an idle
  // CPU. 0: it takes the thread at once.
  Time pull_ps = 0;
  // A CPU that computes is interrupted by the system and, on a virtual machine, by its host: so often on average
  // (0: never), each time for so long.
  Time interrupt_every_ps = 0;
  Distribution interrupt;

  // The disk, behind a page cache: pwrite copies, fsync carries to the disk what was copied since.
  Time pwrite_ps = 1'500'000;
  Time pwrite_ps_per_kib = 200'000;
  Time fsync_ps = 1'000'000;           // CPU time of the call
  Distribution disk_fsync;             // the device's time for an fsync, without the bytes
  Time disk_ps_per_kib = 1'000'000;    // 1 ns a byte: about 1 GB/s
  std::uint32_t disk_queue_depth = 1;  // fsyncs that the device works on at the same time
  std::uint32_t disk_is_timer = 0;     // 1: emulated, an fsync is a sleep

  std::uint64_t seed = 1;
  /// Costs and scheduling vary wildly by seed, threads wake for no reason: to find what a kernel forgot.
  bool random_schedule = false;
  /// A park's timeout never comes: to find a wait that only its timeout ends.
  bool no_timeouts = false;
  /// Intervals kept for a trace; 0 keeps none, and what does not fit is counted.
  std::uint64_t trace_intervals = 0;

  std::uint32_t cpus() const { return sockets * cores_per_socket * threads_per_core; }
};

}  // namespace engineroom::machine
