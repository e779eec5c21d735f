// Lock objects and who owns them. One object locks any number of records of ONE page, by a bit for each.
//
// Models      lock_t and trx_lock_t (5.7 to 9.7): a bitmap behind the struct, the pool of objects of a transaction
// Leaves out  the heap behind the pool: objects beyond the pool are allocated one by one, and kept for the next transaction
// Cost        a granted lock on a page where the transaction has one of its kind is one bit
//
// Who may look: a lock in a queue, and what it says about waiting, belongs to the thread that has latched the queue; the list of a
// transaction's locks to the thread that has its mutex; the atomics to everybody.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "lock_sys/modes.hpp"

namespace engineroom::lock_sys {

struct Trx;

/// A bitmap is made with room for so many records more than the page has, so that it lasts when some are inserted.
inline constexpr std::uint32_t kBitmapMargin = 64;
constexpr std::uint32_t bits_for(std::uint32_t records_on_page) {
  return 8 * (1 + (records_on_page + kBitmapMargin) / 8);
}

struct Lock {
  Trx* trx = nullptr;
  Lock* next = nullptr;     // in the chain of its hash cell, or in the table's list
  std::uint64_t place = 0;  // the page, or the table
  std::uint32_t index = 0;  // whose page it is: told, never compared
  Mode mode = Mode::is;
  Kind kind = Kind::next_key;
  bool is_record = false;
  bool is_waiting = false;
  std::uint32_t n_bits = 0;
  std::uint32_t line = 0;  // of memory, where that counts
  std::vector<std::uint64_t> bitmap{};

  bool has(HeapNo heap_no) const {
    return heap_no < n_bits && (bitmap[heap_no / 64] >> (heap_no % 64) & 1) != 0;
  }
  void set(HeapNo heap_no) { bitmap[heap_no / 64] |= std::uint64_t{1} << (heap_no % 64); }
  void reset(HeapNo heap_no) { bitmap[heap_no / 64] &= ~(std::uint64_t{1} << (heap_no % 64)); }
  /// Calls body(heap_no) for each record, in their order.
  template <typename Body>
  void each_record(const Body& body) const {
    for (std::size_t word = 0; word < bitmap.size(); ++word) {
      for (std::uint64_t left = bitmap[word]; left != 0; left &= left - 1) {
        body(static_cast<HeapNo>(word * 64 + static_cast<std::size_t>(std::countr_zero(left))));
      }
    }
  }
  std::uint32_t records() const {
    std::uint32_t n = 0;
    for (const std::uint64_t word : bitmap) n += static_cast<std::uint32_t>(std::popcount(word));
    return n;
  }
  /// The only one, of a lock that waits; 0 when there is none.
  HeapNo only_record() const {
    for (std::size_t word = 0; word < bitmap.size(); ++word) {
      if (bitmap[word] != 0) {
        return static_cast<HeapNo>(word * 64 + static_cast<std::size_t>(std::countr_zero(bitmap[word])));
      }
    }
    return 0;
  }
};

/// What the lock system knows of a transaction.
struct Trx {
  std::uint32_t number = 0;   // of its place: sorting by it is the same everywhere, unlike sorting by address
  std::uint64_t id = 0;       // in the order of their starts
  std::uint64_t undo_no = 0;  // rows it has changed
  bool changed_non_transactional = false;
  bool is_urgent = false;        // high priority: the applier of a replication group
  bool reads_committed = false;  // READ COMMITTED: it keeps no gaps that nobody asked it to
  bool inserts = false;          // its statement does, and looks for duplicates

  std::vector<Lock*> locks;  // oldest first
  /// The one that waits. It changes under the latch of its queue; who is woken looks without.
  std::atomic<Lock*> wait_lock = nullptr;
  bool is_victim = false;
  bool is_committed = false;

  // From 8.0.18 on.
  std::atomic<Trx*> blocking_trx = nullptr;  // one that it waits for
  std::atomic<std::uint64_t> schedule_weight = 0;
  // 8.0.3 to 8.0.19: how many wait for it, directly or not.
  std::uint64_t age = 0;
  // Marks of searches.
  std::uint64_t searched = 0;
  std::uint64_t aged = 0;

  /// Whether it inherits a gap by what it has of a record that goes away.
  bool keeps_gaps(Mode mode, bool readers_do) const {
    if (!reads_committed) return true;
    return mode != Mode::x && (readers_do || inserts);
  }
  /// What a deadlock's victim is chosen by.
  std::uint64_t weight() const { return undo_no + locks.size(); }

  Lock* take_lock() {
    if (free_.empty()) {
      Lock& made = pool_.emplace_back();
#if defined(__cpp_exceptions)  // not in a browser: queues.hpp, kKnowsLines
      constexpr std::uint32_t kUsual = 64;
      made.line = number * kUsual + static_cast<std::uint32_t>(pool_.size() - 1);
#endif
      return &made;
    }
    Lock* lock = free_.back();
    free_.pop_back();
    return lock;
  }
  void give_lock(Lock* lock) { free_.push_back(lock); }
  /// Its objects so far: what memory the transaction's locks take.
  std::size_t lock_objects_made() const { return pool_.size(); }

 private:
  std::deque<Lock> pool_;
  std::vector<Lock*> free_;
};

/// Whether the first is to be spared rather than the second.
inline bool is_at_least_as_heavy(const Trx& one, const Trx& other) {
  if (one.changed_non_transactional != other.changed_non_transactional) return one.changed_non_transactional;
  return one.weight() >= other.weight();
}

}  // namespace engineroom::lock_sys
