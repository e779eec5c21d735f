// A whole engine on one machine: row locks, the transaction system, the redo log and the binary log, each in the design that is
// chosen or not there at all.
//
// Models      the way of a transaction through InnoDB at READ COMMITTED: a view for each consistent read (trx_sys), intention
//             and row locks with their waits and deadlocks (lock_sys), what makes an implicit lock explicit, mini-transactions
//             and the flush at commit (redo), the rollback of a deadlock's victim; with a binary log the stages of its group
//             commit (group_commit/stages.hpp), whose leader ends the transactions of its followers and lets their rows go.
//             In front of all a gate, where there is one (gate.hpp)
// Leaves out  pages of secondary indexes and undo logs in the buffer pool. Without a binary log, `durable_first` holds locks until the redo log's
//             flush as one does. The rows that the binary log gets are all alike. Gaps: nobody locks any
// Cost        with one client some 5 events per latch: 580 per transaction of sysbench, 1,130 of TPC-C; in a crowd what waits and
//             spins comes on top
//
// A statement computes for half of its time before it asks for a view or a lock (parsing, opening tables), and for half behind.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "common/require.hpp"
#include "engine/binlog.hpp"
#include "engine/gate.hpp"
#include "engine/load.hpp"
#include "engine/orders.hpp"
#include "engine/pages.hpp"
#include "engine/parts.hpp"
#include "engine/purge.hpp"
#include "group_commit/rules.hpp"
#include "group_commit/stages.hpp"
#include "group_commit/watch.hpp"
#include "lock_sys/latches.hpp"
#include "lock_sys/lock_config.hpp"
#include "lock_sys/lock_sys.hpp"
#include "lock_sys/schedulers.hpp"
#include "machine/concept.hpp"
#include "machine/random.hpp"
#include "redo_log/any_log.hpp"
#include "sync/latch.hpp"
#include "sync/rw_latch.hpp"
#include "transactions/trx_sys.hpp"

namespace engineroom::engine {

using lock_sys::Outcome;
using machine::Machine;
using machine::Task;
using redo_log::Lsn;

/// What a session did, on its own line so that real threads do not share it.
struct alignas(64) Counts {
  std::uint64_t begun = 0;  // transactions, each attempt one
  std::uint64_t commits = 0;
  std::uint64_t rolled_back = 0;  // as their script says
  std::uint64_t new_orders = 0;   // committed transactions of that kind
  std::uint64_t deadlocks = 0;    // attempts that were victims
  std::uint64_t timeouts = 0;
  std::uint64_t changes = 0;
  std::uint64_t undone = 0;
  std::uint64_t mtrs = 0;
  std::uint64_t lock_waits = 0;
  std::uint64_t lock_wait_ns = 0;

  void add(const Counts& other) {
    begun += other.begun;
    commits += other.commits;
    rolled_back += other.rolled_back;
    new_orders += other.new_orders;
    deadlocks += other.deadlocks;
    timeouts += other.timeouts;
    changes += other.changes;
    undone += other.undone;
    mtrs += other.mtrs;
    lock_waits += other.lock_waits;
    lock_wait_ns += other.lock_wait_ns;
  }
};

/// A session's place in the engine, used for one transaction after the other.
template <Machine M>
struct Session {
  Session(M& m, std::uint32_t number) : locks(m, number) { locks.reads_committed = true; }

  lock_sys::TrxOn<M> locks;
  transactions::Trx<M> trx;
  Lsn end_lsn = 0;
  std::uint64_t number = 0;          // of its transactions
  std::uint32_t intentions = 0;      // a bit for each table and mode
  bool is_inside = false;            // of those that the gate counts
  sync::RwLatch<M>* leaf = nullptr;  // that it has latched
  bool is_leaf_x = false;
  std::uint64_t tree = 0;        // in which the statement searches
  std::uint64_t roots_left = 0;  // that it has still to pass
  Orders::Known orders;
  Counts counts;
};

/// `is_whole` off: neither a binary log nor purge nor a buffer pool is compiled, for a small build.
template <Machine M, typename Rules = group_commit::Sound, typename Watch = group_commit::NoWatch,
          bool is_whole = true>
class Engine {
  template <template <typename, typename> typename Latches>
  using LockSys = lock_sys::LockSys<M, Latches>;
  using Locks = std::variant<LockSys<lock_sys::OneMutex>, LockSys<lock_sys::Shards>>;
  using Log = redo_log::AnyLog<M>;
#if defined(__wasm__)
  static constexpr bool knows_all = false;  // no explorable asks for a gate or for latches of pages
#else
  static constexpr bool knows_all = is_whole;
#endif

 public:
  using S = Session<M>;
  using NewFile = typename group_commit::BinlogFiles<M>::NewFile;

  /// Refuses mini-transactions for which the log would never have room, and a binary log without files. `seed` is for a policy that
  /// draws.
  Engine(M& m, typename M::File& file, const Parts& parts, std::uint64_t districts,
         std::size_t most_mtr_bytes, std::uint64_t seed, NewFile new_binlog = {}, Watch watch = {},
         Rules rules = {})
      : config_(parts.engine),
        commit_(parts.commit),
        trx_sys_(m, parts.trx_sys),
        orders_(districts),
        group_(std::max({most_mtr_bytes, static_cast<std::size_t>(config_.undo_bytes),
                         config_.has_purge ? static_cast<std::size_t>(parts.purge.row_bytes) : 0,
                         config_.binlog == Binlog::off ? 0 : parts.commit.prepare_bytes})),
        row_lock_(m.site("row_lock")),
        mtr_commit_(m.site("mtr_commit")),
        write_up_to_(m.site("log_write_up_to")),
        rollback_(m.site("rollback")) {
    check_together(config_);
    if (config_.has_row_locks) make_locks(m, parts, seed);
    if (config_.has_redo) make_log(m, file, parts);
    if constexpr (is_whole) {
      if constexpr (knows_all) {
        if (config_.most_inside > 0) gate_.emplace(m, config_.admits, config_.most_inside, kMostClients);
        if (config_.has_page_latches) page_latches_.emplace(m, config_, parts.locks.latch_spin);
      }
      if (config_.has_space_latch) space_latch_.emplace(m, "fil_system_mutex", parts.locks.latch_spin);
      if (config_.has_purge) make_purge(m, parts);
      if (config_.has_buffer_pool) make_pool(m, parts);
      if (config_.binlog != Binlog::off) make_stages(m, std::move(new_binlog), std::move(watch), rules);
    }
  }

  void spawn_threads(M& m) {
    if (locks_) std::visit([&](auto& locks) { locks.spawn_threads(m); }, *locks_);
    if (log_) log_->spawn_threads(m);
    if constexpr (is_whole) {
      if (purge_) purge_->spawn_threads(m);
      if (pages_.has_pool()) pages_.pool()->spawn_threads(m);
      if (stages_) stages_->spawn_threads(m);
    }
  }
  /// False: the run was stopped before there was room inside.
  Task<bool> begin(M& m, S& s) {
    if (has_gate_for(Admits::transactions)) {
      const bool is_let_in = co_await enter(m, s);
      if (!is_let_in) co_return false;
    }
    ++s.counts.begun;
    s.end_lsn = 0;
    s.intentions = 0;
    Orders::begin(s.orders);
    if (locks_) {
      co_await std::visit([&](auto& locks) { return locks.begin(m, s.locks); }, *locks_);
    } else {
      s.locks.undo_no = 0;
    }
    if (config_.has_trx_sys) co_await trx_sys_.begin(m, s.trx, false);
    co_return true;
  }

  /// Granted: the step is done. Else the transaction has to be rolled back, or the run stops.
  Task<Outcome> step(M& m, S& s, const Step& step, const Demand& demand) {
    const std::uint64_t computing_ns =
        step.is_next_of_statement ? 0 : machine::exponential(m.random(), demand.computing_ns);
    m.work(computing_ns / 2);
    if (!s.is_inside && has_gate_for(Admits::statements)) {
      const bool is_let_in = co_await enter(m, s);
      if (!is_let_in) co_return Outcome::stopping;
    }
    if (step.reads) {
      if (config_.has_trx_sys) co_await trx_sys_.open_view(m, s.trx);
      if (has_page_latches()) co_await find_leaf(m, s, step, demand);
      const bool is_read = co_await pages_.read(m, step);
      if (!is_read) co_return Outcome::stopping;
      if (!has_space_latch()) m.work(computing_ns - computing_ns / 2);
      if (has_space_latch()) co_await compute_with_spaces(m, step, demand, computing_ns - computing_ns / 2);
      if (config_.has_trx_sys) co_await trx_sys_.drop_view(m, s.trx);
      orders_.read(s.orders, step);
      co_return Outcome::granted;
    }
    const std::uint64_t row = Orders::row_of(s.orders, step);
    if (step.locks || step.inserts) {
      if (has_page_latches()) co_await find_leaf(m, s, step, demand);
      const bool is_found = co_await pages_.search(m, step.table, row);
      if (!is_found) co_return Outcome::stopping;
      if (is_in_server_order() && step.lookups > 0) co_await look_for_owner(m, s);
      const Outcome outcome = co_await lock(m, s, step, row);
      if (outcome != Outcome::granted) co_return outcome;
    }
    if (!has_space_latch()) m.work(computing_ns - computing_ns / 2);
    if (has_space_latch()) co_await compute_with_spaces(m, step, demand, computing_ns - computing_ns / 2);
    if (!orders_.locked(s.orders, step)) co_return Outcome::granted;
    if (step.changes) {
      change(s, step, row);
      const bool is_changed = co_await change_page(m, s, step, row, demand);
      if (!is_changed) co_return Outcome::stopping;
    }
    const bool is_latched = has_page_latches() && (step.changes || step.inserts);
    if (is_latched) {
      co_await search_other_indexes(m, s);
      co_await latch_leaf(m, s, step, row, true);
      co_await change_hash(m, s, step, demand);
    }
    const Outcome outcome = co_await change_indexes(m, s, step, row, demand);
    if (is_latched) co_await let_leaf_go(m, s);
    co_return outcome;
  }

  /// A statement, whose client is told.
  bool leaves_behind_statement(const S& s) const { return s.is_inside && has_gate_for(Admits::statements); }
  Task<> leave(M& m, S& s) {
    s.is_inside = false;
    if constexpr (knows_all) co_await gate_->leave(m);
    co_return;
  }

  /// False: the run was stopped first.
  Task<bool> commit(M& m, S& s, const Demand& demand) {
    return s.is_inside ? then_leave(m, s, commit_inside(m, s, demand)) : commit_inside(m, s, demand);
  }
  /// Row by row, all locks held; then they are let go.
  Task<bool> roll_back(M& m, S& s) {
    return s.is_inside ? then_leave(m, s, roll_back_inside(m, s)) : roll_back_inside(m, s);
  }

  // What a run is asked.
  const transactions::TrxSysCounters& trx_sys_counters() const { return trx_sys_.counters(); }
  lock_sys::LockCounts lock_counts() const {
    if (!locks_) return {};
    return std::visit([](const auto& locks) { return locks.counts(); }, *locks_);
  }
  PurgeCounts purge_counts() const { return purge_ ? purge_->counts() : PurgeCounts{}; }
  const Purge<M>* purge() const { return purge_ ? &*purge_ : nullptr; }
  BinlogCounts binlog_counts() const requires is_whole {
    if (!stages_) return {};
    const auto files = stages_->binlog().counted();
    const group_commit::StageCounters& stages = stages_->counters();
    return {.fsyncs = files.fsyncs,
            .writes = files.writes,
            .written_bytes = files.written_bytes,
            .flush_groups = stages.flush_groups,
            .sync_groups = stages.sync_groups,
            .commit_groups = stages.commit_groups};
  }
  /// Mini-transactions that made a clean page dirty, without a buffer pool.
  std::uint64_t dirtied() const { return dirtied_; }
  Lsn flushed_lsn(M& m) const { return log_->flushed_lsn(m); }
  const transactions::TrxSys<M>& trx_sys() const { return trx_sys_; }
  PoolCounts pool_counts() const { return pages_.pool() ? pages_.pool()->counts() : PoolCounts{}; }
  Pages<M, is_whole>& pages() { return pages_; }
  const Pages<M, is_whole>& pages() const { return pages_; }
  /// Calls body(const lock_sys::Lock&) for each lock object.
  template <typename Body>
  void each_lock(const Body& body) const {
    if (locks_) std::visit([&](const auto& locks) { locks.queues().each_lock(body); }, *locks_);
  }

 private:
  /// The last session that changed a row, and as which transaction.
  struct Writer {
    S* session = nullptr;
    std::uint64_t lock_id = 0;
    transactions::TrxId trx_id = 0;
  };

  void make_locks(M& m, const Parts& parts, std::uint64_t seed) {
    using lock_sys::scheduler_of;
    const lock_sys::LockConfig& config = parts.locks;
    lock_sys::Scheduler scheduler =
        parts.order ? scheduler_of(parts.order) : scheduler_of(config.policy, seed);
    if (config.latching == lock_sys::Latching::one_mutex) {
      locks_.emplace(std::in_place_index<0>, m, config, std::move(scheduler));
    } else {
      locks_.emplace(std::in_place_index<1>, m, config, std::move(scheduler));
    }
    for (std::size_t table = 0; table < kMostTables; ++table) {
      std::visit([&](auto& locks) { locks.queues().add_table(table); }, *locks_);
    }
  }
  void make_log(M& m, typename M::File& file, const Parts& parts) {
    redo_log::LogConfig config = parts.log;
    if (config_.has_buffer_pool) config.buffer_pool_instances = parts.pool.instances;
    log_.emplace(m, file, config_.redo, config, group_.size());
  }
  void make_purge(M& m, const Parts& parts) {
    if (!config_.has_trx_sys) refuse("has_purge is on and has_trx_sys off: purge asks for the oldest view");
    const auto write = [this](M& on, std::uint64_t bytes) { return write_redo(on, bytes); };
    purge_.emplace(m, trx_sys_, parts.trx_sys.latches, parts.purge, write);
  }

  void make_pool(M& m, const Parts& parts) {
    const auto make_durable = [this](M& on, Lsn lsn) { return log_->write_up_to(on, lsn, true); };
    const auto leave = [this](M& on) { return log_->leave_flush_list(on); };
    pages_.make_pool(m, parts.pool, {make_durable, leave});
  }

  // The gate, and the end of a transaction inside.

  bool has_gate_for(Admits whom) const {
    if constexpr (knows_all) return gate_ && config_.admits == whom;
    return false;
  }
  Task<bool> enter(M& m, S& s) {
    if constexpr (knows_all) s.is_inside = co_await gate_->enter(m);
    co_return s.is_inside;
  }
  Task<> come_back(M& m, S& s) {
    s.is_inside = true;
    if constexpr (knows_all) co_await gate_->come_back(m);
    co_return;
  }
  Task<bool> then_leave(M& m, S& s, Task<bool> ending) {
    const bool is_done = co_await ending;
    if (is_done) co_await leave(m, s);
    co_return is_done;
  }
  Task<bool> commit_inside(M& m, S& s, const Demand& demand) {
    m.work(machine::exponential(m.random(), demand.computing_ns));
    const bool has_changed = s.locks.undo_no > 0;
    const bool flushes = has_changed && config_.flush_every > 0 &&
                         (s.number + 1) % config_.flush_every == 0 && log_.has_value();
    if (has_changed && has_own_commit()) {
      const bool is_acknowledged = co_await own_commit(m, s, demand, flushes);
      co_return is_acknowledged;
    }
    bool is_done = true;
    if (has_changed) is_done = co_await mini_transactions(m, s, demand);
    if (is_done && flushes && config_.durable_first) is_done = co_await flush(m, s);
    if (!is_done) co_return false;
    orders_.committed(s.orders);
    co_await end(m, s, has_changed);
    if (flushes && !config_.durable_first) is_done = co_await flush(m, s);
    ++s.number;
    ++s.counts.commits;
    co_return is_done;
  }
  Task<bool> roll_back_inside(M& m, S& s) {
    machine::Scope<M> doing(m, rollback_);
    const std::uint64_t changes = s.locks.undo_no;
    for (std::uint64_t i = 0; i < changes; ++i) {
      if (m.stopping()) co_return false;
      m.work(config_.undo_ns);
      const bool is_done = co_await append(m, s, config_.undo_bytes);
      if (!is_done) co_return false;
    }
    s.counts.undone += changes;
    orders_.rolled_back(s.orders);
    co_await end(m, s, false);
    co_return true;
  }

  // The binary log.

  /// A transaction in the stages, of which the leader knows all that ending it takes.
  struct Member : group_commit::Ticket {
    S* session = nullptr;
    const Demand* demand = nullptr;
  };
  /// The engine, as the stages ask for it.
  struct Participant {
    Engine& engine;

    Task<redo_log::Appended> prepare(M& m, group_commit::Ticket& ticket) {
      return engine.prepare(m, static_cast<Member&>(ticket));
    }
    Task<redo_log::Appended> commit(M& m, group_commit::Ticket& ticket) {
      return engine.commit_in_engine(m, static_cast<Member&>(ticket));
    }
  };
  using Stages = group_commit::Stages<M, Log, Participant, Rules, Watch>;

  void make_stages(M& m, NewFile new_binlog, Watch watch, Rules rules) {
    if (!new_binlog) refuse("an engine with a binlog needs files for it: pass new_binlog");
    stages_ = std::make_unique<Stages>(m, design_of(config_.binlog), commit_, *log_, Participant{*this},
                                       std::move(new_binlog), kMostClients, std::move(watch), rules);
  }

  Task<bool> commit_in_stages(M& m, S& s, const Demand& demand) {
    const auto member = std::make_shared<Member>();
    member->xid = ++last_xid_;
    member->changed_rows = s.locks.undo_no;
    member->session = &s;
    member->demand = &demand;
    const bool is_done = co_await stages_->commit(m, member);
    s.number += is_done ? 1 : 0;
    s.counts.commits += is_done ? 1 : 0;
    co_return is_done;
  }
  Task<redo_log::Appended> prepare(M& m, Member& member) {
    S& s = *member.session;
    m.work(commit_.prepare_ns);
    const bool is_done = co_await append(m, s, commit_.prepare_bytes);
    if (is_done && config_.has_trx_sys) co_await trx_sys_.prepare_commit(m, s.trx);
    co_return redo_log::Appended{.done = is_done, .end_lsn = s.end_lsn};
  }
  /// By its session, or by its leader.
  Task<redo_log::Appended> commit_in_engine(M& m, Member& member) {
    S& s = *member.session;
    if (is_in_server_order()) {
      const bool has_ended = co_await end_in_server_order(m, s, *member.demand);
      co_return redo_log::Appended{.done = has_ended, .end_lsn = s.end_lsn};
    }
    const bool is_done = co_await mini_transactions(m, s, *member.demand);
    if (is_done) {
      orders_.committed(s.orders);
      co_await end(m, s, true);
    }
    co_return redo_log::Appended{.done = is_done, .end_lsn = s.end_lsn};
  }

  // Rows, and their pages.

  /// The leaf is latched again for the change, which its mini-transaction ends. Of the statement's others `mini_transactions` takes care.
  Task<bool> change_page(M& m, S& s, const Step& step, std::uint64_t row, const Demand& demand) {
    if (!pages_.has_pool()) co_return true;
    BufferPool<M>& pool = *pages_.pool();
    Frame<M>* leaf = co_await pool.get(m, place_of(step.table, row).page, true);
    if (leaf == nullptr) co_return false;
    bool is_done = true;
    if (log_) {
      const redo_log::Appended appended = co_await mini_transaction(m, demand.mtr_bytes, !leaf->is_dirty);
      s.end_lsn = appended.end_lsn;
      ++s.counts.mtrs;
      is_done = appended.done;
      if (is_done) pool.changed(*leaf, appended.end_lsn);
    }
    co_await pool.release(m, *leaf, true);
    co_return is_done;
  }

  static lock_sys::Request request_for(Table table, std::uint64_t row, lock_sys::Mode mode) {
    const Place place = place_of(table, row);
    return {.page = place.page,
            .heap_no = place.heap_no,
            .mode = mode,
            .kind = lock_sys::Kind::rec_not_gap,
            .records_on_page = place.records_on_page};
  }
  static std::uint64_t key_of(Table table, std::uint64_t row) {
    return static_cast<std::uint64_t>(table) << 58 | row;
  }

  Task<Outcome> lock(M& m, S& s, const Step& step, std::uint64_t row) {
    const lock_sys::Mode intention = step.mode == lock_sys::Mode::x ? lock_sys::Mode::ix : lock_sys::Mode::is;
    const std::uint32_t exclusive = 1U << (2 * static_cast<unsigned>(step.table));
    const std::uint32_t wanted = intention == lock_sys::Mode::ix ? exclusive : 2 * exclusive;
    if ((s.intentions & (wanted | exclusive)) == 0) {
      s.intentions |= wanted;
      if (intention == lock_sys::Mode::ix && config_.has_trx_sys)
        co_await trx_sys_.become_read_write(m, s.trx);
      if (locks_) {
        const auto id = static_cast<lock_sys::TableId>(step.table);
        const auto ask = [&](auto& locks) { return locks.lock_table(m, s.locks, id, intention); };
        Outcome outcome = co_await std::visit(ask, *locks_);
        if (outcome == Outcome::waits) outcome = co_await wait(m, s);
        if (outcome != Outcome::granted) co_return outcome;
      }
    }
    if (!locks_) co_return Outcome::granted;
    if (has_page_latches()) co_await latch_leaf(m, s, step, row, step.inserts);
    const Outcome outcome = co_await lock_row(m, s, step, row);
    if (has_page_latches()) co_await let_leaf_go(m, s);
    co_return outcome;
  }
  Task<Outcome> lock_row(M& m, S& s, const Step& step, std::uint64_t row) {
    machine::Scope<M> doing(m, row_lock_);
    lock_sys::Request request = request_for(step.table, row, step.mode);
    if (step.inserts) {
      // In front of nothing that anybody has locked: no gap is.
      request.heap_no = lock_sys::kSupremum;
      const auto ask = [&](auto& locks) { return locks.lock_to_insert(m, s.locks, request); };
      Outcome outcome = co_await std::visit(ask, *locks_);
      if (outcome == Outcome::waits) outcome = co_await wait(m, s);
      co_return outcome;
    }
    if (config_.has_trx_sys) co_await make_explicit(m, s, step.table, row, request);
    const auto ask = [&](auto& locks) { return locks.lock_record(m, s.locks, request); };
    Outcome outcome = co_await std::visit(ask, *locks_);
    if (outcome == Outcome::waits) outcome = co_await wait(m, s);
    co_return outcome;
  }
  Task<Outcome> wait(M& m, S& s) {
    const std::uint64_t start = m.now();
    if (has_page_latches()) co_await let_leaf_go(m, s);
    const bool is_outside = leaves_behind_statement(s);
    if (is_outside) co_await leave(m, s);
    ++s.counts.lock_waits;
    const Outcome outcome = co_await std::visit([&](auto& locks) { return locks.wait(m, s.locks); }, *locks_);
    s.counts.lock_wait_ns += m.now() - start;
    if (is_outside) co_await come_back(m, s);
    co_return outcome;
  }
  /// The record says who changed it last; the transaction system, whether that one is still active.
  Task<> make_explicit(M& m, S& s, Table table, std::uint64_t row, const lock_sys::Request& record) {
    const auto found = writers_.find(key_of(table, row));
    Writer writer;
    if (found != writers_.end()) writer = found->second;
    if (writer.session == &s && writer.trx_id == s.trx.id) co_return;
    // A row that nobody has changed in this run has an id below all active ones.
    if (writer.session == nullptr) writer.trx_id = 1 + machine::mixed(row) % transactions::TrxSys<M>::kShards;
    const bool is_active = co_await trx_sys_.is_active(m, writer.trx_id);
    if (!is_active || writer.session == nullptr) co_return;
    const auto convert = [&](auto& locks) {
      return locks.make_explicit(m, s.locks, writer.session->locks, writer.lock_id, record);
    };
    co_await std::visit(convert, *locks_);
  }
  /// An entry of a secondary index that is marked or inserted: its queue is looked at, and nobody has locked it.
  Task<Outcome> look_at_index(M& m, S& s, Table table, std::uint64_t row, std::uint32_t i) {
    constexpr std::uint64_t kSecondary = std::uint64_t{1} << 55;
    constexpr std::uint64_t kPages = std::uint64_t{1} << 32;
    lock_sys::Request request = request_for(table, row, lock_sys::Mode::x);
    request.page = (request.page & ~(kSecondary - 1)) | kSecondary | (machine::mixed(row + i) % kPages);
    request.heap_no = lock_sys::kSupremum;
    const auto ask = [&](auto& locks) { return locks.lock_to_insert(m, s.locks, request); };
    Outcome outcome = co_await std::visit(ask, *locks_);
    if (outcome == Outcome::waits) outcome = co_await wait(m, s);
    co_return outcome;
  }
  void change(S& s, const Step& step, std::uint64_t row) {
    ++s.locks.undo_no;
    ++s.counts.changes;
    writers_[key_of(step.table, row)] = {.session = &s, .lock_id = s.locks.id, .trx_id = s.trx.id};
  }

  // Latches of pages.

  bool has_page_latches() const {
    if constexpr (knows_all) return page_latches_.has_value();
    return false;
  }
  /// By the adaptive hash index, or else from the root. A statement that changes its row searches other indexes later on.
  Task<> find_leaf(M& m, S& s, const Step& step, const Demand& demand) {
    if constexpr (knows_all) {
      if (step.is_next_of_statement) co_return;
      s.tree = page_latches_->tree_of(m, step.table, s.locks.number);
      s.roots_left = times(m, demand.root_searches_permille);
      std::uint64_t roots =
          step.changes || step.inserts ? std::min<std::uint64_t>(1, s.roots_left) : s.roots_left;
      if (page_latches_->has_hash_index()) {
        const std::uint64_t by_hash = times(m, demand.hash_searches_permille);
        if (by_hash > 0 && (step.changes || step.inserts)) roots = 0;
        for (std::uint64_t i = 0; i < by_hash; ++i) {
          const bool is_found = co_await page_latches_->search_hash(m, s.tree);
          if (!is_found) co_await page_latches_->pass_root(m, s.tree, false);
        }
      }
      s.roots_left -= roots;
      for (; roots > 0; --roots) co_await page_latches_->pass_root(m, s.tree, false);
    }
    co_return;
  }
  /// Drawn where it is no whole number.
  static std::uint64_t times(M& m, std::uint64_t permille) {
    return permille % 1000 == 0 ? permille / 1000 : drawn(m, permille);
  }
  Task<> search_other_indexes(M& m, S& s) {
    if constexpr (knows_all) {
      for (; s.roots_left > 0; --s.roots_left) co_await page_latches_->pass_root(m, s.tree, true);
    }
    co_return;
  }
  Task<> change_hash(M& m, S& s, const Step& step, const Demand& demand) {
    if constexpr (knows_all) {
      if (step.is_next_of_statement || !page_latches_->has_hash_index()) co_return;
      for (std::uint64_t left = times(m, demand.hash_changes_permille); left > 0; --left)
        co_await page_latches_->change_hash(m, s.tree);
    }
    co_return;
  }
  /// Held through waits for other latches, but let go before a wait for a row.
  Task<> latch_leaf(M& m, S& s, const Step& step, std::uint64_t row, bool is_x) {
    if constexpr (knows_all) {
      s.leaf = &page_latches_->leaf_of(m, step, row);
      s.is_leaf_x = is_x;
      if (is_x) co_await s.leaf->x_lock(m);
      if (!is_x) co_await s.leaf->s_lock(m);
    }
    co_return;
  }
  Task<> let_leaf_go(M& m, S& s) {
    if (s.leaf == nullptr) co_return;
    sync::RwLatch<M>& leaf = *std::exchange(s.leaf, nullptr);
    if (s.is_leaf_x) co_await leaf.x_unlock(m);
    if (!s.is_leaf_x) co_await leaf.s_unlock(m);
    co_return;
  }

  bool has_space_latch() const {
    if constexpr (is_whole) return space_latch_.has_value();
    return false;
  }
  /// The tablespaces that a statement's mini-transactions name are looked up in between.
  Task<> compute_with_spaces(M& m, const Step& step, const Demand& demand, std::uint64_t computing_ns) {
    const std::uint64_t lookups = drawn(m, step.is_next_of_statement ? 0 : demand.space_lookups_permille);
    for (std::uint64_t left = lookups; left > 0; --left) {
      m.work(computing_ns / (lookups + 1));
      if constexpr (is_whole) {
        co_await space_latch_->lock(m);
        m.work(config_.space_ns);
        co_await space_latch_->unlock(m);
      }
    }
    m.work(computing_ns - lookups * (computing_ns / (lookups + 1)));
    co_return;
  }

  // Entries of other indexes, and the statement's redo.

  Task<Outcome> change_indexes(M& m, S& s, const Step& step, std::uint64_t row, const Demand& demand) {
    return is_in_server_order() ? indexes_in_server_order(m, s, step, row, demand)
                                : indexes_and_then_redo(m, s, step, row, demand);
  }
  Task<Outcome> indexes_and_then_redo(M& m, S& s, const Step& step, std::uint64_t row, const Demand& demand) {
    for (std::uint32_t i = 0; i < step.checks && locks_; ++i) {
      const Outcome outcome = co_await look_at_index(m, s, step.table, row, i);
      if (outcome != Outcome::granted) co_return outcome;
    }
    for (std::uint32_t i = 0; i < step.lookups; ++i) co_await look_for_owner(m, s);
    if (step.is_next_of_statement) co_return Outcome::granted;
    // One of them was the change of the page.
    const std::uint64_t done_permille = pages_.has_pool() && log_ && step.changes ? 1000 : 0;
    const bool is_done = co_await mini_transactions(m, s, demand, done_permille);
    co_return is_done ? Outcome::granted : Outcome::stopping;
  }

  // The order of servers, as performance_schema keeps it (own-latch-order). The figures were made in the engine's own.

  bool is_in_server_order() const { return is_whole && config_.server_order; }
  Task<> look_for_owner(M& m, S& s) {
    if (config_.has_trx_sys) co_await trx_sys_.is_active(m, s.trx.id);
  }
  /// An insertion looks once more for the row's owner, between its locks. Redo is written of the row, and then of each entry of another
  /// index behind the look at its queue.
  Task<Outcome> indexes_in_server_order(M& m, S& s, const Step& step, std::uint64_t row,
                                        const Demand& demand) {
    constexpr std::uint32_t kEntries = 2;  // that an update has of an index: one is marked, one inserted
    std::uint64_t left = step.is_next_of_statement ? 0 : count_of_mtrs(m, demand, 0);
    const std::uint32_t checks = locks_ ? step.checks : 0;
    std::uint32_t i = 0;
    if (step.lookups > 0) {
      std::uint32_t looked = 1;  // before the row's lock
      for (; i + 1 < checks; ++i) {
        if (i % 2 == 1 && looked++ < step.lookups) co_await look_for_owner(m, s);
        const Outcome outcome = co_await look_at_index(m, s, step.table, row, i);
        if (outcome != Outcome::granted) co_return outcome;
      }
    }
    const std::uint64_t entries = std::min<std::uint64_t>({left, checks - i, kEntries});
    bool is_done = co_await append_some(m, s, left - entries, demand);
    for (left = entries; i < checks && is_done; ++i) {
      const Outcome outcome = co_await look_at_index(m, s, step.table, row, i);
      if (outcome != Outcome::granted) co_return outcome;
      if (checks - i > left) continue;
      is_done = co_await append_some(m, s, 1, demand);
      --left;
    }
    co_return is_done ? Outcome::granted : Outcome::stopping;
  }
  /// A commit with a binary log, or in the order of servers.
  bool has_own_commit() const { return is_whole && (config_.server_order || config_.binlog != Binlog::off); }
  Task<bool> own_commit(M& m, S& s, const Demand& demand, bool flushes) {
    if constexpr (is_whole) {
      if (stages_) return commit_in_stages(m, s, demand);
    }
    return commit_in_server_order(m, s, demand, flushes);
  }
  /// With `durable_first` what the transaction changed is durable before it has a number, as behind a binary log.
  Task<bool> commit_in_server_order(M& m, S& s, const Demand& demand, bool flushes) {
    bool is_done = true;
    if (flushes && config_.durable_first) is_done = co_await flush(m, s);
    if (is_done) is_done = co_await end_in_server_order(m, s, demand);
    if (is_done && flushes && !config_.durable_first) is_done = co_await flush(m, s);
    if (!is_done) co_return false;
    ++s.number;
    ++s.counts.commits;
    co_return true;
  }
  /// The redo of a commit, between its number and the moment at which it is visible.
  struct RedoOfCommit {
    Engine& engine;
    S& session;
    const Demand& demand;
    bool is_done = true;

    Task<> to_history(M& m, transactions::TrxNo) {
      is_done = co_await engine.mini_transactions(m, session, demand);
    }
    void became_visible(std::uint64_t) { engine.orders_.committed(session.orders); }
  };
  Task<bool> end_in_server_order(M& m, S& s, const Demand& demand) {
    RedoOfCommit redo{*this, s, demand};
    if (!config_.has_trx_sys) {
      co_await redo.to_history(m, 0);
      redo.became_visible(0);
    }
    co_await end(m, s, true, &redo);
    co_return redo.is_done;
  }

  // Redo.

  std::uint64_t count_of_mtrs(M& m, const Demand& demand, std::uint64_t done_permille) {
    if (!log_ || demand.mtrs_permille <= done_permille) return 0;
    return drawn(m, demand.mtrs_permille - done_permille);
  }
  /// So many in the mean, always drawn.
  static std::uint64_t drawn(M& m, std::uint64_t permille) {
    const std::uint64_t more = m.random() % 1000 < permille % 1000 ? 1 : 0;
    return permille / 1000 + more;
  }
  Task<bool> mini_transactions(M& m, S& s, const Demand& demand, std::uint64_t done_permille = 0) {
    return append_some(m, s, count_of_mtrs(m, demand, done_permille), demand);
  }
  Task<bool> append_some(M& m, S& s, std::uint64_t count, const Demand& demand) {
    for (std::uint64_t i = 0; i < count; ++i) {
      if (m.stopping()) co_return false;
      const bool is_done = co_await append(m, s, demand.mtr_bytes);
      if (!is_done) co_return false;
    }
    co_return true;
  }
  Task<redo_log::Appended> mini_transaction(M& m, std::uint64_t bytes) {
    const bool dirties = m.random() % 100 < config_.dirty_percent && finds_clean_page(m);
    dirtied_ += dirties ? 1 : 0;
    return mini_transaction(m, bytes, dirties);
  }
  Task<redo_log::Appended> mini_transaction(M& m, std::uint64_t bytes, bool dirties) {
    machine::Scope<M> doing(m, mtr_commit_);
    const auto group = std::span<const std::byte>(group_).first(static_cast<std::size_t>(bytes));
    const redo_log::Appended appended = co_await log_->append(m, group, dirties);
    co_return appended;
  }
  Task<bool> append(M& m, S& s, std::uint64_t bytes) {
    if (!log_) co_return true;
    const redo_log::Appended appended = co_await mini_transaction(m, bytes);
    s.end_lsn = appended.end_lsn;
    ++s.counts.mtrs;
    co_return appended.done;
  }
  /// Pages that a crowd changes over and over are dirty already, but for those that were written since.
  bool finds_clean_page(M& m) {
    if (!is_whole || config_.cleaned_per_s == 0) return true;
    const std::uint64_t now_ns = m.now();
    if (now_ns < next_clean_ns_) return false;
    constexpr std::uint64_t kKeptNs = 10'000'000;  // so long what was written waits for somebody to change it
    const std::uint64_t earliest_ns = now_ns > kKeptNs ? now_ns - kKeptNs : 0;
    next_clean_ns_ = std::max(next_clean_ns_.load(), earliest_ns) + 1'000'000'000 / config_.cleaned_per_s;
    return true;
  }
  /// Of no session.
  Task<bool> write_redo(M& m, std::uint64_t bytes) {
    if (!log_) co_return true;
    const redo_log::Appended appended = co_await mini_transaction(m, bytes);
    co_return appended.done;
  }
  Task<bool> flush(M& m, S& s) {
    machine::Scope<M> doing(m, write_up_to_);
    const bool is_done = co_await log_->write_up_to(m, s.end_lsn, true);
    co_return is_done;
  }

  Task<> commit_in_trx_sys(M& m, S& s, RedoOfCommit* redo) {
    if constexpr (is_whole) {
      if (redo != nullptr) return trx_sys_.commit(m, s.trx, *redo);
      if (purge_) return purge_->commit(m, s.trx, s.locks.undo_no);
    }
    return trx_sys_.commit(m, s.trx);
  }
  /// First out of the sets that views copy, then out of the queues.
  Task<> end(M& m, S& s, bool commits, RedoOfCommit* redo = nullptr) {
    if (config_.has_trx_sys) {
      if (commits) {
        co_await commit_in_trx_sys(m, s, redo);
      } else if (s.trx.is_listed) {
        co_await trx_sys_.roll_back(m, s.trx);
      } else {
        co_await trx_sys_.end_of_reads(m, s.trx);
      }
    }
    const bool has_locks = s.locks.undo_no > 0 || !s.locks.locks.empty();
    if (!locks_ || !has_locks) co_return;
    co_await std::visit([&](auto& locks) { return locks.release_all(m, s.locks); }, *locks_);
  }

  EngineConfig config_;
  group_commit::CommitConfig commit_;
  transactions::TrxSys<M> trx_sys_;
  std::optional<Locks> locks_;
  std::optional<Log> log_;
  std::optional<Purge<M>> purge_;
  std::conditional_t<is_whole, std::unique_ptr<Stages>, std::nullptr_t> stages_ = nullptr;
  std::conditional_t<knows_all, std::optional<Gate<M>>, std::nullopt_t> gate_ = std::nullopt;
  std::conditional_t<is_whole, std::optional<sync::Latch<M>>, std::nullopt_t> space_latch_ = std::nullopt;
  std::conditional_t<knows_all, std::optional<PageLatches<M>>, std::nullopt_t> page_latches_ = std::nullopt;
  std::atomic<std::uint64_t> last_xid_ = 0;
  std::atomic<std::uint64_t> next_clean_ns_ = 0;
  std::atomic<std::uint64_t> dirtied_ = 0;
  Pages<M, is_whole> pages_;
  Orders orders_;
  std::unordered_map<std::uint64_t, Writer> writers_;
  std::vector<std::byte> group_;
  machine::Site row_lock_;
  machine::Site mtr_commit_;
  machine::Site write_up_to_;
  machine::Site rollback_;
};

}  // namespace engineroom::engine
