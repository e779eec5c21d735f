#include "machine/sim/spins.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace engineroom::machine::sim {

bool Spins::begin(Thread& t) {
  core_.note(begins(Action::spin), *t.ref.value);
  t.segment_start = core_.now;
  return look(t);
}

/// False: the thread need not look again.
bool Spins::look(Thread& t) {
  const Time way = lines_.bring(*t.ref.line, t.cpu, core_.now, Access::read);
  if (way == 0 || !lines_.stay()) return see(t, way + lines_.operation(Access::read));
  t.phase = Phase::spinning;
  t.is_fetching = true;
  t.segment_end = core_.now + way;
  scheduler_.arm_segment(t);
  return true;
}

/// The look itself.
bool Spins::see(Thread& t, Time takes) {
  t.spin_result.holds = t.until.holds(*t.ref.value);
  if (t.spin_result.holds || t.spin.rounds == 0 || core_.stopping) {
    t.phase = Phase::running;
    core_.charge_memory(takes);
    return false;
  }
  t.phase = Phase::spinning;
  t.next_look = core_.now + takes + next_round(t);
  watch(t);
  return true;
}

/// From the end of one look to the end of the next: the pauses, and a load from the thread's own cache.
Time Spins::round(Random& random, const Spin& spin) const {
  const std::uint64_t times = spin.draws_up_to > 0 ? random.below(spin.draws_up_to + 1) : 1;
  return std::max<Time>(
      1, core_.config.load_ps + static_cast<Time>(times * spin.pauses) * core_.config.pause_ps);
}

/// The round that comes next, drawn where rounds are.
Time Spins::next_round(Thread& t) const {
  const bool is_drawn_ahead = t.ahead.rounds > 0 && t.ahead.hold(t.random, t.spin);
  const Time lasts = round(t.random, t.spin);
  if (is_drawn_ahead) {
    t.ahead.from = t.random;
    --t.ahead.rounds;
    t.ahead.ps -= lasts;
  }
  return lasts;
}

/// When the rounds are used up if nobody takes the line before, or an earlier look behind many.
Time Spins::last_look(Thread& t) const {
  if (t.spin.draws_up_to == 0) {
    Random unused;
    const Time each = round(unused, t.spin);
    const auto most = static_cast<std::uint64_t>((kNever / 4) / each);
    return t.spin.rounds > most ? kNever : t.next_look + static_cast<Time>(t.spin.rounds - 1) * each;
  }
  constexpr std::uint64_t kMostAhead = 1024;
  const std::uint64_t behind_next = std::min(t.spin.rounds, kMostAhead) - 1;
  if (!t.ahead.hold(t.random, t.spin) || t.ahead.rounds > behind_next) {
    t.ahead = {.from = t.random, .to = t.random, .pauses = t.spin.pauses, .draws_up_to = t.spin.draws_up_to};
  }
  for (; t.ahead.rounds < behind_next; ++t.ahead.rounds) t.ahead.ps += round(t.ahead.to, t.spin);
  return t.next_look + t.ahead.ps;
}

/// The thread has made all looks up to this time, none of which found anything new.
void Spins::pass_rounds(Thread& t, Time before) const {
  if (t.next_look >= before || t.spin.rounds == 0) return;
  const auto pass = [&t](std::uint64_t n) {
    t.spin_result.rounds += n;
    if (t.spin.rounds != Spin::kForEver) t.spin.rounds -= n;
  };
  if (t.spin.draws_up_to > 0) {
    for (; t.next_look < before && t.spin.rounds > 0; pass(1)) t.next_look += next_round(t);
    return;
  }
  Random unused;
  const Time each = round(unused, t.spin);
  const auto n =
      std::min(static_cast<std::uint64_t>((before - t.next_look + each - 1) / each), t.spin.rounds);
  t.next_look += static_cast<Time>(n) * each;
  pass(n);
}

/// The thread has a copy of the line, and nothing to find in it until somebody takes it away.
void Spins::watch(Thread& t) {
  t.is_watching = true;
  t.segment_end = last_look(t);
  t.next_watcher = t.ref.line->watchers;
  t.previous_watcher = kNone;
  if (t.next_watcher != kNone) {
    core_.thread(t.next_watcher).previous_watcher = static_cast<std::int32_t>(t.id);
  }
  t.ref.line->watchers = static_cast<std::int32_t>(t.id);
  scheduler_.arm_segment(t);
}

void Spins::stop_watching(Thread& t) {
  if (!t.is_watching) return;
  t.is_watching = false;
  (t.previous_watcher == kNone ? t.ref.line->watchers : core_.thread(t.previous_watcher).next_watcher) =
      t.next_watcher;
  if (t.next_watcher != kNone) core_.thread(t.next_watcher).previous_watcher = t.previous_watcher;
}

void Spins::lose_copies(Line& line) {
  for (std::int32_t i = std::exchange(line.watchers, kNone); i != kNone;) {
    Thread& t = core_.thread(i);
    i = t.next_watcher;
    t.is_watching = false;
    pass_rounds(t, core_.now);
    t.segment_end = std::max({t.next_look, t.segment_start, timers_.interrupted_until(t.cpu)});
    scheduler_.arm_segment(t);
  }
}

void Spins::hurry(Thread& t) {
  t.segment_end = std::max(core_.now, t.segment_start);
  scheduler_.arm_segment(t);
}

void Spins::charge_until(Thread& t, Time at) {
  const Time spun = at - t.segment_start;
  if (spun <= 0) return;
  scheduler_.charge_spin(t, spun);
  core_.seen.charge(t, State::spin, spun);
  core_.seen.keep_interval(t, State::spin, t.segment_start, at, static_cast<std::int32_t>(t.cpu));
  t.segment_start = at;
}

bool Spins::on_event(Thread& t) {
  const bool looks = core_.now >= t.segment_end;
  Time resumes = timers_.interrupted_until(t.cpu);
  if (interruptions_.happen()) {
    const Time passed = std::max<Time>(0, core_.now - t.segment_start);
    resumes = std::max(resumes, core_.now + interruptions_.added_to(t.cpu, passed, false));
  }
  charge(t);
  if (looks && resumes > core_.now && !core_.stopping) {
    // Something else has the CPU when the thread would look: it looks behind that.
    charge_until(t, resumes);
    t.segment_end = resumes;
    scheduler_.arm_segment(t);
    return false;
  }
  if (!looks && !scheduler_.has_waiting(t.cpu)) {
    scheduler_.arm_segment(t);  // who waited for the CPU has gone elsewhere
    return false;
  }
  if (looks && std::exchange(t.is_fetching, false)) return !see(t, lines_.operation(Access::read));
  const bool had_copy = t.is_watching;
  stop_watching(t);
  if (looks) {
    // The rounds before this look, and the one that ends with it.
    pass_rounds(t, (had_copy ? core_.now : std::min(core_.now, t.next_look)) + 1);
    core_.note(Turn::noticed, *t.ref.value);
    return !look(t);
  }
  if (!std::exchange(t.is_fetching, false)) pass_rounds(t, core_.now);
  t.phase = Phase::running;
  t.action = Action::spin;
  core_.note(Turn::preempted, 0);
  scheduler_.preempt(t);
  return false;
}

}  // namespace engineroom::machine::sim
