// The lock system at work: transactions ask for locks, wait for them, and let all of them go at their end; a thread of its own
// finds deadlocks and waits that last too long.
//
// Models      lock_rec_lock, lock_table, lock_wait_suspend_thread, lock_trx_release_locks and try_release_all_locks,
//             lock_wait_timeout_thread, DeadlockChecker::check_and_resolve (5.7.22, 8.0.15, 9.7.4)
// Leaves out  releasing read locks at XA PREPARE; the latch for one waiter that times out (all are stopped for it)
// Cost        per lock one latch of its queue for asking and one for letting go, and a transaction's own mutex
//
// Asking does not wait: the session that asks holds the latch of the page and gives it back before it waits.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "lock_sys/deadlock_search.hpp"
#include "lock_sys/latches.hpp"
#include "lock_sys/lock_config.hpp"
#include "lock_sys/queues.hpp"
#include "lock_sys/wait_graph.hpp"
#include "sync/event.hpp"

namespace engineroom::lock_sys {

/// What became of a request, or of waiting for it.
enum class Outcome : std::uint8_t { granted, waits, deadlock, timed_out, stopping };
constexpr auto named(names::Of<Outcome>) {
  return names::table<Outcome>("outcome", {{"granted", Outcome::granted},
                                           {"waits", Outcome::waits},
                                           {"deadlock", Outcome::deadlock},
                                           {"timed out", Outcome::timed_out},
                                           {"stopping", Outcome::stopping}});
}

/// Latches that one transaction took, so that two versions can be compared by counting.
struct Latched {
  std::uint64_t global = 0;  // shared
  std::uint64_t pages = 0;
  std::uint64_t tables = 0;
};

/// A transaction's place on a machine. It is used for one transaction after the other.
template <Machine M>
struct TrxOn : Trx {
  TrxOn(M& m, std::uint32_t its_number) : mutex(m, "trx_mutex"), wakeup(m, "lock_wait_event") {
    number = its_number;
  }

  sync::Latch<M> mutex;
  sync::Event<M> wakeup;
  typename M::Lines told{
      1};  // where blocking_trx and the weight lie: written here, read by the thread that looks at all
  bool has_timed_out = false;
  Latched latched;
};

/// What the lock system has counted; each under a latch that only one has.
struct LockCounts {
  std::uint64_t deadlocks = 0;        // victims
  std::uint64_t false_positives = 0;  // cycles of a snapshot that were none when all were stopped
  std::uint64_t rounds = 0;           // snapshots
  std::uint64_t timeouts = 0;
  std::uint64_t waits = 0;
  std::uint64_t most_waiting = 0;
  std::uint64_t stale_weights = 0;  // of a wait that was over, given to the next one: none, by the rules
};

template <Machine M, template <typename, typename> typename Latches, typename Rules = Sound>
class LockSys {
 public:
  using T = TrxOn<M>;
  using Asked = typename LockQueues<Rules>::Asked;

  LockSys(M& m, const LockConfig& config, Scheduler scheduler)
      : config_(config),
        latches_(m, config),
        queues_(config.cells, config.queues(), std::move(scheduler)),
        wait_mutex_(m, "lock_wait_mutex", config.latch_spin),
        check_(m, "lock_wait_timeout_event"),
        print_(m.site("print_deadlock")) {
    options::check(config);
    if (kKnowsLines && config.has_lines) memory_ = std::make_unique<Memory>(config.cells);
  }
  LockSys(M& m, const LockConfig& config) : LockSys(m, config, scheduler_of(config.policy)) {}

  void spawn_threads(M& m) {
    m.spawn("lock_wait_timeout", [this, &m] { return look_after_waits(m); });
  }
  /// Called with the transactions of a deadlock, each waiting for the next, and the victim, while nobody else can
  /// ask or let go.
  void on_deadlock(std::function<void(std::span<Trx* const> cycle, const Trx& victim)> tell) {
    tell_ = std::move(tell);
  }

  const LockQueues<Rules>& queues() const { return queues_; }
  LockQueues<Rules>& queues() { return queues_; }
  Latches<M, Rules>& latches() { return latches_; }
  LockCounts counts() const {
    LockCounts all = counts_;
    all.waits = reservations_;
    return all;
  }

  Task<> begin(M& m, T& trx) {
    const std::uint64_t id = co_await m.add(next_id_, 1);
    co_await trx.mutex.lock(m);
    trx.id = id + 1;
    trx.undo_no = 0;
    trx.age = 0;
    trx.is_victim = trx.is_committed = trx.has_timed_out = false;
    trx.schedule_weight.store(0, std::memory_order_relaxed);
    co_await trx.mutex.unlock(m);
  }

  /// Granted, waits, or deadlock: the requester is the victim of what its request would have closed.
  Task<Outcome> lock_record(M& m, T& trx, Request asked) { return ask(m, trx, asked, false); }
  /// In front of a record.
  Task<Outcome> lock_to_insert(M& m, T& trx, Request asked) { return ask(m, trx, asked, true); }

  Task<Outcome> lock_table(M& m, T& trx, TableId table, Mode mode) {
    co_await trx.mutex.lock(m);
    const bool holds = queues_.holds_table(trx, table, mode);
    co_await trx.mutex.unlock(m);
    if (holds) co_return Outcome::granted;
    const std::size_t part = co_await enter(m, trx);
    co_await latches_.lock_table(m, table);
    ++trx.latched.tables;
    co_await trx.mutex.lock(m);
    Looks looks = new_looks();
    const Asked got = queues_.ask_table(trx, table, mode, looks);
    if (looks.keeps_lines) co_await fetch(m, looks);
    charge(m, looks);
    co_await trx.mutex.unlock(m);
    const Outcome outcome = co_await resolve(m, trx, got);
    co_await latches_.unlock_table(m, table);
    co_await latches_.leave(m, part);
    co_return outcome;
  }

  /// A record that `owner` has changed as transaction `id`: its lock becomes one that others can see, unless it has ended.
  Task<> make_explicit(M& m, T& trx, T& owner, std::uint64_t id, Request record) {
    const std::size_t part = co_await enter(m, trx);
    const Cell cell = co_await lock_cell(m, trx, record);
    co_await owner.mutex.lock(m);
    if (owner.id == id && !owner.is_committed && Rules::converts_implicit_locks()) {
      Looks looks = new_looks();
      queues_.make_explicit(owner, record, looks);
      if (looks.keeps_lines) co_await fetch(m, looks);
      charge(m, looks);
    }
    co_await owner.mutex.unlock(m);
    co_await latches_.unlock_page(m, cell);
    co_await latches_.leave(m, part);
  }

  /// Until the lock is granted, or will not be.
  Task<Outcome> wait(M& m, T& trx) {
    co_await wait_mutex_.lock(m);
    const std::uint64_t seen = co_await trx.wakeup.reset(m);
    if (trx.wait_lock.load() == nullptr) {
      co_await wait_mutex_.unlock(m);
      co_return end_of_wait(trx);
    }
    const std::size_t slot = reserve(trx, m.now());
    co_await wait_mutex_.unlock(m);
    if (config_.detection != Detection::in_request) co_await check_.set(m);
    sync::WaitEnd end = sync::WaitEnd::signalled;
    std::uint64_t signals = seen;
    do {
      end = co_await trx.wakeup.wait(m, signals);
      // The signal that ended the wait before may come late, and this one goes on.
      if (end != sync::WaitEnd::signalled || trx.wait_lock.load() == nullptr) break;
      signals = co_await trx.wakeup.reset(m);
    } while (trx.wait_lock.load() != nullptr);
    co_await wait_mutex_.lock(m);
    slots_[slot].trx = nullptr;
    free_slots_.push_back(slot);
    co_await wait_mutex_.unlock(m);
    co_return end == sync::WaitEnd::stopping ? Outcome::stopping : end_of_wait(trx);
  }

  /// One lock of a row that the statement does not want after all.
  Task<> unlock_record(M& m, T& trx, Request asked) {
    const std::size_t part = co_await enter(m, trx);
    const Cell cell = co_await lock_cell(m, trx, asked);
    Looks looks = new_looks();
    std::vector<Lock*> granted;
    queues_.unlock(trx, asked, granted, looks);
    if (looks.keeps_lines) co_await fetch(m, looks);
    charge(m, looks);
    co_await wake(m, granted, looks);
    co_await latches_.unlock_page(m, cell);
    co_await latches_.leave(m, part);
  }

  /// At the end: newest first. From its start on, what the transaction changed is nobody's any more.
  Task<> release_all(M& m, T& trx) {
    co_await trx.mutex.lock(m);
    trx.is_committed = true;
    co_await trx.mutex.unlock(m);
    for (bool is_done = false; !is_done;) {
      const std::size_t part = co_await enter(m, trx);
      if constexpr (Latches<M, Rules>::kIsSharded) {
        is_done = co_await release_by_shards(m, trx, part);
      } else {
        is_done = co_await release_some(m, trx);
      }
      co_await latches_.leave(m, part);
      if (!is_done) co_await m.yield();
    }
  }

  /// A record was inserted in front of `next`: who has that gap has both parts of it now.
  Task<> inherit_on_insert(M& m, T& trx, PageId page, HeapNo inserted, HeapNo next, std::uint32_t records) {
    const std::size_t part = co_await enter(m, trx);
    const Cell cell = co_await lock_cell(m, trx, {.page = page, .heap_no = next});
    co_await inherit(m, page, inserted, page, next, records, true);
    co_await latches_.unlock_page(m, cell);
    co_await latches_.leave(m, part);
  }
  /// A record is gone for good: the gap behind it begins where its own did, and who waited for it looks again.
  Task<> inherit_on_delete(M& m, T& trx, PageId page, HeapNo gone, HeapNo next, std::uint32_t records) {
    const std::size_t part = co_await enter(m, trx);
    const Cell cell = co_await lock_cell(m, trx, {.page = page, .heap_no = gone});
    co_await inherit(m, page, next, page, gone, records, false);
    Looks looks = new_looks();
    std::vector<Lock*> woken;
    queues_.forget_record(page, gone, woken, looks);
    if (looks.keeps_lines) co_await fetch(m, looks);
    charge(m, looks);
    co_await wake(m, woken, looks);
    co_await latches_.unlock_page(m, cell);
    co_await latches_.leave(m, part);
  }
  /// A record moves to another page (a split, a merge): both queues are latched.
  Task<> move_record(M& m, T& trx, PageId from, HeapNo heap_no, PageId to, HeapNo new_heap_no,
                     std::uint32_t records) {
    const std::size_t part = co_await enter(m, trx);
    const Cell a{queues_.cell_of(from), heap_no};
    const Cell b{queues_.cell_of(to), new_heap_no};
    co_await latches_.lock_pages(m, a, b);
    trx.latched.pages += latches_.are_in_one_shard(a, b) ? 1 : 2;
    Looks looks = new_looks();
    for (Lock* lock : queues_.locks_to_move(from, heap_no, looks)) {
      T& owner = static_cast<T&>(*lock->trx);
      co_await owner.mutex.lock(m);
      queues_.move_lock(*lock, heap_no, to, new_heap_no, records, looks);
      co_await owner.mutex.unlock(m);
    }
    if (looks.keeps_lines) co_await fetch(m, looks);
    charge(m, looks);
    co_await latches_.unlock_pages(m, a, b);
    co_await latches_.leave(m, part);
  }

  /// For a look at all of it: nobody changes anything in between.
  Task<> stop_all(M& m) { co_await latches_.stop_all(m); }
  Task<> let_all_go(M& m) { co_await latches_.let_all_go(m); }

 private:
  struct Slot {
    T* trx = nullptr;
    std::uint64_t reservation = 0;
    std::uint64_t since_ns = 0;
  };

  Looks new_looks() const {
    Looks looks;
    looks.keep_lines(memory_ != nullptr);
    return looks;
  }
  /// The lines that were looked at and changed come here, the latch held: the cell's, then those of objects.
  template <typename Seen>
  Task<> fetch(M& m, const Seen& looks) {
    if constexpr (kKnowsLines) {
      const auto of_cell = looks.changes_head ? machine::Access::write : machine::Access::read;
      for (const std::size_t cell : looks.cells) {
        co_await m.touch(memory_->cells, cell / kCellsOfLine, 1, of_cell);
      }
      for (const std::uint32_t line : looks.read) {
        co_await m.touch(memory_->objects, line % kObjects, 1, machine::Access::read);
      }
      for (const std::uint32_t line : looks.written) {
        co_await m.touch(memory_->objects, line % kObjects, 1, machine::Access::write);
      }
    }
    co_return;
  }
  void charge(M& m, const Looks& looks) {
    m.charge(looks.objects * config_.look_ns + looks.created * config_.create_ns);
  }
  auto enter(M& m, T& trx) {
    if constexpr (Latches<M, Rules>::kIsSharded) ++trx.latched.global;
    return latches_.enter(m);
  }
  Task<Cell> lock_cell(M& m, T& trx, const Request& record) {
    const Cell cell{queues_.cell_of(record.page), record.heap_no};
    co_await latches_.lock_page(m, cell);
    ++trx.latched.pages;
    co_return cell;
  }

  Task<Outcome> ask(M& m, T& trx, Request asked, bool inserts) {
    const std::size_t part = co_await enter(m, trx);
    const Cell cell = co_await lock_cell(m, trx, asked);
    co_await trx.mutex.lock(m);
    Looks looks = new_looks();
    const Asked got = inserts ? queues_.ask_to_insert(trx, asked, looks) : queues_.ask(trx, asked, looks);
    if (looks.keeps_lines) co_await fetch(m, looks);
    charge(m, looks);
    co_await trx.mutex.unlock(m);
    const Outcome outcome = co_await resolve(m, trx, got);
    co_await latches_.unlock_page(m, cell);
    co_await latches_.leave(m, part);
    co_return outcome;
  }

  /// With the queue latched: a design that finds deadlocks in the request does it here, until none is left.
  Task<Outcome> resolve(M& m, T& trx, const Asked& got) {
    if (got.answer != Answer::waits) co_return Outcome::granted;
    if (config_.detection != Detection::in_request) {
      co_await m.touch(trx.told, 0, 1, machine::Access::write);
      co_return Outcome::waits;
    }
    for (;;) {
      Looks looks = new_looks();
      const Found found = search_deadlock(queues_, trx, mark_, looks);
      if (looks.keeps_lines) co_await fetch(m, looks);
      charge(m, looks);
      if (found.victim == nullptr) co_return Outcome::waits;
      co_await tell(m, found.cycle, *found.victim);
      co_await cancel(m, *found.victim);
      if (found.victim == &trx) co_return Outcome::deadlock;
      if (trx.wait_lock.load() == nullptr) co_return Outcome::granted;
    }
  }
  /// With everybody who could look at the victim's queue kept out.
  Task<> cancel(M& m, Trx& victim) {
    victim.is_victim = true;
    ++counts_.deadlocks;
    co_await cancel_wait(m, static_cast<T&>(victim));
  }
  Task<> cancel_wait(M& m, T& trx) {
    Lock* const lock = trx.wait_lock.load();
    co_await trx.mutex.lock(m);
    std::erase(trx.locks, lock);
    co_await trx.mutex.unlock(m);
    Looks looks = new_looks();
    std::vector<Lock*> granted;
    dequeue(*lock, granted, looks);
    if (looks.keeps_lines) co_await fetch(m, looks);
    charge(m, looks);
    co_await wake(m, granted, looks);
    co_await trx.mutex.lock(m);
    trx.give_lock(lock);
    co_await trx.mutex.unlock(m);
    co_await trx.wakeup.set(m);
  }
  Task<> tell(M& m, std::span<Trx* const> cycle, const Trx& victim) {
    machine::Scope<M> doing(m, print_);
    if (tell_) tell_(cycle, victim);
    m.work(config_.print_ns);
    co_return;
  }
  void dequeue(Lock& lock, std::vector<Lock*>& granted, Looks& looks) {
    if (lock.is_record) {
      queues_.dequeue(lock, granted, looks);
    } else {
      queues_.dequeue_table(lock, granted, looks);
    }
  }
  /// A transaction that was granted goes on; one that waits for another than before may be on a cycle now.
  Task<> wake(M& m, const std::vector<Lock*>& granted, const Looks& looks) {
    for (const Lock* lock : granted) co_await static_cast<T*>(lock->trx)->wakeup.set(m);
    if (looks.renewed > 0 && config_.detection != Detection::in_request) co_await check_.set(m);
  }
  static Outcome end_of_wait(const T& trx) {
    if (trx.is_victim) return Outcome::deadlock;
    return trx.has_timed_out ? Outcome::timed_out : Outcome::granted;
  }

  /// Under the one mutex: at most as many locks as are released before others get a turn.
  Task<bool> release_some(M& m, T& trx) {
    co_await latches_.lock_page(m, {});
    ++trx.latched.pages;
    Looks looks = new_looks();
    std::vector<Lock*> granted;
    co_await trx.mutex.lock(m);
    for (std::uint64_t i = 0; i < config_.release_interval && !trx.locks.empty(); ++i) {
      Lock* const lock = trx.locks.back();
      trx.locks.pop_back();
      dequeue(*lock, granted, looks);
      trx.give_lock(lock);
    }
    const bool is_done = trx.locks.empty();
    co_await trx.mutex.unlock(m);
    if (looks.keeps_lines) co_await fetch(m, looks);
    charge(m, looks);
    co_await wake(m, granted, looks);
    co_await latches_.unlock_page(m, {});
    co_return is_done;
  }
  /// Lock by lock, each under its own shard. False when somebody wants to stop all: then each session lets its share go.
  Task<bool> release_by_shards(M& m, T& trx, std::size_t part) {
    co_await trx.mutex.lock(m);
    while (!trx.locks.empty()) {
      Lock* const lock = trx.locks.back();
      const bool is_record = lock->is_record;
      const std::uint64_t place = lock->place;
      // Shards come before transactions' mutexes, so this one is given back and all of it looked at again.
      co_await trx.mutex.unlock(m);
      const Cell cell{is_record ? queues_.cell_of(place) : 0, is_record ? lock->only_record() : 0};
      if (is_record) {
        co_await latches_.lock_page(m, cell);
        ++trx.latched.pages;
      } else {
        co_await latches_.lock_table(m, place);
        ++trx.latched.tables;
      }
      co_await trx.mutex.lock(m);
      const bool is_last_still = trx.locks.back() == lock;
      if (is_last_still) trx.locks.pop_back();
      co_await trx.mutex.unlock(m);
      if (is_last_still) {
        Looks looks = new_looks();
        std::vector<Lock*> granted;
        dequeue(*lock, granted, looks);
        if (looks.keeps_lines) co_await fetch(m, looks);
        charge(m, looks);
        co_await wake(m, granted, looks);
      }
      if (is_record) {
        co_await latches_.unlock_page(m, cell);
      } else {
        co_await latches_.unlock_table(m, place);
      }
      const bool is_stop_wanted = co_await latches_.is_stop_wanted(m, part);
      co_await trx.mutex.lock(m);
      if (is_last_still) trx.give_lock(lock);
      if (is_stop_wanted && !trx.locks.empty()) {
        co_await trx.mutex.unlock(m);
        co_return false;
      }
    }
    co_await trx.mutex.unlock(m);
    co_return true;
  }

  Task<> inherit(M& m, PageId page, HeapNo heir, PageId donors_page, HeapNo donor, std::uint32_t records,
                 bool only_gaps) {
    Looks looks = new_looks();
    const std::vector<Lock> all = queues_.locks_to_inherit(donors_page, donor, only_gaps, looks);
    for (const Lock& lock : all) {
      T& owner = static_cast<T&>(*lock.trx);
      if (!only_gaps && !owner.keeps_gaps(lock.mode, config_.readers_inherit_gaps)) continue;
      co_await owner.mutex.lock(m);
      queues_.inherit(lock, page, heir, records, looks);
      co_await owner.mutex.unlock(m);
    }
    if (looks.keeps_lines) co_await fetch(m, looks);
    charge(m, looks);
  }
  // Waits.
  std::size_t reserve(T& trx, std::uint64_t now_ns) {
    if (free_slots_.empty()) {
      free_slots_.push_back(slots_.size());
      slots_.emplace_back();
    }
    const std::size_t slot = free_slots_.back();
    free_slots_.pop_back();
    slots_[slot] = {&trx, ++reservations_, now_ns};
    counts_.most_waiting = std::max<std::uint64_t>(counts_.most_waiting, slots_.size() - free_slots_.size());
    return slot;
  }

  Task<> look_after_waits(M& m) {
    std::uint64_t looked_ns = m.now();
    while (!m.stopping()) {
      const std::uint64_t seen = co_await check_.reset(m);
      if (config_.detection != Detection::in_request) co_await refresh(m);
      if (m.now() - looked_ns >= config_.check_every_ns) {
        looked_ns = m.now();
        co_await end_long_waits(m);
      }
      co_await check_.wait(m, seen, config_.check_every_ns);
    }
  }

  /// Weights of all who wait, and the cycles among them.
  Task<> refresh(M& m) {
    co_await wait_mutex_.lock(m);
    ++counts_.rounds;
    std::vector<Snapped> waiters;
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      T* const trx = slots_[i].trx;
      if (trx == nullptr) continue;
      co_await m.touch(trx->told, 0, 1, machine::Access::read);
      // Nobody leaves a slot meanwhile, but for whom one waits may change: no two edges need be of one moment.
      Trx* const blocker = trx->blocking_trx.load(std::memory_order_relaxed);
      if (blocker != nullptr) waiters.push_back({trx, blocker, i, slots_[i].reservation});
    }
    const std::uint64_t reservations = reservations_;
    co_await wait_mutex_.unlock(m);
    if (waiters.empty()) co_return;

    const std::vector<std::int32_t> outgoing = outgoing_edges(waiters);
    std::vector<std::uint64_t> weights = initial_weights(waiters, reservations);
    std::vector<bool> is_final;
    add_up(outgoing, weights, is_final);
    m.charge(waiters.size() * config_.weigh_ns);
    co_await wait_mutex_.lock(m);
    for (std::size_t i = 0; i < waiters.size(); ++i) {
      if (is_final[i]) publish(waiters[i], weights[i]);
    }
    co_await wait_mutex_.unlock(m);
    if (config_.detection != Detection::background) co_return;
    for (std::vector<std::uint32_t>& cycle : cycles(outgoing))
      co_await resolve_cycle(m, cycle, waiters, weights);
  }
  /// Under the wait mutex.
  void publish(const Snapped& waiter, std::uint64_t weight) {
    const Slot& slot = slots_[waiter.slot];
    if (slot.trx != waiter.trx || !Rules::is_same_wait(waiter.reservation, slot.reservation)) return;
    if (waiter.reservation != slot.reservation) ++counts_.stale_weights;
    waiter.trx->schedule_weight.store(weight, std::memory_order_relaxed);
  }
  /// What was a cycle in the snapshot may have gone: only when everybody is stopped is it certain.
  Task<> resolve_cycle(M& m, std::vector<std::uint32_t>& cycle, const std::vector<Snapped>& waiters,
                       std::vector<std::uint64_t>& weights) {
    co_await latches_.stop_all(m);
    co_await wait_mutex_.lock(m);
    bool is_real = true;
    for (const std::uint32_t i : cycle) {
      const Slot& slot = slots_[waiters[i].slot];
      const bool is_there =
          slot.trx != nullptr && Rules::is_same_wait(waiters[i].reservation, slot.reservation);
      is_real = is_real && is_there && waiters[i].trx->wait_lock.load() != nullptr;
    }
    if (is_real) {
      const std::size_t victim = choose_victim(cycle, waiters);
      add_up_without(victim, cycle, weights);
      for (const std::uint32_t i : cycle) publish(waiters[i], weights[i]);
      co_await wait_mutex_.unlock(m);
      std::vector<Trx*> all;
      for (const std::uint32_t i : cycle) all.push_back(waiters[i].trx);
      co_await tell(m, all, *all[victim]);
      co_await cancel(m, *all[victim]);
    } else {
      ++counts_.false_positives;
      co_await wait_mutex_.unlock(m);
    }
    co_await latches_.let_all_go(m);
  }

  Task<> end_long_waits(M& m) {
    co_await wait_mutex_.lock(m);
    std::vector<std::size_t> late;
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      if (slots_[i].trx != nullptr && m.now() - slots_[i].since_ns > config_.lock_wait_timeout_ns)
        late.push_back(i);
    }
    co_await wait_mutex_.unlock(m);
    if (late.empty()) co_return;
    co_await latches_.stop_all(m);
    co_await wait_mutex_.lock(m);
    std::vector<T*> waiting;
    for (const std::size_t i : late) {
      T* const trx = slots_[i].trx;
      const bool is_late = trx != nullptr && m.now() - slots_[i].since_ns > config_.lock_wait_timeout_ns;
      if (is_late && trx->wait_lock.load() != nullptr) waiting.push_back(trx);
    }
    co_await wait_mutex_.unlock(m);
    for (T* trx : waiting) {
      // The one that was ahead of it in this list may have let it go.
      if (trx->wait_lock.load() == nullptr) continue;
      trx->has_timed_out = true;
      ++counts_.timeouts;
      co_await cancel_wait(m, *trx);
    }
    co_await latches_.let_all_go(m);
  }

  static constexpr std::size_t kObjects = 1 << 17;
  static constexpr std::size_t kCellsOfLine = 8;
  /// Of lock objects, and of the hash table's heads.
  struct Memory {
    explicit Memory(std::size_t n_cells) : cells(n_cells / kCellsOfLine + 1) {}
    typename M::Lines objects{kObjects};
    typename M::Lines cells;
  };

  LockConfig config_;
  Latches<M, Rules> latches_;
  LockQueues<Rules> queues_;
  sync::Latch<M> wait_mutex_;
  sync::Event<M> check_;
  machine::Site print_;
  std::unique_ptr<Memory> memory_;
  std::vector<Slot> slots_;
  std::vector<std::size_t> free_slots_;
  std::uint64_t reservations_ = 0;
  std::uint64_t mark_ = 0;
  typename M::Word next_id_;
  LockCounts counts_;
  std::function<void(std::span<Trx* const>, const Trx&)> tell_;
};

}  // namespace engineroom::lock_sys
