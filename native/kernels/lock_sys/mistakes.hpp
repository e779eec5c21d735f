// Mistakes that a lock system of one's own easily makes: the rules with one of them broken. The random runs and the worked
// examples plant them, one at a time, and must find each.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/names.hpp"
#include "lock_sys/rules.hpp"

namespace engineroom::lock_sys {

// The two about the order of grants have worked examples.

/// All waiters are sorted by weight: a waiter that no snapshot has seen yet falls behind those that came later.
struct LightOnesSorted : Sound {
  static constexpr bool is_light(std::uint64_t) { return false; }
};
/// The heaviest waiter still has to let everybody pass who came before.
struct EarlierWaitersChecked : Sound {
  static constexpr bool grant_looks_at_waiting_ahead() { return true; }
};

/// Those that runs at random can find.
enum class Mistake : std::uint8_t {
  none,
  shard_by_record,           // two records of one page have two latches, and their queue has none
  latched_in_request_order,  // of two latches: two requests can hold what the other wants
  gap_requests_wait,
  insert_intention_blocks,
  any_wait_is_the_same,  // a slot that waits again is taken for the wait that the snapshot saw
  blocker_not_renewed,  // a waiter that stays behind is not told who is in the way now, and nobody looks at it again
  implicit_locks_forgotten,  // a transaction that changed a row has it only until somebody else asks for it
};
constexpr auto named(names::Of<Mistake>) {
  return names::as_written<Mistake::implicit_locks_forgotten>("mistake");
}

/// The rules with one of them broken: at run time, so that all mistakes are one more program and not one each.
struct Broken : Sound {
  /// What this thread breaks.
  static constinit inline thread_local Mistake mistake = Mistake::none;

  static bool gap_requests_wait() { return mistake == Mistake::gap_requests_wait; }
  static bool insert_intention_blocks() { return mistake == Mistake::insert_intention_blocks; }
  static std::size_t shard(std::size_t cell, HeapNo heap_no, std::size_t shards) {
    return Sound::shard(mistake == Mistake::shard_by_record ? cell + heap_no : cell, heap_no, shards);
  }
  static bool takes_second_first(std::size_t first, std::size_t second) {
    return mistake != Mistake::latched_in_request_order && Sound::takes_second_first(first, second);
  }
  static bool is_same_wait(std::uint64_t then, std::uint64_t now) {
    return mistake == Mistake::any_wait_is_the_same || Sound::is_same_wait(then, now);
  }
  static bool renews_blocker() { return mistake != Mistake::blocker_not_renewed; }
  static bool converts_implicit_locks() { return mistake != Mistake::implicit_locks_forgotten; }
};

/// Calls run.operator()<Rules>() with the rules that `mistake` leaves.
template <typename Run>
auto with_rules(Mistake mistake, const Run& run) {
  if (mistake == Mistake::none) return run.template operator()<Sound>();
  Broken::mistake = mistake;
  return run.template operator()<Broken>();
}

}  // namespace engineroom::lock_sys
