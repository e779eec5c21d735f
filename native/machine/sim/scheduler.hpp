// Which thread runs where, and for how long: run queues, idle CPUs, segments of computing, and where each CPU's time went.
//
// What a thread computes is passed in segments: the end of one is an event, and so is the end of a time slice while
// somebody waits. How long a slice is and where a woken thread goes is the policy's: fair.hpp, or round_robin.hpp when
// the machine has ticks.
#pragma once

#include <algorithm>
#include <cstdint>

#include "machine/sim/core.hpp"
#include "machine/sim/cpus.hpp"
#include "machine/sim/fair.hpp"
#include "machine/sim/round_robin.hpp"

namespace engineroom::machine::sim {

class Scheduler {
 public:
  explicit Scheduler(Core& core)
      : core_(core), cpus_(core.topology.cpus()), fair_(core), round_robin_(core.config, core.random) {}

  // Looking.
  bool is_idle(std::uint32_t cpu) const { return cpus_.idle.has(cpu); }
  bool has_waiting(std::uint32_t cpu) const { return cpus_[cpu].first != kNone; }
  /// The thread that runs there, or kNone.
  std::int32_t running_on(std::uint32_t cpu) const { return cpus_[cpu].current; }
  Time run_start(std::uint32_t cpu) const { return cpus_[cpu].run_start; }
  /// Whether the CPU's thread must give way before this time.
  bool slice_ends_before(std::uint32_t cpu, Time at) const {
    return has_waiting(cpu) && at > cpus_[cpu].slice_end;
  }
  /// So much computing on a CPU whose sibling may be busy.
  Time slowed_by_sibling(std::uint32_t cpu, Time piece) const;
  /// The same while so many cores are busy.
  Time slowed_by_crowd(Time piece) const {
    const std::uint32_t cores = core_.topology.cpus() / core_.topology.cpus_per_core();
    if (cores < 2) return piece;
    const Time others = std::min(busy_, cores) - std::min<std::uint32_t>(busy_, 1);
    const Time lost_permille = (1000 - Time{core_.config.all_busy_permille}) * others / (cores - 1);
    return piece * 1000 / (1000 - lost_permille);
  }

  // Segments of the thread that runs.
  /// The event at which the CPU turns to something else: the end of what the thread does, or of its time slice.
  void arm_segment(const Thread& t);
  void charge_segment(Thread& t);
  void charge_spin(const Thread& t, Time ps) {
    cpus_[t.cpu].time[Purpose::spin] += static_cast<std::uint64_t>(ps);
  }
  /// The thread computes for so much longer.
  void compute_longer(Thread& t, Time ps);

  // To a CPU and from it.
  void place_new(Thread& t) { t.cpu = fair_.cpu_to_start_on(); }
  std::uint32_t cpu_to_wake_on(const Thread& t) {
    return round_robin_.is_on() ? round_robin_.cpu_to_wake_on(cpus_, t, core_.now)
                                : fair_.cpu_to_wake_on(cpus_, t);
  }
  /// A runnable thread begins on an idle CPU, or waits there.
  void admit(Thread& t, std::uint32_t cpu, bool was_woken);
  /// Somebody else's turn.
  void preempt(Thread& t, bool yields = false);
  void leave(Thread& t, Phase phase);
  void begin_io(const Thread& t) { ++cpus_[t.cpu].io_blocked; }
  void end_io(const Thread& t);

  /// CPU time used up to `at`, as the system counts it: some of a wake-up is the woken thread's.
  Time used(Time at) const { return busy_ps_ + at * busy_; }
  /// Where the time of an idle CPU went, up to now.
  void settle_idle(Cpu& cpu);
  Cpus& cpus() { return cpus_; }

 private:
  void enqueue(Thread& t, std::uint32_t cpu);
  std::int32_t take_queued(std::uint32_t cpu);
  void next_on(std::uint32_t cpu);
  void run_on(Thread& t, std::uint32_t cpu, Time delay);
  void become_idle(std::uint32_t cpu);
  void become_busy(std::uint32_t cpu, Time from);
  /// The thread gives up its CPU.
  void count_run(Thread& t) {
    if (round_robin_.is_on()) round_robin_.count_ticks(t, cpus_[t.cpu], core_.now);
    if (!counts_run_time()) return;
    fair_.renew_least(cpus_[t.cpu], core_.now);
    fair_.count(t, cpus_[t.cpu], core_.now);
  }
  bool counts_run_time() const { return !round_robin_.is_on() && fair_.counts_run_time(); }

  Core& core_;
  Cpus cpus_;
  Fair fair_;
  RoundRobin round_robin_;
  Time busy_ps_ = 0;  // of CPUs that are idle now, plus minus the start times of those that are busy
  std::uint32_t busy_ = 0;
};

inline void Scheduler::charge_segment(Thread& t) {
  const Time passed = core_.now - t.segment_start;
  if (passed <= 0) return;
  const Time memory = std::min(t.left_memory, passed);
  CoreTime& time = cpus_[t.cpu].time;
  time[Purpose::memory] += static_cast<std::uint64_t>(memory);
  time[Purpose::work] += static_cast<std::uint64_t>(passed - memory);
  t.left_memory -= memory;
  t.left -= passed;
  t.segment_start = core_.now;
}

inline void Scheduler::arm_segment(const Thread& t) {
  const Cpu& cpu = cpus_[t.cpu];
  Time at = t.segment_end;
  if (cpu.first != kNone && at > cpu.slice_end) at = std::max({cpu.slice_end, core_.now, t.segment_start});
  core_.arm(t, at);
}

}  // namespace engineroom::machine::sim
