// The versions of a row: the newest in its page, the older ones in undo logs, each found from the one that replaced it.
//
// Models      DB_TRX_ID and DB_ROLL_PTR, and row_vers_build_for_consistent_read (5.6 to 9.7)
// Leaves out  indexes, columns, the heap that each older version is built in; a row lock is first come, first served
// Cost        reading is linear in the versions that are newer than the view
#pragma once

#include <cstdint>
#include <deque>

#include "machine/concept.hpp"
#include "sync/latch.hpp"
#include "transactions/read_view.hpp"

namespace engineroom::read_views {

using machine::Machine;
using machine::Task;
using transactions::ReadView;
using transactions::TrxId;

struct Version {
  TrxId writer = 0;
  std::uint64_t value = 0;
  bool is_deleted = false;       // marked so: the row is not there for whoever sees this version
  bool is_first = false;         // an insert: there was nothing before
  bool is_older_purged = false;  // the undo log from which the one before is built is gone
  Version* older = nullptr;
};

struct Found {
  bool is_there = false;
  std::uint64_t value = 0;
  std::uint64_t steps = 0;          // versions built from undo logs
  bool is_history_missing = false;  // one was needed that purge has removed: DB_MISSING_HISTORY
};

template <Machine M>
class Row {
 public:
  Row(M& m, std::uint64_t build_ns) : page_(m, "page"), lock_(m, "row_lock"), build_ns_(build_ns) {}

  sync::Latch<M>& lock() { return lock_; }  // of the record, from its change to the end of the transaction
  TrxId newest_writer() const { return newest_ == nullptr ? 0 : newest_->writer; }

  /// The version that the view shows.
  Task<Found> read(M& m, const ReadView& view) {
    Found found;
    co_await page_.lock(m);
    for (const Version* version = newest_; version != nullptr; version = version->older) {
      if (view.changes_visible(version->writer)) {
        found.is_there = !version->is_deleted;
        found.value = version->value;
        break;
      }
      if (version->is_first) break;
      if (version->is_older_purged) {
        found.is_history_missing = true;
        break;
      }
      ++found.steps;
    }
    m.charge(found.steps * build_ns_);
    co_await page_.unlock(m);
    co_return found;
  }
  /// The newest version, whoever wrote it: READ UNCOMMITTED, and what a change stands on.
  Task<Found> read_newest(M& m) {
    Found found;
    co_await page_.lock(m);
    found.is_there = newest_ != nullptr && !newest_->is_deleted;
    found.value = newest_ == nullptr ? 0 : newest_->value;
    co_await page_.unlock(m);
    co_return found;
  }

  /// The row's lock is held. What the undo log of the change is: the version, whose `older` it builds.
  Task<Version*> change(M& m, TrxId writer, std::uint64_t value, bool is_deleted) {
    co_await page_.lock(m);
    versions_.push_back({.writer = writer,
                         .value = value,
                         .is_deleted = is_deleted,
                         .is_first = newest_ == nullptr,
                         .older = newest_});
    newest_ = &versions_.back();
    Version* made = newest_;
    co_await page_.unlock(m);
    co_return made;
  }
  /// The newest change is its own; what was before it is the newest again.
  Task<> undo(M& m) {
    co_await page_.lock(m);
    newest_ = newest_->older;
    co_await page_.unlock(m);
  }
  /// Its undo log is gone: from this version none before it can be built any more.
  Task<> purge(M& m, Version* version) {
    co_await page_.lock(m);
    version->is_older_purged = true;
    co_await page_.unlock(m);
  }

 private:
  sync::Latch<M> page_;
  sync::Latch<M> lock_;
  std::deque<Version> versions_;  // all of them for as long as the run lasts, so that none moves
  Version* newest_ = nullptr;
  std::uint64_t build_ns_;
};

}  // namespace engineroom::read_views
