// Mistakes that a transaction system of one's own easily makes: the rules with one of them broken. The histories plant
// them, one at a time, and must find each that does harm.
#pragma once

#include <cstdint>

#include "common/names.hpp"
#include "transactions/rules.hpp"

namespace engineroom::read_views {

using transactions::NumberTaken;
using transactions::Sound;
using transactions::TrxNo;

/// The number leaves its list before the id: a view made in between does not show the transaction, and purge removes what
/// it is to show instead.
struct NumbersLeaveFirst : Sound {
  static constexpr bool ids_leave_before_numbers() { return false; }
};
/// The view's number is taken when the mutex is free again.
struct NumberBehindMutex : Sound {
  static constexpr NumberTaken number_taken() { return NumberTaken::behind_mutex; }
};
/// It is taken behind the ids, under the mutex. No harm: who has a number that large is among the ids that were copied, and
/// cannot leave before the mutex is free.
struct NumberLast : Sound {
  static constexpr NumberTaken number_taken() { return NumberTaken::last; }
};
/// The counter is read before the mutex is taken: who began and ended in between is hidden, who only ended is shown.
struct CounterBeforeMutex : Sound {
  static constexpr bool counter_is_read_under_mutex() { return false; }
};
/// The view is marked open only behind the look at the counter.
struct FlagBehindTheLook : Sound {
  static constexpr bool opens_before_it_looks() { return false; }
};
/// Any view is used again as long as the counter has not moved.
struct ReusesNonEmpty : Sound {
  static constexpr bool reuses_only_empty() { return false; }
};
/// A view is used again whatever was written since.
struct ReusesStale : Sound {
  static constexpr bool reuses_only_current() { return false; }
};
/// A transaction that begins to write keeps its view as it was.
struct ViewNotTold : Sound {
  static constexpr bool tells_the_view() { return false; }
};
/// Purge keeps what the newest view needs.
struct PurgeClonesNewest : Sound {
  static constexpr bool clones_oldest() { return false; }
};
/// Purge also takes the first undo log that is needed.
struct PurgeOneTooFar : Sound {
  static constexpr bool is_removable(TrxNo no, TrxNo low_limit_no) { return no <= low_limit_no; }
};

enum class Mistake : std::uint8_t {
  none,
  numbers_leave_first,
  number_behind_mutex,
  number_last,
  counter_before_mutex,
  flag_behind_the_look,
  reuses_non_empty,
  reuses_stale,
  view_not_told,
  purge_clones_newest,
  purge_one_too_far,
};
constexpr auto named(names::Of<Mistake>) {
  return names::table<Mistake>("mistake", {{"none", Mistake::none},
                                           {"numbers_leave_first", Mistake::numbers_leave_first},
                                           {"number_behind_mutex", Mistake::number_behind_mutex},
                                           {"number_last", Mistake::number_last},
                                           {"counter_before_mutex", Mistake::counter_before_mutex},
                                           {"flag_behind_the_look", Mistake::flag_behind_the_look},
                                           {"reuses_non_empty", Mistake::reuses_non_empty},
                                           {"reuses_stale", Mistake::reuses_stale},
                                           {"view_not_told", Mistake::view_not_told},
                                           {"purge_clones_newest", Mistake::purge_clones_newest},
                                           {"purge_one_too_far", Mistake::purge_one_too_far}});
}

/// Calls run.operator()<Rules>() with the rules that `mistake` leaves.
template <typename Run>
void plant(Mistake mistake, const Run& run) {
  switch (mistake) {
    case Mistake::none:
      return run.template operator()<Sound>();
    case Mistake::numbers_leave_first:
      return run.template operator()<NumbersLeaveFirst>();
    case Mistake::number_behind_mutex:
      return run.template operator()<NumberBehindMutex>();
    case Mistake::number_last:
      return run.template operator()<NumberLast>();
    case Mistake::counter_before_mutex:
      return run.template operator()<CounterBeforeMutex>();
    case Mistake::flag_behind_the_look:
      return run.template operator()<FlagBehindTheLook>();
    case Mistake::reuses_non_empty:
      return run.template operator()<ReusesNonEmpty>();
    case Mistake::reuses_stale:
      return run.template operator()<ReusesStale>();
    case Mistake::view_not_told:
      return run.template operator()<ViewNotTold>();
    case Mistake::purge_clones_newest:
      return run.template operator()<PurgeClonesNewest>();
    case Mistake::purge_one_too_far:
      return run.template operator()<PurgeOneTooFar>();
  }
}

}  // namespace engineroom::read_views
