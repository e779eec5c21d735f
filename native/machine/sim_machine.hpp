// The simulated machine: cores, sockets, cache lines, a scheduler and a disk in integer virtual time.
//
// Models      a server of up to 256 hardware threads and its Linux: run queues with time slices, or round
//             robin by ticks of the clock, futexes, interruptions, page cache
// Leaves out  memory bandwidth, frequency changes, weak memory; a busy sibling slows what a
//             hardware thread begins while it is busy, not what it has begun; an operation on a line takes
//             effect in the order of the requests, and its time is charged behind it (unless lines stay: sim/lines.hpp)
// Cost        about one event a shared operation, none where nothing else can happen in between
//
// Same parameters, same seed, same kernel: the same trace, on every compiler and processor.
//
// This class is what a kernel calls, and the loop over the events. Its parts are in sim/, each to be read alone, and none
// knows of this class: lines (what an access costs), spins (who looks at a word until it changes), parked (who sleeps on
// one), scheduler (who runs where, by fair or round_robin), timers, interruptions, disk, observations (what a run is
// asked afterwards). Under them lie core (clock, threads, events) and thread.
#pragma once

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "machine/concept.hpp"
#include "machine/observed.hpp"
#include "machine/sim/core.hpp"
#include "machine/sim/disk.hpp"
#include "machine/sim/interruptions.hpp"
#include "machine/sim/lines.hpp"
#include "machine/sim/parked.hpp"
#include "machine/sim/scheduler.hpp"
#include "machine/sim/spins.hpp"
#include "machine/sim/thread.hpp"
#include "machine/sim/timers.hpp"
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
  using Thread = sim::Thread;
  using Action = sim::Action;
  using Phase = sim::Phase;

 public:
  using Line = sim::Line;
  using Ref = sim::Ref;
  using Word = sim::Word;
  using Words = sim::Words;
  using Lines = sim::Lines;
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
  /// One event, for anyone who wants to look in between. False when no thread is left.
  bool step();
  /// Called every 65536 events; ends the run by throwing.
  void set_poll(std::function<void(std::uint64_t now_ns)> poll) { poll_ = std::move(poll); }

  // What a kernel may call (concept.hpp).
  enum class Kind : std::uint8_t { load, store, add, xchg, cas, touch };
  template <Kind kind>
  struct Op {
    SimMachine& m;
    Ref ref;
    std::uint64_t operand;
    std::uint64_t* seen;
    bool has_asked = false;
    static constexpr Access kAccess = kind == Kind::load ? Access::read : Access::write;

    // What the thread owes passes, then the line's way here; then it happens.
    bool await_ready() {
      if (!m.advance()) return false;
      has_asked = true;
      return m.ask(ref, kAccess) || m.advance();
    }
    void await_suspend(std::coroutine_handle<> self) {
      has_asked ? m.suspend(self) : m.suspend_to_ask(self, ref, kAccess);
    }
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

  struct Touch {
    SimMachine& m;
    std::span<Line> lines;
    Access access;

    bool await_ready() { return m.advance(); }
    void await_suspend(std::coroutine_handle<> self) { m.suspend(self); }
    void await_resume() { m.touch_all(lines, access); }
  };
  Touch touch(Lines& lines, std::size_t first, std::size_t count, Access access) {
    return {*this, lines.some(first, count), access};
  }

  void work(std::uint64_t ns) { core_.charge_work(static_cast<Time>(ns) * kPerNs); }
  void work_elsewhere(std::uint64_t ns) {
    work(ns);
    elsewhere_ps_ += static_cast<Time>(ns) * kPerNs;
  }
  void work_ps(Time ps) { core_.charge_work(ps); }
  void charge(std::uint64_t ns) { work(ns); }
  void copy(void* to, const void* from, std::size_t bytes) {
    if (bytes > 0) std::memcpy(to, from, bytes);
    core_.charge_work(static_cast<Time>(bytes) * core_.config.copy_ps_per_kib / 1024);
  }

  /// Every operation that may put the thread to sleep or keep it on its core without computing.
  template <typename Result>
  struct Block {
    SimMachine& m;

    bool await_ready() const { return false; }
    bool await_suspend(std::coroutine_handle<> self) { return m.block(self); }
    Result await_resume() const {
      if constexpr (std::is_same_v<Result, SpinResult>) return m.core_.current->spin_result;
      if constexpr (std::is_same_v<Result, ParkResult>) return m.core_.current->park_result;
      if constexpr (std::is_same_v<Result, std::uint64_t>) return m.core_.current->operand;
    }
  };
  Block<SpinResult> spin_until(Ref ref, Until until, Spin spin) {
    Thread& t = prepared(Action::spin);
    t.ref = ref;
    t.until = until;
    t.spin = spin;
    t.spin_result = {};
    return {*this};
  }
  Block<ParkResult> park(Ref ref, std::uint64_t expected, Site site, std::uint64_t timeout_ns = kForEver,
                         Patience patience = Patience::until_stop) {
    Thread& t = prepared(Action::park);
    core_.charge_work(core_.config.park_ps);
    if (timeout_ns != kForEver) timers_.set(timeout_ns);
    t.ref = ref;
    t.operand = expected;
    t.operand2 = timeout_ns;
    t.site = site;
    t.patience = patience;
    return {*this};
  }
  Block<std::uint64_t> unpark(Ref ref, std::uint64_t n) {
    Thread& t = prepared(Action::unpark);
    core_.charge_work(core_.config.unpark_ps);
    t.ref = ref;
    t.operand = n;
    return {*this};
  }
  Block<void> sleep(std::uint64_t ns) {
    prepared(Action::sleep).operand = ns;
    timers_.set(ns);
    return {*this};
  }
  Block<void> wait_for_client(std::uint64_t ns) {
    if (core_.config.client_is_timer) return sleep(ns);
    prepared(Action::wait_for_client).operand = ns;
    return {*this};
  }
  Block<void> yield() {
    prepared(Action::yield);
    core_.charge_work(core_.config.yield_ps);
    return {*this};
  }
  Block<void> pwrite(File& file, std::uint64_t offset, std::span<const std::byte> bytes) {
    Thread& t = prepared(Action::pwrite);
    core_.charge_work(core_.config.pwrite_ps +
                      static_cast<Time>(bytes.size()) * core_.config.pwrite_ps_per_kib / 1024);
    t.file = &file;
    t.operand = offset;
    t.bytes = bytes;
    return {*this};
  }
  Block<void> fsync(File& file) {
    Thread& t = prepared(Action::fsync);
    t.timer_set = now_ps();
    core_.charge_work(core_.config.fsync_ps);
    t.file = &file;
    t.site = file.site();
    return {*this};
  }

  std::uint64_t now();
  Time now_ps() const { return core_.now_here(); }
  std::uint64_t random() {
    return core_.current != nullptr ? core_.current->random.next() : core_.random.next();
  }
  /// As the system counts it for the server's process: some of a wake-up is the woken thread's.
  std::uint64_t cpu_ns() const;
  std::uint32_t cpus() const { return core_.topology.cpus(); }
  void stop();
  bool stopping() const { return core_.stopping; }

#if !defined(__wasm__)
  /// Whether who sleeps does it as on an event of InnoDB (sync/os_event.hpp). No explorable asks for it.
  bool has_os_events() const { return core_.config.os_event; }
  /// The one object of its type that all of this machine use, made when it is first asked for.
  template <typename T, typename M>
  static T& shared(M& m) {
    static constexpr char kType = 0;
    for (const auto& [type, object] : m.shared_) {
      if (type == &kType) return *static_cast<T*>(object.get());
    }
    m.shared_.emplace_back(&kType, std::make_shared<T>(m));
    return *static_cast<T*>(m.shared_.back().second.get());
  }
#endif
  Site site(std::string_view name) { return {core_.seen.name(name)}; }
  void waited(Site site, const Wait& wait) { core_.seen.waited(site, wait); }
  void enter(Site site) { core_.seen.enter(*core_.current, site); }
  void leave() { core_.seen.leave(*core_.current); }

  bool reach(Ref ref, Access access) { return advance() && (ask(ref, access) || advance()); }
  bool try_cas(Ref ref, std::uint64_t expected, std::uint64_t value) {
    return compare_and_swap(ref, expected, value) == expected;
  }
  std::uint64_t try_xchg(Ref ref, std::uint64_t value) { return write(ref, value, Kind::xchg); }
  std::uint64_t try_add(Ref ref, std::uint64_t value) { return write(ref, *ref.value + value, Kind::add); }
  std::uint64_t try_load(Ref ref) { return read(ref); }

  // What a run is asked afterwards.
  const SimConfig& config() const { return core_.config; }
  std::uint64_t events() const { return core_.seen.events(); }
  std::uint64_t trace_hash() const { return core_.seen.trace_hash(); }
  std::uint64_t live_threads() const { return live_; }
  /// The waits by site; an entry whose count is 0 was never waited for.
  const std::vector<WaitStats>& waits() const { return core_.seen.waits(); }
  const Names& names() const { return core_.seen.names(); }
  const Activities& activities() const { return core_.seen.activities(); }
  const std::vector<Interval>& trace() const { return core_.seen.trace(); }
  std::uint64_t intervals_not_kept() const { return core_.seen.intervals_not_kept(); }
  /// One entry per CPU, up to now.
  std::vector<CoreTime> core_times();
  /// Waits that have ended, and where time went up to now, what is under way included: two of these, before and after a
  /// window, are what there was in it. What a thread has begun to compute counts as computed.
  Totals totals();
  std::uint32_t thread_count() const { return static_cast<std::uint32_t>(core_.threads.size()); }
  std::string thread_name(std::uint32_t thread) const;
  /// "client 3 is parked on log_sys since 1.25 us; ...", at most twelve threads.
  std::string who_waits() const;
  /// Where the build has no exceptions: why the last run ended early, or nothing.
  const std::string& failure() const { return failure_; }

 private:
  Thread& prepared(Action action) {
    core_.current->action = action;
    return *core_.current;
  }
  /// Of tasks, by this thread since the last time.
  void charge_calls() {
    const std::uint64_t calls = task_internal::calls();
    core_.charge_work(static_cast<Time>(calls - std::exchange(calls_, calls)) * core_.config.task_ps);
  }

  // Shared words.
  /// False: the line has to come from elsewhere, and the thread waits for it.
  bool ask(Ref ref, Access access) {
    if (!lines_.stay()) return true;  // and waits for it behind the operation
    const Time way = lines_.bring(*ref.line, core_.current->cpu, core_.now, access);
    if (way > 0) core_.charge_memory(way);
    return way == 0;
  }
  void charge_operation(Line& line, Access access) {
    const Time way = lines_.stay() ? 0 : lines_.bring(line, core_.current->cpu, core_.now, access);
    core_.charge_memory(way + lines_.operation(access));
  }
  std::uint64_t read(Ref ref) {
    charge_operation(*ref.line, Access::read);
    core_.charge_work(core_.config.await_ps);
    core_.note(Kind::load, *ref.value);
    return *ref.value;
  }
  void take(Line& line) {
    charge_operation(line, Access::write);
    if (line.watchers != sim::kNone) spins_.lose_copies(line);
  }
  std::uint64_t write(Ref ref, std::uint64_t value, Kind kind) {
    take(*ref.line);
    core_.charge_work(core_.config.await_ps);
    core_.note(kind, value);
    return std::exchange(*ref.value, value);
  }
  std::uint64_t compare_and_swap(Ref ref, std::uint64_t expected, std::uint64_t value) {
    if (*ref.value == expected) return write(ref, value, Kind::cas);
    // A failed compare-and-swap takes the line all the same.
    take(*ref.line);
    core_.note(Kind::cas, *ref.value);
    return *ref.value;
  }

  void touch_all(std::span<Line> lines, Access access) {
    Time takes = 0;
    for (Line& line : lines) {
      takes += lines_.bring(line, core_.current->cpu, core_.now + takes, access) + lines_.operation(access);
    }
    core_.charge_memory(takes);
    core_.note(Kind::touch, lines.size() << 1 | static_cast<std::uint64_t>(access));
  }

  // A thread between two events.
  bool advance();
  Time passed_into_segment(Thread& t);
  void start_segment(Thread& t);
  void suspend(std::coroutine_handle<> self) {
    core_.current->resume_at = task_internal::suspended(self);
    core_.current->action = Action::none;
    start_segment(*core_.current);
  }
  /// It asks for the word's line when what it owes has passed.
  void suspend_to_ask(std::coroutine_handle<> self, Ref ref, Access access) {
    core_.current->resume_at = task_internal::suspended(self);
    Thread& t = prepared(Action::access);
    t.ref = ref;
    t.access = access;
    start_segment(t);
  }
  bool block(std::coroutine_handle<> self);
  void on_segment(Thread& t);
  void resume(Thread& t);
  void end_if_done(Thread& t);
  void end(Thread& t);

  // What it has asked for. True: it waits.
  bool perform(Thread& t);
  bool perform_park(Thread& t);
  void perform_unpark(Thread& t);
  bool perform_sleep(Thread& t);
  bool perform_wait_for_client(Thread& t);
  bool perform_fsync(Thread& t);
  bool unpark_one(Thread& t, ParkResult result, Time delay);
  bool wake(Thread& t, Time delay);

  bool run_until(Time limit);
  void stalled();
  void drop_all();

  // In this order: what is drawn at the start is drawn by the interruptions first, then by the scheduler.
  sim::Core core_;
  sim::CacheLines lines_{core_.config, core_.topology};
  sim::Interruptions interruptions_{core_};
  sim::Scheduler scheduler_{core_};
  sim::Timers timers_{core_, scheduler_};
  sim::Spins spins_{core_, lines_, interruptions_, timers_, scheduler_};
  sim::Parked parked_{core_};
  sim::Disk disk_{core_.config};

  Time horizon_ = kNever;
  Time elsewhere_ps_ = 0;             // computed by other processes than the server
  std::uint64_t calls_ = 0;           // of tasks by this thread, that are charged
  std::vector<std::uint32_t> ended_;  // to be used again
  std::uint64_t live_ = 0;
  std::function<void(std::uint64_t)> poll_;
  std::uint64_t polled_at_ = 0;
  std::string failure_;
#if !defined(__wasm__)
  std::vector<std::pair<const void*, std::shared_ptr<void>>> shared_;
#endif
};

inline bool SimMachine::advance() {
  Thread& t = *core_.current;
  const Time at = core_.now + passed_into_segment(t);
  if (at > horizon_ || at >= core_.events.next_at()) return false;
  if (scheduler_.slice_ends_before(t.cpu, at)) return false;
  t.segment_start = core_.now;
  core_.now = at;
  scheduler_.charge_segment(t);
  return true;
}

}  // namespace engineroom::machine
