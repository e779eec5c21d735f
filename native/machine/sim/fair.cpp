#include "machine/sim/fair.hpp"

namespace engineroom::machine::sim {

std::uint32_t Fair::cpu_to_wake_on(const Cpus& cpus, const Thread& t) {
  const bool has_siblings = topology_.cpus_per_core() > 1;
  const auto core_is_idle = [&](std::uint32_t cpu) {
    const auto [from, to] = topology_.same_core(cpu);
    for (std::uint32_t i = from; i < to; ++i) {
      if (!cpus.idle.has(i)) return false;
    }
    return true;
  };
  const std::uint32_t before = t.cpu;
  if (cpus.idle.has(before) && (!has_siblings || core_is_idle(before))) return before;
  if (!cpus.idle.none()) {
    for (std::uint32_t turn = 0; turn < topology_.sockets(); ++turn) {
      const auto [from, to] =
          topology_.cpus_of_socket((topology_.socket_of(before) + turn) % topology_.sockets());
      std::uint32_t found = to;
      for (std::uint32_t cpu = cpus.idle.first_in(from, to); cpu < to;
           cpu = cpus.idle.first_in(cpu + 1, to)) {
        if (!has_siblings || core_is_idle(cpu)) return cpu;
        if (found == to) found = cpu;
      }
      if (found < to) return cpus.idle.has(before) ? before : found;
    }
  }
  // All are busy: where it ran before, or the next in turn if fewer wait there.
  next_cpu_ = (next_cpu_ + 1) % topology_.cpus();
  return cpus[next_cpu_].queued < cpus[before].queued ? next_cpu_ : before;
}

void Fair::cut_slice(Cpu& cpu, const Thread& came, Time now) const {
  if (!counts_run_time()) {
    cpu.slice_end = std::min(cpu.slice_end, std::max(now, cpu.run_start + config_.wakeup_granularity_ps));
    return;
  }
  const bool is_far_behind = had_by_running(cpu, now) - came.had > config_.wakeup_granularity_ps;
  cpu.slice_end = is_far_behind ? now : std::min(cpu.slice_end, slice_end(cpu, cpu.run_start));
}

std::int32_t Fair::place_in_queue(const Cpu& cpu, const Thread& t) const {
  std::int32_t behind = kNone;
  for (std::int32_t i = cpu.first; i != kNone && core_.thread(i).had <= t.had; i = core_.thread(i).next)
    behind = i;
  return behind;
}

void Fair::renew_least(Cpu& cpu, Time now) const {
  if (cpu.current == kNone && cpu.first == kNone) return;
  Time least = kNever;
  if (cpu.current != kNone) least = had_by_running(cpu, now);
  if (cpu.first != kNone) least = std::min(least, core_.thread(cpu.first).had);
  cpu.least_had = std::max(cpu.least_had, least);
}

}  // namespace engineroom::machine::sim
