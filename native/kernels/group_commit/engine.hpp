// An engine that is nothing but its redo log, behind the stages: transactions that change something, prepare and commit.
//
// Models      the redo of trx_prepare and trx_commit, and what the two take besides (CommitConfig)
// Leaves out  locks and pages; engine/engine.hpp is a whole one
// Cost        the log's
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "group_commit/stages.hpp"
#include "machine/ready.hpp"
#include "redo_log/log_config.hpp"
#include "redo_log/mtr.hpp"
#include "sessions/sessions.hpp"

namespace engineroom::group_commit {

template <Machine M, typename Log, typename Rules = Sound, typename Watch = NoWatch>
class CommitEngine {
  /// What the stages ask for.
  struct OwnRedo {
    const CommitConfig& config;
    Log& log;

    Task<redo_log::Appended> prepare(M& m, Ticket& ticket) {
      m.work(config.prepare_ns);
      return append(m, State::prepared, ticket.xid, config.prepare_bytes);
    }
    Task<redo_log::Appended> commit(M& m, Ticket& ticket) {
      m.work(config.commit_ns);
      return append(m, State::committed, ticket.xid, config.commit_bytes);
    }
    Task<redo_log::Appended> append(M& m, State state, std::uint64_t xid, std::size_t bytes) {
      redo_log::Mtr mtr;
      const redo_log::Appended appended = co_await log.append(m, redo_of(mtr, state, xid, bytes), false);
      co_return appended;
    }
  };

 public:
  using NewFile = typename BinlogFiles<M>::NewFile;
  struct Transaction {
    std::shared_ptr<Ticket> ticket;
    redo_log::Mtr mtr;
  };

  /// At most so many sessions commit at once.
  CommitEngine(M& m, Design design, const CommitConfig& config, const redo_log::LogConfig& log,
               typename M::File& redo, NewFile new_binlog, std::size_t most_mtr_bytes, std::size_t sessions,
               Watch watch = {}, Rules rules = {})
      : config_(config),
        log_(m, redo, log),
        stages_(m, design, config, log_, OwnRedo{config_, log_}, std::move(new_binlog), sessions,
                std::move(watch), rules),
        next_xid_(1),
        mtr_commit_(m.site("mtr_commit")) {
    redo_log::check_room<Log>(log, std::max({most_mtr_bytes, config.prepare_bytes, config.commit_bytes}));
  }

  void spawn_threads(M& m) {
    log_.spawn_threads(m);
    stages_.spawn_threads(m);
  }

  Transaction begin(M&, std::uint64_t) {
    Transaction trx{.ticket = std::make_shared<Ticket>(), .mtr = {}};
    trx.ticket->xid = next_xid_.fetch_add(1, std::memory_order_relaxed);
    return trx;
  }
  machine::Ready<bool> statement(M&, Transaction&, const sessions::Statement&) { return {true}; }

  Task<bool> mini_transaction(M& m, Transaction& trx, const sessions::MiniTransactions& mtrs) {
    const machine::Scope<M> doing(m, mtr_commit_);
    const bool dirties = m.random() % 100 < mtrs.dirty_percent;
    const auto group = redo_of(trx.mtr, State::active, trx.ticket->xid, mtrs.bytes);
    const redo_log::Appended appended = co_await log_.append(m, group, dirties);
    if (appended.done) watch().reached(Step::begun, Tickets(&trx.ticket, 1));
    co_return appended.done;
  }

  Task<bool> commit(M& m, Transaction& trx) { return stages_.commit(m, trx.ticket); }

  Log& log() { return log_; }
  const BinlogFiles<M>& binlog() const { return stages_.binlog(); }
  const StageCounters& counters() const { return stages_.counters(); }
  Watch& watch() { return stages_.watch(); }

 private:
  CommitConfig config_;
  Log log_;
  Stages<M, Log, OwnRedo, Rules, Watch> stages_;
  std::atomic<std::uint64_t> next_xid_;
  machine::Site mtr_commit_;
};

}  // namespace engineroom::group_commit
