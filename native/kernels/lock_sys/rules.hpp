// The rules that keep a lock system right, each where the algorithms ask for it.
//
// Models      who waits for whom, which latch guards which queue, what is checked before a victim is rolled back
// Leaves out  what is no rule but speed
// Cost        nothing: an empty class, all of it inlined
//
// The algorithms are templates over them, so that a test can break one rule at a time (mistakes.hpp).
#pragma once

#include <cstddef>
#include <cstdint>

#include "lock_sys/modes.hpp"

namespace engineroom::lock_sys {

struct Sound {
  /// A gap lock only keeps others from inserting: it is compatible with everything that is there.
  static constexpr bool gap_requests_wait() { return false; }
  /// A transaction that waits to insert keeps nobody out.
  static constexpr bool insert_intention_blocks() { return false; }
  /// Pages that share a queue share a latch.
  static constexpr std::size_t shard(std::size_t cell, HeapNo, std::size_t shards) { return cell % shards; }
  /// Two latches are taken in one order by all.
  static constexpr bool takes_second_first(std::size_t first, std::size_t second) { return second < first; }
  /// A snapshot's slot that was left and taken again says nothing about who waits now.
  static constexpr bool is_same_wait(std::uint64_t then, std::uint64_t now) { return then == now; }
  /// For whom nobody waits keeps his place behind those for whom somebody does.
  static constexpr bool is_light(std::uint64_t weight) { return weight <= 1; }
  /// From 8.0.20 on only who holds a lock keeps a waiter from getting his.
  static constexpr bool grant_looks_at_waiting_ahead() { return false; }
  /// A waiter that stays behind is told who is in the way now: only when that one goes will it be looked at again.
  static constexpr bool renews_blocker() { return true; }
  /// What a transaction changed before it could be asked for is its own until it commits.
  static constexpr bool converts_implicit_locks() { return true; }
};

}  // namespace engineroom::lock_sys
