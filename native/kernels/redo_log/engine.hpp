// An engine that consists of a redo log, and the sessions over it.
//
// Models      a transaction's way through the log: its mini-transactions, and at its end a durable commit
// Leaves out  locks, pages, the binlog, purge: whatever else a transaction waits for
// Cost        some ten events per mini-transaction
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "common/described.hpp"
#include "machine/concept.hpp"
#include "machine/ready.hpp"
#include "redo_log/any_log.hpp"
#include "sessions/sessions.hpp"

namespace engineroom::redo_log {

template <Machine M, typename Log>
class RedoEngine {
 public:
  struct Transaction {
    std::uint64_t number;
    Lsn end_lsn = 0;
  };

  /// Each `flush_every`-th commit of a session waits for the disk; none when it is 0. Refuses mini-transactions for which
  /// the log would never have room.
  RedoEngine(M& m, typename M::File& file, const LogConfig& config, std::size_t most_mtr_bytes,
             std::uint32_t flush_every)
      : log_(m, file, config),
        flush_every_(flush_every),
        group_(most_mtr_bytes),
        mtr_commit_(m.site("mtr_commit")),
        write_up_to_(m.site("log_write_up_to")) {
    check_room<Log>(config, most_mtr_bytes);
  }

  Log& log() { return log_; }
  const Log& log() const { return log_; }
  void spawn_threads(M& m) { log_.spawn_threads(m); }
  Transaction begin(M&, std::uint64_t number) { return {number}; }
  machine::Ready<bool> statement(M&, Transaction&, const sessions::Statement&) { return {true}; }

  auto mini_transaction(M& m, Transaction& trx, const sessions::MiniTransactions& mtrs) {
    const bool dirties = m.random() % 100 < mtrs.dirty_percent;
    return Append{.doing{m, mtr_commit_},
                  .trx = trx,
                  .call = log_.append(m, std::span(group_).first(mtrs.bytes), dirties)};
  }

  auto commit(M& m, Transaction& trx) {
    if (flush_every_ == 0 || (trx.number + 1) % flush_every_ != 0) return Flush();
    return Flush(m, write_up_to_, log_, trx.end_lsn);
  }

 private:
  struct Append {
    machine::Scope<M> doing;
    Transaction& trx;
    Task<Appended> call;

    bool await_ready() { return call.await_ready(); }
    void await_suspend(std::coroutine_handle<> self) { call.await_suspend(self); }
    bool await_resume() {
      const Appended appended = call.await_resume();
      trx.end_lsn = appended.end_lsn;
      return appended.done;
    }
  };
  class Flush {
   public:
    Flush() = default;
    Flush(M& m, machine::Site site, Log& log, Lsn lsn) {
      doing_.emplace(m, site);
      call_ = log.write_up_to(m, lsn, true);
    }
    bool await_ready() { return !call_ || call_.await_ready(); }
    void await_suspend(std::coroutine_handle<> self) { call_.await_suspend(self); }
    bool await_resume() { return !call_ || call_.await_resume(); }

   private:
    std::optional<machine::Scope<M>> doing_;
    Task<bool> call_;
  };

  Log log_;
  std::uint32_t flush_every_;
  std::vector<std::byte> group_;
  machine::Site mtr_commit_;
  machine::Site write_up_to_;
};

/// A transaction is laid out before it runs, and a group's bytes are made: nobody is to wait for either or lack the memory.
constexpr std::int64_t kMostStatements = 1'000'000;
constexpr std::int64_t kMostMtrs = 1'000;
constexpr std::int64_t kMostMtrBytes = 64 << 20;

/// The chapter's load: transactions that are all alike. Times are means of exponential distributions.
struct LoadConfig {
  std::uint32_t clients = 1;
  std::uint32_t statements = 1;
  std::uint64_t away_ns = 0;
  std::uint64_t statement_ns = 0;
  std::uint32_t mtrs_per_statement = 1;
  std::size_t mtr_bytes = 100;
  std::uint32_t commit_mtrs = 1;
  std::uint32_t flush_every = 1;
  std::uint32_t dirty_percent = 30;
  std::uint64_t transactions = 0;
  std::size_t large_mtr_bytes = 0;
};
constexpr auto described(options::Of<LoadConfig>) {
  using C = LoadConfig;
  return options::list<C>(
      "a load",
      {
          options::option<&C::clients>({.least = 1, .most = sessions::kMostSessions},
                                       "sessions, each in a closed loop"),
          options::option<&C::statements>({.most = kMostStatements}, "of a transaction"),
          options::option<&C::away_ns>("between two statements: the client and the network"),
          options::option<&C::statement_ns>("computing, for each statement"),
          options::option<&C::mtrs_per_statement>({.most = kMostMtrs}, "mini-transactions"),
          options::option<&C::mtr_bytes>({.least = 1, .most = kMostMtrBytes}, "redo of a mini-transaction"),
          options::option<&C::commit_mtrs>({.most = kMostMtrs},
                                           "of the commit itself, behind the statements"),
          options::option<&C::flush_every>(
              "so many transactions of a client to one that waits for the disk; 0: none does"),
          options::option<&C::dirty_percent>("of the mini-transactions make a clean page dirty"),
          options::option<&C::transactions>("of each client; 0: until the run is stopped"),
          options::option<&C::large_mtr_bytes>(
              {.most = kMostMtrBytes},
              "the first client appends groups of this size and never commits; 0: it does as the others"),
      });
}
inline void check_together(const LoadConfig& load) {
  if (load.statements * load.mtrs_per_statement + load.commit_mtrs > 0) return;
  refuse("a transaction must have a mini-transaction: statements, mtrs_per_statement or commit_mtrs is 0");
}

inline sessions::Program program_of(const LoadConfig& load, std::size_t mtr_bytes) {
  const auto mtrs = [&](std::uint32_t count) {
    return sessions::MiniTransactions{count, mtr_bytes, load.dirty_percent};
  };
  const sessions::Statement statement{
      .away_ns = load.away_ns, .computing_ns = load.statement_ns, .mtrs = mtrs(load.mtrs_per_statement)};
  return {.statements = std::vector(load.statements, statement), .commit = mtrs(load.commit_mtrs)};
}

inline sessions::Config sessions_of(const LoadConfig& load) {
  sessions::Config config{.clients = load.clients,
                          .transactions = load.transactions,
                          .mix = {program_of(load, load.mtr_bytes)},
                          .first_mix = {}};
  if (load.large_mtr_bytes > 0) {
    config.first_mix = {program_of(load, load.large_mtr_bytes)};
    config.first_mix[0].never_commits = true;
  }
  return config;
}

/// What a run over a log is made of.
template <Machine M, typename Log>
struct Load {
  Load(M& m, typename M::File& file, const LogConfig& log, const LoadConfig& load)
      : engine(m, file, log, std::max(load.mtr_bytes, load.large_mtr_bytes), load.flush_every),
        sessions(m, engine, sessions_of(load)) {}

  RedoEngine<M, Log> engine;
  sessions::Sessions<M, RedoEngine<M, Log>> sessions;
};

/// Calls run(Load<M, the design's log>&) with a log of this design.
template <Machine M, typename Run>
void with_load(Design design, M& m, typename M::File& file, const LogConfig& log, const LoadConfig& load,
               const Run& run) {
  with_type<M>(design, [&]<typename Log>() {
    Load<M, Log> made(m, file, completed(design, log), load);
    run(made);
  });
}

}  // namespace engineroom::redo_log
