// The rules that keep snapshots right and purge safe, each where the algorithms ask for it.
//
// Models      the orders in which the servers do things, and why readers and purge can rely on them
// Leaves out  what is no rule but speed
// Cost        nothing: an empty class, all of it inlined
//
// The transaction system and purge are templates over them, so that a test can break one rule at a time
// (read_views/mistakes.hpp) and the algorithms need not know.
#pragma once

#include <cstdint>

#include "transactions/read_view.hpp"

namespace engineroom::transactions {

/// When a view takes the number up to which purge may go.
enum class NumberTaken : std::uint8_t { first, last, behind_mutex };

struct Sound {
  /// A transaction is visible to new views before its number stops protecting its undo log: a view that does not show it
  /// yet finds the number.
  static constexpr bool ids_leave_before_numbers() { return true; }
  /// The number is taken under the mutex; before the ids, as the server asserts.
  static constexpr NumberTaken number_taken() { return NumberTaken::first; }
  /// The counter that ends a view is read under the mutex under which ids are copied: one moment.
  static constexpr bool counter_is_read_under_mutex() { return true; }
  /// A thread that reopens a view marks it open first, then looks whether it is up to date: purge, looking at the mark, either
  /// sees it or came before a counter that has not moved since.
  static constexpr bool opens_before_it_looks() { return true; }
  /// A view is used again only when nobody was active at its making: who was may have become visible without moving the
  /// counter.
  static constexpr bool reuses_only_empty() { return true; }
  /// And only when neither an id nor a number was given since.
  static constexpr bool reuses_only_current() { return true; }
  /// A transaction that begins to write tells the view that it has, or it would not see its own changes.
  static constexpr bool tells_the_view() { return true; }
  /// Purge keeps what the oldest open view needs, not the newest.
  static constexpr bool clones_oldest() { return true; }
  /// What has a number below the view's limit is shown by every open view.
  static constexpr bool is_removable(TrxNo no, TrxNo low_limit_no) { return no < low_limit_no; }
};

}  // namespace engineroom::transactions
