// Clients that run transactions against one of the logs: statements that compute, mini-transactions, a
// durable commit.
//
// Models      a closed loop of sessions; the redo log alone, everything else is computing
// Leaves out  locks, pages, the binlog, purge: whatever else a transaction waits for
// Cost        some ten events a mini-transaction
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "machine/concept.hpp"
#include "machine/histogram.hpp"
#include "machine/random.hpp"
#include "redo_log/crash_runs.hpp"
#include "redo_log/log_5_6.hpp"
#include "redo_log/log_5_7.hpp"
#include "redo_log/log_8_0.hpp"

namespace engineroom::redo_log {

struct LoadConfig {
  std::uint32_t clients = 1;
  std::uint32_t statements = 1;    // a transaction
  std::uint64_t away_ns = 0;       // between two statements: the client and the network, asleep
  std::uint64_t statement_ns = 0;  // computing, a statement; exponential, as is away_ns
  std::uint32_t mtrs_per_statement = 1;
  std::size_t mtr_bytes = 100;
  std::uint32_t commit_mtrs = 1;     // of the commit itself, behind the statements
  std::uint32_t flush_every = 1;     // transactions; 0: never waits for the disk
  std::uint32_t dirty_percent = 30;  // of the mini-transactions make a clean page dirty
  std::uint64_t transactions = 0;    // a client; 0: until the run is stopped
  std::size_t large_mtr_bytes =
      0;  // the first client appends groups of this size and never commits; 0: as the others
};

/// What one client did, on its own so that real threads do not share it.
struct alignas(64) ClientCounts {
  std::uint64_t transactions = 0;
  std::uint64_t mtrs = 0;
  machine::Histogram latency_ns;
};

template <Machine M, typename Log>
struct Load {
  Load(M& m, typename M::File& file, const LogConfig& log_config, const LoadConfig& load_config)
      : config(load_config),
        log(m, file, log_config),
        counts(load_config.clients),
        group(load_config.mtr_bytes),
        large_group(load_config.large_mtr_bytes),
        statement(m.site("statement")),
        mtr_commit(m.site("mtr_commit")),
        commit(m.site("log_write_up_to")) {}

  void spawn(M& m) {
    log.spawn_threads(m);
    clients_left = config.clients;
    for (std::uint32_t i = 0; i < config.clients; ++i) {
      m.spawn("client", [this, &m, i] { return client(m, counts[i]); });
    }
  }

  Task<> client(M& m, ClientCounts& mine) {
    const bool is_large = !large_group.empty() && &mine == &counts[0];
    while (!m.stopping() && (config.transactions == 0 || mine.transactions < config.transactions)) {
      const std::uint64_t start = m.now();
      Lsn end_lsn = 0;
      for (std::uint32_t s = 0; s <= config.statements; ++s) {
        const bool is_commit = s == config.statements;
        if (!is_commit) {
          if (config.away_ns > 0) co_await m.sleep(machine::exponential(m.random(), config.away_ns));
          machine::Scope<M> doing(m, statement);
          m.work(machine::exponential(m.random(), config.statement_ns));
        }
        const std::uint32_t mtrs = is_commit ? config.commit_mtrs : config.mtrs_per_statement;
        for (std::uint32_t i = 0; i < mtrs; ++i) {
          if (m.stopping()) co_return;
          machine::Scope<M> doing(m, mtr_commit);
          const bool dirties = m.random() % 100 < config.dirty_percent;
          const Appended appended = co_await log.append(m, is_large ? large_group : group, dirties);
          if (!appended.done) co_return;
          end_lsn = appended.end_lsn;
          ++mine.mtrs;
        }
      }
      if (is_large) continue;
      if (config.flush_every > 0 && (mine.transactions + 1) % config.flush_every == 0) {
        machine::Scope<M> doing(m, commit);
        const bool is_durable = co_await log.write_up_to(m, end_lsn, true);
        if (!is_durable) co_return;
      }
      ++mine.transactions;
      mine.latency_ns.add(m.now() - start);
    }
    // A log with threads of its own does not end by itself.
    const std::uint64_t before = co_await m.add(clients_ended, 1);
    if (before + 1 == clients_left) {
      ended_ns = m.now();
      m.stop();
    }
  }

  std::uint64_t transactions() const {
    std::uint64_t all = 0;
    for (const ClientCounts& one : counts) all += one.transactions;
    return all;
  }
  std::uint64_t mtrs() const {
    std::uint64_t all = 0;
    for (const ClientCounts& one : counts) all += one.mtrs;
    return all;
  }

  LoadConfig config;
  Log log;
  std::vector<ClientCounts> counts;
  std::vector<std::byte> group;
  std::vector<std::byte> large_group;
  machine::Site statement;
  machine::Site mtr_commit;
  machine::Site commit;
  typename M::Word clients_ended;
  std::uint64_t clients_left = 0;
  std::uint64_t ended_ns = 0;
};

/// Calls run(Load<M, the design's log>&) with a log of this design.
template <Machine M, typename Run>
void with_load(Design design, M& m, typename M::File& file, LogConfig log, const LoadConfig& load,
               const Run& run) {
  log.writer_threads = design == Design::log_8_0;
  if (design == Design::log_5_6) {
    log.write_ahead_bytes = 0;
    Load<M, Log56<M>> made(m, file, log, load);
    run(made);
  } else if (design == Design::log_5_7) {
    Load<M, Log57<M>> made(m, file, log, load);
    run(made);
  } else {
    Load<M, Log80<M>> made(m, file, log, load);
    run(made);
  }
}

}  // namespace engineroom::redo_log
