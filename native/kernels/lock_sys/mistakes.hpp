// Mistakes that a lock system of one's own easily makes: the rules with one of them broken. The random runs and the worked
// examples plant them, one at a time, and must find each.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/names.hpp"
#include "lock_sys/rules.hpp"

namespace engineroom::lock_sys {

/// Two records of one page have two latches, and their queue has none.
struct ShardByRecord : Sound {
  static constexpr std::size_t shard(std::size_t cell, HeapNo heap_no, std::size_t shards) {
    return (cell + heap_no) % shards;
  }
};
/// Two latches are taken in the order of the request: two requests can hold what the other wants.
struct LatchedInRequestOrder : Sound {
  static constexpr bool takes_second_first(std::size_t, std::size_t) { return false; }
};
struct GapRequestsWait : Sound {
  static constexpr bool gap_requests_wait() { return true; }
};
struct InsertIntentionBlocks : Sound {
  static constexpr bool insert_intention_blocks() { return true; }
};
/// A slot that waits again is taken for the wait that the snapshot saw.
struct AnyWaitIsTheSame : Sound {
  static constexpr bool is_same_wait(std::uint64_t, std::uint64_t) { return true; }
};
/// All waiters are sorted by weight: a waiter that no snapshot has seen yet falls behind those that came later.
struct LightOnesSorted : Sound {
  static constexpr bool is_light(std::uint64_t) { return false; }
};
/// The heaviest waiter still has to let everybody pass who came before.
struct EarlierWaitersChecked : Sound {
  static constexpr bool grant_looks_at_waiting_ahead() { return true; }
};
/// A waiter that stays behind is not told who is in the way now, and nobody looks at it again.
struct BlockerNotRenewed : Sound {
  static constexpr bool renews_blocker() { return false; }
};
/// A transaction that changed a row has it only until somebody else asks for it.
struct ImplicitLocksForgotten : Sound {
  static constexpr bool converts_implicit_locks() { return false; }
};

/// Those that runs at random can find; the two about the order of grants have worked examples.
enum class Mistake : std::uint8_t {
  none,
  shard_by_record,
  latched_in_request_order,
  gap_requests_wait,
  insert_intention_blocks,
  any_wait_is_the_same,
  blocker_not_renewed,
  implicit_locks_forgotten,
};
constexpr auto named(names::Of<Mistake>) {
  return names::table<Mistake>("mistake", {
                                              {"none", Mistake::none},
                                              {"shard_by_record", Mistake::shard_by_record},
                                              {"latched_in_request_order", Mistake::latched_in_request_order},
                                              {"gap_requests_wait", Mistake::gap_requests_wait},
                                              {"insert_intention_blocks", Mistake::insert_intention_blocks},
                                              {"any_wait_is_the_same", Mistake::any_wait_is_the_same},
                                              {"blocker_not_renewed", Mistake::blocker_not_renewed},
                                              {"implicit_locks_forgotten", Mistake::implicit_locks_forgotten},
                                          });
}

/// Calls run.operator()<Rules>() with the rules that `mistake` leaves.
template <typename Run>
auto with_rules(Mistake mistake, const Run& run) {
  switch (mistake) {
    case Mistake::none:
      break;
    case Mistake::shard_by_record:
      return run.template operator()<ShardByRecord>();
    case Mistake::latched_in_request_order:
      return run.template operator()<LatchedInRequestOrder>();
    case Mistake::gap_requests_wait:
      return run.template operator()<GapRequestsWait>();
    case Mistake::insert_intention_blocks:
      return run.template operator()<InsertIntentionBlocks>();
    case Mistake::any_wait_is_the_same:
      return run.template operator()<AnyWaitIsTheSame>();
    case Mistake::blocker_not_renewed:
      return run.template operator()<BlockerNotRenewed>();
    case Mistake::implicit_locks_forgotten:
      return run.template operator()<ImplicitLocksForgotten>();
  }
  return run.template operator()<Sound>();
}

}  // namespace engineroom::lock_sys
