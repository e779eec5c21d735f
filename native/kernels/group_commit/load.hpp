// The chapter's load over one design of the commit and one of the redo log.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "group_commit/engine.hpp"
#include "redo_log/engine.hpp"

namespace engineroom::group_commit {

/// Transactions that are all alike. Times are means of exponential distributions.
struct LoadConfig {
  std::uint32_t clients = 1;
  std::uint32_t statements = 1;
  std::uint64_t away_ns = 0;
  std::uint64_t statement_ns = 0;
  std::uint32_t mtrs_per_statement = 2;
  std::size_t mtr_bytes = 150;
  std::uint32_t dirty_percent = 30;
  std::uint64_t transactions = 0;
};
constexpr auto described(options::Of<LoadConfig>) {
  using C = LoadConfig;
  return options::list<C>(
      "a load", {
                    options::option<&C::clients>({.least = 1, .most = sessions::kMostSessions},
                                                 "sessions, each in a closed loop"),
                    options::option<&C::statements>({.least = 1, .most = redo_log::kMostStatements},
                                                    "of a transaction"),
                    options::option<&C::away_ns>("between two statements: the client and the network"),
                    options::option<&C::statement_ns>("computing, for each statement"),
                    options::option<&C::mtrs_per_statement>({.least = 1, .most = redo_log::kMostMtrs},
                                                            "mini-transactions"),
                    options::option<&C::mtr_bytes>({.least = 18, .most = redo_log::kMostMtrBytes},
                                                   "redo of a mini-transaction"),
                    options::option<&C::dirty_percent>("of the mini-transactions make a clean page dirty"),
                    options::option<&C::transactions>("of each client; 0: until the run is stopped"),
                });
}

inline sessions::Config sessions_of(const LoadConfig& load) {
  const sessions::Statement statement{
      .away_ns = load.away_ns,
      .computing_ns = load.statement_ns,
      .mtrs = {
          .count = load.mtrs_per_statement, .bytes = load.mtr_bytes, .dirty_percent = load.dirty_percent}};
  return {.clients = load.clients,
          .transactions = load.transactions,
          .mix = {{.statements = std::vector(load.statements, statement), .commit = {.count = 0}}},
          .first_mix = {}};
}

/// The redo log that each design of the commit came with.
constexpr redo_log::Design usual_redo(Design design) {
  return design == Design::one_redo_flush ? redo_log::Design::log_5_7 : redo_log::Design::log_5_6;
}

/// What a run is made of.
template <Machine M, typename Log, typename Watch = NoWatch>
struct Load {
  using Engine = CommitEngine<M, Log, Sound, Watch>;

  Load(M& m, Design design, const CommitConfig& commit, const redo_log::LogConfig& log,
       typename M::File& redo, typename Engine::NewFile new_binlog, const LoadConfig& load, Watch watch = {})
      : engine(m, design, commit, log, redo, std::move(new_binlog), load.mtr_bytes, load.clients,
               std::move(watch)),
        sessions(m, engine, sessions_of(load)) {}

  Engine engine;
  sessions::Sessions<M, Engine> sessions;
};

}  // namespace engineroom::group_commit
