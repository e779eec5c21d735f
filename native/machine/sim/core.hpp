// What every part of the simulated machine stands on: its parameters, the clock, the threads, the events ahead.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "machine/event_queue.hpp"
#include "machine/random.hpp"
#include "machine/sim/observations.hpp"
#include "machine/sim/thread.hpp"
#include "machine/sim/topology.hpp"
#include "machine/sim_config.hpp"

namespace engineroom::machine::sim {

struct Core {
  explicit Core(const SimConfig& parameters)
      : config(parameters), topology(config), random(config.seed), seen(config.trace_intervals) {}
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  const SimConfig config;
  const Topology topology;
  Time now = 0;
  Thread* current = nullptr;  // whose code runs
  EventQueue events;
  std::vector<std::unique_ptr<Thread>> threads;
  Random random;  // of the machine; each thread has its own
  bool stopping = false;
  Observations seen;

  Thread& thread(std::int32_t id) { return *threads[static_cast<std::size_t>(id)]; }

  /// The thread's next event, or none at kNever.
  void arm(const Thread& t, Time at) {
    if (at == kNever) return events.remove(t.id);
    events.set(t.id, at);
  }

  /// Now, for the thread whose code runs: with what it has computed since.
  Time now_here() const { return current != nullptr ? now + current->pending + current->left : now; }

  template <typename What>
  void note(What what, std::uint64_t value) {
    seen.note(now, *current, what, value);
  }

  // The thread whose code runs computes, or waits for a line, for so much longer.
  void charge_work(Time ps) {
    current->pending += ps;
    seen.charge(*current, State::work, ps);
  }
  void charge_memory(Time ps) {
    current->pending += ps;
    current->pending_memory += ps;
    seen.charge(*current, State::memory, ps);
  }
};

}  // namespace engineroom::machine::sim
