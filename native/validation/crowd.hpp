// Threads that change one word, or take one lock, again and again: the loop of studies of synchronization.
//
// Models      one atomic operation on one line; two threads that take turns on it; a lock of locks.hpp with computing and
//             lines of data under it, and computing between; readers of a latch in parts, each of which draws one
// Leaves out  how a study's program counts and stops
// Cost        a few events per turn and waiting thread
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/described.hpp"
#include "common/names.hpp"
#include "machine/concept.hpp"
#include "machine/random.hpp"
#include "sync/sharded_rw_latch.hpp"
#include "validation/locks.hpp"

namespace engineroom::validation {

enum class Operation : std::uint8_t {
  add,
  swap,
  compare_and_swap,
  turns,
  blind_turns,
  test_and_set,
  test_and_test_and_set,
  ticket,
  mcs,
  futex,
  s_latch
};

constexpr auto named(names::Of<Operation>) { return names::as_written<Operation::s_latch>("operation"); }

struct CrowdConfig {
  Operation operation = Operation::add;
  std::uint32_t threads = 1;
  std::uint64_t hold_ns = 0;
  std::uint64_t outside_ns = 0;
  bool is_exponential = false;
  std::uint32_t words = 1;
  std::uint32_t data_lines = 0;
  bool on_one_line = false;
  Waiting waiting{};
  std::optional<std::vector<std::uint32_t>> cpus{};
};

constexpr auto described(options::Of<CrowdConfig>) {
  using options::option;
  using C = CrowdConfig;
  return options::list<C>(
      "a crowd",
      {
          option<&C::operation>("what a turn is: an atomic operation, or a lock taken and given back"),
          option<&C::threads>({.least = 1, .most = 4096}, "threads that take turns without end"),
          option<&C::hold_ns>("computing under the lock"),
          option<&C::outside_ns>("computing between two turns"),
          option<&C::is_exponential>("exponential",
                                     "whether these times are drawn, and that between two attempts"),
          option<&C::words>({.least = 1, .most = 4096},
                            "so many words, for atomic operations: thread i changes word i modulo this; "
                            "parts, for s_latch"),
          option<&C::data_lines>({.most = 4096}, "lines that are written under the lock"),
          option<&C::on_one_line>("whether both words of a ticket lock lie on one line"),
          option<&C::waiting, &Waiting::pauses>("PAUSE instructions between two looks"),
          option<&C::waiting, &Waiting::yields>("whether a look in vain gives the processor away instead"),
          option<&C::waiting, &Waiting::attempt_ns>("computing between two attempts that write"),
          option<&C::waiting, &Waiting::backoff_most_ns>(
              "up to here that time doubles, and a random part of it is taken; 0: it is constant"),
          option<&C::cpus>("where each thread runs; none: from the first CPU on"),
      });
}

inline void check_together(const CrowdConfig& config) {
  const bool is_turns = config.operation == Operation::turns || config.operation == Operation::blind_turns;
  if (is_turns && config.threads != 2) {
    refuse("threads must be 2 to take turns, got " + std::to_string(config.threads));
  }
  if (config.waiting.backoff_most_ns > 0 && config.waiting.backoff_most_ns < config.waiting.attempt_ns) {
    refuse("backoff_most_ns must be at least attempt_ns, got " +
           std::to_string(config.waiting.backoff_most_ns));
  }
  if (config.waiting.backoff_most_ns > 0 && config.waiting.attempt_ns == 0) {
    refuse("attempt_ns must be positive to double up to backoff_most_ns, got 0");
  }
  if (!config.cpus) return;
  const std::vector<std::uint32_t>& cpus = *config.cpus;
  if (cpus.size() != config.threads) {
    refuse("cpus must name one CPU for each of " + std::to_string(config.threads) + " threads, got " +
           std::to_string(cpus.size()));
  }
  for (std::size_t i = 1; i < cpus.size(); ++i) {
    if (cpus[i] <= cpus[i - 1]) refuse("cpus must rise, got " + std::to_string(cpus[i]));
  }
}

template <Machine M>
struct Crowd {
  explicit Crowd(const CrowdConfig& a_config)
      : config(a_config),
        words(a_config.words * M::Words::kPerLine),
        data(a_config.data_lines * M::Words::kPerLine),
        turns(a_config.threads) {
    config.waiting.is_exponential = config.is_exponential;
  }

  std::uint64_t draw(M& m, std::uint64_t ns) const {
    return config.is_exponential ? machine::exponential(m.random(), ns) : ns;
  }
  std::uint64_t all_turns() const {
    std::uint64_t all = 0;
    for (const Turns& each : turns) all += each.n;
    return all;
  }

  CrowdConfig config;
  typename M::Words words;  // a line each
  typename M::Words data;
  // One entry per thread, so that real threads do not share them.
  struct alignas(64) Turns {
    std::uint64_t n = 0;
  };
  std::vector<Turns> turns;
  // Under the lock, in ordinary memory: a lock that lets two in is seen here.
  std::uint64_t inside = 0;
  std::uint64_t intrusions = 0;
};

/// The atomic operations, each thread on one line.
template <Machine M>
Task<> change_one_word(M& m, Crowd<M>& crowd, std::uint32_t thread) {
  const CrowdConfig& config = crowd.config;
  const typename M::Ref word = crowd.words[thread % config.words * M::Words::kPerLine];
  m.work(m.random() % 1000);  // threads do not begin at the same moment
  while (!m.stopping()) {
    if (config.outside_ns > 0) m.work(crowd.draw(m, config.outside_ns));
    if (config.operation == Operation::add) {
      co_await m.add(word, 1);
    } else if (config.operation == Operation::swap) {
      co_await m.xchg(word, thread);
    } else {
      Backoff backoff(config.waiting);
      std::uint64_t seen = co_await m.load(word);
      for (;;) {
        const bool is_done = co_await m.cas(word, seen, seen + 1);
        if (is_done || m.stopping()) break;
        backoff.wait(m);
      }
    }
    ++crowd.turns[thread].n;
  }
}

/// Two threads add to a word in turn: each looks until it is its own turn, or tries blindly.
template <Machine M>
Task<> take_turns(M& m, Crowd<M>& crowd, std::uint32_t thread) {
  const bool is_blind = crowd.config.operation == Operation::blind_turns;
  const typename M::Ref word = crowd.words[0];
  for (std::uint64_t turn = thread; !m.stopping(); turn += 2) {
    for (;;) {
      std::uint64_t seen = turn;
      if (is_blind) {
        const bool is_mine = co_await m.cas(word, seen, turn + 1);
        if (is_mine) break;
      } else {
        seen = co_await m.load(word);
        if (seen == turn) {
          co_await m.add(word, 1);
          break;
        }
      }
      if (m.stopping()) co_return;
    }
    ++crowd.turns[thread].n;
  }
}

/// Readers do not exclude each other: what they wait for is the line of the part that they have drawn.
template <Machine M>
Task<> read_under(M& m, Crowd<M>& crowd, sync::ShardedRwLatch<M>& latch, std::uint32_t thread) {
  const CrowdConfig& config = crowd.config;
  m.work(m.random() % 1000);
  while (!m.stopping()) {
    if (config.outside_ns > 0) m.work(crowd.draw(m, config.outside_ns));
    const std::size_t part = latch.draw_part(m);
    co_await latch.s_lock(m, part);
    if (config.hold_ns > 0) m.work(crowd.draw(m, config.hold_ns));
    co_await latch.s_unlock(m, part);
    ++crowd.turns[thread].n;
  }
}

template <Machine M, typename Lock>
Task<> work_under(M& m, Crowd<M>& crowd, Lock& lock, std::uint32_t thread) {
  const CrowdConfig& config = crowd.config;
  m.work(m.random() % 1000);
  while (!m.stopping()) {
    if (config.outside_ns > 0) m.work(crowd.draw(m, config.outside_ns));
    const bool is_mine = co_await lock.acquire(m, thread);
    if (!is_mine) break;
    if (crowd.inside++ != 0) ++crowd.intrusions;
    for (std::uint32_t i = 0; i < config.data_lines; ++i)
      co_await m.add(crowd.data[i * M::Words::kPerLine], 1);
    if (config.hold_ns > 0) m.work(crowd.draw(m, config.hold_ns));
    --crowd.inside;
    co_await lock.release(m, thread);
    ++crowd.turns[thread].n;
  }
}

/// Spawns the threads, each on its CPU where the machine places new threads on one after the other, and calls run().
template <Machine M>
void run_crowd(M& m, Crowd<M>& crowd, const std::function<void()>& run) {
  const CrowdConfig& config = crowd.config;
  const auto spawn_all = [&](const auto& body) {
    std::uint32_t cpu = 0;
    for (std::uint32_t i = 0; i < config.threads; ++i) {
      for (; config.cpus && cpu < (*config.cpus)[i]; ++cpu) {
        m.spawn("nobody", [&m]() -> Task<> {
          m.work(0);
          co_return;
        });
      }
      m.spawn("thread", [&body, i] { return body(i); });
      ++cpu;
    }
    run();
  };
  const auto with_lock = [&](auto& lock) {
    spawn_all([&](std::uint32_t i) { return work_under(m, crowd, lock, i); });
  };
  switch (config.operation) {
    case Operation::add:
    case Operation::swap:
    case Operation::compare_and_swap:
      return spawn_all([&](std::uint32_t i) { return change_one_word(m, crowd, i); });
    case Operation::turns:
    case Operation::blind_turns:
      return spawn_all([&](std::uint32_t i) { return take_turns(m, crowd, i); });
    case Operation::test_and_set: {
      TestAndSetLock<M> lock(m, config.threads, config.waiting);
      return with_lock(lock);
    }
    case Operation::test_and_test_and_set: {
      TestAndTestAndSetLock<M> lock(m, config.threads, config.waiting);
      return with_lock(lock);
    }
    case Operation::ticket: {
      TicketLock<M> lock(m, config.threads, config.waiting, config.on_one_line);
      return with_lock(lock);
    }
    case Operation::mcs: {
      McsLock<M> lock(m, config.threads, config.waiting);
      return with_lock(lock);
    }
    case Operation::futex: {
      FutexLock<M> lock(m, config.threads, config.waiting);
      return with_lock(lock);
    }
    case Operation::s_latch: {
      sync::ShardedRwLatch<M> latch(m, "s_latch", {}, config.words);
      return spawn_all([&](std::uint32_t i) { return read_under(m, crowd, latch, i); });
    }
  }
}

}  // namespace engineroom::validation
