// The rules that keep two logs in agreement, each where the stages ask for it: what is done before what, and which thread does it.
//
// Models      the orders in which the servers do things, and why recovery can rely on them
// Leaves out  what is no rule but speed
// Cost        nothing: an empty class, all of it inlined
//
// The stages are templates over them, so that a test can break one rule at a time (mistakes.hpp) and the algorithm need not
// know.
#pragma once

#include <cstdint>

namespace engineroom::group_commit {

using Lsn = std::uint64_t;

struct Sound {
  /// The leader closes its group before it flushes: whoever comes later is not in this flush.
  constexpr bool fetches_before_flush() const { return true; }
  /// One flush for all: up to the end of the log, whatever the leader itself has written.
  constexpr Lsn to_flush(Lsn end_of_log, Lsn /*of_leader*/) const { return end_of_log; }
  /// The binlog decides; nothing is committed before it is on disk.
  constexpr bool syncs_before_commit() const { return true; }
  /// The delay lies before the sync: it lets a SYNC group grow while others go through FLUSH.
  constexpr bool delays_before_sync() const { return true; }
  /// A member is told once, when all is done.
  constexpr bool tells_members_early() const { return false; }
  /// Every member is told, the last one too.
  constexpr bool forgets_last_member() const { return false; }
  /// A file ends when all its transactions are committed in the engine: recovery reads the last file only.
  constexpr bool waits_for_prepared() const { return true; }
  /// ... and when these commits are on disk: else a transaction is found prepared and in no file that is read.
  constexpr bool flushes_engine_at_rotation() const { return true; }
};

}  // namespace engineroom::group_commit
