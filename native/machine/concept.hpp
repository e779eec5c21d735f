// What a machine supplies to a kernel. A kernel is a template over it, written once.
//
// Models      the hardware and the operating system under a server: threads, shared words, futexes, files
// Leaves out  weak memory: both machines are sequentially consistent, as x86 nearly is
// Cost        HostMachine: an await compiles to the operation itself; SimMachine: about one event an await
//
// How a kernel is written:
//
//   template <Machine M>
//   Task<> client(M& m, Shared<M>& shared) {
//     while (!m.stopping()) {
//       m.work(5'000);                        // ns of computing; no await
//       co_await shared.latch.lock(m);        // sync/latch.hpp
//       co_await m.add(shared.counter, 1);    // one shared word
//       co_await shared.latch.unlock(m);
//       co_await m.wait_for_client(200'000);  // away for so long
//     }
//   }
//   m.spawn("client", [&] { return client(m, shared); });
//   m.run_for(1'000'000'000);
//
// Await into a variable, not inside the condition of an if, a while, a for or a switch, nor inside a test's EXPECT, which
// is an if: gcc 12 lays out a coroutine wrongly when its outermost block declares no variable and a condition in it awaits.
// tests/test_native_source.py finds the place, and the simulator ends the process when such a frame waits.
//
// Shared state that another thread may look at without a latch is a Word (on a cache line of its own) or an
// element of Words (eight to a line). Data under a latch, or owned by the thread that reserved it, is ordinary memory;
// its copying is charged by copy(). Where that data lies costs time, too: a page or an index root that several
// threads use has Lines, and each use of it is a touch().
//
// A thread that waits for time to pass sleeps: the system sets a timer, which costs, and goes off late by its
// slack. A session whose client is away waits for a message instead, which the network delivers: no timer, no
// slack (wait_for_client).
//
// The end of a run: stop() makes stopping() true; from then on sleep, wait_for_client and spin_until return at
// once, and so does a park without Patience::through_stop. A loop around one of them must look at stopping().
// Threads are expected to end; SimMachine reports those that cannot.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "machine/task.hpp"

namespace engineroom::machine {

/// What spin_until waits for, as data, so that a simulated look in vain costs no event.
struct Until {
  enum class Is : std::uint8_t { equal, not_equal, at_least, below } is;
  std::uint64_t operand;

  bool holds(std::uint64_t value) const {
    switch (is) {
      case Is::equal:
        return value == operand;
      case Is::not_equal:
        return value != operand;
      case Is::at_least:
        return value >= operand;
      case Is::below:
        return value < operand;
    }
    return false;
  }
};
constexpr Until equals(std::uint64_t value) { return {Until::Is::equal, value}; }
constexpr Until differs_from(std::uint64_t value) { return {Until::Is::not_equal, value}; }
constexpr Until at_least(std::uint64_t value) { return {Until::Is::at_least, value}; }
constexpr Until below(std::uint64_t value) { return {Until::Is::below, value}; }

/// How long a spin may take: so many looks at the word, with `pauses` PAUSE instructions after each that
/// fails, or so many times a number that is drawn from 0 to `draws_up_to` after each.
struct Spin {
  static constexpr std::uint64_t kForEver = UINT64_MAX;
  std::uint64_t rounds = kForEver;
  std::uint64_t pauses = 1;
  std::uint64_t draws_up_to = 0;  // 0: nothing is drawn
};
struct SpinResult {
  bool holds;            // the predicate, at the last look
  std::uint64_t rounds;  // how many looks failed
};

/// What a thread waits on, by name: a latch, an event, a file. 0 is "unnamed".
struct Site {
  std::uint32_t id = 0;
};

/// What a thread does with a line of data.
enum class Access : std::uint8_t { read, write };

enum class ParkResult : std::uint8_t { woken, changed, timed_out, stopping };
enum class Patience : std::uint8_t { until_stop, through_stop };
constexpr std::uint64_t kForEver = UINT64_MAX;
constexpr std::uint64_t kAllWaiters = UINT64_MAX;

/// One wait that went past the fast path, as a latch reports it.
struct Wait {
  std::uint64_t ns;
  std::uint64_t spin_rounds;
  std::uint64_t parks;
};

template <typename A, typename T>
concept AwaitsTo = requires(A a) {
  { a.await_resume() } -> std::convertible_to<T>;
};
template <typename A>
concept Awaitable = requires(A a) {
  a.await_resume();
};

template <typename M>
concept Machine = requires(M m, typename M::Ref word, typename M::File& file, std::uint64_t n,
                           std::uint64_t& seen, void* to, const void* from, std::span<const std::byte> bytes,
                           std::string_view name, Site site, std::function<Task<>()> body, Until until,
                           Spin spin, typename M::Lines& lines, std::size_t at, Access access) {
  typename M::Word;   // one shared word on a line of its own: Word(initial)
  typename M::Words;  // Words(n): n shared words, eight to a line, all 0; words[i] is a Ref
  typename M::Lines;  // Lines(n): n cache lines of shared data
  requires std::convertible_to<typename M::Word&, typename M::Ref>;

  { m.load(word) } -> AwaitsTo<std::uint64_t>;
  { m.store(word, n) } -> Awaitable;
  { m.add(word, n) } -> AwaitsTo<std::uint64_t>;    // the value before; wraps, so that add(w, -1) subtracts
  { m.xchg(word, n) } -> AwaitsTo<std::uint64_t>;   // the value before
  { m.cas(word, seen, n) } -> AwaitsTo<bool>;       // as std: `seen` is what is expected, then what was there
  { m.peek(word) } -> std::same_as<std::uint64_t>;  // at no cost, for set-up and for looking after the run

  m.work(n);                         // ns of computing
  m.work_elsewhere(n);               // ns that another process computes here: a client beside the server
  m.charge(n);                       // ns that the code beside it takes: real threads take them by running it
  m.copy(to, from, std::size_t{0});  // memcpy and its time
  // Reads or writes so many lines from `at` on, one after the other: what their way here takes.
  { m.touch(lines, at, std::size_t{1}, access) } -> Awaitable;
  { m.spin_until(word, until, spin) } -> AwaitsTo<SpinResult>;
  // As futex: sleeps if the word still holds `n`, until unpark, or the timeout in ns.
  { m.park(word, n, site, kForEver, Patience::until_stop) } -> AwaitsTo<ParkResult>;
  { m.unpark(word, n) } -> AwaitsTo<std::uint64_t>;  // wakes up to n that are parked on the word; how many
  { m.sleep(n) } -> Awaitable;                       // ns
  { m.wait_for_client(n) } -> Awaitable;             // ns until its next message comes
  { m.yield() } -> Awaitable;
  { m.pwrite(file, n, bytes) } -> Awaitable;  // offset, bytes
  { m.fsync(file) } -> Awaitable;

  { m.now() } -> std::same_as<std::uint64_t>;     // ns since the start of the run
  { m.random() } -> std::same_as<std::uint64_t>;  // 64 uniform bits, from the thread's own stream
  { m.cpu_ns() } -> std::same_as<std::uint64_t>;  // CPU time that the process has used
  { m.cpus() } -> std::same_as<std::uint32_t>;
  m.spawn(std::string(), body);
  m.stop();
  { m.stopping() } -> std::same_as<bool>;

  { m.site(name) } -> std::same_as<Site>;  // the same name, the same site
  m.waited(site, Wait{});
  m.enter(site);  // what the thread does from now on, for the picture of where time went; see Scope
  m.leave();

  // True when the word's line is here, so that try_cas and its like may be done right away: the fast paths of sync/. After
  // false, await the operation itself.
  { m.reach(word, access) } -> std::same_as<bool>;
  { m.try_cas(word, n, n) } -> std::same_as<bool>;         // only after reach(word, Access::write)
  { m.try_xchg(word, n) } -> std::same_as<std::uint64_t>;  // the same
  { m.try_add(word, n) } -> std::same_as<std::uint64_t>;   // the same
  { m.try_load(word) } -> std::same_as<std::uint64_t>;     // only after reach(word, Access::read)
};

/// "What the thread does" for as long as this lives: Scope doing(m, m.site("write log")).
template <typename M>
class Scope {
 public:
  Scope(M& m, Site site) : m_(m) { m_.enter(site); }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;
  ~Scope() { m_.leave(); }

 private:
  M& m_;
};

}  // namespace engineroom::machine
