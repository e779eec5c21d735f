// Must a request wait for a lock that is there? The whole of InnoDB's answer, in its order.
//
// Models      lock_rec_has_to_wait and lock_has_to_wait (5.7 to 9.7)
// Leaves out  predicate locks
// Cost        some comparisons
//
//   asked \ there      next-key   gap    rec-not-gap   insert intention      (where the modes conflict)
//   next-key           wait       -      wait          -
//   gap                -          -      -             -
//   rec-not-gap        wait       -      wait          -
//   insert intention   wait       wait   -             -
#pragma once

#include "lock_sys/locks.hpp"
#include "lock_sys/rules.hpp"

namespace engineroom::lock_sys {

/// A lock on one record, asked for.
struct Request {
  PageId page = 0;
  std::uint32_t index = 0;
  HeapNo heap_no = kFirstRecord;
  Mode mode = Mode::x;
  Kind kind = Kind::next_key;
  std::uint32_t records_on_page = 16;
  /// Whoever changes a record that it has locked anyway, or that only it can know, needs no object unless it must wait.
  bool may_stay_implicit = false;
};

/// Waiting locks block as granted ones do: who asks first is not overtaken by one that asks for less.
template <typename Rules = Sound>
constexpr bool must_wait(const Trx& trx, const Request& asked, const Lock& there) {
  if (there.trx == &trx || is_compatible(asked.mode, there.mode)) return false;
  if (trx.is_urgent && there.is_waiting && !there.trx->is_urgent) return false;
  const bool inserts = asked.kind == Kind::insert_intention;
  const bool is_gap = asked.heap_no == kSupremum || asked.kind == Kind::gap;
  if (is_gap && !inserts && !Rules::gap_requests_wait()) return false;
  if (!inserts && there.kind == Kind::gap) return false;
  if (inserts && there.kind == Kind::rec_not_gap) return false;
  if (there.kind == Kind::insert_intention && !Rules::insert_intention_blocks()) return false;
  return true;
}

/// The request that a waiting lock stands for.
inline Request request_of(const Lock& lock, HeapNo heap_no) {
  return {.page = lock.place, .index = lock.index, .heap_no = heap_no, .mode = lock.mode, .kind = lock.kind};
}

}  // namespace engineroom::lock_sys
