// Slices and places as Linux's fair scheduler gives them, roughly: who wakes takes the place of a thread that has run for a while.
//
// Models      a slice that ends early when somebody waits; waking on the idle core that is nearest
// Leaves out  weights and virtual run time: threads of a server are equals
#pragma once

#include <algorithm>
#include <cstdint>

#include "machine/sim/cpus.hpp"
#include "machine/sim/thread.hpp"
#include "machine/sim/topology.hpp"
#include "machine/sim_config.hpp"

namespace engineroom::machine::sim {

class Fair {
 public:
  Fair(const SimConfig& config, const Topology& topology) : config_(config), topology_(topology) {}

  /// New threads go round the CPUs.
  std::uint32_t cpu_to_start_on() {
    const std::uint32_t cpu = next_cpu_;
    next_cpu_ = (next_cpu_ + 1) % topology_.cpus();
    return cpu;
  }
  std::uint32_t cpu_to_wake_on(const Cpus& cpus, const Thread& t);

  Time slice_end(Time begin) const { return begin + config_.slice_ps; }
  /// Somebody waits behind the thread that runs.
  void cut_slice(Cpu& cpu, Time now) const {
    cpu.slice_end = std::min(cpu.slice_end, std::max(now, cpu.run_start + config_.wakeup_granularity_ps));
  }

 private:
  const SimConfig& config_;
  const Topology& topology_;
  std::uint32_t next_cpu_ = 0;
};

}  // namespace engineroom::machine::sim
