// The transaction system: which transactions are active, in which order commits become visible, and what a snapshot copies.
//
// Models      trx_sys and its latches: trx_start_low, trx_set_rw_mode, MVCC::view_open, MVCC::view_close, trx_rw_is_active,
//             trx_prepare and trx_commit_in_memory, in 5.6.24, in 5.7, in 8.0 up to 8.0.25, and from 8.0.26 to 9.7
// Leaves out  savepoints, recovered transactions, rollback segments, the counter's page (written every 256 values)
// Cost        some three to seven latches per read-write transaction; a view copies every active id
//
//   latches        counter   numbers of commits        active ids            is this id active?
//   5.6            mutex     mutex                     mutex (a list)        mutex
//   5.7            mutex     mutex                     mutex                 mutex
//   8.0            mutex     mutex                     mutex (and a set)     mutex, unless it is older than all
//   8.0, split     atomic    serialisation mutex       mutex (and a set)     mutex, unless it is older than all
//   8.0, sharded   atomic    serialisation mutex       mutex                 its shard, unless it is older than all there
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <vector>

#include "machine/concept.hpp"
#include "machine/ready.hpp"
#include "sync/latch.hpp"
#include "transactions/design.hpp"
#include "transactions/read_view.hpp"
#include "transactions/rules.hpp"
#include "transactions/shared_memory.hpp"
#include "transactions/view_list.hpp"

namespace engineroom::transactions {

/// What a session is to the transaction system, from its first transaction to its end: trx_t.
template <Machine M>
struct Trx {
  TrxId id = 0;  // 0: it has changed nothing
  TrxNo no = 0;  // 0: it does not commit yet
  View<M>* view = nullptr;
  bool is_view_open = false;
  bool is_autocommit_read = false;
  bool is_listed = false;  // among the active ones
  bool is_prepared = false;
  typename M::Lines line{1};  // that links it in lists, and that a walk over the list of 5.6 looks at
};

struct TrxSysCounters {
  using Count = std::atomic<std::uint64_t>;
  Count mutex = 0;  // acquisitions of each latch
  Count serialisation = 0;
  Count shards = 0;
  Count views_made = 0;
  Count views_reused = 0;
  Count views_walked = 0;  // by purge, on its way to the oldest open one
  Count clones = 0;        // by purge
};

/// What a transaction leaves behind, for transactions that leave nothing.
template <Machine M>
struct NoChanges {
  /// Its undo logs enter the history, under its number.
  machine::Ready<> to_history(M&, TrxNo) { return {}; }
  /// From here on new views show it; so many have been so before.
  void became_visible(std::uint64_t) {}
};

template <Machine M, typename Rules = Sound>
class TrxSys {
 public:
  static constexpr std::size_t kShards = 256;
  static constexpr TrxId kFirst = 1;

  TrxSys(M& m, const TrxSysConfig& config)
      : config_(config),
        mutex_(m, "trx_sys_mutex", config.latch_spin),
        serialisation_mutex_(m, "trx_sys_serialisation_mutex", config.latch_spin) {
#if defined(__cpp_exceptions)
    if (config.has_lines) memory_ = std::make_unique<Memory>();
#endif
    if (config.latches != Latches::sharded) return;
    for (std::size_t i = 0; i < kShards; ++i) {
      shards_.push_back(std::make_unique<Shard>(m, config.latch_spin));
    }
  }

  // The life of a transaction.

  /// In 5.6 every transaction is entered at its start; later ones when they write.
  Task<> begin(M& m, Trx<M>& trx, bool is_autocommit_read) {
    trx.id = 0;
    trx.no = 0;
    trx.is_autocommit_read = is_autocommit_read;
    if (config_.latches == Latches::one_5_6) co_await enter(m, trx);
  }
  Task<> become_read_write(M& m, Trx<M>& trx) {
    if (trx.is_listed) co_return;
    co_await enter(m, trx);
    if (Rules::tells_the_view() && trx.is_view_open) trx.view->creator_id = trx.id;
  }

  /// The transaction's snapshot, where it has none open.
  Task<> open_view(M& m, Trx<M>& trx) {
    if (trx.is_view_open) co_return;
    trx.is_view_open = true;
    if (trx.view != nullptr && trx.is_autocommit_read) {
      const bool is_current = co_await reopen(m, *trx.view);
      if (is_current) co_return;
    }
    TrxId counter = co_await m.load(counter_);
    co_await lock(m);
    if (trx.view == nullptr) {
      trx.view = views_.take();
    } else {
      if (has_lines()) co_await touch_view_links(m, *trx.view);
      views_.unlink(trx.view);
    }
    if (Rules::counter_is_read_under_mutex()) counter = co_await m.load(counter_);
    co_await prepare(m, *trx.view, trx.id, counter);
    if (has_lines()) co_await touch_new_view(m, *trx.view);
    views_.link_newest(trx.view);
    co_await m.store(trx.view->closed, 0);
    m.charge(config_.list_ns);
    co_await mutex_.unlock(m);
    if (Rules::number_taken() == NumberTaken::behind_mutex) co_await take_number(m, *trx.view);
    ++counters_.views_made;
  }
  /// At the end of a statement at READ COMMITTED: the view leaves the list.
  Task<> drop_view(M& m, Trx<M>& trx) {
    if (trx.view == nullptr) co_return;
    if (!closes_without_mutex()) {
      co_await remove_view(m, trx);
      co_return;
    }
    co_await m.store(trx.view->closed, 1);
    trx.is_view_open = false;
  }

  /// Whether the transaction that has changed a record is still active, so that the record is locked implicitly.
  Task<bool> is_active(M& m, TrxId id) {
    if (config_.latches == Latches::sharded) {
      Shard& shard = *shards_[id % kShards];
      const TrxId least = co_await m.load(shard.least);
      if (id < least) co_return false;
      co_await lock(m, shard);
      if (has_lines()) co_await Memory::node(m, shard.line);
      const bool is_found = shard.ids.contains(id);
      m.charge(config_.set_ns);
      co_await shard.latch.unlock(m);
      co_return is_found;
    }
    if (config_.latches != Latches::one_5_6 && config_.latches != Latches::one_5_7) {
      const TrxId least = co_await m.load(least_active_);
      if (id < least) co_return false;
    }
    co_await lock(m);
    if (has_lines() && config_.latches != Latches::one_5_6)
      co_await memory_->tree(m, id, ids_.size(), Access::read);
    const bool is_found = std::ranges::binary_search(ids_, id);
    m.charge(config_.set_ns);
    co_await mutex_.unlock(m);
    co_return is_found;
  }

  /// The first half of a commit with a binary log: prepared transactions are counted.
  Task<> prepare_commit(M& m, Trx<M>& trx) {
    co_await lock(m);
    trx.is_prepared = true;
    co_await mutex_.unlock(m);
  }

  /// Of a transaction that wrote. Visible to new views here, before its row locks are released and before its redo is
  /// flushed: both come behind.
  template <typename Changes = NoChanges<M>>
  Task<> commit(M& m, Trx<M>& trx, Changes&& changes = {}) {
    co_await give_number(m, trx);
    co_await changes.to_history(m, trx.no);
    if (!Rules::ids_leave_before_numbers()) co_await leave_numbers(m, trx);
    co_await leave(m, trx, [&] { changes.became_visible(++commits_); });
    if (config_.latches == Latches::sharded) co_await leave_shard(m, trx);
    if (Rules::ids_leave_before_numbers()) co_await leave_numbers(m, trx);
    if (trx.is_prepared && is_old()) {
      co_await lock(m);  // the count of prepared transactions, once more
      co_await mutex_.unlock(m);
    }
    trx.is_prepared = false;
  }
  /// Of one whose changes are undone: no number, nothing in the history.
  Task<> roll_back(M& m, Trx<M>& trx) {
    co_await leave(m, trx, [] {});
    if (config_.latches == Latches::sharded) co_await leave_shard(m, trx);
  }
  /// Of one that only read. Its view stays in the list, closed, or leaves it.
  Task<> end_of_reads(M& m, Trx<M>& trx) {
    if (trx.is_listed) {
      co_await leave(m, trx, [] {});
    } else if (trx.view != nullptr && config_.views != Views::kept) {
      co_await remove_view(m, trx);
    } else if (trx.is_view_open) {
      co_await m.store(trx.view->closed, 1);
      trx.is_view_open = false;
    }
    trx.is_autocommit_read = false;
  }
  /// The session ends.
  Task<> disconnect(M& m, Trx<M>& trx) {
    if (trx.view != nullptr) co_await remove_view(m, trx);
  }

  /// Purge's view: the oldest open one, its creator's changes taken out of it; a fresh one where none is open.
  Task<> clone_oldest(M& m, ReadView& into) {
    std::uint64_t walked = 0;
    co_await lock(m);
    View<M>* oldest = views_.newest();
    if (Rules::clones_oldest()) oldest = co_await views_.oldest_open(m, walked);
    m.charge(walked * config_.walk_ns);
    if (oldest == nullptr) {
      const TrxId counter = co_await m.load(counter_);
      co_await prepare(m, fresh_, 0, counter);
      static_cast<ReadView&>(into) = fresh_;
    } else if (config_.latches != Latches::sharded || oldest->low_limit_no > into.low_limit_no) {
      into = *oldest;
      m.charge(config_.prepare_ns);
    }
    co_await mutex_.unlock(m);
    counters_.views_walked += walked;
    ++counters_.clones;
    if (into.creator_id == 0) co_return;
    into.ids.insert(std::ranges::lower_bound(into.ids, into.creator_id), into.creator_id);
    into.creator_id = 0;
    into.complete();
  }

  // What a run is asked.
  const TrxSysCounters& counters() const { return counters_; }
  std::size_t views_in_list() const { return views_.size(); }
  const ViewList<M>& views() const { return views_; }
  const std::vector<TrxId>& active_ids() const { return ids_; }
  std::size_t ids_in_shards() const {
    std::size_t all = 0;
    for (const auto& shard : shards_) all += shard->ids.size();
    return all;
  }
  TrxId counter(M& m) { return m.peek(counter_); }
  std::uint64_t commits() const { return commits_; }

 private:
  struct Shard {
    Shard(M& m, const sync::SpinParams& spin) : latch(m, "trx_sys_shard_mutex", spin) {}
    sync::Latch<M> latch;
    typename M::Word least{UINT64_MAX};
    typename M::Lines line{1};
    std::set<TrxId> ids;  // under the latch
  };

  using Memory = SharedMemory<M>;

  bool has_lines() const {
#if defined(__cpp_exceptions)
    return memory_ != nullptr;
#else
    return false;  // no explorable asks for it, and a page loads every byte
#endif
  }
  bool closes_without_mutex() const {
#if defined(__cpp_exceptions)
    return config_.closes_without_mutex;
#else
    return false;
#endif
  }
  bool has_bitmap() const { return config_.ids == Ids::bitmap; }
  bool has_tree() const { return config_.latches != Latches::one_5_6 && config_.latches != Latches::sharded; }

  // Lines of a section under the mutex (has_lines).
  /// The active transaction at a place of the list comes or goes, and its neighbours are linked anew.
  Task<> touch_active(M& m, std::size_t at, TrxId id, bool comes) {
    const std::size_t size = ids_.size();
    if (config_.latches == Latches::one_5_6) {
      // The list is all that there is.
    } else if (!has_bitmap()) {
      co_await memory_->ids(m, at, size, Access::write);
    } else {
      // Who was the least looks for the next bit.
      const bool was_least = !comes && at == 0 && size > 1;
      co_await memory_->bits(m, id, was_least ? ids_[1] : id, Access::write);
    }
    co_await memory_->head(m, Memory::kTransactions);
    if (at > 0) co_await Memory::node(m, listed_[at - 1]->line);
    if (at + 1 < size) co_await Memory::node(m, listed_[at + 1]->line);
    co_await Memory::node(m, listed_[at]->line);
    if (has_tree()) co_await memory_->tree(m, id, size, Access::write);
  }
  Task<> touch_copied_ids(M& m) {
    if (ids_.empty()) co_return;
    if (has_bitmap()) {
      co_await memory_->bits(m, least_copied_bit(), newest_, Access::read);
    } else {
      co_await memory_->ids(m, 0, ids_.size(), Access::read);
    }
  }
  Task<> touch_view_links(M& m, View<M>& view) {
    co_await memory_->head(m, Memory::kViews);
    if (view.newer != nullptr) co_await Memory::node(m, view.newer->node);
    if (view.older != nullptr) co_await Memory::node(m, view.older->node);
    co_await Memory::node(m, view.node);
  }
  Task<> touch_new_view(M& m, View<M>& view) {
    co_await memory_->head(m, Memory::kViews);
    if (views_.newest() != nullptr) co_await Memory::node(m, views_.newest()->node);
    co_await Memory::node(m, view.node);
  }

  bool is_old() const { return config_.latches == Latches::one_5_6 || config_.latches == Latches::one_5_7; }
  bool is_listed() const { return config_.latches == Latches::one_5_6 || has_lines(); }
  bool has_serialisation_mutex() const {
    return config_.latches == Latches::split || config_.latches == Latches::sharded;
  }
  bool has_set_under_mutex() const {
    return config_.latches == Latches::one_8_0 || config_.latches == Latches::split;
  }

  auto lock(M& m) {
    counters_.mutex.fetch_add(1, std::memory_order_relaxed);
    return mutex_.lock(m);
  }
  auto lock(M& m, Shard& shard) {
    counters_.shards.fetch_add(1, std::memory_order_relaxed);
    return shard.latch.lock(m);
  }

  Task<> enter(M& m, Trx<M>& trx) {
    co_await lock(m);
    trx.id = co_await m.add(counter_, 1);
    // In 5.6 a read in autocommit mode has an id, and is in no list.
    trx.is_listed = !trx.is_autocommit_read;
    if (trx.is_listed) {
      ids_.push_back(trx.id);
      newest_ = trx.id;
      if (is_listed()) listed_.push_back(&trx);
      if (has_lines()) co_await touch_active(m, ids_.size() - 1, trx.id, true);
      m.charge(config_.list_ns + (has_set_under_mutex() ? config_.set_ns : 0));
      if (ids_.size() == 1) co_await m.store(least_active_, trx.id);
    }
    co_await mutex_.unlock(m);
    if (config_.latches != Latches::sharded) co_return;
    // For a moment a view may hold the id, and the shard does not.
    Shard& shard = *shards_[trx.id % kShards];
    co_await lock(m, shard);
    if (has_lines()) co_await Memory::node(m, shard.line);
    shard.ids.insert(trx.id);
    m.charge(config_.set_ns);
    if (*shard.ids.begin() == trx.id) co_await m.store(shard.least, trx.id);
    co_await shard.latch.unlock(m);
  }

  /// The moment of visibility: the id leaves the set that views copy, and the own view leaves the list.
  template <typename Visible>
  Task<> leave(M& m, Trx<M>& trx, const Visible& visible) {
    co_await lock(m);
    const auto at = std::ranges::lower_bound(ids_, trx.id);
    m.charge(config_.list_ns + (has_set_under_mutex() ? config_.set_ns : 0));
    const bool was_least = at == ids_.begin();
    const auto place = static_cast<std::size_t>(at - ids_.begin());
    if (has_lines()) co_await touch_active(m, place, trx.id, false);
    ids_.erase(ids_.begin() + static_cast<std::ptrdiff_t>(place));
    if (is_listed()) std::erase(listed_, &trx);
    if (has_lines() && trx.view != nullptr) co_await touch_view_links(m, *trx.view);
    // Readers of the rest of this section are kept out by the mutex; who reuses a view looks at the counter, which the
    // number has moved.
    visible();
    if (trx.view != nullptr) unlink_view(m, trx);
    if (Rules::ids_leave_before_numbers() && !has_serialisation_mutex() && trx.no != 0) {
      if (has_lines()) co_await memory_->head(m, Memory::kNumbers);
      std::erase(numbers_, trx.no);
      m.charge(config_.list_ns);
    }
    trx.is_listed = false;
    if (was_least) co_await m.store(least_active_, ids_.empty() ? UINT64_MAX : ids_.front());
    co_await mutex_.unlock(m);
  }
  Task<> leave_shard(M& m, Trx<M>& trx) {
    Shard& shard = *shards_[trx.id % kShards];
    co_await lock(m, shard);
    if (has_lines()) co_await Memory::node(m, shard.line);
    const bool was_least = *shard.ids.begin() == trx.id;
    shard.ids.erase(trx.id);
    m.charge(config_.set_ns);
    if (was_least) co_await m.store(shard.least, shard.ids.empty() ? UINT64_MAX : *shard.ids.begin());
    co_await shard.latch.unlock(m);
  }

  Task<> give_number(M& m, Trx<M>& trx) {
    if (has_serialisation_mutex()) {
      ++counters_.serialisation;
      co_await serialisation_mutex_.lock(m);
    } else {
      co_await lock(m);
    }
    trx.no = co_await m.add(counter_, 1);
    if (has_lines()) co_await memory_->head(m, Memory::kNumbers);
    numbers_.push_back(trx.no);
    m.charge(config_.list_ns);
    if (numbers_.size() == 1 && has_serialisation_mutex()) co_await m.store(least_no_, trx.no);
    if (has_serialisation_mutex()) {
      co_await serialisation_mutex_.unlock(m);
    } else {
      co_await mutex_.unlock(m);
    }
  }
  /// Where one mutex guards both, the number has left with the id.
  Task<> leave_numbers(M& m, Trx<M>& trx) {
    if (!has_serialisation_mutex()) {
      if (Rules::ids_leave_before_numbers()) co_return;
      co_await lock(m);
      std::erase(numbers_, trx.no);
      co_await mutex_.unlock(m);
      co_return;
    }
    ++counters_.serialisation;
    co_await serialisation_mutex_.lock(m);
    if (has_lines()) co_await memory_->head(m, Memory::kNumbers);
    const bool was_least = numbers_.front() == trx.no;
    std::erase(numbers_, trx.no);
    m.charge(config_.list_ns);
    if (was_least) {
      TrxNo least = numbers_.empty() ? 0 : numbers_.front();
      if (least == 0) least = co_await m.load(counter_);
      co_await m.store(least_no_, least);
    }
    co_await serialisation_mutex_.unlock(m);
  }

  /// Under the mutex. What is copied is one moment's; what `counter` ends is the same moment's if it was read here.
  Task<> prepare(M& m, View<M>& view, TrxId creator, TrxId counter) {
    view.creator_id = creator;
    if (Rules::number_taken() == NumberTaken::first) co_await take_number(m, view);
    view.low_limit_id = counter;
    view.commits_seen = commits_;
    view.ids.clear();
    for (const TrxId id : ids_) {
      if (id != creator) view.ids.push_back(id);
    }
    if (config_.latches == Latches::one_5_6) {
      // No vector of ids: each active transaction is looked at where it lies.
      for (Trx<M>* trx : listed_) {
        co_await m.touch(trx->line, 0, 1, machine::Access::read);
      }
      m.charge(listed_.size() * config_.walk_ns);
    } else {
      if (has_lines()) co_await touch_copied_ids(m);
      copy_ids(m);
    }
    m.charge(config_.prepare_ns);
    view.complete();
    if (Rules::number_taken() == NumberTaken::last) co_await take_number(m, view);
  }
  /// Older ones are few, and stand in a vector.
  TrxId least_copied_bit() const {
    constexpr TrxId kCopied = 65'536;  // in 8 KiB
    return newest_ - ids_.front() < kCopied ? ids_.front() : newest_ - (kCopied - 1);
  }
  void copy_ids(M& m) {
    if (has_bitmap()) {
      // A bit for each id from the least on, of those that have ended since, too.
      const auto bytes =
          ids_.empty() ? std::size_t{0} : static_cast<std::size_t>(newest_ - least_copied_bit()) / 8 + 1;
      scratch_.resize(std::max<std::size_t>(scratch_.size(), 2048));
      return m.copy(scratch_.data(), scratch_.data() + 1024, bytes);
    }
    scratch_.resize(std::max(scratch_.size(), ids_.size()));
    m.copy(scratch_.data(), ids_.data(), ids_.size() * sizeof(TrxId));
  }
  Task<> take_number(M& m, View<M>& view) {
    if (has_serialisation_mutex()) {
      view.low_limit_no = co_await m.load(least_no_);
    } else {
      const TrxNo counter = co_await m.load(counter_);
      view.low_limit_no = numbers_.empty() ? counter : numbers_.front();
    }
  }

  /// Without the mutex: true when the closed view shows what a new one would.
  Task<bool> reopen(M& m, View<M>& view) {
    if (Rules::reuses_only_empty() && !view.empty()) co_return false;
    if (Rules::opens_before_it_looks()) co_await m.store(view.closed, 0);
    const TrxId counter = co_await m.load(counter_);
    if (Rules::reuses_only_current() && counter != view.low_limit_id) {
      if (Rules::opens_before_it_looks()) co_await m.store(view.closed, 1);
      co_return false;
    }
    view.commits_seen = commits_;
    if (!Rules::opens_before_it_looks()) co_await m.store(view.closed, 0);
    ++counters_.views_reused;
    co_return true;
  }

  Task<> remove_view(M& m, Trx<M>& trx) {
    co_await lock(m);
    if (has_lines()) co_await touch_view_links(m, *trx.view);
    unlink_view(m, trx);
    co_await mutex_.unlock(m);
  }
  void unlink_view(M& m, Trx<M>& trx) {
    views_.unlink(trx.view);
    views_.give_back(trx.view);
    m.charge(config_.list_ns);
    trx.view = nullptr;
    trx.is_view_open = false;
  }

  TrxSysConfig config_;
  sync::Latch<M> mutex_;
  sync::Latch<M> serialisation_mutex_;
  typename M::Word counter_{kFirst};
  typename M::Word least_active_{UINT64_MAX};
  typename M::Word least_no_{kFirst};
  // Under the mutex.
  std::vector<TrxId> ids_;       // ascending: they are given under it
  std::vector<Trx<M>*> listed_;  // the same transactions, where somebody walks over them
  std::unique_ptr<Memory> memory_;
  TrxId newest_ = 0;
  ViewList<M> views_;
  View<M> fresh_;
  std::vector<TrxId> scratch_;
  // Under the serialisation mutex, or the mutex where there is none.
  std::vector<TrxNo> numbers_;  // ascending
  std::vector<std::unique_ptr<Shard>> shards_;
  TrxSysCounters counters_;
  std::atomic<std::uint64_t> commits_ = 0;
};

}  // namespace engineroom::transactions
