#include "machine/sim/timers.hpp"

namespace engineroom::machine::sim {

void Timers::set(std::uint64_t ns) {
  Thread& t = *core_.current;
  t.timer_set = core_.now_here();
  if (core_.config.timer_ps == 0) return;
  begin(t, goes_off(t, ns));
  if (!is_next(t)) return;
  const bool is_drawn = core_.config.set_timer.quantiles_ps.size() > 1;
  core_.charge_work(is_drawn ? core_.config.set_timer.draw(core_.random) : core_.config.timer_ps);
}

Time Timers::goes_off(const Thread& t, std::uint64_t ns) const {
  return (core_.config.timer_ps == 0 ? core_.now : t.timer_set) + time_of(ns) + core_.config.timer_slack_ps;
}

void Timers::end(Thread& t, std::uint32_t goes_to) {
  if (t.timer_end == kNever) return;
  const std::uint32_t cpu = t.timer_cpu;
  const bool goes_off = t.timer_end <= core_.now;
  if (!is_next(t)) {
  } else if (goes_off && scheduler_.running_on(cpu) != kNone) {
    interrupt(cpu, scheduler_.running_on(goes_to) == kNone);
  } else if (goes_off || goes_to == cpu) {
    scheduler_.compute_longer(t, core_.config.timer_ps);
  } else if (core_.config.timer_interrupt_ps > 0) {
    of_cpu_[cpu].left = t.timer_end;
  }
  forget(t);
}

/// A timer goes off and its CPU computes: for its thread, or for another that is held up.
void Timers::interrupt(std::uint32_t cpu, bool kicks) {
  OfCpu& timer = of_cpu_[cpu];
  timer.left = kNever;
  if (core_.now < timer.interrupted_until) return;  // one interruption for all that went off
  const Time lasts = core_.config.timer_interrupt_ps + (kicks ? core_.config.kick_ps : 0);
  timer.interrupted_until = core_.now + lasts;
  scheduler_.compute_longer(core_.thread(scheduler_.running_on(cpu)), lasts);
}

}  // namespace engineroom::machine::sim
