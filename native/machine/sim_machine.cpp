#include "machine/sim_machine.hpp"

#include <algorithm>
#include <cassert>

#include "common/described.hpp"
#include "common/require.hpp"

namespace engineroom::machine {

namespace {

using sim::begins;
using sim::kNone;
using sim::Turn;

constexpr std::uint64_t kEventsBetweenPolls = 65536;

std::string microseconds(Time ps) {
  const auto hundredths = static_cast<std::uint64_t>(ps) / 10'000;
  const std::string rest = std::to_string(hundredths % 100);
  return std::to_string(hundredths / 100) + "." + (rest.size() < 2 ? "0" : "") + rest + " us";
}

const SimConfig& checked(const SimConfig& config) {
  options::check(config);
  return config;
}

}  // namespace

SimMachine::SimMachine(const SimConfig& config) : core_(checked(config)) {}

SimMachine::~SimMachine() { drop_all(); }

void SimMachine::drop_all() {
  for (const auto& of_thread : core_.threads) {
    Thread& t = *of_thread;
    core_.current = &t;  // what leaves its scope there may still call the machine
    t.task = {};
  }
  core_.current = nullptr;
}

void SimMachine::spawn(std::string name, std::function<Task<>()> body) {
  std::uint32_t id = 0;
  if (ended_.empty()) {
    id = static_cast<std::uint32_t>(core_.threads.size());
    if (id >= EventQueue::kMostThreads)
      refuse("a machine runs at most 1048576 threads at a time, got one more");
    core_.threads.push_back(std::make_unique<Thread>());
  } else {
    id = ended_.back();
    ended_.pop_back();
    *core_.threads[id] = Thread{};
  }
  Thread& t = *core_.threads[id];
  t.id = id;
  t.name = core_.seen.name(name);
  core_.seen.enter(t, {t.name});
  t.body = std::move(body);
  t.action = Action::start;
  t.random = Random(core_.config.seed, core_.random.next());
  t.since = core_.now;
  t.ready_at = core_.now;
  scheduler_.place_new(t);
  ++live_;
  wake(t, 0);
}

// Runs.

void SimMachine::run() {
  run_until(kNever);
  if (live_ > 0) stalled();
}

bool SimMachine::run_on(std::uint64_t ns) {
  const Time limit = core_.now + static_cast<Time>(ns) * kPerNs;
  if (run_until(limit)) return true;
  if (live_ > 0) stalled();
  core_.now = limit;
  return false;
}

void SimMachine::run_for(std::uint64_t ns) {
  if (!run_on(ns)) return;
  stop();
  run();
}

/// False when nothing is left to happen.
bool SimMachine::run_until(Time limit) {
  horizon_ = limit;
  while (failure_.empty()) {
    if (core_.events.next_at() > limit) {
      const bool something_is_left = !core_.events.empty();
      if (something_is_left) core_.now = limit;
      horizon_ = kNever;
      return something_is_left;
    }
    if (core_.events.empty()) break;
    step();
    if (events() - polled_at_ >= kEventsBetweenPolls) {
      polled_at_ = events();
      if (poll_) poll_(now());
    }
  }
  horizon_ = kNever;
  return false;
}

bool SimMachine::step() {
  if (core_.events.empty()) return false;
  const EventQueue::Next event = core_.events.pop();
  Thread& t = *core_.threads[event.thread];
  core_.now = event.at;
  struct Leave {
    Thread*& current;
    ~Leave() { current = nullptr; }
  } leave{core_.current};
  core_.current = &t;
  switch (t.phase) {
    case Phase::running:
      on_segment(t);
      break;
    case Phase::spinning:
      if (spins_.on_event(t)) resume(t);
      break;
    case Phase::parked:
      core_.note(Turn::woken, 0);
      core_.current = nullptr;
      // A wake-up for no reason (random_schedule) looks like a real one.
      unpark_one(t, t.operand2 == kForEver ? ParkResult::woken : ParkResult::timed_out, 0);
      break;
    case Phase::sleeping:
      core_.note(Turn::woken, 1);
      core_.current = nullptr;
      wake(t, 0);
      break;
    case Phase::io:
      core_.note(Turn::woken, 2);
      core_.current = nullptr;
      t.file->end_fsync(t.operand);
      wake(t, 0);
      break;
    case Phase::runnable:
    case Phase::ended:
      assert(false);
      break;
  }
  return true;
}

void SimMachine::stalled() {
#if defined(__cpp_exceptions)
  const std::string problem = "the simulation stalled at " + microseconds(core_.now) + ": " +
                              std::to_string(live_) +
                              " thread(s) wait and nothing can happen any more: " + who_waits();
  throw Stalled(problem);
#else
  failure_ = "the simulation stalled";  // who waits is for the native build to say: a page loads every byte
#endif
}

std::string SimMachine::thread_name(std::uint32_t thread) const {
  return names()[core_.threads[thread]->name] + " " + std::to_string(thread);
}

std::string SimMachine::who_waits() const {
  std::string who;
  std::uint64_t named = 0;
  for (const auto& of_thread : core_.threads) {
    const Thread& t = *of_thread;
    if (t.phase == Phase::ended) continue;
    if (named == 12) return who + "; and " + std::to_string(live_ - named) + " more";
    if (named++ > 0) who += "; ";
    who += thread_name(t.id);
    switch (t.phase) {
      case Phase::parked:
        who += " is parked on " + names()[t.site.id];
        break;
      case Phase::spinning:
        who += " spins";
        break;
      case Phase::sleeping:
        who += " sleeps";
        break;
      case Phase::io:
        who += " waits for the disk and " + names()[t.site.id];
        break;
      case Phase::runnable:
        who += " waits for a CPU";
        break;
      case Phase::running:
      case Phase::ended:
        who += " runs";
        break;
    }
    const std::vector<Activity>& nodes = activities().nodes();
    if (nodes[t.activity].parent != 0) who += " in '" + names()[nodes[t.activity].site] + "'";
    who += " since " + microseconds(t.since);
  }
  return who;
}

void SimMachine::stop() {
  if (core_.stopping) return;
  core_.stopping = true;
  for (const auto& of_thread : core_.threads) {
    Thread& t = *of_thread;
    if (t.phase == Phase::parked && t.patience == Patience::until_stop) {
      unpark_one(t, ParkResult::stopping, 0);
    } else if (t.phase == Phase::sleeping) {
      core_.events.remove(t.id);
      wake(t, 0);
    } else if (t.phase == Phase::spinning) {
      spins_.hurry(t);
    }
  }
}

// A thread between two events.

Time SimMachine::passed_into_segment(Thread& t) {
  if (core_.config.task_ps > 0 && &t == core_.current) charge_calls();
  Time piece = t.pending;
  if (core_.config.threads_per_core > 1 && piece > 0) piece = scheduler_.slowed_by_sibling(t.cpu, piece);
  if (core_.config.all_busy_permille < 1000) {
    const Time computing = std::max<Time>(0, t.pending - t.pending_memory);  // a line's way is no slower
    piece += scheduler_.slowed_by_crowd(computing) - computing;
  }
  if (core_.config.random_schedule) {
    const std::uint64_t bits = core_.random.next();
    if ((bits & 7) == 0) piece += static_cast<Time>((bits >> 3) % 2'000'000);
    if (((bits >> 40) & 255) == 0) piece += static_cast<Time>((bits >> 3) % 1'000'000'000);
  }
  if (interruptions_.happen()) piece += interruptions_.added_to(t.cpu, piece, true);
  piece += timers_.left_behind(t.cpu, piece);
  t.left += piece;
  t.left_memory += t.pending_memory;
  t.pending = 0;
  t.pending_memory = 0;
  return t.left;
}

void SimMachine::start_segment(Thread& t) {
  t.phase = Phase::running;
  t.segment_start = core_.now;
  t.segment_end = core_.now + passed_into_segment(t);
  scheduler_.arm_segment(t);
}

bool SimMachine::block(std::coroutine_handle<> self) {
  Thread& t = *core_.current;
  t.resume_at = task_internal::suspended(self);
  if (advance()) return perform(t);
  start_segment(t);
  return true;
}

void SimMachine::on_segment(Thread& t) {
  scheduler_.charge_segment(t);
  if (core_.now >= t.segment_end) {
    t.left = 0;
    if (t.action == Action::none || !perform(t)) resume(t);
  } else if (!scheduler_.has_waiting(t.cpu)) {
    scheduler_.arm_segment(t);  // who waited for the CPU has gone elsewhere
  } else {
    core_.note(Turn::preempted, 1);
    scheduler_.preempt(t);
  }
}

/// Runs the thread until it waits for its next event, and ends it when it has nothing left to do.
void SimMachine::resume(Thread& t) {
  if (core_.config.task_ps > 0) calls_ = task_internal::calls();
  const std::coroutine_handle<> at = t.resume_at;
  at.resume();
  end_if_done(t);
}

void SimMachine::end_if_done(Thread& t) {
  if (!t.task || !t.task.done()) return;
  t.action = Action::end;
  if (advance()) {
    perform(t);
  } else {
    start_segment(t);
  }
}

void SimMachine::end(Thread& t) {
  Task<> finished = std::move(t.task);
  t.task = {};
  t.body = nullptr;
  --live_;
  scheduler_.leave(t, Phase::ended);
  ended_.push_back(t.id);
  finished.result();  // an exception of the kernel ends the run
}

// What it has asked for.

bool SimMachine::perform(Thread& t) {
  const Action action = t.action;
  if (action != Action::spin && action != Action::access) core_.note(begins(action), t.operand);
  t.action = Action::none;
  switch (action) {
    case Action::none:
      return false;
    case Action::start:
      if (core_.config.task_ps > 0) calls_ = task_internal::calls();
      t.task = t.body();
      t.task.start();
      end_if_done(t);
      return true;
    case Action::access:
      if (ask(t.ref, t.access) || advance()) return false;
      start_segment(t);
      return true;
    case Action::spin:
      return spins_.begin(t);
    case Action::park:
      return perform_park(t);
    case Action::unpark:
      perform_unpark(t);
      return false;
    case Action::sleep:
      return perform_sleep(t);
    case Action::yield:
      if (!scheduler_.has_waiting(t.cpu)) return false;
      scheduler_.preempt(t, true);
      return true;
    case Action::pwrite:
      t.file->write(t.operand, t.bytes);
      return false;
    case Action::fsync:
      return perform_fsync(t);
    case Action::wait_for_client:
      return perform_wait_for_client(t);
    case Action::end:
      end(t);
      return true;
  }
  return false;
}

bool SimMachine::perform_sleep(Thread& t) {
  if (core_.stopping) {
    timers_.forget(t);
    return false;
  }
  const Time until = timers_.goes_off(t, t.operand);
  if (until < core_.now) {
    timers_.end(t, t.cpu);
    return false;
  }
  scheduler_.leave(t, Phase::sleeping);
  core_.arm(t, until);
  return true;
}

/// The message comes by the network, at its time, and wakes the thread as any other would.
bool SimMachine::perform_wait_for_client(Thread& t) {
  if (core_.stopping) return false;
  scheduler_.leave(t, Phase::sleeping);
  core_.arm(t, core_.now + time_of(t.operand));
  return true;
}

bool SimMachine::perform_fsync(Thread& t) {
  const SimFile::Started started = t.file->start_fsync();
  const bool is_timer = core_.config.disk_is_timer;
  const Time done = disk_.fsync(is_timer ? t.timer_set : core_.now, started.dirty_bytes, core_.random);
  t.operand = started.position;
  if (is_timer) {
    timers_.set_for_disk(t, done);
    if (done < core_.now) {
      t.file->end_fsync(t.operand);
      timers_.end(t, t.cpu);
      return false;
    }
  }
  scheduler_.begin_io(t);
  scheduler_.leave(t, Phase::io);
  core_.arm(t, done);
  return true;
}

bool SimMachine::perform_park(Thread& t) {
  if (*t.ref.value != t.operand) {
    t.park_result = ParkResult::changed;
    timers_.forget(t);
    return false;
  }
  if (core_.stopping && t.patience == Patience::until_stop) {
    t.park_result = ParkResult::stopping;
    timers_.forget(t);
    return false;
  }
  if (core_.config.no_timeouts) t.operand2 = kForEver;
  Time until = t.operand2 == kForEver ? kNever : timers_.goes_off(t, t.operand2);
  if (until < core_.now) {
    t.park_result = ParkResult::timed_out;
    timers_.end(t, t.cpu);
    return false;
  }
  parked_.add(t);
  // For no reason, but only with every second seed: it would hide a lost wake-up.
  if (core_.config.random_schedule && (core_.config.seed & 1) != 0 && (core_.random.next() & 63) == 0) {
    until = std::min(until, core_.now + static_cast<Time>(core_.random.below(10'000'000)));
    t.operand2 = kForEver;
  }
  scheduler_.leave(t, Phase::parked);
  core_.arm(t, until);
  return true;
}

void SimMachine::perform_unpark(Thread& t) {
  Time delay = 0;
  t.operand = parked_.each(t.ref, t.operand, [&](Thread& parked) {
    delay += core_.config.wake_each_ps;
    const bool was_idle = unpark_one(parked, ParkResult::woken, delay);
    if (was_idle) delay += core_.config.kick_ps;
  });
  core_.charge_work(delay);
}

bool SimMachine::unpark_one(Thread& t, ParkResult result, Time delay) {
  parked_.remove(t);
  core_.events.remove(t.id);
  t.park_result = result;
  return wake(t, delay);
}

/// Whether the thread goes to a CPU that was idle.
bool SimMachine::wake(Thread& t, Time delay) {
  const std::uint32_t cpu = scheduler_.cpu_to_wake_on(t);
  const bool was_idle = scheduler_.is_idle(cpu);
  const bool was_woken = t.phase == Phase::parked && t.park_result == ParkResult::woken;
  if (was_woken) scheduler_.compute_longer(t, core_.config.woken_ps);
  if (t.phase != Phase::runnable) timers_.end(t, cpu);
  const auto passed = [&](State state) {
    core_.seen.charge_since(t, state, t.since, core_.now);
    core_.seen.keep_interval(t, state, t.since, core_.now, kNone);
  };
  switch (t.phase) {
    case Phase::parked:
      passed(State::parked);
      break;
    case Phase::sleeping:
      passed(State::sleeping);
      break;
    case Phase::io:
      passed(State::io);
      scheduler_.end_io(t);
      break;
    default:
      break;
  }
  t.phase = Phase::runnable;
  t.since = core_.now;
  t.ready_at = core_.now + delay;
  scheduler_.admit(t, cpu, was_woken);
  return was_idle;
}

// What a run is asked.

std::uint64_t SimMachine::now() {
  const Time ps = now_ps();
  if (core_.current != nullptr) core_.charge_work(core_.config.clock_ps);
  return static_cast<std::uint64_t>(ps) / kPerNs;
}

std::uint64_t SimMachine::cpu_ns() const {
  return static_cast<std::uint64_t>(std::max<Time>(0, scheduler_.used(now_ps()) - elsewhere_ps_)) / kPerNs;
}

Totals SimMachine::totals() {
  const auto under_way = [this](const Thread& t, State state) {
    core_.seen.charge_since(t, state, t.since, core_.now);
  };
  for (const auto& of_thread : core_.threads) {
    switch (of_thread->phase) {
      case Phase::parked:
        under_way(*of_thread, State::parked);
        break;
      case Phase::sleeping:
        under_way(*of_thread, State::sleeping);
        break;
      case Phase::io:
        under_way(*of_thread, State::io);
        break;
      case Phase::runnable:
        under_way(*of_thread, State::runnable);
        break;
      case Phase::running:
      case Phase::spinning:
      case Phase::ended:
        break;
    }
  }
  std::vector<CoreTime> cores = core_times();
  core_.seen.charged_to(core_.now);
  return {waits(), activities().nodes(), std::move(cores)};
}

std::vector<CoreTime> SimMachine::core_times() {
  std::vector<CoreTime> times;
  times.reserve(cpus());
  for (sim::Cpu& cpu : scheduler_.cpus().all) {
    if (cpu.current == kNone) {
      scheduler_.settle_idle(cpu);
    } else if (Thread& t = core_.thread(cpu.current); t.phase == Phase::spinning) {
      spins_.charge(t);
    } else {
      scheduler_.charge_segment(t);
    }
    times.push_back(cpu.time);
  }
  return times;
}

}  // namespace engineroom::machine
