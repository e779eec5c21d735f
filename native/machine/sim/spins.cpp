#include "machine/sim/spins.hpp"

#include <algorithm>

namespace engineroom::machine::sim {

bool Spins::begin(Thread& t) {
  core_.charge_memory(lines_.read(*t.ref.line, t.cpu, core_.now));
  core_.note(begins(Action::spin), *t.ref.value);
  if (t.until.holds(*t.ref.value)) {
    t.spin_result.holds = true;
    return false;
  }
  if (t.rounds_left == 0 || core_.stopping) return false;
  t.phase = Phase::spinning;
  t.spin_start = core_.now;
  t.segment_start = core_.now;
  watch(t);
  return true;
}

/// The thread looks at the word until its rounds are used up.
void Spins::watch(Thread& t) {
  const auto most = static_cast<std::uint64_t>((kNever / 4) / t.round_ps);
  t.segment_end =
      t.rounds_left > most ? kNever : t.spin_start + static_cast<Time>(t.rounds_left) * t.round_ps;
  t.next_watcher = t.ref.line->watchers;
  t.previous_watcher = kNone;
  if (t.next_watcher != kNone) {
    core_.thread(t.next_watcher).previous_watcher = static_cast<std::int32_t>(t.id);
  }
  t.ref.line->watchers = static_cast<std::int32_t>(t.id);
  scheduler_.arm_segment(t);
}

void Spins::stop_watching(const Thread& t) {
  (t.previous_watcher == kNone ? t.ref.line->watchers : core_.thread(t.previous_watcher).next_watcher) =
      t.next_watcher;
  if (t.next_watcher != kNone) core_.thread(t.next_watcher).previous_watcher = t.previous_watcher;
}

void Spins::tell(const Ref& ref) {
  for (std::int32_t i = ref.line->watchers; i != kNone;) {
    Thread& t = core_.thread(i);
    i = t.next_watcher;
    if (t.ref.value == ref.value && t.until.holds(*ref.value)) {
      // It sees the change when it looks the next time.
      const Time rounds = (core_.now - t.spin_start + t.round_ps - 1) / t.round_ps;
      const Time looks =
          std::max(t.spin_start + std::max<Time>(rounds, 1) * t.round_ps, timers_.interrupted_until(t.cpu));
      if (looks < t.segment_end) {
        t.segment_end = std::max(looks, t.segment_start);
        scheduler_.arm_segment(t);
      }
    } else {
      // Its look brings the line back to it, in vain, and keeps the others from it.
      lines_.read_aside(*ref.line, t.cpu, core_.now);
    }
  }
}

void Spins::hurry(Thread& t) {
  t.segment_end = std::max(core_.now, t.segment_start);
  scheduler_.arm_segment(t);
}

void Spins::charge(Thread& t) {
  const Time spun = core_.now - t.segment_start;
  if (spun <= 0) return;
  scheduler_.charge_spin(t, spun);
  core_.seen.charge(t, State::spin, spun);
  core_.seen.keep_interval(t, State::spin, t.segment_start, core_.now, static_cast<std::int32_t>(t.cpu));
  t.segment_start = core_.now;
}

bool Spins::on_event(Thread& t) {
  Time late = 0;
  if (interruptions_.happen()) {
    late = interruptions_.added_to(t.cpu, std::max<Time>(0, core_.now - t.segment_start), false);
  }
  charge(t);
  const bool is_over = core_.now >= t.segment_end;
  const auto rounds = static_cast<std::uint64_t>((core_.now - t.spin_start) / t.round_ps);
  if (!is_over && !scheduler_.has_waiting(t.cpu)) {
    scheduler_.arm_segment(t);  // who waited for the CPU has gone elsewhere
    return false;
  }
  stop_watching(t);
  t.spin_result.rounds += std::min(rounds, t.rounds_left);
  if (t.rounds_left != Spin::kForEver) t.rounds_left -= std::min(rounds, t.rounds_left);
  t.phase = Phase::running;
  if (is_over) {
    t.pending += late;
    return !begin(t);
  }
  t.action = Action::spin;
  core_.note(Turn::preempted, 0);
  scheduler_.preempt(t);
  return false;
}

}  // namespace engineroom::machine::sim
