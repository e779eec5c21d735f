#include "machine/sim/scheduler.hpp"

#include <algorithm>

namespace engineroom::machine::sim {

Time Scheduler::slowed_by_sibling(std::uint32_t cpu, Time piece) const {
  const auto [from, to] = core_.topology.same_core(cpu);
  for (std::uint32_t sibling = from; sibling < to; ++sibling) {
    if (sibling != cpu && !is_idle(sibling)) return piece * 1000 / core_.config.smt_permille;
  }
  return piece;
}

void Scheduler::compute_longer(Thread& t, Time ps) {
  if (t.phase == Phase::spinning) return;  // it looks later: Spins::on_event
  core_.seen.charge(t, State::work, ps);
  if (t.phase == Phase::running && t.segment_end > core_.now) {
    t.left += ps;
    t.segment_end += ps;
    arm_segment(t);
  } else {
    t.pending += ps;
  }
}

void Scheduler::preempt(Thread& t, bool yields) {
  const std::uint32_t cpu = t.cpu;
  count_run(t);
  core_.seen.keep_interval(t, State::work, t.since, core_.now, static_cast<std::int32_t>(cpu));
  cpus_[cpu].current = kNone;
  t.phase = Phase::runnable;
  t.since = core_.now;
  t.ready_at = core_.now;
  // A thread that yields lets the first that waits pass, if that one has not had much more than itself.
  const std::int32_t passes =
      yields && counts_run_time() && fair_.may_pass(cpus_[cpu], t) ? take_queued(cpu) : kNone;
  enqueue(t, cpu);
  if (passes != kNone) return run_on(core_.thread(passes), cpu, 0);
  next_on(cpu);
}

void Scheduler::leave(Thread& t, Phase phase) {
  count_run(t);
  core_.seen.keep_interval(t, State::work, t.since, core_.now, static_cast<std::int32_t>(t.cpu));
  cpus_[t.cpu].current = kNone;
  t.phase = phase;
  t.since = core_.now;
  next_on(t.cpu);
}

void Scheduler::end_io(const Thread& t) {
  Cpu& before = cpus_[t.cpu];
  if (is_idle(t.cpu)) settle_idle(before);
  --before.io_blocked;
}

void Scheduler::admit(Thread& t, std::uint32_t cpu, bool was_woken) {
  if (counts_run_time()) {
    fair_.renew_least(cpus_[cpu], core_.now);
    if (cpu != t.cpu) fair_.carry(t, cpus_[t.cpu], cpus_[cpu]);
    fair_.place(t, cpus_[cpu]);
  }
  if (!is_idle(cpu)) return enqueue(t, cpu);
  const Time late = core_.config.wake.draw(core_.random);
  run_on(t, cpu, late);
  if (was_woken) busy_ps_ += std::min(late, core_.config.wake_counted_ps);
}

void Scheduler::enqueue(Thread& t, std::uint32_t cpu_id) {
  Cpu& cpu = cpus_[cpu_id];
  t.cpu = cpu_id;
  if (round_robin_.is_on() && cpu.first == kNone) round_robin_.renew_slice(cpu, core_.now);
  const bool is_first = cpu.queued++ == 0;
  std::int32_t behind = is_first ? kNone : cpu.last;
  if (counts_run_time()) behind = fair_.place_in_queue(cpu, t);
  if (is_first) cpus_.with_queue.add(cpu_id);
  if (is_first || behind == cpu.last) cpu.last = static_cast<std::int32_t>(t.id);
  std::int32_t& next = behind == kNone ? cpu.first : core_.thread(behind).next;
  t.next = next;
  next = static_cast<std::int32_t>(t.id);
  if (cpu.current == kNone) return;
  if (!round_robin_.is_on()) fair_.cut_slice(cpu, t, core_.now);
  const Thread& running = core_.thread(cpu.current);
  if (&running != core_.current && running.segment_end > cpu.slice_end) arm_segment(running);
}

std::int32_t Scheduler::take_queued(std::uint32_t cpu_id) {
  Cpu& cpu = cpus_[cpu_id];
  const std::int32_t id = cpu.first;
  if (id == kNone) return kNone;
  cpu.first = core_.thread(id).next;
  --cpu.queued;
  if (cpu.first == kNone) cpus_.with_queue.remove(cpu_id);
  return id;
}

/// The CPU takes the next thread that waits for it, or one from the nearest CPU where one waits.
void Scheduler::next_on(std::uint32_t cpu) {
  std::int32_t id = take_queued(cpu);
  Time comes_after = 0;
  if (id == kNone && !cpus_.with_queue.none()) {
    const auto [from, to] = core_.topology.same_socket(cpu);
    const std::uint32_t n_cpus = core_.topology.cpus();
    std::uint32_t victim = cpus_.with_queue.first_in(cpu + 1, to);
    if (victim == to) victim = cpus_.with_queue.first_in(from, to);
    if (victim == to) victim = cpus_.with_queue.first_in(to, n_cpus);
    if (victim >= n_cpus) victim = cpus_.with_queue.first_in(0, n_cpus);
    id = take_queued(victim);
    if (counts_run_time()) fair_.carry(core_.thread(id), cpus_[victim], cpus_[cpu]);
    if (const Time pull_ps = core_.config.pull_ps; pull_ps > 0) {
      busy_ps_ += pull_ps;
      if (cpus_[victim].current != kNone) compute_longer(core_.thread(cpus_[victim].current), pull_ps);
      comes_after = core_.config.wake.draw(core_.random);
      become_idle(cpu);
    }
  }
  if (id == kNone) {
    become_idle(cpu);
  } else {
    run_on(core_.thread(id), cpu, comes_after);
  }
}

void Scheduler::run_on(Thread& t, std::uint32_t cpu_id, Time delay) {
  Cpu& cpu = cpus_[cpu_id];
  const Time from = std::max(core_.now, t.ready_at) + delay;
  cpu.time[Purpose::idle] += static_cast<std::uint64_t>(from - core_.now);
  if (is_idle(cpu_id)) become_busy(cpu_id, from);
  t.cpu = cpu_id;
  cpu.current = static_cast<std::int32_t>(t.id);
  const Time switching = cpu.last_thread == static_cast<std::int32_t>(t.id) ? 0 : core_.config.switch_ps;
  const Time begin = from + switching;
  cpu.last_thread = static_cast<std::int32_t>(t.id);
  cpu.time[Purpose::switching] += static_cast<std::uint64_t>(switching);
  cpu.run_start = begin;
  cpu.is_awaking = delay > 0;
  cpu.slice_end = round_robin_.is_on() ? round_robin_.slice_end(t, begin) : fair_.slice_end(cpu, begin);
  core_.seen.charge_since(t, State::runnable, t.since, begin);
  core_.seen.keep_interval(t, State::runnable, t.since, core_.now, kNone);
  t.phase = Phase::running;
  t.since = begin;
  t.segment_start = begin;
  t.segment_end = begin + t.left;
  arm_segment(t);
}

void Scheduler::settle_idle(Cpu& cpu) {
  if (core_.now > cpu.idle_since) {
    cpu.time[cpu.io_blocked > 0 ? Purpose::io_wait : Purpose::idle] +=
        static_cast<std::uint64_t>(core_.now - cpu.idle_since);
    cpu.idle_since = core_.now;
  }
}

void Scheduler::become_idle(std::uint32_t cpu) {
  cpus_.idle.add(cpu);
  cpus_[cpu].idle_since = core_.now;
  --busy_;
  busy_ps_ += core_.now;
}

void Scheduler::become_busy(std::uint32_t cpu, Time from) {
  settle_idle(cpus_[cpu]);
  cpus_.idle.remove(cpu);
  ++busy_;
  busy_ps_ -= from;
}

}  // namespace engineroom::machine::sim
