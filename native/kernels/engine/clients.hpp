// Clients that run the transactions of a load against an engine, each one after the other.
//
// Models      a closed loop. What a deadlock or a timeout rolls back begins anew at once, with rows drawn anew, as sysbench
//             does with the errors that it ignores (1213, 1205); the time of all attempts is the transaction's
// Leaves out  the ROLLBACK that other drivers send; statements sent together
// Cost        an event or two per statement, for the client; the rest is the engine's
//
// A loop of its own instead of sessions::Sessions, which runs a program from a drawn mix to its end. Here an attempt can end at any
// step, and after a deadlock the transaction begins anew with a script drawn anew; scripts depend on the run, since each is drawn
// from the client's random numbers after the attempt before it. lock_load.hpp and read_views/load.hpp have loops of their own for smaller
// reasons: one takes latches without statements, the other counts reads and writes apart and runs purge beside its clients.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "common/require.hpp"
#include "engine/engine.hpp"
#include "engine/load.hpp"
#include "sessions/sessions.hpp"

namespace engineroom::engine {

/// What clients draw their transactions from; mix.hpp has another.
struct OfLoad {
  LoadConfig load;
  void draw(machine::Random& random, Script& script) const { engine::draw(load, random, script); }
  /// What a buffer pool asks for besides.
  static constexpr bool kKnowsPages = true;
  void draw_reads(machine::Random& random, Script& script) const { engine::draw_reads(load, random, script); }
  std::vector<std::uint64_t> pages() const { return pages_of(Table::sbtest, load.rows); }
  std::size_t most_mtr_bytes() const { return 1; }  // all demands stand in the table
};

template <Machine M, typename Drawn = OfLoad, bool is_whole = true>
class Clients {
 public:
  using Engine = engine::Engine<M, group_commit::Sound, group_commit::NoWatch, is_whole>;
  using NewFile = typename Engine::NewFile;

  Clients(M& m, typename M::File& file, const Parts& parts, const LoadConfig& load, const Demands& demands,
          std::uint64_t seed = 1, NewFile new_binlog = {}) requires std::same_as<Drawn, OfLoad>
      : Clients(m, file, parts, load, demand_table(load.kind, demands), OfLoad{load},
                load.kind == LoadKind::tpcc ? load.warehouses * kDistricts : 0, seed, std::move(new_binlog)) {
  }
  /// Transactions of a mix: of the load only clients, transactions, away_ns and client_ns count.
  Clients(M& m, typename M::File& file, const Parts& parts, const LoadConfig& load, Drawn drawn,
          std::uint64_t seed = 1, NewFile new_binlog = {})
      : Clients(m, file, parts, load, DemandTable{}, std::move(drawn), 0, seed, std::move(new_binlog)) {}

  void spawn(M& m) {
    engine_.spawn_threads(m);
    for (std::uint32_t i = 0; i < load_.clients; ++i) {
      m.spawn("client", [this, &m, i] { return client(m, i); });
    }
  }

  // As of sessions::Sessions.
  sessions::Counts counts() const {
    sessions::Counts all;
    for (const sessions::Counts& one : done_) all.add(one);
    all.mtrs = engine_counts().mtrs;
    return all;
  }
  std::uint64_t clients() const { return done_.size(); }
  std::uint64_t transactions() const {
    std::uint64_t all = 0;
    for (const sessions::Counts& one : done_) all += one.transactions;
    return all;
  }
  bool ends_by_itself() const { return load_.transactions > 0; }
  std::uint64_t ended_ns() const { return ended_ns_; }

  Counts engine_counts() const {
    Counts all;
    for (const auto& session : sessions_) all.add(session->counts);
    return all;
  }
  lock_sys::Latched latched() const {
    lock_sys::Latched all;
    for (const auto& session : sessions_) {
      all.global += session->locks.latched.global;
      all.pages += session->locks.latched.pages;
      all.tables += session->locks.latched.tables;
    }
    return all;
  }
  const Engine& engine() const { return engine_; }

 private:
  Clients(M& m, typename M::File& file, const Parts& parts, const LoadConfig& load,
          const DemandTable& demands, Drawn drawn, std::uint64_t districts, std::uint64_t seed,
          NewFile new_binlog)
      : load_(load),
        demands_(demands),
        drawn_(std::move(drawn)),
        engine_(m, file, gated_for(load.clients, parts), districts, most_mtr_bytes(), seed,
                std::move(new_binlog)),
        done_(load.clients),
        statement_(m.site("statement")) {
    for (std::uint32_t i = 0; i < load.clients; ++i) sessions_.push_back(std::make_unique<Session<M>>(m, i));
    if (is_whole && parts.engine.has_buffer_pool) warm(parts.pool.warm_transactions, seed);
  }

  /// Without a gate that would have room for all of so many clients: nobody asks at it.
  static Parts gated_for(std::uint64_t clients, Parts parts) {
    if (parts.engine.most_inside >= clients) parts.engine.most_inside = 0;
    return parts;
  }

  /// All pages once, in their order, and then those of transactions.
  void warm(std::uint64_t transactions, std::uint64_t seed) {
    if constexpr (requires { Drawn::kKnowsPages; }) {
      if (load_.kind == LoadKind::sysbench_read_write) {
        for (const std::uint64_t page : drawn_.pages()) engine_.pages().pool()->warm(page);
        machine::Random random(machine::mixed(seed));
        Script script;
        for (std::uint64_t i = 0; i < transactions; ++i) {
          draw(random, script);
          for (const Step& step : script.steps) engine_.pages().warm(step);
        }
        return engine_.pages().pool()->warmed();
      }
    }
    refuse("has_buffer_pool is on, and the pages of reads are known of the load sysbench_read_write alone");
  }
  void draw(machine::Random& random, Script& script) {
    drawn_.draw(random, script);
    if constexpr (requires { Drawn::kKnowsPages; }) {
      if (engine_.pages().has_pool()) drawn_.draw_reads(random, script);
    }
  }

  std::size_t most_mtr_bytes() const {
    std::size_t most = drawn_.most_mtr_bytes();
    for (const Demand& demand : demands_) most = std::max(most, static_cast<std::size_t>(demand.mtr_bytes));
    return most;
  }

  Task<> client(M& m, std::uint32_t number) {
    Session<M>& s = *sessions_[number];
    sessions::Counts& mine = done_[number];
    machine::Random random(m.random());
    Script script;
    script.client = number;
    while (!m.stopping() && (load_.transactions == 0 || mine.transactions < load_.transactions)) {
      const std::uint64_t start = m.now();
      Outcome outcome = Outcome::deadlock;
      while (outcome == Outcome::deadlock || outcome == Outcome::timed_out) {
        draw(random, script);
        outcome = co_await attempt(m, s, script);
        s.counts.deadlocks += outcome == Outcome::deadlock ? 1 : 0;
        s.counts.timeouts += outcome == Outcome::timed_out ? 1 : 0;
      }
      if (outcome != Outcome::granted) co_return;
      ++mine.transactions;
      s.counts.new_orders += script.kind == TransactionKind::new_order && !script.rolls_back ? 1 : 0;
      mine.latency_ns.add(m.now() - start);
    }
    // An engine with threads of its own does not end by itself.
    const std::uint64_t ended_before = co_await m.add(ended_, 1);
    if (ended_before + 1 == load_.clients) {
      ended_ns_ = m.now();
      m.stop();
    }
  }

  Task<Outcome> attempt(M& m, Session<M>& s, const Script& script) {
    bool has_begun = false;
    for (const Step& step : script.steps) {
      if (Orders::leaves_out(s.orders, step)) continue;
      if (!step.is_next_of_statement) co_await away(m, s);
      if (m.stopping()) co_return Outcome::stopping;
      machine::Scope<M> doing(m, statement_);
      if (!has_begun) has_begun = co_await engine_.begin(m, s);
      if (!has_begun) co_return Outcome::stopping;
      const Outcome outcome = co_await engine_.step(m, s, step, demand_of(step));
      if (outcome == Outcome::stopping) co_return outcome;
      if (outcome == Outcome::granted) continue;
      const bool is_done = co_await engine_.roll_back(m, s);
      co_return is_done ? outcome : Outcome::stopping;
    }
    if (script.sends_commit) co_await away(m, s);
    if (m.stopping()) co_return Outcome::stopping;
    bool is_done = true;
    if (script.rolls_back) {
      is_done = co_await engine_.roll_back(m, s);
      s.counts.rolled_back += is_done ? 1 : 0;
    } else {
      is_done = co_await engine_.commit(m, s, commit_demand_of(script));
    }
    co_return is_done ? Outcome::granted : Outcome::stopping;
  }
  Task<> away(M& m, Session<M>& s) {
    if (engine_.leaves_behind_statement(s)) co_await engine_.leave(m, s);
    if (load_.away_ns > 0) co_await m.wait_for_client(machine::exponential(m.random(), load_.away_ns));
    if (load_.client_ns == 0) co_return;
    // Session and client take turns, each behind the threads that wait for the processor already. A session that computed on would hold
    // its rows in a crowd for a shorter time than a server's does.
    co_await m.yield();
    m.work_elsewhere(machine::exponential(m.random(), load_.client_ns));
    co_await m.yield();
  }
  const Demand& demand_of(const Step& step) const {
    return step.demand != nullptr ? *step.demand : demands_[static_cast<std::size_t>(step.statement)];
  }
  const Demand& commit_demand_of(const Script& script) const {
    return script.commit_demand != nullptr ? *script.commit_demand
                                           : demands_[static_cast<std::size_t>(script.commit)];
  }

  LoadConfig load_;
  DemandTable demands_;
  Drawn drawn_;
  Engine engine_;
  std::vector<std::unique_ptr<Session<M>>> sessions_;
  std::vector<sessions::Counts> done_;
  machine::Site statement_;
  typename M::Word ended_;
  std::uint64_t ended_ns_ = 0;
};

}  // namespace engineroom::engine
