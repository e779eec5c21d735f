// The CPUs as their scheduler sees them: who runs on each, who waits for it, until when its thread may stay.
#pragma once

#include <cstdint>
#include <vector>

#include "machine/cpu_set.hpp"
#include "machine/observed.hpp"
#include "machine/sim/lines.hpp"
#include "machine/sim_config.hpp"

namespace engineroom::machine::sim {

struct Cpu {
  std::int32_t current = kNone;
  std::int32_t first = kNone;  // run queue
  std::int32_t last = kNone;
  std::uint32_t queued = 0;
  std::int32_t last_thread = kNone;
  std::uint32_t io_blocked = 0;  // threads that wait for a disk and ran here last
  Time slice_end = 0;
  Time run_start = 0;
  Time least_had = 0;       // of the threads here, virtual run time; it never falls
  bool is_awaking = false;  // from idle, until its thread begins
  Time idle_since = 0;
  CoreTime time;
};

struct Cpus {
  explicit Cpus(std::uint32_t n) : all(n) {
    for (std::uint32_t cpu = 0; cpu < n; ++cpu) idle.add(cpu);
  }
  Cpu& operator[](std::uint32_t cpu) { return all[cpu]; }
  const Cpu& operator[](std::uint32_t cpu) const { return all[cpu]; }

  std::vector<Cpu> all;
  CpuSet idle;
  CpuSet with_queue;
};

}  // namespace engineroom::machine::sim
