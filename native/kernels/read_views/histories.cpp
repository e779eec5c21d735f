#include "read_views/histories.hpp"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "common/require.hpp"
#include "machine/random.hpp"
#include "machine/sim_machine.hpp"
#include "read_views/purge.hpp"
#include "read_views/versions.hpp"
#include "transactions/trx_sys.hpp"

namespace engineroom::read_views {

namespace {

using machine::Random;
using machine::SimConfig;
using machine::SimMachine;
using transactions::Latches;
using transactions::Trx;
using transactions::TrxSys;
using transactions::TrxSysConfig;
using transactions::Views;

/// What became of a transaction: its place among those that became visible, 0 as long as it has none.
struct Outcome {
  std::uint64_t place = 0;
};
/// One change of a row, as the oracle keeps it: for ever, in the order of the changes.
struct Change {
  const Outcome* by;
  std::uint64_t value;
  bool is_deleted;
};

SimConfig wild_machine(Random& random, std::uint64_t seed) {
  return {.cores_per_socket = static_cast<std::uint32_t>(1 + random.next() % 4),
          .seed = seed,
          .random_schedule = true,
          .no_timeouts = true};
}

/// One history: its sessions, its rows and what the oracle knows of them.
template <typename Rules>
class History {
  using M = SimMachine;

 public:
  History(M& m, Random& random, std::uint64_t seed, const TrxSysConfig& trx_sys,
          const HistoriesConfig& config, HistoryReport& report)
      : seed_(seed), config_(config), report_(report), trx_sys_(m, trx_sys), purge_(m, trx_sys_, 20) {
    const std::size_t rows = 2 + random.next() % 6;
    for (std::size_t i = 0; i < rows; ++i) rows_.push_back(std::make_unique<Row<M>>(m, 50));
    changes_.resize(rows);
    sessions_ = 2 + random.next() % 6;
    constexpr std::uint64_t kWritePercents[] = {4, 25, 60};
    write_percent_ = kWritePercents[random.next() % 3];
  }

  void run(M& m) {
    sessions_left_ = sessions_;
    for (std::size_t i = 0; i < sessions_; ++i) {
      m.spawn("session", [this, &m] { return session(m); });
    }
    m.spawn("purge", [this, &m] { return purge(m); });
    m.run();
    report_.views_made += trx_sys_.counters().views_made;
    report_.views_reused += trx_sys_.counters().views_reused;
    if (trx_sys_.views_in_list() + trx_sys_.active_ids().size() + trx_sys_.ids_in_shards() > 0) {
      fails(&HistoryReport::leftovers, "a view or an active id is left");
    }
    if (purge_.history_length() > 0) fails(&HistoryReport::leftovers, "purge leaves undo logs");
  }

 private:
  /// A transaction of a session, from its begin to its end.
  struct Open {
    Trx<M>& trx;
    bool is_read_committed;
    Outcome* outcome = nullptr;
    UndoLog<M> undo;
    std::vector<std::size_t> locked;  // rows, ascending
  };
  struct Left {
    History& history;
    Open& open;
    Task<> to_history(M& m, TrxNo no) { return history.purge_.add(m, no, open.undo); }
    void became_visible(std::uint64_t place) { open.outcome->place = place; }
  };

  void fails(std::uint64_t HistoryReport::*count, const std::string& what) {
    ++(report_.*count);
    if (report_.first_failure.empty()) {
      report_.first_failure = "seed " + std::to_string(seed_) + ": " + what;
    }
  }

  Task<> session(M& m) {
    Trx<M> trx;
    for (std::uint64_t i = 0; i < config_.transactions; ++i) {
      m.work(m.random() % 2000);
      if (m.random() % 4 == 0) co_await m.sleep(m.random() % 30'000);
      const bool writes = m.random() % 100 < write_percent_;
      const bool is_autocommit_read = !writes && m.random() % 3 != 0;
      Open open{.trx = trx, .is_read_committed = m.random() % 2 == 0, .undo = {}, .locked = {}};
      co_await trx_sys_.begin(m, trx, is_autocommit_read);
      if (is_autocommit_read) {
        co_await statement(m, open);
        co_await trx_sys_.end_of_reads(m, trx);
        continue;
      }
      const std::uint64_t statements = 1 + m.random() % 4;
      for (std::uint64_t s = 0; s < statements; ++s) {
        if (writes && m.random() % 2 == 0) co_await change(m, open);
        co_await statement(m, open);
        if (open.is_read_committed) co_await trx_sys_.drop_view(m, trx);
        if (m.random() % 3 == 0) co_await m.sleep(m.random() % 20'000);
      }
      co_await end(m, open);
    }
    co_await trx_sys_.disconnect(m, trx);
    --sessions_left_;
  }

  /// Reads some rows in one snapshot, and compares.
  Task<> statement(M& m, Open& open) {
    co_await trx_sys_.open_view(m, open.trx);
    look_at(*open.trx.view);
    const std::uint64_t reads = 1 + m.random() % 4;
    for (std::uint64_t i = 0; i < reads; ++i) {
      const std::size_t at = m.random() % rows_.size();
      const Found found = co_await rows_[at]->read(m, *open.trx.view);
      judge(at, found, *open.trx.view, open.outcome);
    }
  }
  void judge(std::size_t at, const Found& found, const transactions::View<M>& view, const Outcome* own) {
    ++report_.reads;
    report_.steps += found.steps;
    if (found.steps > 0) ++report_.reads_of_older;
    if (found.is_history_missing) {
      return fails(&HistoryReport::missing_history, "row " + std::to_string(at) + " needs a purged version");
    }
    const auto shown =
        std::ranges::find_if(changes_[at].rbegin(), changes_[at].rend(), [&](const Change& change) {
          return change.by == own || (change.by->place > 0 && change.by->place <= view.commits_seen);
        });
    const bool is_there = shown != changes_[at].rend() && !shown->is_deleted;
    if (found.is_there == is_there && (!is_there || found.value == shown->value)) return;
    fails(&HistoryReport::wrong_reads, "row " + std::to_string(at) + " is " +
                                           (found.is_there ? std::to_string(found.value) : "not there") +
                                           " and should be " +
                                           (is_there ? std::to_string(shown->value) : "not there"));
  }
  void look_at(const transactions::View<M>& view) {
    const bool is_sound = view.low_limit_no <= view.low_limit_id && view.up_limit_id <= view.low_limit_id &&
                          std::ranges::is_sorted(view.ids) && std::ranges::all_of(view.ids, [&](TrxId id) {
                            return id >= view.up_limit_id && id < view.low_limit_id && id != view.creator_id;
                          });
    if (!is_sound) fails(&HistoryReport::wrong_views, "the limits of a view contradict each other");
  }

  /// Changes one row that lies behind those which the transaction has locked, so that nobody waits in a circle.
  Task<> change(M& m, Open& open) {
    const std::size_t first = open.locked.empty() ? 0 : open.locked.back();
    const std::size_t at = first + m.random() % (rows_.size() - first);
    Row<M>& row = *rows_[at];
    co_await trx_sys_.become_read_write(m, open.trx);
    if (open.outcome == nullptr) open.outcome = &outcomes_.emplace_back();
    if (open.locked.empty() || open.locked.back() != at) {
      co_await row.lock().lock(m);
      open.locked.push_back(at);
    }
    const TrxId writer = row.newest_writer();
    if (writer != open.trx.id) {
      const bool is_active = co_await trx_sys_.is_active(m, writer);
      if (is_active) fails(&HistoryReport::wrongly_active, "transaction " + std::to_string(writer));
    }
    const std::uint64_t value = ++last_value_;
    const bool is_deleted = m.random() % 6 == 0;
    changes_[at].push_back({open.outcome, value, is_deleted});
    Version* version = co_await row.change(m, open.trx.id, value, is_deleted);
    open.undo.emplace_back(&row, version);
  }

  Task<> end(M& m, Open& open) {
    if (open.outcome == nullptr) {
      co_await trx_sys_.end_of_reads(m, open.trx);
      co_return;
    }
    if (m.random() % 8 == 0) {
      ++report_.rollbacks;
      for (auto change = open.undo.rbegin(); change != open.undo.rend(); ++change) {
        co_await change->first->undo(m);
      }
      for (const std::size_t at : open.locked) {
        std::erase_if(changes_[at], [&](const Change& change) { return change.by == open.outcome; });
      }
      co_await trx_sys_.roll_back(m, open.trx);
    } else {
      ++report_.commits;
      if (m.random() % 2 == 0) co_await trx_sys_.prepare_commit(m, open.trx);
      co_await trx_sys_.commit(m, open.trx, Left{*this, open});
    }
    for (const std::size_t at : open.locked) co_await rows_[at]->lock().unlock(m);
  }

  Task<> purge(M& m) {
    while (sessions_left_ > 0) {
      co_await m.sleep(m.random() % 10'000);
      report_.purged += co_await purge_.batch(m, 1 + m.random() % 8);
      for (const transactions::View<M>* view = trx_sys_.views().newest(); view != nullptr;
           view = view->older) {
        // One that was made when nobody was active needs nothing below its ids, whatever its number: it may be used again.
        const bool is_open = m.peek(const_cast<typename M::Word&>(view->closed)) == 0;
        if (is_open && !view->empty() && view->low_limit_no < purge_.view().low_limit_no) {
          fails(&HistoryReport::purge_too_far, "purge is at " + std::to_string(purge_.view().low_limit_no) +
                                                   ", a view at " + std::to_string(view->low_limit_no));
        }
      }
    }
    report_.purged += co_await purge_.batch(m, SIZE_MAX);
  }

  std::uint64_t seed_;
  const HistoriesConfig& config_;
  HistoryReport& report_;
  TrxSys<M, Rules> trx_sys_;
  Purge<M, Rules> purge_;
  std::vector<std::unique_ptr<Row<M>>> rows_;
  std::vector<std::vector<Change>> changes_;  // of each row
  std::deque<Outcome> outcomes_;
  std::uint64_t last_value_ = 0;
  std::size_t sessions_ = 0;
  std::size_t sessions_left_ = 0;
  std::uint64_t write_percent_ = 0;
};

void check(Latches latches, Views views, Mistake mistake) {
  const bool is_of_reuse = mistake == Mistake::flag_behind_the_look || mistake == Mistake::reuses_non_empty ||
                           mistake == Mistake::reuses_stale;
  const bool is_possible = (!is_of_reuse || views == Views::kept) &&
                           (mistake != Mistake::view_not_told || latches != Latches::one_5_6);
  if (is_possible) return;
  refuse("a transaction system with latches " + std::string(names::of(latches)) + " and views " +
         std::string(names::of(views)) + " cannot make the mistake " + std::string(names::of(mistake)) +
         ": choose another");
}

}  // namespace

HistoryReport run_histories(Latches latches, Views views, Mistake mistake, const HistoriesConfig& config) {
  options::check(config);
  check(latches, views, mistake);
  HistoryReport report;
  plant(mistake, [&]<typename Rules>() {
    for (std::uint64_t i = 0; i < config.runs; ++i) {
      const std::uint64_t seed = config.seed + i;
      Random random(seed * 0x9E3779B97F4A7C15U + 1);
      SimMachine m(wild_machine(random, seed));
      // What a section waits for, and how views are closed and ids kept, changes nothing that a reader sees.
      const TrxSysConfig trx_sys{.latches = latches,
                                 .views = views,
                                 .ids = i % 4 == 2 ? transactions::Ids::bitmap : transactions::Ids::vector,
                                 .closes_without_mutex = i % 4 == 1,
                                 .has_lines = i % 4 >= 2};
      History<Rules> history(m, random, seed, trx_sys, config, report);
      history.run(m);
      ++report.runs;
    }
  });
  return report;
}

}  // namespace engineroom::read_views
