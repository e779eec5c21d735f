// A simulated thread: where its coroutine stands, what it has asked for, and what it has passed of it.
#pragma once

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "machine/concept.hpp"
#include "machine/random.hpp"
#include "machine/sim/lines.hpp"
#include "machine/sim_config.hpp"
#include "machine/task.hpp"

namespace engineroom::machine {

class SimFile;

namespace sim {

enum class Action : std::uint8_t {
  none,
  start,
  spin,
  park,
  unpark,
  sleep,
  yield,
  pwrite,
  fsync,
  end,
  wait_for_client,
  access,
};
enum class Phase : std::uint8_t { runnable, running, spinning, parked, sleeping, io, ended };

/// Rounds of a spin that are drawn ahead of a thread's looks, to know when the last one is; each is drawn once. They hold as long
/// as the thread's own numbers go on where these begin.
struct DrawnAhead {
  Random from;
  Random to;
  std::uint64_t pauses = 0;
  std::uint64_t draws_up_to = 0;
  std::uint64_t rounds = 0;
  Time ps = 0;  // of all of them together

  bool hold(const Random& random, const Spin& spin) const {
    return from == random && pauses == spin.pauses && draws_up_to == spin.draws_up_to;
  }
};

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
  Time had = 0;                   // virtual run time, where the scheduler counts it
  std::int32_t next = kNone;      // in a run queue, or among the parked
  std::int32_t previous = kNone;  // among the parked
  std::int32_t next_watcher = kNone;
  std::int32_t previous_watcher = kNone;
  std::uint32_t activity = 0;
  Action action = Action::none;
  Access access = Access::read;  // that it asks for ref's line
  Phase phase = Phase::runnable;
  Patience patience = Patience::until_stop;
  ParkResult park_result = ParkResult::woken;
  Site site;
  Ref ref{};
  Until until{};
  Spin spin{};  // its rounds: those that are left
  DrawnAhead ahead;
  Time next_look = 0;        // at the word it spins on
  bool is_fetching = false;  // a look has asked for the line, which is on its way
  bool is_watching = false;  // it has a copy of the line, and each look finds it unchanged
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

}  // namespace sim
}  // namespace engineroom::machine
