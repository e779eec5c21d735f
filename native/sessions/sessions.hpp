// Sessions that run transactions against an engine, each one after the other.
//
// Models      a closed loop of clients: away between two statements, then computing, what the engine does for it, and
//             its mini-transactions; at the end the commit
// Leaves out  parsing, optimising, sending rows: all of it is computing
// Cost        an event where a client goes away; the rest is the engine's
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "machine/concept.hpp"
#include "machine/histogram.hpp"
#include "machine/random.hpp"
#include "sessions/engine.hpp"

namespace engineroom::sessions {

using machine::Task;

/// What one session did, on its own so that real threads do not share it.
struct alignas(64) Counts {
  std::uint64_t transactions = 0;
  std::uint64_t mtrs = 0;
  machine::Histogram latency_ns;

  void add(const Counts& other) {
    transactions += other.transactions;
    mtrs += other.mtrs;
    latency_ns.add(other.latency_ns);
  }
};

template <Machine M, Engine<M> E>
class Sessions {
 public:
  Sessions(M& m, E& engine, Config config)
      : config_(std::move(config)),
        engine_(engine),
        counts_(config_.clients),
        statement_(m.site("statement")) {}

  void spawn(M& m) {
    engine_.spawn_threads(m);
    for (std::uint32_t i = 0; i < config_.clients; ++i) {
      const bool is_first = i == 0 && !config_.first_mix.empty();
      m.spawn("client", [this, &m, i, is_first] {
        return session(m, is_first ? config_.first_mix : config_.mix, counts_[i]);
      });
    }
  }

  /// What all sessions did. While the run goes on: of real threads, about that.
  Counts counts() const {
    Counts all;
    for (const Counts& one : counts_) all.add(one);
    return all;
  }
  std::uint64_t clients() const { return counts_.size(); }
  std::uint64_t transactions() const {
    std::uint64_t all = 0;
    for (const Counts& one : counts_) all += one.transactions;
    return all;
  }
  bool ends_by_itself() const { return config_.transactions > 0; }
  /// When the last session had its last transaction; 0 until then.
  std::uint64_t ended_ns() const { return ended_ns_; }

 private:
  Task<> session(M& m, const std::vector<Program>& mix, Counts& mine) {
    while (!m.stopping() && (config_.transactions == 0 || mine.transactions < config_.transactions)) {
      const Program& program = drawn(m, mix);
      const std::uint64_t start = m.now();
      auto trx = engine_.begin(m, mine.transactions);
      for (std::size_t s = 0; s <= program.statements.size(); ++s) {
        const bool is_commit = s == program.statements.size();
        if (!is_commit) {
          const Statement& statement = program.statements[s];
          if (statement.away_ns > 0) {
            co_await m.wait_for_client(machine::exponential(m.random(), statement.away_ns));
          }
          machine::Scope<M> doing(m, statement_);
          m.work(machine::exponential(m.random(), statement.computing_ns));
          const bool is_done = co_await engine_.statement(m, trx, statement);
          if (!is_done) co_return;
        }
        const MiniTransactions& mtrs = is_commit ? program.commit : program.statements[s].mtrs;
        for (std::uint32_t i = 0; i < mtrs.count; ++i) {
          if (m.stopping()) co_return;
          const bool is_done = co_await engine_.mini_transaction(m, trx, mtrs);
          if (!is_done) co_return;
          ++mine.mtrs;
        }
      }
      if (program.never_commits) continue;
      const bool is_committed = co_await engine_.commit(m, trx);
      if (!is_committed) co_return;
      ++mine.transactions;
      mine.latency_ns.add(m.now() - start);
    }
    // An engine with threads of its own does not end by itself.
    const std::uint64_t ended_before = co_await m.add(ended_, 1);
    if (ended_before + 1 == config_.clients) {
      ended_ns_ = m.now();
      m.stop();
    }
  }

  /// From a mix of one nothing is drawn.
  static const Program& drawn(M& m, const std::vector<Program>& mix) {
    if (mix.size() == 1) return mix[0];
    std::uint64_t all = 0;
    for (const Program& program : mix) all += program.weight;
    std::uint64_t left = machine::high_product(m.random(), all);
    for (const Program& program : mix) {
      if (left < program.weight) return program;
      left -= program.weight;
    }
    return mix.back();
  }

  Config config_;
  E& engine_;
  std::vector<Counts> counts_;
  machine::Site statement_;
  typename M::Word ended_;
  std::uint64_t ended_ns_ = 0;
};

}  // namespace engineroom::sessions
