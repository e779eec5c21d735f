#include "machine/sim/round_robin.hpp"

namespace engineroom::machine::sim {

std::uint32_t RoundRobin::cpu_to_wake_on(const Cpus& cpus, const Thread& t, Time now) const {
  // A CPU that is on its way out of idleness: threads of one priority go there as to an idle one, as Linux counts none
  // on it before.
  const auto awakes = [&](std::uint32_t cpu) { return cpus[cpu].is_awaking && now < cpus[cpu].run_start; };
  const auto takes = [&](std::uint32_t cpu) { return cpus.idle.has(cpu) || awakes(cpu); };
  if (takes(t.cpu)) return t.cpu;
  for (std::uint32_t cpu = 0; cpu < cpus.all.size(); ++cpu) {
    if (takes(cpu)) return cpu;
  }
  return t.cpu;
}

}  // namespace engineroom::machine::sim
