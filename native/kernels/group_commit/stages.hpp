// The way of a commit with a binlog: prepared in the engine's redo, decided by the binlog, committed in the engine; by many sessions
// at once.
//
//   FLUSH   one redo flush (5.7.6), then all events of the group to the file     under LOCK_log
//   SYNC    the delay, one fsync                            under LOCK_sync; 5.6 keeps LOCK_log if sync_binlog is 1
//   COMMIT  the engine commits, in the binlog's order                            under LOCK_commit
//
// Models      ha_commit_trans, MYSQL_BIN_LOG::prepare and ordered_commit, Commit_stage_manager, trx_prepare and
//             trx_flush_logs (5.6.41, 5.7.32, 9.7.4); of 5.5 innobase_xa_prepare and innobase_commit with
//             prepare_commit_mutex, which is taken behind the prepare's flush and given back before the commit's
// Leaves out  transactions that change nothing; semi-sync, group replication, a replica's own order of commits;
//             binlog_max_flush_queue_time (5.6, 0 by default); the AFTER_COMMIT stage (its hooks are empty)
// Cost        some thirty events per commit besides the engine's own, and a wake-up per follower
//
// A chain that joins a queue which is not empty hands itself over: its leader becomes a follower, and the groups are one.
//
// What preparing and committing mean is the engine's business: the stages ask it, a leader for each of its followers.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "group_commit/binlog_files.hpp"
#include "group_commit/design.hpp"
#include "group_commit/rules.hpp"
#include "group_commit/watch.hpp"
#include "redo_log/log_config.hpp"
#include "sync/pthread.hpp"

namespace engineroom::group_commit {

/// What the stages have counted since the start.
struct StageCounters {
  std::atomic<std::uint64_t> flush_groups = 0;
  std::atomic<std::uint64_t> sync_groups = 0;
  std::atomic<std::uint64_t> commit_groups = 0;
  std::atomic<std::uint64_t> rotations = 0;
};

/// Whose transactions the stages commit. It appends to its own redo what leaves a transaction prepared, or committed and ended;
/// a leader asks for its followers, too.
template <typename P, typename M>
concept Participant = requires(P participant, M& m, Ticket& ticket) {
  { participant.prepare(m, ticket) } -> std::same_as<Task<redo_log::Appended>>;
  { participant.commit(m, ticket) } -> std::same_as<Task<redo_log::Appended>>;
};

/// `Log` is the participant's: a redo log, or what stands for one.
template <Machine M, typename Log, Participant<M> Engine, typename Rules = Sound, typename Watch = NoWatch>
class Stages {
 public:
  using NewFile = typename BinlogFiles<M>::NewFile;

  /// At most so many sessions commit at once.
  Stages(M& m, Design design, const CommitConfig& config, Log& log, Engine engine, NewFile new_binlog,
         std::size_t sessions, Watch watch = {}, Rules rules = {})
      : design_(design),
        config_(config),
        log_(log),
        engine_(engine),
        binlog_(config, std::move(new_binlog)),
        watch_(std::move(watch)),
        rules_(rules),
        prepare_commit_mutex_(m, "prepare_commit_mutex", sync::MutexKind::adaptive),
        stage_mutexes_{Mutex(m, "LOCK_log"), Mutex(m, "LOCK_sync"), Mutex(m, "LOCK_commit")},
        queues_{Queue(m), Queue(m), Queue(m)},
        lock_done_(m, "LOCK_done", sync::MutexKind::adaptive),
        lock_xids_(m, "LOCK_xids", sync::MutexKind::adaptive),
        no_prepared_(m, "COND_prep_xids"),
        prepared_(0),
        prepare_(m.site("prepare")),
        flush_redo_(m.site("flush redo")),
        write_binlog_(m.site("write binlog")),
        sync_binlog_(m.site("sync binlog")),
        engine_commit_(m.site("commit in the engine")) {
    options::check(config);
    for (std::size_t i = 0; i < (config.own_conditions ? sessions : 1); ++i) {
      done_.push_back(std::make_unique<Condition>(m, "COND_done"));
      free_conditions_.push_back(i);
    }
  }

  /// The one that flushes the redo log now and then.
  void spawn_threads(M& m) {
    m.spawn("log_flush_timeout", [this, &m] { return flush_now_and_then(m); });
  }

  /// Of a transaction that has changed something. False: the run was stopped first.
  Task<bool> commit(M& m, std::shared_ptr<Ticket> ticket) {
    co_await open_binlog(m);
    bool goes_on = co_await prepare(m, ticket);
    if (!goes_on) co_return false;
    m.work(config_.encode_ns);
    if (design_ == Design::serialised) {
      goes_on = co_await commit_serialised(m, ticket);
    } else {
      goes_on = co_await ordered_commit(m, ticket);
    }
    if (goes_on) watch_.reached(Step::acknowledged, Tickets(&ticket, 1));
    co_return goes_on;
  }

  const BinlogFiles<M>& binlog() const { return binlog_; }
  const StageCounters& counters() const { return counters_; }
  Watch& watch() { return watch_; }

 private:
  using Mutex = sync::PthreadMutex<M>;
  using Condition = sync::PthreadCondition<M>;
  using Group = std::vector<std::shared_ptr<Ticket>>;
  struct Queue {
    explicit Queue(M& m) : mutex(m, "LOCK_queue", sync::MutexKind::adaptive) {}
    Mutex mutex;
    Group waiting;
  };

  Mutex& mutex_of(Stage stage) { return stage_mutexes_[static_cast<std::size_t>(stage)]; }
  Queue& queue_of(Stage stage) { return queues_[static_cast<std::size_t>(stage)]; }

  /// The first commit opens the file, as the start of a server does.
  Task<> open_binlog(M& m) {
    if (is_open_.load(std::memory_order_acquire)) co_return;
    co_await mutex_of(Stage::flush).lock(m);
    if (!is_open_.load(std::memory_order_relaxed)) {
      co_await binlog_.open(m);
      is_open_.store(true, std::memory_order_release);
    }
    co_await mutex_of(Stage::flush).unlock(m);
  }

  /// As innodb_flush_log_at_trx_commit says. False when the run is stopped first.
  Task<bool> flush_redo(M& m, Lsn lsn) {
    const machine::Scope<M> doing(m, flush_redo_);
    bool goes_on = !m.stopping();
    if (goes_on && config_.flush_log_at_trx_commit > 0) {
      goes_on = co_await log_.write_up_to(m, lsn, config_.flush_log_at_trx_commit == 1);
    }
    co_return goes_on;
  }

  Task<bool> prepare(M& m, const std::shared_ptr<Ticket>& ticket) {
    const machine::Scope<M> doing(m, prepare_);
    ticket->prepare_lsn = kOnItsWay;
    const auto appended = co_await engine_.prepare(m, *ticket);
    if (!appended.done) co_return false;
    ticket->prepare_lsn = appended.end_lsn;
    watch_.reached(Step::prepare_in_buffer, Tickets(&ticket, 1));
    if (design_ == Design::one_redo_flush) co_return true;
    const bool goes_on = co_await flush_redo(m, ticket->prepare_lsn);
    if (goes_on) watch_.reached(Step::redo_flushed, Tickets(&ticket, 1));
    co_return goes_on;
  }

  Task<bool> commit_in_engine(M& m, const std::shared_ptr<Ticket>& ticket) {
    const machine::Scope<M> doing(m, engine_commit_);
    ticket->commit_lsn = kOnItsWay;
    const auto appended = co_await engine_.commit(m, *ticket);
    ticket->commit_lsn = appended.end_lsn;
    if (appended.done) watch_.reached(Step::engine_committed, Tickets(&ticket, 1));
    co_return appended.done;
  }

  /// 5.5: whoever has the mutex is alone from behind its prepare up to the engine's commit. The flushes before and behind
  /// may be shared.
  Task<bool> commit_serialised(M& m, const std::shared_ptr<Ticket>& ticket) {
    const Tickets mine(&ticket, 1);
    co_await prepare_commit_mutex_.lock(m);
    bool goes_on = !m.stopping();
    if (goes_on && !rules_.syncs_before_commit()) goes_on = co_await commit_in_engine(m, ticket);
    if (goes_on) {
      co_await mutex_of(Stage::flush).lock(m);
      watch_.leads(Stage::flush, *ticket);
      ++counters_.flush_groups;
      ++counters_.sync_groups;
      ++counters_.commit_groups;
      co_await write_events(m, mine);
      co_await sync_if_due(m, mine);
      watch_.ends(Stage::flush);
      co_await mutex_of(Stage::flush).unlock(m);
      if (rules_.syncs_before_commit()) goes_on = co_await commit_in_engine(m, ticket);
    }
    co_await prepare_commit_mutex_.unlock(m);
    if (goes_on) goes_on = co_await flush_redo(m, ticket->commit_lsn);
    if (goes_on) {
      co_await no_longer_prepared(m, 1);
      co_await rotate_if_full(m);
    }
    co_return goes_on;
  }

  Task<bool> ordered_commit(M& m, const std::shared_ptr<Ticket>& ticket) {
    Group group{ticket};
    Mutex* held = nullptr;
    // 5.6 keeps dump threads from events that are not synced yet: nobody flushes while one syncs.
    const bool keeps_log = design_ == Design::stages && config_.sync_binlog == 1;
    bool goes_on = true;
    for (const Stage stage : {Stage::flush, Stage::sync, Stage::commit}) {
      if (stage == Stage::commit && !config_.order_commits) break;
      const bool leads = co_await enroll(m, stage, group, stage == Stage::sync && keeps_log ? nullptr : held);
      if (!leads) {
        watch_.follows(stage, *ticket);
        if (rules_.tells_members_early() && stage != Stage::flush) co_await tell(m, group);
        const bool is_done = co_await until_told(m, ticket);
        co_return is_done;
      }
      held = &mutex_of(stage);
      co_await held->lock(m);
      watch_.leads(stage, *ticket);
      goes_on = co_await work(m, stage, *ticket, group);
      watch_.ends(stage);
      if (stage == Stage::sync && keeps_log) co_await mutex_of(Stage::flush).unlock(m);
      if (!goes_on) break;
    }
    co_await held->unlock(m);
    if (!goes_on) {
      for (const auto& member : group) member->has_failed = true;
    }
    co_await tell(m, group);
    if (goes_on) goes_on = co_await behind_the_stages(m, ticket);
    if (goes_on) co_await rotate_if_full(m);
    co_return goes_on;
  }

  /// Appends a chain to a queue, then gives the stage before free. True: the queue was empty, and who came leads it.
  Task<bool> enroll(M& m, Stage stage, const Group& chain, Mutex* held) {
    Queue& queue = queue_of(stage);
    co_await queue.mutex.lock(m);
    const bool leads = queue.waiting.empty();
    queue.waiting.insert(queue.waiting.end(), chain.begin(), chain.end());
    m.charge(config_.enroll_ns);
    co_await queue.mutex.unlock(m);
    if (held != nullptr) co_await held->unlock(m);
    co_return leads;
  }
  /// All that wait; the next one that comes leads.
  Task<> fetch(M& m, Stage stage, Group& group) {
    Queue& queue = queue_of(stage);
    co_await queue.mutex.lock(m);
    group.clear();
    group.swap(queue.waiting);
    m.charge(config_.enroll_ns);
    co_await queue.mutex.unlock(m);
  }

  Task<bool> work(M& m, Stage stage, const Ticket& leader, Group& group) {
    bool goes_on = true;
    if (stage == Stage::flush) {
      goes_on = co_await flush_group(m, leader, group);
    } else if (stage == Stage::sync) {
      goes_on = co_await sync_group(m, group);
    } else {
      goes_on = co_await commit_group(m, group);
    }
    co_return goes_on;
  }

  Task<bool> flush_group(M& m, const Ticket& leader, Group& group) {
    ++counters_.flush_groups;
    if (!rules_.delays_before_sync()) co_await delay(m, Stage::flush);
    if (rules_.fetches_before_flush()) co_await fetch(m, Stage::flush, group);
    bool goes_on = !m.stopping();
    if (goes_on && design_ == Design::one_redo_flush) {
      const Lsn end = co_await log_.end_lsn(m);
      goes_on = co_await flush_redo(m, rules_.to_flush(end, leader.prepare_lsn));
    }
    if (!rules_.fetches_before_flush()) co_await fetch(m, Stage::flush, group);
    if (!goes_on) co_return false;
    if (design_ == Design::one_redo_flush) watch_.reached(Step::redo_flushed, group);
    co_await write_events(m, group);
    co_return true;
  }

  Task<bool> sync_group(M& m, Group& group) {
    ++counters_.sync_groups;
    if (rules_.delays_before_sync() && is_sync_due()) co_await delay(m, Stage::sync);
    co_await fetch(m, Stage::sync, group);
    bool goes_on = !m.stopping();
    if (goes_on && !rules_.syncs_before_commit()) goes_on = co_await commit_all(m, group);
    if (goes_on) co_await sync_if_due(m, group);
    co_return goes_on;
  }

  Task<bool> commit_group(M& m, Group& group) {
    ++counters_.commit_groups;
    co_await fetch(m, Stage::commit, group);
    bool goes_on = !m.stopping();
    if (goes_on && rules_.syncs_before_commit()) goes_on = co_await commit_all(m, group);
    if (goes_on) co_await no_longer_prepared(m, group.size());
    co_return goes_on;
  }

  Task<bool> commit_all(M& m, const Group& group) {
    bool goes_on = true;
    for (std::size_t i = 0; goes_on && i < group.size(); ++i) {
      goes_on = co_await commit_in_engine(m, group[i]);
    }
    co_return goes_on;
  }

  /// The events of a group, in the order of its queue.
  Task<> write_events(M& m, Tickets group) {
    const machine::Scope<M> doing(m, write_binlog_);
    co_await m.add(prepared_, group.size());
    for (const auto& ticket : group) {
      const bool has_written = co_await binlog_.append(m, *ticket);
      if (has_written) watch_.reached(Step::binlog_partly_written, group);
    }
    co_await binlog_.flush(m);
    if (binlog_.is_full()) is_full_.store(true, std::memory_order_relaxed);
    watch_.reached(Step::binlog_written, group);
  }

  bool is_sync_due() const { return config_.sync_binlog > 0 && unsynced_groups_ + 1 >= config_.sync_binlog; }
  Task<> sync_if_due(M& m, Tickets group) {
    const bool is_due = is_sync_due();
    ++unsynced_groups_;
    if (is_due) {
      const machine::Scope<M> doing(m, sync_binlog_);
      unsynced_groups_ = 0;
      co_await binlog_.sync(m);
      watch_.reached(Step::binlog_synced, group);
    }
  }

  /// Until the time is over or enough others wait: a tenth of it, and a look.
  Task<> delay(M& m, Stage stage) {
    const std::uint64_t delay_ns = config_.delay_us * 1000;
    const std::uint64_t step_ns = std::max<std::uint64_t>(1000, delay_ns / 10);
    Queue& queue = queue_of(stage);
    for (std::uint64_t waited_ns = 0; waited_ns < delay_ns && !m.stopping(); waited_ns += step_ns) {
      co_await queue.mutex.lock(m);
      watch_.delays(queue.waiting);
      const bool is_enough = config_.no_delay_count > 0 && queue.waiting.size() >= config_.no_delay_count;
      co_await queue.mutex.unlock(m);
      if (is_enough) break;
      co_await m.sleep(step_ns);
    }
  }

  Task<bool> until_told(M& m, const std::shared_ptr<Ticket>& ticket) {
    co_await lock_done_.lock(m);
    ticket->condition = 0;
    if (config_.own_conditions) {
      ticket->condition = free_conditions_.back();
      free_conditions_.pop_back();
    }
    while (ticket->is_pending) {
      co_await done_[ticket->condition]->wait(m, lock_done_, machine::kForEver,
                                              machine::Patience::through_stop);
    }
    if (config_.own_conditions) free_conditions_.push_back(ticket->condition);
    ticket->condition = SIZE_MAX;
    co_await lock_done_.unlock(m);
    if (ticket->has_failed) co_return false;
    const bool goes_on = co_await behind_the_stages(m, ticket);
    co_return goes_on;
  }

  Task<> tell(M& m, const Group& group) {
    co_await lock_done_.lock(m);
    const std::size_t told = group.size() - (rules_.forgets_last_member() && group.size() > 1 ? 1 : 0);
    for (std::size_t i = 0; i < told; ++i) {
      Ticket& member = *group[i];
      watch_.told(member);
      member.is_pending = false;
      if (config_.own_conditions && member.condition != SIZE_MAX) {
        co_await done_[member.condition]->signal(m);
      }
    }
    if (!config_.own_conditions) co_await done_[0]->broadcast(m);
    co_await lock_done_.unlock(m);
  }

  /// Without an order each session commits by itself, in its own time.
  Task<bool> behind_the_stages(M& m, const std::shared_ptr<Ticket>& ticket) {
    bool goes_on = true;
    if (!config_.order_commits) {
      if (rules_.syncs_before_commit()) goes_on = co_await commit_in_engine(m, ticket);
      co_await no_longer_prepared(m, 1);
    }
    co_return goes_on;
  }

  Task<> no_longer_prepared(M& m, std::uint64_t n) {
    const std::uint64_t before = co_await m.add(prepared_, ~n + 1);
    if (before != n) co_return;
    co_await lock_xids_.lock(m);
    co_await no_prepared_.broadcast(m);
    co_await lock_xids_.unlock(m);
  }

  /// Nobody writes meanwhile; who has written commits first.
  Task<> rotate_if_full(M& m) {
    if (!is_full_.load(std::memory_order_relaxed)) co_return;
    co_await mutex_of(Stage::flush).lock(m);
    if (binlog_.is_full() && !m.stopping()) {
      bool goes_on = true;
      if (rules_.waits_for_prepared()) goes_on = co_await until_none_is_prepared(m);
      if (goes_on && rules_.flushes_engine_at_rotation()) {
        const Lsn end = co_await log_.end_lsn(m);
        goes_on = co_await log_.write_up_to(m, end, true);
      }
      if (goes_on) {
        co_await binlog_.rotate(m);
        ++counters_.rotations;
        is_full_.store(false, std::memory_order_relaxed);
      }
    }
    co_await mutex_of(Stage::flush).unlock(m);
  }
  Task<bool> until_none_is_prepared(M& m) {
    co_await lock_xids_.lock(m);
    for (;;) {
      const std::uint64_t prepared = co_await m.load(prepared_);
      if (prepared == 0 || m.stopping()) break;
      co_await no_prepared_.wait(m, lock_xids_);
    }
    co_await lock_xids_.unlock(m);
    co_return !m.stopping();
  }

  Task<> flush_now_and_then(M& m) {
    while (!m.stopping()) {
      co_await m.sleep(config_.flush_log_at_timeout_ns);
      const Lsn end = co_await log_.end_lsn(m);
      co_await log_.write_up_to(m, end, true);
    }
  }

  Design design_;
  CommitConfig config_;
  Log& log_;
  Engine engine_;
  BinlogFiles<M> binlog_;
  Watch watch_;
  [[no_unique_address]] Rules rules_;
  StageCounters counters_;
  Mutex prepare_commit_mutex_;
  std::array<Mutex, kStages> stage_mutexes_;
  std::array<Queue, kStages> queues_;
  Mutex lock_done_;
  std::vector<std::unique_ptr<Condition>> done_;  // one for all, or one per session
  std::vector<std::size_t> free_conditions_;      // under LOCK_done
  Mutex lock_xids_;
  Condition no_prepared_;
  typename M::Word prepared_;          // transactions in the binlog that the engine has not committed
  std::uint64_t unsynced_groups_ = 0;  // under LOCK_sync; in 5.5 under LOCK_log
  std::atomic<bool> is_full_ = false;
  std::atomic<bool> is_open_ = false;
  machine::Site prepare_;
  machine::Site flush_redo_;
  machine::Site write_binlog_;
  machine::Site sync_binlog_;
  machine::Site engine_commit_;
};

}  // namespace engineroom::group_commit
