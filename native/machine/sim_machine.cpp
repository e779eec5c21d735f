#include "machine/sim_machine.hpp"

#include <algorithm>
#include <cassert>

#include "common/require.hpp"

namespace engineroom::machine {

namespace {

// Scheduling events in the trace hash, beside SimMachine::Kind and Action.
enum class Turn : std::uint8_t { woken = 32, preempted, noticed, ended };

constexpr std::uint64_t kEventsBetweenPolls = 65536;

std::string microseconds(Time ps) {
  const auto hundredths = static_cast<std::uint64_t>(ps) / 10'000;
  const std::string rest = std::to_string(hundredths % 100);
  return std::to_string(hundredths / 100) + "." + (rest.size() < 2 ? "0" : "") + rest + " us";
}

#if defined(__cpp_exceptions)
SimConfig checked(const SimConfig& config) {
  const auto at_least_one = [](std::uint32_t value, const char* name) {
    if (value == 0) refuse(std::string(name) + " must be at least 1, got 0");
  };
  at_least_one(config.sockets, "sockets");
  at_least_one(config.cores_per_socket, "cores_per_socket");
  at_least_one(config.threads_per_core, "threads_per_core");
  at_least_one(config.disk_queue_depth, "disk_queue_depth");
  if (std::uint64_t{config.sockets} * config.cores_per_socket * config.threads_per_core > CpuSet::kMost) {
    refuse("the machine must have at most 256 CPUs, got " + std::to_string(config.sockets) + " sockets x " +
           std::to_string(config.cores_per_socket) + " cores x " + std::to_string(config.threads_per_core) +
           " threads");
  }
  if (config.smt_permille == 0 || config.smt_permille > 1000) {
    refuse("smt_permille must be 1 to 1000, got " + std::to_string(config.smt_permille));
  }
  if (config.slice_ps <= 0) refuse("slice_ps must be positive, got " + std::to_string(config.slice_ps));
  const std::pair<Time, const char*> times[] = {{config.load_ps, "load_ps"},
                                                {config.rmw_ps, "rmw_ps"},
                                                {config.same_core_ps, "same_core_ps"},
                                                {config.same_socket_ps, "same_socket_ps"},
                                                {config.other_socket_ps, "other_socket_ps"},
                                                {config.first_touch_ps, "first_touch_ps"},
                                                {config.read_occupancy_ps, "read_occupancy_ps"},
                                                {config.await_ps, "await_ps"},
                                                {config.task_ps, "task_ps"},
                                                {config.pause_ps, "pause_ps"},
                                                {config.copy_ps_per_kib, "copy_ps_per_kib"},
                                                {config.switch_ps, "switch_ps"},
                                                {config.park_ps, "park_ps"},
                                                {config.unpark_ps, "unpark_ps"},
                                                {config.wake_each_ps, "wake_each_ps"},
                                                {config.woken_ps, "woken_ps"},
                                                {config.wake_counted_ps, "wake_counted_ps"},
                                                {config.yield_ps, "yield_ps"},
                                                {config.wakeup_granularity_ps, "wakeup_granularity_ps"},
                                                {config.tick_ps, "tick_ps"},
                                                {config.timer_slack_ps, "timer_slack_ps"},
                                                {config.clock_ps, "clock_ps"},
                                                {config.timer_ps, "timer_ps"},
                                                {config.timer_interrupt_ps, "timer_interrupt_ps"},
                                                {config.kick_ps, "kick_ps"},
                                                {config.pull_ps, "pull_ps"},
                                                {config.interrupt_every_ps, "interrupt_every_ps"},
                                                {config.pwrite_ps, "pwrite_ps"},
                                                {config.pwrite_ps_per_kib, "pwrite_ps_per_kib"},
                                                {config.fsync_ps, "fsync_ps"},
                                                {config.disk_ps_per_kib, "disk_ps_per_kib"},
                                                {config.disk_fsync.exponential_mean_ps, "disk_fsync"},
                                                {config.wake.exponential_mean_ps, "wake"},
                                                {config.interrupt.exponential_mean_ps, "interrupt"},
                                                {config.set_timer.exponential_mean_ps, "set_timer"}};
  for (const auto& [value, name] : times) {
    if (value < 0) refuse(std::string(name) + " must not be negative, got " + std::to_string(value));
  }
  const std::pair<const Distribution*, std::string> drawn[] = {{&config.disk_fsync, "disk_fsync"},
                                                               {&config.wake, "wake"},
                                                               {&config.interrupt, "interrupt"},
                                                               {&config.set_timer, "set_timer"}};
  for (const auto& [distribution, name] : drawn) {
    if (distribution->quantiles_ps.empty()) refuse(name + " must have at least one quantile, got none");
    for (const Time value : distribution->quantiles_ps) {
      if (value < 0) refuse(name + " must not be negative, got a quantile of " + std::to_string(value));
    }
  }
  return config;
}
#else
// A page's own knobs are in range, and it loads every byte.
const SimConfig& checked(const SimConfig& config) { return config; }
#endif

}  // namespace

SimMachine::SimMachine(const SimConfig& config)
    : config_(checked(config)),
      n_cpus_(config.cpus()),
      cpus_per_socket_(config.cores_per_socket * config.threads_per_core),
      cpus_(n_cpus_),
      random_(config.seed),
      disk_free_at_(config.disk_queue_depth) {
  for (std::uint32_t cpu = 0; cpu < n_cpus_; ++cpu) {
    idle_.add(cpu);
    if (config_.interrupt_every_ps > 0) cpus_[cpu].to_interrupt = to_interrupt();
  }
  if (config_.tick_ps > 0) {
    slice_ticks_ = std::max<Time>(1, config_.slice_ps / config_.tick_ps);
    first_tick_ = static_cast<Time>(random_.below(static_cast<std::uint64_t>(config_.tick_ps)));
  }
}

SimMachine::~SimMachine() { drop_all(); }

void SimMachine::drop_all() {
  for (const auto& of_thread : threads_) {
    Thread& t = *of_thread;
    current_ = &t;  // what leaves its scope there may still call the machine
    t.task = {};
  }
  current_ = nullptr;
}

void SimMachine::spawn(std::string name, std::function<Task<>()> body) {
  std::uint32_t id = 0;
  if (ended_.empty()) {
    id = static_cast<std::uint32_t>(threads_.size());
    if (id >= EventQueue::kMostThreads)
      refuse("a machine runs at most 1048576 threads at a time, got one more");
    threads_.push_back(std::make_unique<Thread>());
  } else {
    id = ended_.back();
    ended_.pop_back();
    *threads_[id] = Thread{};
  }
  Thread& t = *threads_[id];
  t.id = id;
  t.name = names_.intern(name);
  t.activity = activities_.child(0, t.name);
  t.body = std::move(body);
  t.action = Action::start;
  t.random = Random(config_.seed, random_.next());
  t.since = now_;
  t.ready_at = now_;
  t.cpu = next_cpu_;
  next_cpu_ = (next_cpu_ + 1) % n_cpus_;
  ++live_;
  wake(t, 0);
}

// Runs.

void SimMachine::run() {
  run_until(kNever);
  if (live_ > 0) stalled();
}

bool SimMachine::run_on(std::uint64_t ns) {
  const Time limit = now_ + static_cast<Time>(ns) * kPerNs;
  if (run_until(limit)) return true;
  if (live_ > 0) stalled();
  now_ = limit;
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
    if (queue_.next_at() > limit) {
      const bool something_is_left = !queue_.empty();
      if (something_is_left) now_ = limit;
      horizon_ = kNever;
      return something_is_left;
    }
    if (queue_.empty()) break;
    step();
    if (events_ - polled_at_ >= kEventsBetweenPolls) {
      polled_at_ = events_;
      if (poll_) poll_(now());
    }
  }
  horizon_ = kNever;
  return false;
}

bool SimMachine::step() {
  if (queue_.empty()) return false;
  const EventQueue::Next event = queue_.pop();
  Thread& t = *threads_[event.thread];
  now_ = event.at;
  struct Leave {
    Thread*& current;
    ~Leave() { current = nullptr; }
  } leave{current_};
  current_ = &t;
  switch (t.phase) {
    case Phase::running:
      on_segment(t);
      break;
    case Phase::spinning:
      on_spin(t);
      break;
    case Phase::parked:
      note(Turn::woken, 0);
      current_ = nullptr;
      // A wake-up for no reason (random_schedule) looks like a real one.
      unpark_one(t, t.operand2 == kForEver ? ParkResult::woken : ParkResult::timed_out, 0);
      break;
    case Phase::sleeping:
      note(Turn::woken, 1);
      current_ = nullptr;
      wake(t, 0);
      break;
    case Phase::io:
      note(Turn::woken, 2);
      current_ = nullptr;
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
  const std::string problem = "the simulation stalled at " + microseconds(now_) + ": " +
                              std::to_string(live_) +
                              " thread(s) wait and nothing can happen any more: " + who_waits();
  throw Stalled(problem);
#else
  failure_ = "the simulation stalled";  // who waits is for the native build to say: a page loads every byte
#endif
}

std::string SimMachine::thread_name(std::uint32_t thread) const {
  return names_[threads_[thread]->name] + " " + std::to_string(thread);
}

std::string SimMachine::who_waits() const {
  std::string who;
  std::uint64_t named = 0;
  for (const auto& of_thread : threads_) {
    const Thread& t = *of_thread;
    if (t.phase == Phase::ended) continue;
    if (named == 12) return who + "; and " + std::to_string(live_ - named) + " more";
    if (named++ > 0) who += "; ";
    who += thread_name(t.id);
    switch (t.phase) {
      case Phase::parked:
        who += " is parked on " + names_[t.site.id];
        break;
      case Phase::spinning:
        who += " spins";
        break;
      case Phase::sleeping:
        who += " sleeps";
        break;
      case Phase::io:
        who += " waits for the disk and " + names_[t.site.id];
        break;
      case Phase::runnable:
        who += " waits for a CPU";
        break;
      case Phase::running:
      case Phase::ended:
        who += " runs";
        break;
    }
    const std::vector<Activity>& nodes = activities_.nodes();
    if (nodes[t.activity].parent != 0) who += " in '" + names_[nodes[t.activity].site] + "'";
    who += " since " + microseconds(t.since);
  }
  return who;
}

void SimMachine::stop() {
  if (stopping_) return;
  stopping_ = true;
  for (const auto& of_thread : threads_) {
    Thread& t = *of_thread;
    if (t.phase == Phase::parked && t.patience == Patience::until_stop) {
      unpark_one(t, ParkResult::stopping, 0);
    } else if (t.phase == Phase::sleeping) {
      queue_.remove(t.id);
      wake(t, 0);
    } else if (t.phase == Phase::spinning) {
      t.segment_end = std::max(now_, t.segment_start);
      arm_segment(t);
    }
  }
}

// Cache lines.

Time SimMachine::distance(std::uint32_t from, std::uint32_t to) const {
  if (socket_of(from) != socket_of(to)) return config_.other_socket_ps;
  if (from / config_.threads_per_core == to / config_.threads_per_core) return config_.same_core_ps;
  return config_.same_socket_ps;
}

Time SimMachine::read_cost(Line& line, std::uint32_t cpu) {
  if (line.sharers.has(cpu)) return config_.load_ps;
  if (line.owner == kNone) {
    line.owner = static_cast<std::int32_t>(cpu);
    line.sharers.add(cpu);
    return config_.first_touch_ps;
  }
  const Time start = std::max(now_, line.free_at);
  line.free_at = start + config_.read_occupancy_ps;
  line.sharers.add(cpu);
  return start - now_ + config_.load_ps + distance(static_cast<std::uint32_t>(line.owner), cpu);
}

Time SimMachine::write_cost(Line& line, std::uint32_t cpu) {
  if (line.owner == static_cast<std::int32_t>(cpu) && line.sharers.only(cpu)) return config_.rmw_ps;
  if (line.owner == kNone) {
    line.owner = static_cast<std::int32_t>(cpu);
    line.sharers.add(cpu);
    return config_.rmw_ps + config_.first_touch_ps;
  }
  // The line comes from its owner, and every other copy of it is given up: the farthest one decides.
  Time transfer = distance(static_cast<std::uint32_t>(line.owner), cpu);
  const std::uint32_t from = socket_of(cpu) * cpus_per_socket_;
  const std::uint32_t to = from + cpus_per_socket_;
  if (line.sharers.any_in(0, from) || line.sharers.any_in(to, n_cpus_)) {
    transfer = config_.other_socket_ps;
  } else {
    const std::uint32_t core_from = cpu / config_.threads_per_core * config_.threads_per_core;
    const std::uint32_t core_to = core_from + config_.threads_per_core;
    if (line.sharers.any_in(from, core_from) || line.sharers.any_in(core_to, to)) {
      transfer = std::max(transfer, config_.same_socket_ps);
    } else if (line.owner == static_cast<std::int32_t>(cpu)) {
      transfer = config_.threads_per_core > 1 ? config_.same_core_ps : 0;
    }
  }
  const Time start = std::max(now_, line.free_at);
  line.free_at = start + transfer + config_.rmw_ps;
  line.owner = static_cast<std::int32_t>(cpu);
  line.sharers.become(cpu);
  return line.free_at - now_;
}

void SimMachine::tell_watchers(Ref ref) {
  for (std::int32_t i = ref.line->watchers; i != kNone;) {
    Thread& t = thread(i);
    i = t.next_watcher;
    if (t.ref.value == ref.value && t.until.holds(*ref.value)) {
      // It sees the change when it looks the next time.
      const Time rounds = (now_ - t.spin_start + t.round_ps - 1) / t.round_ps;
      const Time looks =
          std::max(t.spin_start + std::max<Time>(rounds, 1) * t.round_ps, cpus_[t.cpu].timer_until);
      if (looks < t.segment_end) {
        t.segment_end = std::max(looks, t.segment_start);
        arm_segment(t);
      }
    } else {
      // Its look brings the line back to it, in vain, and keeps the others from it.
      ref.line->sharers.add(t.cpu);
      ref.line->free_at = std::max(ref.line->free_at, now_) + config_.read_occupancy_ps;
    }
  }
}

// Threads on CPUs.

Time SimMachine::passed_into_segment(Thread& t) {
  if (config_.task_ps > 0 && &t == current_) charge_calls();
  Time piece = t.pending;
  if (config_.threads_per_core > 1 && piece > 0) {
    const std::uint32_t first = t.cpu / config_.threads_per_core * config_.threads_per_core;
    for (std::uint32_t cpu = first; cpu < first + config_.threads_per_core; ++cpu) {
      if (cpu != t.cpu && !idle_.has(cpu)) {
        piece = piece * 1000 / config_.smt_permille;
        break;
      }
    }
  }
  if (config_.random_schedule) {
    const std::uint64_t bits = random_.next();
    if ((bits & 7) == 0) piece += static_cast<Time>((bits >> 3) % 2'000'000);
    if (((bits >> 40) & 255) == 0) piece += static_cast<Time>((bits >> 3) % 1'000'000'000);
  }
  if (config_.interrupt_every_ps > 0) piece += held_up(cpus_[t.cpu], piece, true);
  if (Cpu& cpu = cpus_[t.cpu]; cpu.left_timer <= now_ + piece) {
    if (cpu.left_timer >= cpu.run_start) piece += config_.timer_interrupt_ps;
    cpu.left_timer = kNever;
  }
  t.left += piece;
  t.left_memory += t.pending_memory;
  t.pending = 0;
  t.pending_memory = 0;
  return t.left;
}

/// What interruptions add to so much time on a CPU. Of who computes they take all of their time, of who looks at a word
/// only what is left of them when the word has changed.
Time SimMachine::held_up(Cpu& cpu, Time passed, bool computes) {
  Time added = 0;
  for (cpu.to_interrupt -= passed; cpu.to_interrupt < 0;) {
    const Time length = config_.interrupt.draw(random_);
    added = computes ? added + length : std::max(added, length + cpu.to_interrupt);
    cpu.to_interrupt += to_interrupt();
  }
  return added;
}

bool SimMachine::block(std::coroutine_handle<> self) {
  Thread& t = *current_;
  t.resume_at = self;
  if (advance()) return perform(t);
  start_segment(t);
  return true;
}

bool SimMachine::perform(Thread& t) {
  const Action action = t.action;
  if (action != Action::spin) note(static_cast<std::uint8_t>(16 + static_cast<int>(action)), t.operand);
  t.action = Action::none;
  switch (action) {
    case Action::none:
      return false;
    case Action::start: {
      if (config_.task_ps > 0) calls_ = task_internal::calls();
      t.task = t.body();
      t.task.start();
      end_if_done(t);
      return true;
    }
    case Action::spin:
      return perform_spin(t);
    case Action::park:
      return perform_park(t);
    case Action::unpark:
      perform_unpark(t);
      return false;
    case Action::sleep: {
      if (stopping_) {
        t.timer_end = kNever;
        return false;
      }
      const Time until = timer_end(t, t.operand);
      if (until < now_) {
        end_timer(t, t.cpu);
        return false;
      }
      leave_cpu(t, Phase::sleeping);
      arm(t, until);
      return true;
    }
    case Action::yield: {
      if (cpus_[t.cpu].first == kNone) return false;
      preempt(t);
      return true;
    }
    case Action::pwrite:
      t.file->write(t.operand, t.bytes);
      return false;
    case Action::fsync: {
      const SimFile::Started started = t.file->start_fsync();
      const auto channel = std::min_element(disk_free_at_.begin(), disk_free_at_.end());
      const Time service = config_.disk_fsync.draw(random_) +
                           static_cast<Time>(started.dirty_bytes) * config_.disk_ps_per_kib / 1024;
      *channel = std::max(*channel, config_.disk_is_timer != 0 ? t.timer_set : now_) + service;
      const Time done = *channel;
      t.operand = started.position;
      if (config_.disk_is_timer != 0) {
        t.timer_cpu = t.cpu;
        t.timer_end = done;
        if (done < now_) {
          t.file->end_fsync(t.operand);
          end_timer(t, t.cpu);
          return false;
        }
      }
      ++cpus_[t.cpu].io_blocked;
      leave_cpu(t, Phase::io);
      arm(t, done);
      return true;
    }
    case Action::end:
      end(t);
      return true;
  }
  return false;
}

bool SimMachine::perform_spin(Thread& t) {
  charge_memory(read_cost(*t.ref.line, t.cpu));
  note(static_cast<std::uint8_t>(16 + static_cast<int>(Action::spin)), *t.ref.value);
  if (t.until.holds(*t.ref.value)) {
    t.spin_result.holds = true;
    return false;
  }
  if (t.rounds_left == 0 || stopping_) return false;
  t.phase = Phase::spinning;
  t.spin_start = now_;
  t.segment_start = now_;
  watch(t);
  return true;
}

/// The thread looks at the word until its rounds are used up.
void SimMachine::watch(Thread& t) {
  const auto most = static_cast<std::uint64_t>((kNever / 4) / t.round_ps);
  t.segment_end =
      t.rounds_left > most ? kNever : t.spin_start + static_cast<Time>(t.rounds_left) * t.round_ps;
  t.next_watcher = t.ref.line->watchers;
  t.previous_watcher = kNone;
  if (t.next_watcher != kNone) thread(t.next_watcher).previous_watcher = static_cast<std::int32_t>(t.id);
  t.ref.line->watchers = static_cast<std::int32_t>(t.id);
  arm_segment(t);
}

void SimMachine::stop_watching(Thread& t) {
  (t.previous_watcher == kNone ? t.ref.line->watchers : thread(t.previous_watcher).next_watcher) =
      t.next_watcher;
  if (t.next_watcher != kNone) thread(t.next_watcher).previous_watcher = t.previous_watcher;
}

void SimMachine::charge_spin(Thread& t) {
  const Time spun = now_ - t.segment_start;
  if (spun <= 0) return;
  cpus_[t.cpu].time[Purpose::spin] += static_cast<std::uint64_t>(spun);
  activities_[t.activity].ps[static_cast<std::size_t>(State::spin)] += static_cast<std::uint64_t>(spun);
  keep_interval(t, State::spin, t.segment_start, static_cast<std::int32_t>(t.cpu));
  t.segment_start = now_;
}

void SimMachine::on_spin(Thread& t) {
  Time late = 0;
  if (config_.interrupt_every_ps > 0) {
    late = held_up(cpus_[t.cpu], std::max<Time>(0, now_ - t.segment_start), false);
  }
  charge_spin(t);
  const bool is_over = now_ >= t.segment_end;
  const auto rounds = static_cast<std::uint64_t>((now_ - t.spin_start) / t.round_ps);
  if (!is_over && cpus_[t.cpu].first == kNone) {
    arm_segment(t);  // who waited for the CPU has gone elsewhere
    return;
  }
  stop_watching(t);
  t.spin_result.rounds += std::min(rounds, t.rounds_left);
  if (t.rounds_left != Spin::kForEver) t.rounds_left -= std::min(rounds, t.rounds_left);
  t.phase = Phase::running;
  if (is_over) {
    t.pending += late;
    if (!perform_spin(t)) resume(t);
    return;
  }
  t.action = Action::spin;
  note(Turn::preempted, 0);
  preempt(t);
}

bool SimMachine::perform_park(Thread& t) {
  if (*t.ref.value != t.operand) {
    t.park_result = ParkResult::changed;
    t.timer_end = kNever;
    return false;
  }
  if (stopping_ && t.patience == Patience::until_stop) {
    t.park_result = ParkResult::stopping;
    t.timer_end = kNever;
    return false;
  }
  if (config_.no_timeouts) t.operand2 = kForEver;
  Time until = t.operand2 == kForEver ? kNever : timer_end(t, t.operand2);
  if (until < now_) {
    t.park_result = ParkResult::timed_out;
    end_timer(t, t.cpu);
    return false;
  }
  SimMachine::Line& line = *t.ref.line;
  t.next = kNone;
  t.previous = line.last_parked;
  if (line.last_parked != kNone) {
    thread(line.last_parked).next = static_cast<std::int32_t>(t.id);
  } else {
    line.first_parked = static_cast<std::int32_t>(t.id);
  }
  line.last_parked = static_cast<std::int32_t>(t.id);
  // For no reason, but only with every second seed: it would hide a lost wake-up.
  if (config_.random_schedule && (config_.seed & 1) != 0 && (random_.next() & 63) == 0) {
    until = std::min(until, now_ + static_cast<Time>(random_.below(10'000'000)));
    t.operand2 = kForEver;
  }
  leave_cpu(t, Phase::parked);
  arm(t, until);
  return true;
}

void SimMachine::perform_unpark(Thread& t) {
  const std::uint64_t most = t.operand;
  std::uint64_t woken = 0;
  Time delay = 0;
  for (std::int32_t i = t.ref.line->first_parked; i != kNone && woken < most;) {
    Thread& parked = thread(i);
    i = parked.next;
    if (parked.ref.value != t.ref.value) continue;
    ++woken;
    delay += config_.wake_each_ps;
    const bool was_idle = unpark_one(parked, ParkResult::woken, delay);
    if (was_idle) delay += config_.kick_ps;
  }
  t.operand = woken;
  charge_work(delay);
}

bool SimMachine::unpark_one(Thread& t, ParkResult result, Time delay) {
  Line& line = *t.ref.line;
  (t.previous == kNone ? line.first_parked : thread(t.previous).next) = t.next;
  (t.next == kNone ? line.last_parked : thread(t.next).previous) = t.previous;
  queue_.remove(t.id);
  t.park_result = result;
  return wake(t, delay);
}

void SimMachine::start_segment(Thread& t) {
  t.phase = Phase::running;
  t.segment_start = now_;
  t.segment_end = now_ + passed_into_segment(t);
  arm_segment(t);
}

/// The event at which the CPU turns to something else: the end of what the thread does, or of its time slice.
void SimMachine::arm_segment(Thread& t) {
  const Cpu& cpu = cpus_[t.cpu];
  Time at = t.segment_end;
  if (cpu.first != kNone && at > cpu.slice_end) at = std::max({cpu.slice_end, now_, t.segment_start});
  arm(t, at);
}

void SimMachine::arm(Thread& t, Time at) {
  if (at == kNever) return queue_.remove(t.id);
  queue_.set(t.id, at);
}

void SimMachine::charge_segment(Thread& t) {
  const Time passed = now_ - t.segment_start;
  if (passed <= 0) return;
  const Time memory = std::min(t.left_memory, passed);
  CoreTime& time = cpus_[t.cpu].time;
  time[Purpose::memory] += static_cast<std::uint64_t>(memory);
  time[Purpose::work] += static_cast<std::uint64_t>(passed - memory);
  t.left_memory -= memory;
  t.left -= passed;
  t.segment_start = now_;
}

void SimMachine::on_segment(Thread& t) {
  charge_segment(t);
  if (now_ >= t.segment_end) {
    t.left = 0;
    go_on(t);
  } else if (cpus_[t.cpu].first == kNone) {
    arm_segment(t);  // who waited for the CPU has gone elsewhere
  } else {
    note(Turn::preempted, 1);
    preempt(t);
  }
}

void SimMachine::go_on(Thread& t) {
  if (t.action == Action::none || !perform(t)) resume(t);
}

/// Runs the thread until it waits for its next event, and ends it when it has nothing left to do.
void SimMachine::resume(Thread& t) {
  if (config_.task_ps > 0) calls_ = task_internal::calls();
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
  leave_cpu(t, Phase::ended);
  ended_.push_back(t.id);
  finished.result();  // an exception of the kernel ends the run
}

/// What is left of its slice when it leaves its CPU. A thread that was alone there began new ones meanwhile.
void SimMachine::count_ticks(Thread& t) {
  if (config_.tick_ps == 0) return;
  const Time begun = cpus_[t.cpu].run_start;
  const Time passed = tick_of(std::max(now_, begun)) - tick_of(begun);
  t.ticks_left -= passed % slice_ticks_;
  if (t.ticks_left <= 0) t.ticks_left += slice_ticks_;
}

void SimMachine::preempt(Thread& t) {
  const std::uint32_t cpu = t.cpu;
  count_ticks(t);
  keep_interval(t, State::work, t.since, static_cast<std::int32_t>(cpu));
  cpus_[cpu].current = kNone;
  t.phase = Phase::runnable;
  t.since = now_;
  t.ready_at = now_;
  enqueue(t, cpu);
  next_on(cpu);
}

void SimMachine::leave_cpu(Thread& t, Phase phase) {
  count_ticks(t);
  keep_interval(t, State::work, t.since, static_cast<std::int32_t>(t.cpu));
  cpus_[t.cpu].current = kNone;
  t.phase = phase;
  t.since = now_;
  next_on(t.cpu);
}

/// Whether the thread goes to a CPU that was idle.
bool SimMachine::wake(Thread& t, Time delay) {
  const std::uint32_t cpu = cpu_to_wake_on(t);
  const bool was_idle = idle_.has(cpu);
  const bool is_woken = t.phase == Phase::parked && t.park_result == ParkResult::woken;
  if (is_woken) hold_up(t, config_.woken_ps);
  if (t.phase != Phase::runnable) end_timer(t, cpu);
  switch (t.phase) {
    case Phase::parked:
      pass(t, State::parked);
      break;
    case Phase::sleeping:
      pass(t, State::sleeping);
      break;
    case Phase::io: {
      pass(t, State::io);
      Cpu& before = cpus_[t.cpu];
      if (idle_.has(t.cpu)) settle_idle(before);
      --before.io_blocked;
      break;
    }
    default:
      break;
  }
  t.phase = Phase::runnable;
  t.since = now_;
  t.ready_at = now_ + delay;
  if (was_idle) {
    const Time late = config_.wake.draw(random_);
    run_on_cpu(t, cpu, late);
    if (is_woken) busy_ps_ += std::min(late, config_.wake_counted_ps);
  } else {
    enqueue(t, cpu);
  }
  return was_idle;
}

// A timer costs nothing to set or end while an earlier one of its CPU runs: the hardware has one. Only its own CPU can
// take it from there: who is woken before it goes off, and runs elsewhere, leaves it there.

bool SimMachine::is_next_timer(const Thread& t) const {
  const Time left = cpus_[t.timer_cpu].left_timer;
  if (left >= now_ && left < t.timer_end) return false;
  for (const auto& other : threads_) {
    if (other->timer_cpu == t.timer_cpu && other->timer_end < t.timer_end) return false;
  }
  return true;
}

void SimMachine::set_timer(std::uint64_t ns) {
  Thread& t = *current_;
  t.timer_set = now_ps();
  if (config_.timer_ps == 0) return;
  t.timer_cpu = t.cpu;
  t.timer_end = timer_end(t, ns);
  if (!is_next_timer(t)) return;
  const bool is_drawn = config_.set_timer.quantiles_ps.size() > 1;
  charge_work(is_drawn ? config_.set_timer.draw(random_) : config_.timer_ps);
}

void SimMachine::end_timer(Thread& t, std::uint32_t goes_to) {
  if (t.timer_end == kNever) return;
  Cpu& cpu = cpus_[t.timer_cpu];
  const bool goes_off = t.timer_end <= now_;
  if (!is_next_timer(t)) {
  } else if (goes_off && cpu.current != kNone) {
    interrupt_by_timer(cpu, cpus_[goes_to].current == kNone);
  } else if (goes_off || goes_to == t.timer_cpu) {
    hold_up(t, config_.timer_ps);
  } else if (config_.timer_interrupt_ps > 0) {
    cpu.left_timer = t.timer_end;
  }
  t.timer_end = kNever;
}

/// A timer goes off and its CPU computes: for its thread, or for another that is held up.
void SimMachine::interrupt_by_timer(Cpu& cpu, bool kicks) {
  cpu.left_timer = kNever;
  if (now_ < cpu.timer_until) return;  // one interruption for all that went off
  const Time lasts = config_.timer_interrupt_ps + (kicks ? config_.kick_ps : 0);
  cpu.timer_until = now_ + lasts;
  hold_up(thread(cpu.current), lasts);
}

/// The thread computes for so much longer.
void SimMachine::hold_up(Thread& t, Time lasts) {
  if (t.phase == Phase::spinning) return;  // it looks later: tell_watchers
  activities_[t.activity].ps[static_cast<std::size_t>(State::work)] += static_cast<std::uint64_t>(lasts);
  if (t.phase == Phase::running && t.segment_end > now_) {
    t.left += lasts;
    t.segment_end += lasts;
    arm_segment(t);
  } else {
    t.pending += lasts;
  }
}

/// When it goes off: it runs while its thread still goes to sleep, who does not when that takes too long.
Time SimMachine::timer_end(const Thread& t, std::uint64_t ns) const {
  const Time after = static_cast<Time>(std::min<std::uint64_t>(ns, INT64_MAX / 4096)) * kPerNs;
  return (config_.timer_ps == 0 ? now_ : t.timer_set) + after + config_.timer_slack_ps;
}

/// A CPU that is on its way out of idleness: threads of one priority go there as to an idle one, as Linux
/// counts none on it before.
bool SimMachine::awakes(std::uint32_t cpu) const {
  return cpus_[cpu].is_awaking && now_ < cpus_[cpu].run_start;
}

std::uint32_t SimMachine::cpu_to_wake_on_round_robin(const Thread& t) const {
  const auto takes = [&](std::uint32_t cpu) { return idle_.has(cpu) || awakes(cpu); };
  if (takes(t.cpu)) return t.cpu;
  for (std::uint32_t cpu = 0; cpu < n_cpus_; ++cpu) {
    if (takes(cpu)) return cpu;
  }
  return t.cpu;
}

std::uint32_t SimMachine::cpu_to_wake_on(const Thread& t) {
  if (config_.tick_ps > 0) return cpu_to_wake_on_round_robin(t);
  const std::uint32_t siblings = config_.threads_per_core;
  const auto core_is_idle = [&](std::uint32_t cpu) {
    const std::uint32_t first = cpu / siblings * siblings;
    for (std::uint32_t i = first; i < first + siblings; ++i) {
      if (!idle_.has(i)) return false;
    }
    return true;
  };
  const std::uint32_t before = t.cpu;
  if (idle_.has(before) && (siblings == 1 || core_is_idle(before))) return before;
  if (!idle_.none()) {
    for (std::uint32_t turn = 0; turn < config_.sockets; ++turn) {
      const std::uint32_t socket = (socket_of(before) + turn) % config_.sockets;
      const std::uint32_t from = socket * cpus_per_socket_;
      const std::uint32_t to = from + cpus_per_socket_;
      std::uint32_t found = to;
      for (std::uint32_t cpu = idle_.first_in(from, to); cpu < to; cpu = idle_.first_in(cpu + 1, to)) {
        if (siblings == 1 || core_is_idle(cpu)) return cpu;
        if (found == to) found = cpu;
      }
      if (found < to) return idle_.has(before) ? before : found;
    }
  }
  // All are busy: where it ran before, or the next in turn if fewer wait there.
  next_cpu_ = (next_cpu_ + 1) % n_cpus_;
  return cpus_[next_cpu_].queued < cpus_[before].queued ? next_cpu_ : before;
}

void SimMachine::enqueue(Thread& t, std::uint32_t cpu_id) {
  Cpu& cpu = cpus_[cpu_id];
  t.cpu = cpu_id;
  t.next = kNone;
  if (config_.tick_ps > 0 && cpu.first == kNone && cpu.slice_end <= now_) {
    // Its thread was alone, and began a new slice whenever one was over.
    const Time slice = slice_ticks_ * config_.tick_ps;
    cpu.slice_end += ((now_ - cpu.slice_end) / slice + 1) * slice;
  }
  if (cpu.first == kNone) {
    cpu.first = static_cast<std::int32_t>(t.id);
    with_queue_.add(cpu_id);
  } else {
    thread(cpu.last).next = static_cast<std::int32_t>(t.id);
  }
  cpu.last = static_cast<std::int32_t>(t.id);
  ++cpu.queued;
  if (cpu.current == kNone) return;
  if (config_.tick_ps == 0)
    cpu.slice_end = std::min(cpu.slice_end, std::max(now_, cpu.run_start + config_.wakeup_granularity_ps));
  Thread& running = thread(cpu.current);
  if (&running != current_ && running.segment_end > cpu.slice_end) arm_segment(running);
}

std::int32_t SimMachine::take_queued(std::uint32_t cpu_id) {
  Cpu& cpu = cpus_[cpu_id];
  const std::int32_t id = cpu.first;
  if (id == kNone) return kNone;
  cpu.first = thread(id).next;
  --cpu.queued;
  if (cpu.first == kNone) with_queue_.remove(cpu_id);
  return id;
}

/// The CPU takes the next thread that waits for it, or one from the nearest CPU where one waits.
void SimMachine::next_on(std::uint32_t cpu) {
  std::int32_t id = take_queued(cpu);
  Time comes_after = 0;
  if (id == kNone && !with_queue_.none()) {
    const std::uint32_t from = socket_of(cpu) * cpus_per_socket_;
    const std::uint32_t to = from + cpus_per_socket_;
    std::uint32_t victim = with_queue_.first_in(cpu + 1, to);
    if (victim == to) victim = with_queue_.first_in(from, to);
    if (victim == to) victim = with_queue_.first_in(to, n_cpus_);
    if (victim >= n_cpus_) victim = with_queue_.first_in(0, n_cpus_);
    id = take_queued(victim);
    if (config_.pull_ps > 0) {
      busy_ps_ += config_.pull_ps;
      if (cpus_[victim].current != kNone) hold_up(thread(cpus_[victim].current), config_.pull_ps);
      comes_after = config_.wake.draw(random_);
      become_idle(cpu);
    }
  }
  if (id == kNone) {
    become_idle(cpu);
  } else {
    run_on_cpu(thread(id), cpu, comes_after);
  }
}

void SimMachine::run_on_cpu(Thread& t, std::uint32_t cpu_id, Time delay) {
  Cpu& cpu = cpus_[cpu_id];
  const Time from = std::max(now_, t.ready_at) + delay;
  cpu.time[Purpose::idle] += static_cast<std::uint64_t>(from - now_);
  if (idle_.has(cpu_id)) become_busy(cpu_id, from);
  t.cpu = cpu_id;
  cpu.current = static_cast<std::int32_t>(t.id);
  const Time switching = cpu.last_thread == static_cast<std::int32_t>(t.id) ? 0 : config_.switch_ps;
  const Time begin = from + switching;
  cpu.last_thread = static_cast<std::int32_t>(t.id);
  cpu.time[Purpose::switching] += static_cast<std::uint64_t>(switching);
  cpu.run_start = begin;
  cpu.is_awaking = delay > 0;
  cpu.slice_end = begin + config_.slice_ps;
  if (config_.tick_ps > 0) {
    if (t.ticks_left == 0) t.ticks_left = slice_ticks_;
    cpu.slice_end = (tick_of(begin) + t.ticks_left) * config_.tick_ps - first_tick_;
  }
  activities_[t.activity].ps[static_cast<std::size_t>(State::runnable)] +=
      static_cast<std::uint64_t>(begin - t.since);
  keep_interval(t, State::runnable, t.since, kNone);
  t.phase = Phase::running;
  t.since = begin;
  t.segment_start = begin;
  t.segment_end = begin + t.left;
  arm_segment(t);
}

void SimMachine::settle_idle(Cpu& cpu) {
  if (now_ > cpu.idle_since) {
    cpu.time[cpu.io_blocked > 0 ? Purpose::io_wait : Purpose::idle] +=
        static_cast<std::uint64_t>(now_ - cpu.idle_since);
    cpu.idle_since = now_;
  }
}

void SimMachine::become_idle(std::uint32_t cpu) {
  idle_.add(cpu);
  cpus_[cpu].idle_since = now_;
  --busy_;
  busy_ps_ += now_;
}

void SimMachine::become_busy(std::uint32_t cpu, Time from) {
  settle_idle(cpus_[cpu]);
  idle_.remove(cpu);
  ++busy_;
  busy_ps_ -= from;
}

std::uint64_t SimMachine::now() {
  const Time ps = now_ps();
  if (current_ != nullptr) charge_work(config_.clock_ps);
  return static_cast<std::uint64_t>(ps) / kPerNs;
}

std::uint64_t SimMachine::cpu_ns() const {
  return static_cast<std::uint64_t>(std::max<Time>(0, busy_ps_ + now_ps() * busy_)) / kPerNs;
}

// Observation.

void SimMachine::waited(Site site, const Wait& wait) {
  if (waits_.size() <= site.id) waits_.resize(site.id + 1);
  WaitStats& stats = waits_[site.id];
  stats.spin_rounds += wait.spin_rounds;
  stats.parks += wait.parks;
  stats.ns.add(wait.ns);
}

void SimMachine::pass(Thread& t, State state) {
  activities_[t.activity].ps[static_cast<std::size_t>(state)] += static_cast<std::uint64_t>(now_ - t.since);
  keep_interval(t, state, t.since, kNone);
}

void SimMachine::keep_in_trace(const Thread& t, State state, Time start, std::int32_t core) {
  if (trace_.size() >= config_.trace_intervals) {
    ++intervals_not_kept_;
    return;
  }
  const bool is_named = state == State::parked || state == State::io;
  trace_.push_back({static_cast<std::uint64_t>(start), static_cast<std::uint64_t>(now_), t.id, core,
                    static_cast<std::uint32_t>(state),
                    is_named ? t.site.id : activities_.nodes()[t.activity].site});
}

std::vector<CoreTime> SimMachine::core_times() {
  std::vector<CoreTime> times;
  times.reserve(n_cpus_);
  for (Cpu& cpu : cpus_) {
    if (cpu.current == kNone) {
      settle_idle(cpu);
    } else {
      Thread& t = thread(cpu.current);
      if (t.phase == Phase::spinning) {
        charge_spin(t);
      } else {
        charge_segment(t);
      }
    }
    times.push_back(cpu.time);
  }
  return times;
}

}  // namespace engineroom::machine
