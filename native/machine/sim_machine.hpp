// The simulated machine: cores, sockets, cache lines, a scheduler and a disk in integer virtual time.
//
// Models      a server of up to 256 hardware threads and its Linux: run queues with time slices, or round
//             robin by ticks of the clock, futexes, interruptions, page cache
// Leaves out  memory bandwidth, frequency changes, weak memory; a busy sibling slows what a
//             hardware thread begins while it is busy, not what it has begun; an operation on a line takes
//             effect in the order of the requests, and its time is charged behind it
// Cost        about one event a shared operation, none where nothing else can happen in between
//
// Same parameters, same seed, same kernel: the same trace, on every compiler and processor.
#pragma once

#include <bit>
#include <cassert>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "machine/concept.hpp"
#include "machine/cpu_set.hpp"
#include "machine/event_queue.hpp"
#include "machine/observed.hpp"
#include "machine/random.hpp"
#include "machine/sim_config.hpp"
#include "machine/sim_file.hpp"
#include "machine/task.hpp"

#if defined(__cpp_exceptions)
#include <stdexcept>
#endif

namespace engineroom::machine {

#if defined(__cpp_exceptions)
/// Nothing can happen any more while threads still wait. The message names them and what they wait on.
class Stalled : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};
#endif

class SimMachine {
  static constexpr std::int32_t kNone = -1;

 public:
  /// A cache line: who has it, who waits for a change of it, who sleeps on it.
  struct Line {
    CpuSet sharers;
    Time free_at = 0;
    std::int32_t owner = kNone;     // the CPU that wrote last
    std::int32_t watchers = kNone;  // threads that spin on it
    std::int32_t first_parked = kNone;
    std::int32_t last_parked = kNone;
  };
  struct Ref {
    std::uint64_t* value;
    Line* line;
  };
  class Word {
   public:
    explicit Word(std::uint64_t initial = 0) : value_(initial) {}
    Word(const Word&) = delete;
    Word& operator=(const Word&) = delete;
    operator Ref() { return {&value_, &line_}; }  // NOLINT: a word is used as its reference

   private:
    std::uint64_t value_;
    Line line_;
  };
  class Words {
   public:
    static constexpr std::size_t kPerLine = 8;
    explicit Words(std::size_t n) : values_(n), lines_((n + kPerLine - 1) / kPerLine) {}
    Words(const Words&) = delete;
    Words& operator=(const Words&) = delete;
    Ref operator[](std::size_t i) { return {&values_[i], &lines_[i / kPerLine]}; }
    std::size_t size() const { return values_.size(); }

   private:
    std::vector<std::uint64_t> values_;
    std::vector<Line> lines_;
  };
  using File = SimFile;

  explicit SimMachine(const SimConfig& config);
  SimMachine(const SimMachine&) = delete;
  SimMachine& operator=(const SimMachine&) = delete;
  ~SimMachine();

  /// A kernel thread. It starts when the machine runs, in the order of the calls.
  void spawn(std::string name, std::function<Task<>()> body);

  // Runs. Each may be followed by another.
  /// Until every thread has ended. A stall is an error (Stalled).
  void run();
  /// For so much virtual time; then stop() and until every thread has ended.
  void run_for(std::uint64_t ns);
  /// For so much virtual time, and nothing is stopped. False when no thread is left. A stall is an error.
  bool run_on(std::uint64_t ns);
  /// One event, for who wants to look in between. False when no thread is left.
  bool step();
  /// Called every 65536 events; ends the run by throwing.
  void set_poll(std::function<void(std::uint64_t now_ns)> poll) { poll_ = std::move(poll); }

  // What a kernel may call (concept.hpp).
  enum class Kind : std::uint8_t { load, store, add, xchg, cas };
  template <Kind kind>
  struct Op {
    SimMachine& m;
    Ref ref;
    std::uint64_t operand;
    std::uint64_t* seen;

    bool await_ready() { return m.advance(); }
    void await_suspend(std::coroutine_handle<> self) { m.suspend(self); }
    auto await_resume() {
      if constexpr (kind == Kind::load) {
        return m.read(ref);
      } else if constexpr (kind == Kind::store) {
        m.write(ref, operand, kind);
      } else if constexpr (kind == Kind::add) {
        return m.write(ref, *ref.value + operand, kind);
      } else if constexpr (kind == Kind::xchg) {
        return m.write(ref, operand, kind);
      } else {
        const std::uint64_t expected = *seen;
        *seen = m.compare_and_swap(ref, expected, operand);
        return *seen == expected;
      }
    }
  };
  Op<Kind::load> load(Ref ref) { return {*this, ref, 0, nullptr}; }
  Op<Kind::store> store(Ref ref, std::uint64_t value) { return {*this, ref, value, nullptr}; }
  Op<Kind::add> add(Ref ref, std::uint64_t value) { return {*this, ref, value, nullptr}; }
  Op<Kind::xchg> xchg(Ref ref, std::uint64_t value) { return {*this, ref, value, nullptr}; }
  Op<Kind::cas> cas(Ref ref, std::uint64_t& seen, std::uint64_t value) { return {*this, ref, value, &seen}; }
  std::uint64_t peek(Ref ref) const { return *ref.value; }

  void work(std::uint64_t ns) { charge_work(static_cast<Time>(ns) * kPerNs); }
  void work_ps(Time ps) { charge_work(ps); }
  void charge(std::uint64_t ns) { work(ns); }
  void copy(void* to, const void* from, std::size_t bytes) {
    if (bytes > 0) std::memcpy(to, from, bytes);
    charge_work(static_cast<Time>(bytes) * config_.copy_ps_per_kib / 1024);
  }

 private:
  enum class Action : std::uint8_t { none, start, spin, park, unpark, sleep, yield, pwrite, fsync, end };
  enum class Phase : std::uint8_t { runnable, running, spinning, parked, sleeping, io, ended };

  struct Thread {
    std::coroutine_handle<> resume_at;
    Time pending = 0;         // computed but not yet passed
    Time pending_memory = 0;  // of it, waiting for lines
    Time left = 0;            // passed into a segment on a CPU, not yet over
    Time left_memory = 0;
    Time segment_start = 0;
    Time segment_end = 0;
    Time since = 0;     // when it entered its phase
    Time ready_at = 0;  // when its waker is done with it
    Time timer_end = kNever;
    Time timer_set = 0;
    std::uint32_t id = 0;
    std::uint32_t cpu = 0;
    std::uint32_t timer_cpu = 0;
    Time ticks_left = 0;            // of its slice; 0: a whole one
    std::int32_t next = kNone;      // in a run queue, or among the parked
    std::int32_t previous = kNone;  // among the parked
    std::int32_t next_watcher = kNone;
    std::int32_t previous_watcher = kNone;
    std::uint32_t activity = 0;
    Action action = Action::none;
    Phase phase = Phase::runnable;
    Patience patience = Patience::until_stop;
    ParkResult park_result = ParkResult::woken;
    Site site;
    Ref ref{};
    Until until{};
    Time round_ps = 0;
    std::uint64_t rounds_left = 0;
    Time spin_start = 0;
    SpinResult spin_result{};
    std::uint64_t operand = 0;
    std::uint64_t operand2 = 0;
    SimFile* file = nullptr;
    std::span<const std::byte> bytes;
    Random random;
    std::uint32_t name = 0;
    std::function<Task<>()> body;
    Task<> task;
  };

 public:
  /// Every operation that may put the thread to sleep or keep it on its core without computing.
  template <typename Result>
  struct Block {
    SimMachine& m;

    bool await_ready() const { return false; }
    bool await_suspend(std::coroutine_handle<> self) { return m.block(self); }
    Result await_resume() const {
      if constexpr (std::is_same_v<Result, SpinResult>) return m.current_->spin_result;
      if constexpr (std::is_same_v<Result, ParkResult>) return m.current_->park_result;
      if constexpr (std::is_same_v<Result, std::uint64_t>) return m.current_->operand;
    }
  };
  Block<SpinResult> spin_until(Ref ref, Until until, Spin spin) {
    Thread& t = prepared(Action::spin);
    t.ref = ref;
    t.until = until;
    t.rounds_left = spin.rounds;
    t.round_ps = config_.load_ps + static_cast<Time>(spin.pauses) * config_.pause_ps;
    if (t.round_ps == 0) t.round_ps = 1;
    t.spin_result = {};
    return {*this};
  }
  Block<ParkResult> park(Ref ref, std::uint64_t expected, Site site, std::uint64_t timeout_ns = kForEver,
                         Patience patience = Patience::until_stop) {
    Thread& t = prepared(Action::park);
    charge_work(config_.park_ps);
    if (timeout_ns != kForEver) set_timer(timeout_ns);
    t.ref = ref;
    t.operand = expected;
    t.operand2 = timeout_ns;
    t.site = site;
    t.patience = patience;
    return {*this};
  }
  Block<std::uint64_t> unpark(Ref ref, std::uint64_t n) {
    Thread& t = prepared(Action::unpark);
    charge_work(config_.unpark_ps);
    t.ref = ref;
    t.operand = n;
    return {*this};
  }
  Block<void> sleep(std::uint64_t ns) {
    prepared(Action::sleep).operand = ns;
    set_timer(ns);
    return {*this};
  }
  Block<void> yield() {
    prepared(Action::yield);
    charge_work(config_.yield_ps);
    return {*this};
  }
  Block<void> pwrite(File& file, std::uint64_t offset, std::span<const std::byte> bytes) {
    Thread& t = prepared(Action::pwrite);
    charge_work(config_.pwrite_ps + static_cast<Time>(bytes.size()) * config_.pwrite_ps_per_kib / 1024);
    t.file = &file;
    t.operand = offset;
    t.bytes = bytes;
    return {*this};
  }
  Block<void> fsync(File& file) {
    Thread& t = prepared(Action::fsync);
    t.timer_set = now_ps();
    charge_work(config_.fsync_ps);
    t.file = &file;
    t.site = file.site();
    return {*this};
  }

  std::uint64_t now();
  Time now_ps() const { return current_ != nullptr ? now_ + current_->pending + current_->left : now_; }
  std::uint64_t random() { return current_ != nullptr ? current_->random.next() : random_.next(); }
  /// As the system counts it: some of a wake-up is the woken thread's.
  std::uint64_t cpu_ns() const;
  std::uint32_t cpus() const { return n_cpus_; }
  void stop();
  bool stopping() const { return stopping_; }

  Site site(std::string_view name) { return {names_.intern(name)}; }
  void waited(Site site, const Wait& wait);
  void enter(Site site) { current_->activity = activities_.child(current_->activity, site.id); }
  void leave() { current_->activity = activities_[current_->activity].parent; }

  bool advance();
  bool try_cas(Ref ref, std::uint64_t expected, std::uint64_t value) {
    return compare_and_swap(ref, expected, value) == expected;
  }
  std::uint64_t try_xchg(Ref ref, std::uint64_t value) { return write(ref, value, Kind::xchg); }
  std::uint64_t try_load(Ref ref) { return read(ref); }

  // What a run is asked afterwards.
  const SimConfig& config() const { return config_; }
  std::uint64_t events() const { return events_; }
  std::uint64_t trace_hash() const { return hash_; }
  std::uint64_t live_threads() const { return live_; }
  /// The waits by site; an entry whose count is 0 was never waited for.
  const std::vector<WaitStats>& waits() const { return waits_; }
  const Names& names() const { return names_; }
  const Activities& activities() const { return activities_; }
  const std::vector<Interval>& trace() const { return trace_; }
  std::uint64_t intervals_not_kept() const { return intervals_not_kept_; }
  /// One entry a CPU, up to now.
  std::vector<CoreTime> core_times();
  std::uint32_t thread_count() const { return static_cast<std::uint32_t>(threads_.size()); }
  std::string thread_name(std::uint32_t thread) const;
  /// "client 3 is parked on log_sys since 1.25 us; ...", at most twelve threads.
  std::string who_waits() const;
  /// Where the build has no exceptions: why the last run ended early, or nothing.
  const std::string& failure() const { return failure_; }

 private:
  struct Cpu {
    std::int32_t current = kNone;
    std::int32_t first = kNone;  // run queue
    std::int32_t last = kNone;
    std::uint32_t queued = 0;
    std::int32_t last_thread = kNone;
    std::uint32_t io_blocked = 0;  // threads that wait for a disk and ran here last
    Time slice_end = 0;
    Time run_start = 0;
    bool is_awaking = false;  // from idle, until its thread begins
    Time idle_since = 0;
    Time to_interrupt = 0;  // computing time until the next one
    Time timer_until = 0;   // an interruption by a timer lasts until then
    Time left_timer = kNever;
    CoreTime time;
  };

  Thread& prepared(Action action) {
    current_->action = action;
    return *current_;
  }
  void charge_work(Time ps) {
    current_->pending += ps;
    activities_[current_->activity].ps[static_cast<std::size_t>(State::work)] +=
        static_cast<std::uint64_t>(ps);
  }
  /// Of tasks, by this thread since the last time.
  void charge_calls() {
    const std::uint64_t calls = task_internal::calls();
    charge_work(static_cast<Time>(calls - std::exchange(calls_, calls)) * config_.task_ps);
  }
  void charge_memory(Time ps) {
    current_->pending += ps;
    current_->pending_memory += ps;
    activities_[current_->activity].ps[static_cast<std::size_t>(State::memory)] +=
        static_cast<std::uint64_t>(ps);
  }

  // Shared words.
  std::uint64_t read(Ref ref) {
    charge_memory(read_cost(*ref.line, current_->cpu));
    charge_work(config_.await_ps);
    note(Kind::load, *ref.value);
    return *ref.value;
  }
  std::uint64_t write(Ref ref, std::uint64_t value, Kind kind) {
    charge_memory(write_cost(*ref.line, current_->cpu));
    charge_work(config_.await_ps);
    note(kind, value);
    const std::uint64_t before = *ref.value;
    *ref.value = value;
    if (ref.line->watchers != kNone) tell_watchers(ref);
    return before;
  }
  std::uint64_t compare_and_swap(Ref ref, std::uint64_t expected, std::uint64_t value) {
    if (*ref.value == expected) return write(ref, value, Kind::cas);
    // A failed compare-and-swap takes the line all the same.
    charge_memory(write_cost(*ref.line, current_->cpu));
    note(Kind::cas, *ref.value);
    return *ref.value;
  }
  Time read_cost(Line& line, std::uint32_t cpu);
  Time write_cost(Line& line, std::uint32_t cpu);
  Time distance(std::uint32_t from, std::uint32_t to) const;
  void tell_watchers(Ref ref);
  void stop_watching(Thread& t);

  template <typename What>
  void note(What what, std::uint64_t value) {
    ++events_;
    const std::uint64_t item = (static_cast<std::uint64_t>(now_) << 24) ^
                               (static_cast<std::uint64_t>(current_->id) << 4) ^
                               static_cast<std::uint64_t>(what);
    hash_ = (std::rotl(hash_, 23) ^ item) * 0x9E3779B97F4A7C15U ^ value;
  }

  // Threads on CPUs.
  Time passed_into_segment(Thread& t);
  Time to_interrupt() {
    return 1 + static_cast<Time>(
                   exponential(random_.next(), static_cast<std::uint64_t>(config_.interrupt_every_ps)));
  }
  Time held_up(Cpu& cpu, Time passed, bool computes);
  void suspend(std::coroutine_handle<> self) {
    assert(!self.done());  // or the compiler laid out the frame wrongly
    current_->resume_at = self;
    current_->action = Action::none;
    start_segment(*current_);
  }
  bool block(std::coroutine_handle<> self);
  bool perform(Thread& t);
  bool perform_spin(Thread& t);
  bool perform_park(Thread& t);
  void perform_unpark(Thread& t);
  void start_segment(Thread& t);
  void arm_segment(Thread& t);
  void arm(Thread& t, Time at);
  Thread& thread(std::int32_t id) { return *threads_[static_cast<std::size_t>(id)]; }
  void charge_segment(Thread& t);
  void charge_spin(Thread& t);
  void go_on(Thread& t);
  void resume(Thread& t);
  void end_if_done(Thread& t);
  void on_segment(Thread& t);
  void on_spin(Thread& t);
  void preempt(Thread& t);
  void watch(Thread& t);
  bool unpark_one(Thread& t, ParkResult result, Time delay);
  bool wake(Thread& t, Time delay);
  void set_timer(std::uint64_t ns);
  void end_timer(Thread& t, std::uint32_t goes_to);
  void hold_up(Thread& t, Time lasts);
  void interrupt_by_timer(Cpu& cpu, bool kicks);
  bool is_next_timer(const Thread& t) const;
  Time timer_end(const Thread& t, std::uint64_t ns) const;
  void enqueue(Thread& t, std::uint32_t cpu);
  void run_on_cpu(Thread& t, std::uint32_t cpu, Time delay);
  void leave_cpu(Thread& t, Phase phase);
  void next_on(std::uint32_t cpu);
  std::int32_t take_queued(std::uint32_t cpu);
  std::uint32_t cpu_to_wake_on(const Thread& t);
  std::uint32_t socket_of(std::uint32_t cpu) const { return cpu / cpus_per_socket_; }
  void settle_idle(Cpu& cpu);
  void become_idle(std::uint32_t cpu);
  void become_busy(std::uint32_t cpu, Time from);
  void end(Thread& t);
  void keep_interval(const Thread& t, State state, Time start, std::int32_t core) {
    if (config_.trace_intervals > 0 && now_ > start) keep_in_trace(t, state, start, core);
  }
  void keep_in_trace(const Thread& t, State state, Time start, std::int32_t core);
  void pass(Thread& t, State state);
  bool run_until(Time limit);
  void stalled();
  void drop_all();

  SimConfig config_;
  std::uint32_t n_cpus_;
  std::uint32_t cpus_per_socket_;
  Time now_ = 0;
  Time horizon_ = kNever;
  Thread* current_ = nullptr;
  std::uint64_t calls_ = 0;  // of tasks by this thread, that are charged
  EventQueue queue_;
  std::uint64_t events_ = 0;
  std::uint64_t hash_ = 0x243F6A8885A308D3U;
  std::vector<std::unique_ptr<Thread>> threads_;
  std::vector<std::uint32_t> ended_;  // to be used again
  std::uint64_t live_ = 0;
  // Round robin.
  Time tick_of(Time at) const { return (at + first_tick_) / config_.tick_ps; }
  void count_ticks(Thread& t);
  bool awakes(std::uint32_t cpu) const;
  std::uint32_t cpu_to_wake_on_round_robin(const Thread& t) const;
  Time slice_ticks_ = 1;
  Time first_tick_ = 0;  // since the last tick when the run begins

  std::vector<Cpu> cpus_;
  CpuSet idle_;
  CpuSet with_queue_;
  std::uint32_t next_cpu_ = 0;
  Time busy_ps_ = 0;  // of CPUs that are idle now, plus minus the start times of those that are busy
  std::uint32_t busy_ = 0;
  bool stopping_ = false;
  Random random_;
  std::vector<Time> disk_free_at_;
  Names names_;
  Activities activities_;
  std::vector<WaitStats> waits_;
  std::vector<Interval> trace_;
  std::uint64_t intervals_not_kept_ = 0;
  std::function<void(std::uint64_t)> poll_;
  std::uint64_t polled_at_ = 0;
  std::string failure_;
};

inline bool SimMachine::advance() {
  Thread& t = *current_;
  const Time at = now_ + passed_into_segment(t);
  if (at > horizon_ || at >= queue_.next_at()) return false;
  const Cpu& cpu = cpus_[t.cpu];
  if (cpu.first != kNone && at > cpu.slice_end) return false;
  t.segment_start = now_;
  now_ = at;
  charge_segment(t);
  return true;
}

}  // namespace engineroom::machine
