// Purge beside the sessions of an engine: undo logs of commits enter a history, and threads of the server remove what no view needs.
//
// Models      trx_purge and srv_purge_coordinator_thread (5.6 to 9.7): a commit takes its number and enters the history of its
//             rollback segment under that one's mutex; the coordinator clones the oldest view, takes undo logs in the order of their
//             numbers out of a queue of segments, shares them out among so many threads as the growth of the history asks for, and
//             yields until all are done
// Leaves out  what is in the undo logs and their pages; delete-marked records (each change costs the same); truncating the history
//             in steps of 128 batches: a removed undo log counts no more at once; innodb_max_purge_lag
// Cost        three latches per commit where its segment was empty, else one; two or three per undo log that is removed
//
// Names of latches are those of the version whose transaction system it stands on.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <queue>
#include <string_view>
#include <utility>
#include <vector>

#include "common/described.hpp"
#include "machine/concept.hpp"
#include "sync/event.hpp"
#include "sync/latch.hpp"
#include "sync/rw_latch.hpp"
#include "transactions/trx_sys.hpp"

namespace engineroom::engine {

using machine::Machine;
using machine::Task;

struct PurgeConfig {
  std::uint64_t threads = 4;
  std::uint64_t batch = 300;
  std::uint64_t rollback_segments = 128;
  std::uint64_t row_ns = 5'000;
  std::uint64_t row_bytes = 60;
  std::uint64_t pause_ns = 10'000'000;
};
constexpr auto described(options::Of<PurgeConfig>) {
  using C = PurgeConfig;
  return options::list<C>(
      "purge",
      {
          options::option<&C::threads>({.least = 1, .most = 32},
                                       "innodb_purge_threads, the coordinator among them"),
          options::option<&C::batch>({.least = 1, .most = 5'000}, "innodb_purge_batch_size: undo logs"),
          options::option<&C::rollback_segments>({.least = 1, .most = 128}, "innodb_rollback_segments"),
          options::option<&C::row_ns>("purging one changed row, always the same"),
          options::option<&C::row_bytes>({.least = 1, .most = 1 << 20}, "redo of purging one"),
          options::option<&C::pause_ns>("behind a batch that removed nothing"),
      });
}

struct PurgeCounts {
  std::uint64_t committed = 0;  // undo logs that entered the history
  std::uint64_t removed = 0;    // and left it
  std::uint64_t rows = 0;       // purged: of some undo logs that were removed the rows may still be under way
  std::uint64_t batches = 0;
  std::uint64_t latches = 0;  // acquisitions of the mutexes of rollback segments and of their queue
};

template <Machine M, typename Rules = transactions::Sound>
class Purge {
 public:
  /// Writes the redo of purging one row; false when the run was stopped first.
  using Write = std::function<Task<bool>(M&, std::uint64_t bytes)>;

  Purge(M& m, transactions::TrxSys<M, Rules>& trx_sys, transactions::Latches version,
        const PurgeConfig& config, Write write)
      : trx_sys_(trx_sys),
        config_(config),
        write_(std::move(write)),
        latch_(m, "trx_purge_latch"),
        queue_mutex_(m,
                     version == transactions::Latches::one_5_6 ? "purge_sys_bh_mutex" : "purge_sys_pq_mutex"),
        purging_(m.site("purge")) {
    for (std::uint64_t i = 0; i < config.rollback_segments; ++i) {
      segments_.push_back(std::make_unique<Segment>(m, name_of_segment_mutex(version)));
    }
    for (std::uint64_t i = 1; i < config.threads; ++i) {
      workers_.push_back(std::make_unique<Worker>(m));
    }
  }

  void spawn_threads(M& m) {
    m.spawn("purge", [this, &m] { return coordinator(m); });
    for (std::size_t i = 0; i < workers_.size(); ++i) {
      m.spawn("purge worker", [this, &m, i] { return worker(m, *workers_[i], i + 1); });
    }
  }

  /// Of a transaction that has changed so many rows.
  Task<> commit(M& m, transactions::Trx<M>& trx, std::uint64_t rows) {
    const auto i = static_cast<std::size_t>(next_segment_++ % segments_.size());
    ++counts_.latches;
    co_await segments_[i]->mutex.lock(m);
    co_await trx_sys_.commit(m, trx, ToHistory{*this, i, rows});
  }

  // What a run is asked.
  const PurgeCounts& counts() const { return counts_; }
  std::uint64_t history_length() const { return counts_.committed - counts_.removed; }
  std::uint64_t logs_in_segments() const {
    std::uint64_t all = 0;
    for (const auto& segment : segments_) all += segment->logs.size();
    return all;
  }
  /// The highest number among all undo logs removed.
  transactions::TrxNo removed_up_to() const { return removed_up_to_; }

 private:
  struct UndoLog {
    transactions::TrxNo no = 0;
    std::uint64_t rows = 0;
  };
  struct Segment {
    Segment(M& m, std::string_view name) : mutex(m, name) {}
    sync::Latch<M> mutex;
    std::deque<UndoLog> logs;  // by their numbers: these are given under the mutex
  };
  struct Worker {
    explicit Worker(M& m) : event(m, "srv_worker") {}
    sync::Event<M> event;
    typename M::Word batch;  // its share of that batch waits for it
  };
  /// Between a commit's number and its visibility, the mutex of its segment held.
  struct ToHistory {
    Purge& purge;
    std::size_t segment;
    std::uint64_t rows;
    Task<> to_history(M& m, transactions::TrxNo no) {
      return purge.add(m, segment, {.no = no, .rows = rows});
    }
    void became_visible(std::uint64_t) {}
  };

  static std::string_view name_of_segment_mutex(transactions::Latches version) {
    if (version == transactions::Latches::one_5_6) return "rseg_mutex";
    return version == transactions::Latches::one_5_7 ? "redo_rseg_mutex" : "undo_space_rseg_mutex";
  }

  Task<> add(M& m, std::size_t i, UndoLog log) {
    Segment& segment = *segments_[i];
    segment.logs.push_back(log);
    ++counts_.committed;
    if (segment.logs.size() == 1) co_await enqueue(m, log.no, i);
    co_await segment.mutex.unlock(m);
  }
  /// A segment is in the queue once, under the number of its oldest undo log, if it has any that purge is not looking at.
  Task<> enqueue(M& m, transactions::TrxNo no, std::size_t i) {
    ++counts_.latches;
    co_await queue_mutex_.lock(m);
    queue_.emplace(no, i);
    co_await queue_mutex_.unlock(m);
  }

  Task<> coordinator(M& m) {
    std::uint64_t threads = 1;
    std::uint64_t length_before = 0;
    while (!m.stopping()) {
      std::size_t removed = 0;
      const std::uint64_t length = history_length();
      if (length > length_before) {
        threads = std::min(threads + 1, config_.threads);
      } else if (threads > 1) {
        --threads;
      }
      length_before = length;
      {
        machine::Scope<M> doing(m, purging_);
        co_await fetch(m);
        removed = logs_.size();
        if (removed > 0) co_await share_out(m, threads);
        ++counts_.batches;
      }
      if (removed == 0) co_await m.sleep(config_.pause_ns);
    }
  }

  /// Undo logs of one batch, in the order of their numbers, none that a view needs.
  Task<> fetch(M& m) {
    co_await latch_.x_lock(m);
    co_await trx_sys_.clone_oldest(m, view_);
    co_await latch_.x_unlock(m);
    logs_.clear();
    while (logs_.size() < config_.batch) {
      ++counts_.latches;
      co_await queue_mutex_.lock(m);
      const bool is_over = queue_.empty() || !Rules::is_removable(queue_.top().first, view_.low_limit_no);
      std::size_t i = 0;
      if (!is_over) {
        i = queue_.top().second;
        queue_.pop();
      }
      co_await queue_mutex_.unlock(m);
      if (is_over) co_return;
      co_await take_oldest(m, i);
    }
  }
  Task<> take_oldest(M& m, std::size_t i) {
    Segment& segment = *segments_[i];
    ++counts_.latches;
    co_await segment.mutex.lock(m);
    logs_.push_back(segment.logs.front());
    segment.logs.pop_front();
    removed_up_to_ = std::max(removed_up_to_, logs_.back().no);
    ++counts_.removed;
    if (!segment.logs.empty()) co_await enqueue(m, segment.logs.front().no, i);
    co_await segment.mutex.unlock(m);
  }

  /// The coordinator takes a share itself, then yields until the workers have done theirs.
  Task<> share_out(M& m, std::uint64_t threads) {
    shares_ = std::min(static_cast<std::size_t>(threads), logs_.size());
    for (std::size_t i = 0; i + 1 < shares_; ++i) {
      co_await m.store(workers_[i]->batch, counts_.batches + 1);
      co_await workers_[i]->event.set(m);
    }
    co_await purge_share(m, 0);
    for (std::uint64_t done = 0; done + 1 < shares_ && !m.stopping();) {
      done = co_await m.load(completed_);
      if (done + 1 < shares_) co_await m.yield();
    }
    co_await m.store(completed_, 0);
  }
  Task<> worker(M& m, Worker& mine, std::size_t share) {
    std::uint64_t done = 0;
    while (!m.stopping()) {
      const std::uint64_t seen = co_await mine.event.reset(m);
      const std::uint64_t batch = co_await m.load(mine.batch);
      if (batch == done) {
        co_await mine.event.wait(m, seen);
        continue;
      }
      machine::Scope<M> doing(m, purging_);
      co_await purge_share(m, share);
      done = batch;
      co_await m.add(completed_, 1);
    }
  }
  Task<> purge_share(M& m, std::size_t share) {
    for (std::size_t i = share; i < logs_.size(); i += shares_) {
      for (std::uint64_t row = 0; row < logs_[i].rows; ++row) {
        if (m.stopping()) co_return;
        m.work(config_.row_ns);
        const bool is_done = co_await write_(m, config_.row_bytes);
        if (!is_done) co_return;
        ++counts_.rows;
      }
    }
  }

  transactions::TrxSys<M, Rules>& trx_sys_;
  PurgeConfig config_;
  Write write_;
  sync::RwLatch<M> latch_;
  sync::Latch<M> queue_mutex_;
  using Queued = std::pair<transactions::TrxNo, std::size_t>;
  std::priority_queue<Queued, std::vector<Queued>, std::greater<>> queue_;  // under its mutex
  std::vector<std::unique_ptr<Segment>> segments_;
  std::vector<std::unique_ptr<Worker>> workers_;
  typename M::Word completed_;  // shares of the batch, by workers
  // The coordinator's; workers read them while it waits.
  transactions::ReadView view_;
  std::vector<UndoLog> logs_;
  std::size_t shares_ = 1;
  std::uint64_t next_segment_ = 0;
  transactions::TrxNo removed_up_to_ = 0;
  PurgeCounts counts_;
  machine::Site purging_;
};

}  // namespace engineroom::engine
