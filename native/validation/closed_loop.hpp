// Clients that think, compute, hold a latch and wait for the disk, again and again: the queues that textbooks
// solve.
//
// Models      machine repairman (think and work), closed network (work and fsync), a contended latch (hold)
// Leaves out  everything that a database does
// Cost        a few events per turn
#pragma once

#include <cstdint>
#include <vector>

#include "machine/concept.hpp"
#include "machine/histogram.hpp"
#include "machine/random.hpp"
#include "sync/latch.hpp"

namespace engineroom::validation {

using machine::Machine;
using machine::Task;

struct ClosedLoopConfig {
  std::uint32_t clients = 1;
  std::uint64_t think_ns = 0;  // asleep
  std::uint64_t work_ns = 0;   // on a CPU
  std::uint64_t hold_ns = 0;   // on a CPU, under the latch
  bool uses_latch = false;
  std::uint32_t fsyncs = 0;
  std::uint32_t append_bytes = 0;  // written before each fsync
  bool is_exponential = true;      // else the times are constant
  std::uint64_t warmup_ns = 0;     // turns that end before are not counted
  sync::SpinParams spin{};
};

template <Machine M>
struct ClosedLoop {
  ClosedLoop(M& m, const ClosedLoopConfig& a_config)
      : config(a_config),
        latch(m, "latch", a_config.spin),
        file(m, "file"),
        bytes(a_config.append_bytes),
        busy_since(a_config.clients, UINT64_MAX) {}

  std::uint64_t draw(M& m, std::uint64_t mean_ns) const {
    return config.is_exponential ? machine::exponential(m.random(), mean_ns) : mean_ns;
  }
  /// How many clients do not think at the moment.
  std::uint64_t in_system(std::uint64_t now_ns) const {
    std::uint64_t n = 0;
    for (const std::uint64_t since : busy_since) n += since <= now_ns ? 1 : 0;
    return n;
  }

  ClosedLoopConfig config;
  sync::Latch<M> latch;
  typename M::File file;
  std::vector<std::byte> bytes;
  typename M::Word nothing;
  std::vector<std::uint64_t> busy_since;
  // One entry per client, so that real threads do not share them.
  std::vector<machine::Histogram> response_ns;
};

template <Machine M>
Task<> closed_loop_client(M& m, ClosedLoop<M>& loop, std::uint32_t number) {
  const ClosedLoopConfig& config = loop.config;
  while (!m.stopping()) {
    std::uint64_t start = m.now();
    if (config.think_ns > 0) {
      const std::uint64_t think_ns = loop.draw(m, config.think_ns);
      start += think_ns;
      loop.busy_since[number] = start;
      co_await m.sleep(think_ns);
      if (m.stopping()) break;
    } else {
      loop.busy_since[number] = start;
    }
    if (config.work_ns > 0) m.work(loop.draw(m, config.work_ns));
    if (config.uses_latch) {
      co_await loop.latch.lock(m);
      if (config.hold_ns > 0) m.work(loop.draw(m, config.hold_ns));
      co_await loop.latch.unlock(m);
    }
    for (std::uint32_t i = 0; i < config.fsyncs; ++i) {
      if (!loop.bytes.empty()) co_await m.pwrite(loop.file, 0, loop.bytes);
      co_await m.fsync(loop.file);
    }
    // What it computed is over with its next operation on a shared word.
    co_await m.load(loop.nothing);
    const std::uint64_t end = m.now();
    if (end >= config.warmup_ns) loop.response_ns[number].add(end - start);
  }
}

template <Machine M>
void spawn_clients(M& m, ClosedLoop<M>& loop) {
  loop.response_ns.resize(loop.config.clients);
  for (std::uint32_t i = 0; i < loop.config.clients; ++i) {
    m.spawn("client", [&m, &loop, i] { return closed_loop_client(m, loop, i); });
  }
}

}  // namespace engineroom::validation
