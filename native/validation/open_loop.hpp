// Jobs that arrive at random: each computes and leaves, or makes itself durable together with others.
//
// Models      M/M/c (work), and group commit by a leader whose fsync takes all that have arrived before it
// Leaves out  a bound on how many wait
// Cost        a thread a job, which is made before the run
#pragma once

#include <cstdint>

#include "machine/concept.hpp"
#include "machine/random.hpp"

namespace engineroom::validation {

using machine::Machine;
using machine::Task;

struct OpenLoopConfig {
  std::uint32_t jobs = 1000;
  std::uint32_t first_counted = 0;   // jobs before are warm-up
  std::uint64_t interval_ns = 1000;  // mean time between arrivals, exponential
  std::uint64_t work_ns = 0;         // mean, exponential
  bool is_durable = false;           // ends with an fsync, shared with those that wait at the same time
};

template <Machine M>
struct OpenLoop {
  OpenLoop(M& m, const OpenLoopConfig& a_config) : config(a_config), file(m, "file"), site(m.site("flush")) {}

  OpenLoopConfig config;
  typename M::File file;
  machine::Site site;
  typename M::Word arrived;
  typename M::Word durable;
  typename M::Word flushing;
  std::uint64_t counted = 0;
  std::uint64_t sojourn_ns = 0;
};

template <Machine M>
Task<> make_durable(M& m, OpenLoop<M>& loop) {
  const std::uint64_t mine = 1 + co_await m.add(loop.arrived, 1);
  for (;;) {
    const std::uint64_t durable = co_await m.load(loop.durable);
    if (durable >= mine) co_return;
    std::uint64_t seen = 0;
    const bool leads = co_await m.cas(loop.flushing, seen, 1);
    if (!leads) {
      co_await m.park(loop.flushing, 1, loop.site);
      continue;
    }
    const std::uint64_t covered = co_await m.load(loop.arrived);
    const std::uint64_t done = co_await m.load(loop.durable);
    if (done < covered) {
      co_await m.fsync(loop.file);
      co_await m.store(loop.durable, covered);
    }
    co_await m.store(loop.flushing, 0);
    co_await m.unpark(loop.flushing, machine::kAllWaiters);
  }
}

template <Machine M>
Task<> open_loop_job(M& m, OpenLoop<M>& loop, std::uint32_t number, std::uint64_t arrival_ns) {
  co_await m.sleep(arrival_ns - m.now());
  if (loop.config.work_ns > 0) m.work(machine::exponential(m.random(), loop.config.work_ns));
  if (loop.config.is_durable) {
    co_await make_durable(m, loop);
  } else {
    co_await m.load(loop.durable);  // what it computed is over with its next operation on a shared word
  }
  if (number >= loop.config.first_counted) {
    ++loop.counted;
    loop.sojourn_ns += m.now() - arrival_ns;
  }
}

template <Machine M>
void spawn_jobs(M& m, OpenLoop<M>& loop) {
  std::uint64_t arrival_ns = 0;
  for (std::uint32_t i = 0; i < loop.config.jobs; ++i) {
    arrival_ns += machine::exponential(m.random(), loop.config.interval_ns);
    m.spawn("job", [&m, &loop, i, arrival_ns] { return open_loop_job(m, loop, i, arrival_ns); });
  }
}

}  // namespace engineroom::validation
