// Slices and places of Linux's round robin (SCHED_RR): whole ticks of the clock, and nobody takes another's place.
#pragma once

#include <algorithm>
#include <cstdint>

#include "machine/random.hpp"
#include "machine/sim/cpus.hpp"
#include "machine/sim/thread.hpp"
#include "machine/sim_config.hpp"

namespace engineroom::machine::sim {

class RoundRobin {
 public:
  RoundRobin(const SimConfig& config, Random& random) : tick_ps_(config.tick_ps) {
    if (!is_on()) return;
    slice_ticks_ = std::max<Time>(1, config.slice_ps / tick_ps_);
    first_tick_ = static_cast<Time>(random.below(static_cast<std::uint64_t>(tick_ps_)));
  }

  bool is_on() const { return tick_ps_ > 0; }

  std::uint32_t cpu_to_wake_on(const Cpus& cpus, const Thread& t, Time now) const;

  /// The end of the thread's slice, which it goes on with where it slept or was interrupted.
  Time slice_end(Thread& t, Time begin) const {
    if (t.ticks_left == 0) t.ticks_left = slice_ticks_;
    return (tick_of(begin) + t.ticks_left) * tick_ps_ - first_tick_;
  }
  /// The first that waits behind a thread: that one was alone, and began a new slice whenever one was over.
  void renew_slice(Cpu& cpu, Time now) const {
    if (cpu.slice_end > now) return;
    const Time slice = slice_ticks_ * tick_ps_;
    cpu.slice_end += ((now - cpu.slice_end) / slice + 1) * slice;
  }
  /// What is left of its slice when it leaves its CPU. A thread that was alone there began new ones meanwhile.
  void count_ticks(Thread& t, const Cpu& cpu, Time now) const {
    const Time begun = cpu.run_start;
    const Time passed = tick_of(std::max(now, begun)) - tick_of(begun);
    t.ticks_left -= passed % slice_ticks_;
    if (t.ticks_left <= 0) t.ticks_left += slice_ticks_;
  }

 private:
  Time tick_of(Time at) const { return (at + first_tick_) / tick_ps_; }

  Time tick_ps_;
  Time slice_ticks_ = 1;
  Time first_tick_ = 0;  // since the last tick when the run begins
};

}  // namespace engineroom::machine::sim
