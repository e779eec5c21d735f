#include "trx_sys/latch_steps.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "machine/random.hpp"
#include "machine/sim_machine.hpp"
#include "sync/latch.hpp"
#include "transactions/trx_sys.hpp"

namespace engineroom::trx_sys {

namespace {

using machine::Access;
using machine::SimMachine;
using machine::Site;
using machine::Task;
using transactions::Trx;
using transactions::TrxId;
using transactions::TrxSys;

/// What all seats share.
struct Notes {
  std::vector<LatchStep> steps;
  std::uint32_t latches = 0;  // made so far: the number of the next
};

/// The machine as one session has it. It passes every call on, and knows whose it was.
class Seat {
 public:
  using Word = SimMachine::Word;
  using Words = SimMachine::Words;
  using Lines = SimMachine::Lines;
  using Ref = SimMachine::Ref;
  using File = SimMachine::File;

  Seat(SimMachine& m, Notes& notes, std::uint32_t session) : sim(m), notes(notes), session_(session) {}

  void calls(Call call) { call_ = call; }
  void note(std::uint32_t latch, Does does) {
    notes.steps.push_back(
        {.now_ns = sim.now(), .session = session_, .latch = latch, .call = call_, .does = does});
  }

  auto load(Ref ref) { return sim.load(ref); }
  auto store(Ref ref, std::uint64_t value) { return sim.store(ref, value); }
  auto add(Ref ref, std::uint64_t value) { return sim.add(ref, value); }
  auto xchg(Ref ref, std::uint64_t value) { return sim.xchg(ref, value); }
  auto cas(Ref ref, std::uint64_t& seen, std::uint64_t value) { return sim.cas(ref, seen, value); }
  std::uint64_t peek(Ref ref) const { return sim.peek(ref); }
  void work(std::uint64_t ns) { sim.work(ns); }
  void work_elsewhere(std::uint64_t ns) { sim.work_elsewhere(ns); }
  void charge(std::uint64_t ns) { sim.charge(ns); }
  void copy(void* to, const void* from, std::size_t bytes) { sim.copy(to, from, bytes); }
  auto touch(Lines& lines, std::size_t first, std::size_t n, Access access) {
    return sim.touch(lines, first, n, access);
  }
  auto spin_until(Ref ref, machine::Until until, machine::Spin spin) {
    return sim.spin_until(ref, until, spin);
  }
  auto park(Ref ref, std::uint64_t expected, Site site, std::uint64_t timeout_ns,
            machine::Patience patience) {
    return sim.park(ref, expected, site, timeout_ns, patience);
  }
  auto unpark(Ref ref, std::uint64_t n) { return sim.unpark(ref, n); }
  auto sleep(std::uint64_t ns) { return sim.sleep(ns); }
  auto wait_for_client(std::uint64_t ns) { return sim.wait_for_client(ns); }
  auto yield() { return sim.yield(); }
  auto pwrite(File& file, std::uint64_t offset, std::span<const std::byte> bytes) {
    return sim.pwrite(file, offset, bytes);
  }
  auto fsync(File& file) { return sim.fsync(file); }
  std::uint64_t now() { return sim.now(); }
  std::uint64_t random() { return sim.random(); }
  std::uint64_t cpu_ns() const { return sim.cpu_ns(); }
  std::uint32_t cpus() const { return sim.cpus(); }
  void spawn(std::string name, std::function<Task<>()> body) { sim.spawn(std::move(name), std::move(body)); }
  void stop() { sim.stop(); }
  bool stopping() const { return sim.stopping(); }
  Site site(std::string_view name) { return sim.site(name); }
  void waited(Site site, const machine::Wait& wait) { sim.waited(site, wait); }
  void enter(Site site) { sim.enter(site); }
  void leave() { sim.leave(); }
  bool reach(Ref ref, Access access) { return sim.reach(ref, access); }
  bool try_cas(Ref ref, std::uint64_t expected, std::uint64_t value) {
    return sim.try_cas(ref, expected, value);
  }
  std::uint64_t try_xchg(Ref ref, std::uint64_t value) { return sim.try_xchg(ref, value); }
  std::uint64_t try_add(Ref ref, std::uint64_t value) { return sim.try_add(ref, value); }
  std::uint64_t try_load(Ref ref) { return sim.try_load(ref); }

  SimMachine& sim;
  Notes& notes;

 private:
  std::uint32_t session_;
  Call call_ = Call::begin;
};

}  // namespace

}  // namespace engineroom::trx_sys

namespace engineroom::sync {

/// The same latch; what happens to it is noted.
template <>
class Latch<trx_sys::Seat> {
 public:
  Latch(trx_sys::Seat& seat, std::string_view name, SpinParams spin)
      : of_machine_(seat.sim, name, spin), number_(seat.notes.latches++) {}

  Task<> lock(trx_sys::Seat& seat) {
    seat.note(number_, trx_sys::Does::waits);
    co_await of_machine_.lock(seat.sim);
    seat.note(number_, trx_sys::Does::takes);
  }
  Task<> unlock(trx_sys::Seat& seat) {
    seat.note(number_, trx_sys::Does::leaves);
    co_await of_machine_.unlock(seat.sim);
  }

 private:
  Latch<machine::SimMachine> of_machine_;
  std::uint32_t number_;
};

}  // namespace engineroom::sync

namespace engineroom::trx_sys {

namespace {

void calls(Seat& seat, Call call) { seat.calls(call); }
void calls(SimMachine&, Call) {}

template <typename M>
class Sessions {
 public:
  Sessions(M& m, const StepsConfig& config)
      : config_(config),
        trx_sys_(m, {.latches = config.latches}),
        open_(config.open),
        trxs_(config.sessions) {}

  /// Before the sessions begin: the others write, and a last one writes the row that all are after, and commits.
  Task<> prepare(M& m) {
    for (Trx<M>& trx : open_) {
      co_await trx_sys_.begin(m, trx, false);
      co_await trx_sys_.become_read_write(m, trx);
    }
    Trx<M> writer;
    co_await trx_sys_.begin(m, writer, false);
    co_await trx_sys_.become_read_write(m, writer);
    last_writer_ = writer.id;
    co_await trx_sys_.commit(m, writer);
  }
  Task<> run(M& m, std::uint32_t session) {
    Trx<M>& trx = trxs_[session];
    compute(m, Call::begin);
    co_await trx_sys_.begin(m, trx, false);
    const std::uint32_t selects = config_.transaction == Transaction::update        ? 0
                                  : config_.transaction == Transaction::two_selects ? 2
                                                                                    : 1;
    for (std::uint32_t i = 0; i < selects; ++i) {
      compute(m, Call::make_view);
      co_await trx_sys_.open_view(m, trx);
      compute(m, Call::drop_view);
      co_await trx_sys_.drop_view(m, trx);
    }
    if (config_.transaction == Transaction::select || config_.transaction == Transaction::two_selects) {
      compute(m, Call::end);
      co_await trx_sys_.end_of_reads(m, trx);
      co_return;
    }
    compute(m, Call::take_id);
    co_await trx_sys_.become_read_write(m, trx);
    compute(m, Call::look_for_id);
    co_await trx_sys_.is_active(m, last_writer_);
    compute(m, Call::commit);
    co_await trx_sys_.commit(m, trx);
  }
  const transactions::TrxSysCounters& counters() const { return trx_sys_.counters(); }

 private:
  void compute(M& m, Call next) {
    m.work(machine::exponential(m.random(), config_.computing_ns));
    calls(m, next);
  }

  StepsConfig config_;
  TrxSys<M> trx_sys_;
  std::vector<Trx<M>> open_;
  std::vector<Trx<M>> trxs_;
  TrxId last_writer_ = 0;
};

/// Without the waiting of those who found the latch free and were the next to take it.
std::vector<LatchStep> without_idle_waits(const std::vector<LatchStep>& steps) {
  std::vector<LatchStep> kept;
  std::map<std::uint32_t, bool> is_held;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const LatchStep& step = steps[i];
    if (step.does != Does::waits) is_held[step.latch] = step.does == Does::takes;
    if (step.does == Does::waits && !is_held[step.latch]) {
      std::size_t next = i + 1;
      while (steps[next].latch != step.latch || steps[next].does != Does::takes) ++next;
      if (steps[next].session == step.session) continue;
    }
    kept.push_back(step);
  }
  return kept;
}

/// In the order of time. What a thread owes passes only when it next waits, so that notes of several are not made in that order.
std::vector<LatchStep> in_time(std::vector<LatchStep> steps) {
  std::ranges::stable_sort(steps, {}, &LatchStep::now_ns);
  return steps;
}

/// `house` is the machine of whoever is no session; `seat_of` gives each session its own.
template <typename M, typename SeatOf>
LatchSteps run_on(SimMachine& sim, M& house, const StepsConfig& config, const SeatOf& seat_of, Notes& notes) {
  Sessions<M> sessions(house, config);
  sim.spawn("others", [&] { return sessions.prepare(house); });
  sim.run();
  notes.steps.clear();
  const auto& counters = sessions.counters();
  const std::uint64_t mutex_before = counters.mutex;
  const std::uint64_t serialisation_before = counters.serialisation;
  const std::uint64_t shards_before = counters.shards;
  const std::uint64_t start_ns = sim.now();
  for (std::uint32_t i = 0; i < config.sessions; ++i) {
    sim.spawn("session", [&, i] { return sessions.run(seat_of(i), i); });
  }
  sim.run();
  LatchSteps result{.steps = without_idle_waits(in_time(notes.steps)),
                    .trace_hash = sim.trace_hash(),
                    .mutex = counters.mutex - mutex_before,
                    .serialisation = counters.serialisation - serialisation_before,
                    .shards = counters.shards - shards_before};
  for (LatchStep& step : result.steps) step.now_ns -= start_ns;
  return result;
}

}  // namespace

LatchSteps latch_steps(const StepsConfig& config, const machine::SimConfig& machine, bool is_observed) {
  SimMachine sim(machine);
  Notes notes;
  if (!is_observed)
    return run_on(
        sim, sim, config, [&](std::uint32_t) -> SimMachine& { return sim; }, notes);
  std::vector<std::unique_ptr<Seat>> seats;
  for (std::uint32_t i = 0; i <= config.sessions; ++i) seats.push_back(std::make_unique<Seat>(sim, notes, i));
  return run_on(
      sim, *seats.back(), config, [&](std::uint32_t i) -> Seat& { return *seats[i]; }, notes);
}

}  // namespace engineroom::trx_sys
