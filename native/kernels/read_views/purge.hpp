// Purge: removes undo logs that no view needs, in the order of the numbers of their transactions.
//
// Models      trx_purge (5.6 to 9.7): clone the oldest view, fetch undo logs below its low_limit_no, at most a batch of them;
//             the history list and its length
// Leaves out  rollback segments and their queue, worker threads, truncating tablespaces, delete-marked index records
// Cost        a walk over the closed views per batch, under the mutex of the transaction system
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "machine/concept.hpp"
#include "read_views/versions.hpp"
#include "sync/latch.hpp"
#include "transactions/trx_sys.hpp"

namespace engineroom::read_views {

using transactions::TrxNo;

/// What one transaction changed, as purge finds it: the rows and the versions that it made.
template <Machine M>
using UndoLog = std::vector<std::pair<Row<M>*, Version*>>;

template <Machine M, typename Rules = transactions::Sound>
class Purge {
 public:
  /// `remove_ns`: what an undo log takes, besides its rows.
  Purge(M& m, transactions::TrxSys<M, Rules>& trx_sys, std::uint64_t remove_ns)
      : trx_sys_(trx_sys), history_mutex_(m, "rseg_mutex"), remove_ns_(remove_ns) {}

  /// A commit leaves its undo log, under its number.
  Task<> add(M& m, TrxNo no, UndoLog<M> log) {
    co_await history_mutex_.lock(m);
    history_.emplace(no, std::move(log));
    co_await history_mutex_.unlock(m);
  }

  /// One batch of at most so many undo logs; how many were removed.
  Task<std::uint64_t> batch(M& m, std::size_t most) {
    co_await trx_sys_.clone_oldest(m, view_);
    std::vector<UndoLog<M>> taken;
    co_await history_mutex_.lock(m);
    while (!history_.empty() && taken.size() < most &&
           Rules::is_removable(history_.begin()->first, view_.low_limit_no)) {
      taken.push_back(std::move(history_.begin()->second));
      history_.erase(history_.begin());
    }
    co_await history_mutex_.unlock(m);
    for (UndoLog<M>& log : taken) {
      m.charge(remove_ns_);
      for (auto& [row, version] : log) co_await row->purge(m, version);
    }
    co_return taken.size();
  }

  std::size_t history_length() const { return history_.size(); }
  const ReadView& view() const { return view_; }

 private:
  transactions::TrxSys<M, Rules>& trx_sys_;
  sync::Latch<M> history_mutex_;
  std::map<TrxNo, UndoLog<M>> history_;  // under the mutex
  ReadView view_;                        // purge's own thread's
  std::uint64_t remove_ns_;
};

}  // namespace engineroom::read_views
