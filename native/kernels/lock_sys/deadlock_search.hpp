// The deadlock search up to 8.0.17: a transaction that is about to wait follows the queues, depth first, under the one mutex.
//
// Models      DeadlockChecker::search and select_victim (5.7.22, 8.0.15)
// Leaves out  the report into the error log, which costs its caller `print_ns`
// Cost        every lock ahead in every queue on the way: behind n waiters for one row, a newcomer looks some n * n times
#pragma once

#include <cstdint>
#include <vector>

#include "lock_sys/locks.hpp"
#include "lock_sys/queues.hpp"

namespace engineroom::lock_sys {

/// Beyond these the search gives up and takes the requester, as if it had found something.
inline constexpr std::size_t kMostDepth = 200;          // LOCK_MAX_DEPTH_IN_DEADLOCK_CHECK
inline constexpr std::uint64_t kMostSteps = 1'000'000;  // LOCK_MAX_N_STEPS_IN_DEADLOCK_CHECK

struct Found {
  Trx* victim = nullptr;  // null: no deadlock
  bool is_too_deep = false;
  std::vector<Trx*> cycle;  // from the requester on
};

/// Looks for a cycle through `start`, which waits. `mark` counts the searches of the lock system: what a
/// search has left behind carries its number, and is not searched twice.
template <typename Rules>
Found search_deadlock(const LockQueues<Rules>& queues, Trx& start, std::uint64_t& mark, Looks& looks) {
  struct Level {
    const Lock* waiting;
    std::vector<Trx*> ahead;  // whom it has to wait for, in queue order
    std::size_t next = 0;
  };
  const std::uint64_t ours = ++mark;
  const auto level_of = [&](const Lock& waiting) {
    Level level{&waiting, {}, 0};
    const auto note = [&](const Lock& lock) { level.ahead.push_back(lock.trx); };
    queues.each_conflicting_ahead(waiting, looks, note);
    return level;
  };
  std::vector<Level> path;
  path.push_back(level_of(*start.wait_lock.load()));
  std::uint64_t steps = 0;
  Found found;
  while (!path.empty()) {
    Level& level = path.back();
    if (level.next == level.ahead.size()) {
      level.waiting->trx->searched = ours;  // nothing is behind it that leads back
      path.pop_back();
      continue;
    }
    Trx* const ahead = level.ahead[level.next++];
    if (ahead == &start) {
      for (const Level& each : path) found.cycle.push_back(each.waiting->trx);
      // Of the two that met: the requester, unless it is heavier.
      Trx* const met = level.waiting->trx;
      const bool spares_met =
          met->is_urgent != start.is_urgent ? met->is_urgent : is_at_least_as_heavy(*met, start);
      found.victim = spares_met ? &start : met;
      return found;
    }
    const Lock* const waits = ahead->wait_lock.load(std::memory_order_relaxed);
    if (waits == nullptr || ahead->searched == ours) continue;
    if (path.size() > kMostDepth || ++steps > kMostSteps) {
      found.is_too_deep = true;
      found.victim = &start;
      return found;
    }
    path.push_back(level_of(*waits));
  }
  return found;
}

}  // namespace engineroom::lock_sys
