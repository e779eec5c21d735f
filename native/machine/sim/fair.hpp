// Slices and places as Linux's fair scheduler gives them: in the order in which threads begin to wait, or by virtual run time.
//
// Models      a slice that ends early when somebody waits; waking on the idle core that is nearest; with virtual run time, as in
//             Linux up to 6.5: the least served first, a sleeper placed half a latency ahead of the others, and running at once
//             where it is a granularity behind the thread that runs
// Leaves out  weights: threads of a server are equals; groups; evening out the queues of busy CPUs, but for where a thread wakes
// Cost        with virtual run time a step for each thread that waits before the one that comes
#pragma once

#include <algorithm>
#include <cstdint>

#include "machine/sim/core.hpp"
#include "machine/sim/cpus.hpp"
#include "machine/sim/thread.hpp"
#include "machine/sim/topology.hpp"
#include "machine/sim_config.hpp"

namespace engineroom::machine::sim {

class Fair {
 public:
  explicit Fair(Core& core) : core_(core), config_(core.config), topology_(core.topology) {}

  /// New threads go round the CPUs.
  std::uint32_t cpu_to_start_on() {
    const std::uint32_t cpu = next_cpu_;
    next_cpu_ = (next_cpu_ + 1) % topology_.cpus();
    return cpu;
  }
  std::uint32_t cpu_to_wake_on(const Cpus& cpus, const Thread& t);

  bool counts_run_time() const {
#if defined(__cpp_exceptions)
    return config_.latency_ps > 0;
#else
    return false;  // no explorable asks for it, and a page loads every byte
#endif
  }
  Time slice_end(const Cpu& cpu, Time begin) const { return begin + slice(cpu); }
  /// Somebody waits behind the thread that runs.
  void cut_slice(Cpu& cpu, const Thread& came, Time now) const;

  // Virtual run time.
  /// The thread gives its CPU up.
  void count(Thread& t, const Cpu& cpu, Time now) const { t.had += std::max<Time>(0, now - cpu.run_start); }
  /// The thread goes from a CPU to another; it is as far behind the others there as it was here.
  void carry(Thread& t, const Cpu& from, const Cpu& to) const { t.had += to.least_had - from.least_had; }
  /// One that was not here to run may not claim all the time since.
  void place(Thread& t, const Cpu& cpu) const {
    t.had = std::max(t.had, cpu.least_had - config_.latency_ps / 2);
  }
  /// Behind which of the threads that wait it comes; kNone: it is the first.
  std::int32_t place_in_queue(const Cpu& cpu, const Thread& t) const;
  bool may_pass(const Cpu& cpu, const Thread& t) const {
    return core_.thread(cpu.first).had - t.had <= config_.wakeup_granularity_ps;
  }
  void renew_least(Cpu& cpu, Time now) const;

 private:
  Time slice(const Cpu& cpu) const {
    if (!counts_run_time()) return config_.slice_ps;
    return std::max(config_.slice_ps, config_.latency_ps / (Time{cpu.queued} + 1));
  }
  Time had_by_running(const Cpu& cpu, Time now) const {
    return core_.thread(cpu.current).had + std::max<Time>(0, now - cpu.run_start);
  }

  Core& core_;
  const SimConfig& config_;
  const Topology& topology_;
  std::uint32_t next_cpu_ = 0;
};

}  // namespace engineroom::machine::sim
