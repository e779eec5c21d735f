// Timers of sleeps and timed parks: what setting and ending them costs, and whom they interrupt.
//
// Models      one hardware timer per CPU. It costs nothing to set or end a timer while an earlier one of its CPU runs. Only
//             its own CPU can take it from there: a thread that is woken before its timer goes off, and runs elsewhere,
//             leaves it there.
// Leaves out  other timers of the system than these threads'
// Cost        one sift through the timers of its CPU to set one, and one to end it
#pragma once

#include <cstdint>
#include <vector>

#include "machine/event_queue.hpp"
#include "machine/sim/core.hpp"
#include "machine/sim/scheduler.hpp"

namespace engineroom::machine::sim {

class Timers {
 public:
  Timers(Core& core, Scheduler& scheduler)
      : core_(core), scheduler_(scheduler), of_cpu_(core.topology.cpus()) {}

  /// The thread whose code runs sets one.
  void set(std::uint64_t ns);
  /// When that one goes off: it runs while its thread still goes to sleep, which does not when that takes too long.
  Time goes_off(const Thread& t, std::uint64_t ns) const;
  /// The timer of a disk that is one: it was set when the fsync began.
  void set_for_disk(Thread& t, Time at) { begin(t, at); }
  /// The thread does not go to sleep after all.
  void forget(Thread& t) {
    if (t.timer_end == kNever) return;
    of_cpu_[t.timer_cpu].running.remove(t.id);
    t.timer_end = kNever;
  }
  /// The thread is awake, and goes to this CPU.
  void end(Thread& t, std::uint32_t goes_to);

  Time interrupted_until(std::uint32_t cpu) const { return of_cpu_[cpu].interrupted_until; }
  /// What a timer that its thread left behind adds to so much time on its CPU, from now.
  Time left_behind(std::uint32_t cpu, Time piece) {
    OfCpu& timer = of_cpu_[cpu];
    if (timer.left > core_.now + piece) return 0;
    const bool interrupts = timer.left >= scheduler_.run_start(cpu);
    timer.left = kNever;
    return interrupts ? core_.config.timer_interrupt_ps : 0;
  }

 private:
  struct OfCpu {
    EventQueue running;
    Time interrupted_until = 0;
    Time left = kNever;  // the earliest that its thread left behind
  };

  void begin(Thread& t, Time end) {
    t.timer_cpu = t.cpu;
    t.timer_end = end;
    of_cpu_[t.timer_cpu].running.set(t.id, end);
  }
  bool is_next(const Thread& t) const {
    const OfCpu& timers = of_cpu_[t.timer_cpu];
    const bool is_behind_left = core_.now <= timers.left && timers.left < t.timer_end;
    return !is_behind_left && timers.running.next_at() == t.timer_end;
  }
  void interrupt(std::uint32_t cpu, bool kicks);

  Core& core_;
  Scheduler& scheduler_;
  std::vector<OfCpu> of_cpu_;
};

}  // namespace engineroom::machine::sim
