// The queues: lock objects of a page in one chain of a hash cell, and what asking, releasing and moving does to them.
//
// Models      lock_rec_lock_fast and _slow, lock_rec_add_to_queue, RecLock, lock_rec_dequeue_from_page, lock_rec_grant,
//             lock_rec_inherit_to_gap, lock_rec_unlock, lock_table (5.7.22, 8.0.15, 9.7.4, where they differ by QueueDesign)
// Leaves out  predicate locks, AUTO_INC's counter, resizing the hash
// Cost        proportional to the lock objects in the chain that are looked at; Looks counts them
//
// Nothing here waits or takes a latch: the caller has latched the chain, and the mutex of the transaction that gets or
// loses an object. So the same code runs under one mutex, under 512, and in a table that a student makes in Python.
//
// The queue of a record is those objects of its page's chain that have its bit, in the order of the chain.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <type_traits>
#include <utility>
#include <vector>

#include "lock_sys/conflict.hpp"
#include "lock_sys/locks.hpp"
#include "lock_sys/schedulers.hpp"
#include "machine/random.hpp"

namespace engineroom::lock_sys {

/// At which locks of its table an intention lock looks, as it is asked for and let go. `flat` is all of them both times, their memory here.
enum class TableLooks : std::uint8_t {
  flat,
  each,   // at all, and to let go at those behind it: 5.7
  counts  // at none while nobody wants the whole table: 8.0.15 to 9.7
};
constexpr auto named(names::Of<TableLooks>) { return names::as_written<TableLooks::counts>("table_looks"); }

/// In what the versions' queues differ.
struct QueueDesign {
  /// A granted lock goes to the front of the chain, so that granted ones precede waiting ones; else where it was, or at its end.
  bool granted_in_front = true;
  /// The holder of what a waiter waits for may take more of the same record although the waiter is ahead.
  bool holder_passes_waiter = true;
  /// A transaction that has the record and asks for record and gap gets the gap beside it.
  bool splits_next_key = true;
  /// Each waiter knows one transaction that it waits for, and is looked at only when that one lets go.
  bool knows_blockers = true;
  /// To let go of a row leaves a lock of the same mode on its gap; else the first of both in the queue goes.
  bool unlock_leaves_gap = true;
  TableLooks table_looks = TableLooks::flat;
};

/// Whether memory may count: not in a browser, where no explorable asks for it and a page loads every byte.
#if defined(__cpp_exceptions)
constexpr bool kKnowsLines = true;
#else
constexpr bool kKnowsLines = false;
#endif

/// The lines of memory of what was looked at, in that order, and of what was changed.
struct LinesLookedAt {
  bool keeps_lines = false;
  std::vector<std::uint32_t> read{};
  std::vector<std::uint32_t> written{};
  std::vector<std::size_t> cells{};  // whose chains were walked
  bool changes_head = false;         // of one of them

  void keep_lines(bool keeps) { keeps_lines = keeps; }
  void saw(const Lock& lock) {
    if (keeps_lines) read.push_back(lock.line);
  }
  void changed(const Lock& lock) {
    if (keeps_lines) written.push_back(lock.line);
  }
  void changed_table(TableId table) {
    constexpr std::uint32_t kHeads = 1 << 16;  // behind the objects of a thousand transactions
    if (keeps_lines) written.push_back(kHeads + static_cast<std::uint32_t>(table));
  }
  void changed_head() { changes_head = true; }
  std::size_t at_cell(std::size_t cell) {
    if (keeps_lines && (cells.empty() || cells.back() != cell)) cells.push_back(cell);
    return cell;
  }
};
struct NoLines {
  static constexpr bool keeps_lines = false;
  void keep_lines(bool) {}
  void saw(const Lock&) {}
  void changed(const Lock&) {}
  void changed_table(TableId) {}
  void changed_head() {}
  std::size_t at_cell(std::size_t cell) { return cell; }
};

/// Lock objects that were looked at: what the walk through a chain takes.
struct Looks : std::conditional_t<kKnowsLines, LinesLookedAt, NoLines> {
  std::uint64_t objects = 0;
  std::uint64_t created = 0;
  std::uint64_t renewed = 0;  // waiters that wait for somebody else now: a new edge of the wait-for graph

  void at(const Lock& lock) {
    ++objects;
    saw(lock);
  }
};

enum class Answer : std::uint8_t {
  granted,  // a lock object has a bit more, or none was needed
  held,     // the transaction had as much before
  waits
};

template <typename Rules = Sound>
class LockQueues {
 public:
  struct Asked {
    Answer answer = Answer::granted;
    Trx* blocker = nullptr;
    Lock* lock = nullptr;  // that waits
  };

  LockQueues(std::size_t cells, QueueDesign design, Scheduler scheduler)
      : chains_(cells), design_(design), scheduler_(std::move(scheduler)) {}

  std::size_t cell_of(PageId page) const {
    return static_cast<std::size_t>(machine::mixed(page) % chains_.size());
  }
  std::uint64_t waiting() const { return waiting_.load(std::memory_order_relaxed); }
  const QueueDesign& design() const { return design_; }

  // Record locks.

  /// Gives the record's lock, or a place at the end of its queue.
  Asked ask(Trx& trx, Request asked, Looks& looks) {
    asked = as_stored(asked);
    Lock* const first = first_on_page(asked.page, looks);
    if (first == nullptr) {
      if (!asked.may_stay_implicit) create(trx, asked, false, looks);
      return {};
    }
    const bool is_alone = next_on_page(first, looks) == nullptr;
    if (is_alone && first->trx == &trx && !first->is_waiting && first->mode == asked.mode &&
        first->kind == asked.kind && asked.heap_no < first->n_bits) {
      if (!asked.may_stay_implicit) {
        first->set(asked.heap_no);
        looks.changed(*first);
      }
      return {};
    }
    if (holds(trx, asked, looks)) return {.answer = Answer::held};
    if (design_.splits_next_key && asked.kind == Kind::next_key && asked.heap_no != kSupremum) {
      Request record = asked;
      record.kind = Kind::rec_not_gap;
      if (holds(trx, record, looks)) {
        asked.kind = Kind::gap;
        add_granted(trx, asked, looks);
        return {};
      }
    }
    if (const Lock* there = conflicting(trx, asked, looks)) return enqueue(trx, asked, *there->trx, looks);
    if (!asked.may_stay_implicit) add_granted(trx, asked, looks);
    return {};
  }

  /// Whether an insertion in front of `asked.heap_no` must wait: it needs no object unless it must.
  Asked ask_to_insert(Trx& trx, Request asked, Looks& looks) {
    asked.mode = Mode::x;
    asked.kind = Kind::insert_intention;
    if (const Lock* there = conflicting(trx, asked, looks)) return enqueue(trx, asked, *there->trx, looks);
    return {};
  }

  /// For its owner, who has the record by having changed it: a lock object that others can wait for. False if it has one.
  bool make_explicit(Trx& owner, Request asked, Looks& looks) {
    asked.mode = Mode::x;
    asked.kind = Kind::rec_not_gap;
    if (holds(owner, asked, looks)) return false;
    add_granted(owner, asked, looks);
    return true;
  }

  /// Whether the transaction has as much as is asked for, by a lock object.
  bool holds(const Trx& trx, const Request& asked, Looks& looks) const {
    bool found = false;
    each_in_queue(asked.page, asked.heap_no, looks, [&](const Lock& lock) {
      if (lock.trx != &trx || lock.is_waiting || lock.kind == Kind::insert_intention) return true;
      if (!is_stronger_or_equal(lock.mode, asked.mode)) return true;
      found = asked.heap_no == kSupremum || lock.kind == Kind::next_key || lock.kind == asked.kind;
      return !found;
    });
    return found;
  }

  /// Takes a lock out of its queue and gives those that waited for it theirs; they are appended to `granted`. The object is
  /// its owner's to be used again.
  void dequeue(Lock& lock, std::vector<Lock*>& granted, Looks& looks) {
    unlink_from_chain(lock, looks);
    Trx& trx = *lock.trx;
    if (lock.is_waiting) stop_waiting(lock);
    if (scheduler_.policy == Policy::cats_8_0_3) forget_age(lock, looks);
    const PageId page = lock.place;
    if (looks_at_waiting_ahead()) {
      grant_in_queue_order(page, granted, looks);
    } else {
      lock.each_record([&](HeapNo heap_no) { grant_by_policy(trx, page, heap_no, granted, looks); });
    }
  }

  /// READ COMMITTED lets go of a row that does not match: one bit.
  void unlock(Trx& trx, const Request& asked, std::vector<Lock*>& granted, Looks& looks) {
    Lock* found = nullptr;
    each_in_queue(asked.page, asked.heap_no, looks, [&](Lock& lock) {
      const bool may_go = !design_.unlock_leaves_gap || lock.kind != Kind::gap;
      if (lock.trx == &trx && !lock.is_waiting && lock.mode == asked.mode && may_go) found = &lock;
      return found == nullptr;
    });
    if (found == nullptr) return;
    found->reset(asked.heap_no);
    looks.changed(*found);
    if (looks_at_waiting_ahead()) {
      grant_in_queue_order(asked.page, granted, looks);
    } else {
      grant_by_policy(trx, asked.page, asked.heap_no, granted, looks);
    }
  }

  /// Each lock of one record, in queue order: body(Lock&) says whether to go on.
  template <typename Body>
  void each_in_queue(PageId page, HeapNo heap_no, Looks& looks, const Body& body) const {
    for (Lock* lock = first_on_page(page, looks); lock != nullptr; lock = next_on_page(lock, looks)) {
      if (lock->has(heap_no) && !body(*lock)) return;
    }
  }
  /// Each lock of a page, in the order of its chain.
  template <typename Body>
  void each_on_page(PageId page, Looks& looks, const Body& body) const {
    for (Lock* lock = first_on_page(page, looks); lock != nullptr; lock = next_on_page(lock, looks))
      body(*lock);
  }

  /// Whose locks on the record another record's gap inherits: of all but those that wait to insert.
  std::vector<Lock> locks_to_inherit(PageId page, HeapNo donor, bool only_gaps, Looks& looks) const {
    std::vector<Lock> found;
    each_in_queue(page, donor, looks, [&](const Lock& lock) {
      const bool is_gap = donor == kSupremum || lock.kind != Kind::rec_not_gap;
      if (lock.kind != Kind::insert_intention && (is_gap || !only_gaps)) found.push_back(lock);
      return true;
    });
    return found;
  }
  /// Gives the owner of `lock` the gap in front of a record, for good.
  void inherit(const Lock& lock, PageId page, HeapNo heir, std::uint32_t records_on_page, Looks& looks) {
    add_granted(*lock.trx,
                as_stored({.page = page,
                           .index = lock.index,
                           .heap_no = heir,
                           .mode = lock.mode,
                           .kind = Kind::gap,
                           .records_on_page = records_on_page}),
                looks);
  }
  /// A record is no more: its locks are no more either, and who waited for it goes on and looks where it is now.
  void forget_record(PageId page, HeapNo heap_no, std::vector<Lock*>& woken, Looks& looks) {
    std::vector<Lock*> all;
    each_in_queue(page, heap_no, looks, [&](Lock& lock) {
      all.push_back(&lock);
      return true;
    });
    for (Lock* lock : all) {
      lock->reset(heap_no);
      if (!lock->is_waiting) continue;
      stop_waiting(*lock);
      woken.push_back(lock);
    }
  }
  /// The locks of a record, in the order in which they are to be moved with it so that their queue stays as it is.
  std::vector<Lock*> locks_to_move(PageId page, HeapNo heap_no, Looks& looks) const {
    std::vector<Lock*> all;
    each_in_queue(page, heap_no, looks, [&](Lock& lock) {
      all.push_back(&lock);
      return true;
    });
    const auto waiting =
        std::stable_partition(all.begin(), all.end(), [](const Lock* lock) { return !lock->is_waiting; });
    if (design_.granted_in_front) std::reverse(all.begin(), waiting);
    return all;
  }
  /// One of them, as it is.
  void move_lock(Lock& lock, HeapNo heap_no, PageId to, HeapNo new_heap_no, std::uint32_t records_on_page,
                 Looks& looks) {
    lock.reset(heap_no);
    if (!lock.is_waiting) {
      add_granted(*lock.trx,
                  {.page = to,
                   .index = lock.index,
                   .heap_no = new_heap_no,
                   .mode = lock.mode,
                   .kind = lock.kind,
                   .records_on_page = records_on_page},
                  looks);
      return;
    }
    // The object goes itself: who waits is found by it.
    unlink_from_chain(lock, looks);
    lock.place = to;
    if (lock.n_bits <= new_heap_no) resize(lock, std::max(records_on_page, new_heap_no));
    lock.set(new_heap_no);
    append(lock, looks);
  }

  /// The first lock for which a request must wait, in queue order.
  const Lock* conflicting(const Trx& trx, const Request& asked, Looks& looks) const {
    const Lock* found = nullptr;
    each_in_queue(asked.page, asked.heap_no, looks, [&](const Lock& lock) {
      if (must_wait<Rules>(trx, asked, lock) && !may_pass(trx, asked, lock, looks)) found = &lock;
      return found == nullptr;
    });
    return found;
  }
  /// The first lock ahead of a waiting one for which that has to wait.
  const Lock* conflicting_ahead(const Lock& waiting, Looks& looks) const {
    if (!waiting.is_record) return conflicting_table_lock_ahead(waiting);
    const HeapNo heap_no = waiting.only_record();
    const Request asked = request_of(waiting, heap_no);
    const Lock* found = nullptr;
    each_in_queue(waiting.place, heap_no, looks, [&](const Lock& lock) {
      if (&lock == &waiting) return false;
      if (must_wait<Rules>(*waiting.trx, asked, lock)) found = &lock;
      return found == nullptr;
    });
    return found;
  }

  /// Each lock ahead of a waiting one for which that has to wait: body(const Lock&).
  template <typename Body>
  void each_conflicting_ahead(const Lock& waiting, Looks& looks, const Body& body) const {
    if (!waiting.is_record) {
      for (const Lock* lock : tables_.at(waiting.place).locks) {
        looks.at(*lock);
        if (lock == &waiting) return;
        if (lock->trx != waiting.trx && !is_compatible(waiting.mode, lock->mode)) body(*lock);
      }
      return;
    }
    const HeapNo heap_no = waiting.only_record();
    const Request asked = request_of(waiting, heap_no);
    each_in_queue(waiting.place, heap_no, looks, [&](const Lock& lock) {
      if (&lock == &waiting) return false;
      if (must_wait<Rules>(*waiting.trx, asked, lock)) body(lock);
      return true;
    });
  }

  // Table locks: a list for each table, in the order of asking.

  /// By its own list: no table's latch is needed.
  static bool holds_table(const Trx& trx, TableId table, Mode mode) {
    return std::any_of(trx.locks.begin(), trx.locks.end(), [&](const Lock* lock) {
      return !lock->is_record && lock->place == table && !lock->is_waiting &&
             is_stronger_or_equal(lock->mode, mode);
    });
  }
  Asked ask_table(Trx& trx, TableId table, Mode mode, Looks& looks) {
    TableQueue& queue = table_queue(table);
    std::vector<Lock*>& list = queue.locks;
    Trx* blocker = nullptr;
    if (!is_passed_over(queue, mode)) {
      for (const Lock* lock : list) {
        look_at(*lock, looks);
        if (lock->trx != &trx && !is_compatible(mode, lock->mode)) blocker = lock->trx;
        if (blocker != nullptr) break;
      }
    }
    if (!list.empty()) looks.changed(*list.back());
    looks.changed_table(table);
    Lock* lock = made(trx, looks);
    lock->place = table;
    lock->mode = mode;
    lock->is_record = false;
    list.push_back(lock);
    if (is_of_whole_table(mode)) ++queue.of_whole_table;
    if (blocker == nullptr) return {};
    start_waiting(*lock, *blocker);
    return {.answer = Answer::waits, .blocker = blocker, .lock = lock};
  }
  void dequeue_table(Lock& lock, std::vector<Lock*>& granted, Looks& looks) {
    TableQueue& queue = table_queue(lock.place);
    std::vector<Lock*>& list = queue.locks;
    auto at = std::find(list.begin(), list.end(), &lock);
    if (at != list.begin()) looks.changed(**std::prev(at));
    if (std::next(at) != list.end()) looks.changed(**std::next(at));
    looks.changed_table(lock.place);
    at = list.erase(at);
    if (design_.table_looks == TableLooks::flat) at = list.begin();
    if (lock.is_waiting) stop_waiting(lock);
    if (is_passed_over(queue, lock.mode)) return;
    if (is_of_whole_table(lock.mode)) --queue.of_whole_table;
    for (; at != list.end(); ++at) {
      Lock* const waiting = *at;
      look_at(*waiting, looks);
      if (!waiting->is_waiting) continue;
      const Lock* ahead = conflicting_table_lock_ahead(*waiting);
      if (ahead == nullptr) {
        stop_waiting(*waiting);
        granted.push_back(waiting);
      } else {
        blocked_by(*waiting->trx, ahead->trx);
        ++looks.renewed;
      }
    }
  }
  /// Makes the list of a table: before real threads ask for it, since that is under the latch of no table.
  void add_table(TableId table) { tables_.try_emplace(table); }

  /// Every lock object, for a look at a run from outside: pages first.
  template <typename Body>
  void each_lock(const Body& body) const {
    for (Lock* first : chains_) {
      for (Lock* lock = first; lock != nullptr; lock = lock->next) body(*lock);
    }
    for (const auto& [table, queue] : tables_) {
      for (Lock* lock : queue.locks) body(*lock);
    }
  }

 private:
  static Request as_stored(Request asked) {
    if (asked.heap_no == kSupremum && asked.kind != Kind::insert_intention) asked.kind = Kind::next_key;
    return asked;
  }
  bool looks_at_waiting_ahead() const { return scheduler_.looks_at_waiting_ahead(waiting()); }

  Lock* first_on_page(PageId page, Looks& looks) const {
    return on_page(chains_[looks.at_cell(cell_of(page))], page, looks);
  }
  static Lock* next_on_page(const Lock* lock, Looks& looks) {
    return on_page(lock->next, lock->place, looks);
  }
  static Lock* on_page(Lock* lock, PageId page, Looks& looks) {
    while (lock != nullptr) {
      looks.at(*lock);
      if (lock->place == page) break;
      lock = lock->next;
    }
    return lock;
  }

  /// A holder of the record whom the waiter waits for may have more of it: both would wait for each other else.
  bool may_pass(const Trx& trx, const Request& asked, const Lock& there, Looks& looks) const {
    if (!design_.holder_passes_waiter || !there.is_waiting) return false;
    if (asked.mode != Mode::x || there.mode != Mode::x) return false;
    if (asked.kind == Kind::insert_intention || asked.kind == Kind::gap || asked.heap_no == kSupremum)
      return false;
    const Request theirs = request_of(there, asked.heap_no);
    bool holds_against = false;
    each_in_queue(asked.page, asked.heap_no, looks, [&](const Lock& lock) {
      holds_against = lock.trx == &trx && !lock.is_waiting && must_wait<Rules>(*there.trx, theirs, lock);
      return !holds_against;
    });
    return holds_against;
  }

  Lock* made(Trx& trx, Looks& looks) {
    ++looks.created;
    Lock* lock = trx.take_lock();
    lock->trx = &trx;
    lock->next = nullptr;
    lock->is_waiting = false;
    looks.changed(*lock);
    trx.locks.push_back(lock);
    return lock;
  }
  static void resize(Lock& lock, std::uint32_t records_on_page) {
    lock.n_bits = bits_for(records_on_page);
    lock.bitmap.resize((lock.n_bits + 63) / 64, 0);
  }
  Lock* create(Trx& trx, const Request& asked, bool waits, Looks& looks) {
    Lock* lock = made(trx, looks);
    lock->place = asked.page;
    lock->index = asked.index;
    lock->mode = asked.mode;
    lock->kind = asked.kind;
    lock->is_record = true;
    lock->bitmap.clear();
    resize(*lock, std::max(asked.records_on_page, asked.heap_no));
    lock->set(asked.heap_no);
    if (design_.granted_in_front && !waits) {
      looks.changed_head();
      prepend(*lock);
    } else {
      append(*lock, looks);
    }
    if (scheduler_.policy == Policy::cats_8_0_3 && !waits) learn_age(*lock, asked.heap_no, looks);
    return lock;
  }
  Asked enqueue(Trx& trx, const Request& asked, Trx& blocker, Looks& looks) {
    Lock* lock = create(trx, asked, true, looks);
    start_waiting(*lock, blocker);
    if (scheduler_.policy == Policy::cats_8_0_3) spread_to_holders(*lock, asked.heap_no, 1, looks);
    return {.answer = Answer::waits, .blocker = &blocker, .lock = lock};
  }
  void add_granted(Trx& trx, const Request& asked, Looks& looks) {
    bool is_behind_waiter = false;
    bool somebody_waits = false;
    Lock* similar = nullptr;
    each_on_page(asked.page, looks, [&](Lock& lock) {
      const bool is_waiter = lock.is_waiting && lock.has(asked.heap_no);
      somebody_waits = somebody_waits || is_waiter;
      if (similar != nullptr) return;
      is_behind_waiter = is_behind_waiter || is_waiter;
      if (lock.trx == &trx && !lock.is_waiting && lock.mode == asked.mode && lock.kind == asked.kind &&
          asked.heap_no < lock.n_bits) {
        similar = &lock;
      }
    });
    // Where granted locks stay where they are, one that is before a waiter may not become its blocker by a bit.
    if (similar == nullptr || (!design_.granted_in_front && somebody_waits)) {
      create(trx, asked, false, looks);
      return;
    }
    similar->set(asked.heap_no);
    looks.changed(*similar);
    if (is_behind_waiter) move_to_front(*similar, looks);
  }

  void prepend(Lock& lock) {
    Lock*& head = chains_[cell_of(lock.place)];
    lock.next = std::exchange(head, &lock);
  }
  void append(Lock& lock, Looks& looks) {
    Lock** at = &chains_[looks.at_cell(cell_of(lock.place))];
    for (; *at != nullptr; at = &(*at)->next) {
      looks.at(**at);
      if ((*at)->next == nullptr) looks.changed(**at);
    }
    lock.next = nullptr;
    if (at == &chains_[cell_of(lock.place)]) looks.changed_head();
    *at = &lock;
  }
  void unlink_from_chain(Lock& lock, Looks& looks) {
    Lock** at = &chains_[looks.at_cell(cell_of(lock.place))];
    for (; *at != &lock; at = &(*at)->next) {
      looks.at(**at);
      if ((*at)->next == &lock) looks.changed(**at);
    }
    looks.changed(lock);
    if (at == &chains_[cell_of(lock.place)]) looks.changed_head();
    *at = lock.next;
  }
  void move_to_front(Lock& lock, Looks& looks) {
    unlink_from_chain(lock, looks);
    looks.changed_head();
    prepend(lock);
  }

  void start_waiting(Lock& lock, Trx& blocker) {
    lock.is_waiting = true;
    lock.trx->wait_lock = &lock;
    blocked_by(*lock.trx, &blocker);
    waiting_.fetch_add(1, std::memory_order_relaxed);
  }
  void stop_waiting(Lock& lock) {
    lock.is_waiting = false;
    lock.trx->wait_lock = nullptr;
    blocked_by(*lock.trx, nullptr);
    waiting_.fetch_sub(1, std::memory_order_relaxed);
  }
  void blocked_by(Trx& trx, Trx* blocker) {
    if (design_.knows_blockers) trx.blocking_trx.store(blocker, std::memory_order_relaxed);
  }
  void grant(Lock& lock, std::vector<Lock*>& granted, Looks& looks) {
    looks.changed(lock);
    stop_waiting(lock);
    if (scheduler_.policy == Policy::cats_8_0_3) {
      const HeapNo heap_no = lock.only_record();
      spread_to_holders(lock, heap_no, -1, looks);
      learn_age(lock, heap_no, looks);
    }
    granted.push_back(&lock);
  }

  /// 5.7: each waiter that has nobody ahead to wait for, on the whole page.
  void grant_in_queue_order(PageId page, std::vector<Lock*>& granted, Looks& looks) {
    std::vector<Lock*> waiters;
    each_on_page(page, looks, [&](Lock& lock) {
      if (lock.is_waiting) waiters.push_back(&lock);
    });
    for (Lock* lock : waiters) {
      const Lock* ahead = conflicting_ahead(*lock, looks);
      if (ahead == nullptr) {
        grant(*lock, granted, looks);
        if (design_.granted_in_front) move_to_front(*lock, looks);
      } else {
        blocked_by(*lock->trx, ahead->trx);
        ++looks.renewed;
      }
    }
  }

  /// 8.0.20: those that wait for `releaser`, in the policy's order, each unless a granted lock is in the way.
  void grant_by_policy(const Trx& releaser, PageId page, HeapNo heap_no, std::vector<Lock*>& granted,
                       Looks& looks) {
    std::vector<Lock*> holders;
    std::vector<Lock*> candidates;
    std::vector<Waiter> waiters;
    each_in_queue(page, heap_no, looks, [&](Lock& lock) {
      if (!lock.is_waiting) {
        holders.push_back(&lock);
        return true;
      }
      const Trx& trx = *lock.trx;
      if (trx.is_victim) return true;
      if (design_.knows_blockers && trx.blocking_trx.load(std::memory_order_relaxed) != &releaser)
        return true;
      candidates.push_back(&lock);
      // The weight is read once: it may change while others are sorted by it.
      waiters.push_back({.trx = trx.number,
                         .started = trx.id,
                         .weight = trx.schedule_weight.load(std::memory_order_relaxed),
                         .age = trx.age,
                         .mode = lock.mode,
                         .is_urgent = trx.is_urgent});
      return true;
    });
    if (candidates.empty()) return;
    std::vector<std::uint32_t> order = scheduler_.order(waiters);
    const std::size_t chosen = order.size();
    add_left_out(order, candidates.size());
    // Granted ones go to the front of the chain, so that the last is the first that was granted.
    std::reverse(holders.begin(), holders.end());
    for (std::size_t i = 0; i < order.size(); ++i) {
      Lock& lock = *candidates[order[i]];
      Lock* in_the_way = nullptr;
      if (i >= chosen && !holders.empty()) in_the_way = holders.back();
      const Request asked = request_of(lock, heap_no);
      for (Lock* holder : holders) {
        looks.at(*holder);
        if (in_the_way == nullptr && must_wait<Rules>(*lock.trx, asked, *holder)) in_the_way = holder;
      }
      if (in_the_way == nullptr && Rules::grant_looks_at_waiting_ahead()) {
        if (const Lock* ahead = conflicting_ahead(lock, looks)) in_the_way = const_cast<Lock*>(ahead);
      }
      if (in_the_way != nullptr) {
        if (Rules::renews_blocker()) {
          blocked_by(*lock.trx, in_the_way->trx);
          ++looks.renewed;
        }
        continue;
      }
      grant(lock, granted, looks);
      if (design_.granted_in_front) move_to_front(lock, looks);
      holders.push_back(&lock);
    }
  }
  static void add_left_out(std::vector<std::uint32_t>& order, std::size_t candidates) {
    std::vector<bool> is_in(candidates, false);
    for (const std::uint32_t i : order) is_in[i] = true;
    for (std::size_t i = 0; i < candidates; ++i) {
      if (!is_in[i]) order.push_back(static_cast<std::uint32_t>(i));
    }
  }

  const Lock* conflicting_table_lock_ahead(const Lock& waiting) const {
    for (const Lock* lock : tables_.at(waiting.place).locks) {
      if (lock == &waiting) return nullptr;
      if (lock->trx != waiting.trx && !is_compatible(waiting.mode, lock->mode)) return lock;
    }
    return nullptr;
  }
  struct TableQueue {
    std::vector<Lock*> locks;
    std::size_t of_whole_table = 0;
  };
  TableQueue& table_queue(TableId table) { return tables_.try_emplace(table).first->second; }
  static bool is_of_whole_table(Mode mode) { return mode == Mode::s || mode == Mode::x; }
  void look_at(const Lock& of_table, Looks& looks) const {
    if (design_.table_looks == TableLooks::flat) {
      ++looks.objects;
    } else {
      looks.at(of_table);
    }
  }
  /// An intention lock conflicts with locks on the whole table alone.
  bool is_passed_over(const TableQueue& queue, Mode mode) const {
    return design_.table_looks == TableLooks::counts && queue.of_whole_table == 0 &&
           (mode == Mode::is || mode == Mode::ix);
  }

  // The age of 8.0.3: kept at once, along every edge of the wait-for graph.
  void spread_age(Trx& trx, std::int64_t more, Looks& looks) {
    if (trx.aged == age_mark_) return;
    trx.aged = age_mark_;
    const auto age = static_cast<std::int64_t>(trx.age) + more;
    trx.age = static_cast<std::uint64_t>(std::max<std::int64_t>(0, age));
    const Lock* const waits = trx.wait_lock.load(std::memory_order_relaxed);
    if (waits == nullptr || !waits->is_record) return;
    const Lock& waiting = *waits;
    each_in_queue(waiting.place, waiting.only_record(), looks, [&](const Lock& lock) {
      if (!lock.is_waiting && lock.trx != &trx) spread_age(*lock.trx, more, looks);
      return true;
    });
  }
  void spread_to_holders(const Lock& of, HeapNo heap_no, int sign, Looks& looks) {
    ++age_mark_;
    of.trx->aged = age_mark_;
    const auto more = sign * static_cast<std::int64_t>(of.trx->age + 1);
    each_in_queue(of.place, heap_no, looks, [&](const Lock& lock) {
      if (!lock.is_waiting && lock.trx != of.trx) spread_age(*lock.trx, more, looks);
      return true;
    });
  }
  std::int64_t age_of_waiters(const Lock& holder, HeapNo heap_no, Looks& looks) const {
    std::int64_t sum = 0;
    each_in_queue(holder.place, heap_no, looks, [&](const Lock& lock) {
      if (lock.is_waiting && lock.trx != holder.trx) sum += static_cast<std::int64_t>(lock.trx->age + 1);
      return true;
    });
    return sum;
  }
  void learn_age(const Lock& holder, HeapNo heap_no, Looks& looks) {
    ++age_mark_;
    if (const std::int64_t more = age_of_waiters(holder, heap_no, looks); more != 0)
      spread_age(*holder.trx, more, looks);
  }
  void forget_age(const Lock& gone, Looks& looks) {
    gone.each_record([&](HeapNo heap_no) {
      ++age_mark_;
      if (const std::int64_t less = age_of_waiters(gone, heap_no, looks); less != 0)
        spread_age(*gone.trx, -less, looks);
    });
  }

  std::vector<Lock*> chains_;
  std::map<TableId, TableQueue> tables_;
  QueueDesign design_;
  Scheduler scheduler_;
  std::atomic<std::uint64_t> waiting_ = 0;
  std::uint64_t age_mark_ = 0;  // under the one mutex of the versions that keep ages
};

}  // namespace engineroom::lock_sys
