// What guards the queues: one mutex for all of them, or a mutex for each 512th part of them under a latch that can stop
// everybody.
//
// Models      lock_sys->mutex (5.7, 8.0 before 8.0.21); locksys::Latches of 8.0.21 and later: Unique_sharded_rw_lock and
//             the page and table shards
// Leaves out  the try-lock for the periodic print
// Cost        one mutex: one acquisition an operation. Sharded: a share of the global latch and a shard
//
// Order: the global latch, shards in ascending order, then a transaction's mutex.
#pragma once

#include <cstddef>
#include <deque>

#include "lock_sys/lock_config.hpp"
#include "lock_sys/rules.hpp"
#include "machine/concept.hpp"
#include "machine/ready.hpp"
#include "sync/latch.hpp"
#include "sync/sharded_rw_latch.hpp"

namespace engineroom::lock_sys {

using machine::Machine;
using machine::Task;

/// Which cell of the hash, and for the rules which record is meant.
struct Cell {
  std::size_t number = 0;
  HeapNo heap_no = kFirstRecord;
};

template <Machine M, typename Rules = Sound>
class OneMutex {
 public:
  static constexpr bool kIsSharded = false;

  OneMutex(M& m, const LockConfig& config) : mutex_(m, "lock_mutex", config.latch_spin) {}

  /// There is no door before the mutex.
  machine::Ready<std::size_t> enter(M&) { return {0}; }
  machine::Ready<> leave(M&, std::size_t) { return {}; }
  machine::Ready<bool> is_stop_wanted(M&, std::size_t) { return {false}; }
  auto lock_page(M& m, Cell) { return mutex_.lock(m); }
  auto unlock_page(M& m, Cell) { return mutex_.unlock(m); }
  auto lock_pages(M& m, Cell, Cell) { return mutex_.lock(m); }
  auto unlock_pages(M& m, Cell, Cell) { return mutex_.unlock(m); }
  auto lock_table(M& m, TableId) { return mutex_.lock(m); }
  auto unlock_table(M& m, TableId) { return mutex_.unlock(m); }
  auto stop_all(M& m) { return mutex_.lock(m); }
  auto let_all_go(M& m) { return mutex_.unlock(m); }

  bool are_in_one_shard(Cell, Cell) const { return true; }

 private:
  sync::Latch<M> mutex_;
};

template <Machine M, typename Rules = Sound>
class Shards {
 public:
  static constexpr bool kIsSharded = true;

  Shards(M& m, const LockConfig& config)
      : global_(m, "lock_sys_global_rw_lock", config.latch_spin, config.global_parts) {
    for (std::size_t i = 0; i < config.page_shards; ++i)
      pages_.emplace_back(m, "lock_sys_page_mutex", config.latch_spin);
    for (std::size_t i = 0; i < config.table_shards; ++i) {
      tables_.emplace_back(m, "lock_sys_table_mutex", config.latch_spin);
    }
  }

  /// Before any shard, so that nobody is stopped in the middle. Gives the part to leave by.
  Task<std::size_t> enter(M& m) {
    const std::size_t part = global_.draw_part(m);
    co_await global_.s_lock(m, part);
    co_return part;
  }
  auto leave(M& m, std::size_t part) { return global_.s_unlock(m, part); }
  auto is_stop_wanted(M& m, std::size_t part) { return global_.x_is_wanted(m, part); }

  auto lock_page(M& m, Cell cell) { return pages_[shard_of(cell)].lock(m); }
  auto unlock_page(M& m, Cell cell) { return pages_[shard_of(cell)].unlock(m); }
  auto lock_table(M& m, TableId table) { return tables_[table % tables_.size()].lock(m); }
  auto unlock_table(M& m, TableId table) { return tables_[table % tables_.size()].unlock(m); }

  /// Both, in one order, or the one that they share.
  Task<> lock_pages(M& m, Cell a, Cell b) {
    std::size_t first = shard_of(a);
    std::size_t second = shard_of(b);
    if (Rules::takes_second_first(first, second)) std::swap(first, second);
    co_await pages_[first].lock(m);
    if (first != second) co_await pages_[second].lock(m);
  }
  Task<> unlock_pages(M& m, Cell a, Cell b) {
    const std::size_t first = shard_of(a);
    const std::size_t second = shard_of(b);
    co_await pages_[first].unlock(m);
    if (first != second) co_await pages_[second].unlock(m);
  }

  auto stop_all(M& m) { return global_.x_lock(m); }
  auto let_all_go(M& m) { return global_.x_unlock(m); }

  bool are_in_one_shard(Cell a, Cell b) const { return shard_of(a) == shard_of(b); }

 private:
  std::size_t shard_of(Cell cell) const { return Rules::shard(cell.number, cell.heap_no, pages_.size()); }

  sync::ShardedRwLatch<M> global_;
  // Each on cache lines of its own: who uses one does not disturb the others.
  std::deque<sync::Latch<M>> pages_;
  std::deque<sync::Latch<M>> tables_;
};

}  // namespace engineroom::lock_sys
