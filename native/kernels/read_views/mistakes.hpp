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

enum class Mistake : std::uint8_t {
  none,
  // The number leaves its list before the id: a view made in between does not show the transaction, and purge removes what
  // it is to show instead.
  numbers_leave_first,
  number_behind_mutex,  // the view's number is taken when the mutex is free again
  // It is taken behind the ids, under the mutex. No harm: who has a number that large is among the ids that were copied, and
  // cannot leave before the mutex is free.
  number_last,
  // The counter is read before the mutex is taken: who began and ended in between is hidden, who only ended is shown.
  counter_before_mutex,
  flag_behind_the_look,  // the view is marked open only behind the look at the counter
  reuses_non_empty,      // any view is used again as long as the counter has not moved
  reuses_stale,          // a view is used again whatever was written since
  view_not_told,         // a transaction that begins to write keeps its view as it was
  purge_clones_newest,   // purge keeps what the newest view needs
  purge_one_too_far,     // purge also takes the first undo log that is needed
};
constexpr auto named(names::Of<Mistake>) { return names::as_written<Mistake::purge_one_too_far>("mistake"); }

/// The rules with one of them broken: at run time, so that all mistakes are one more program and not one each.
struct Broken {
  /// What this thread breaks.
  static constinit inline thread_local Mistake mistake = Mistake::none;

  static bool ids_leave_before_numbers() { return mistake != Mistake::numbers_leave_first; }
  static NumberTaken number_taken() {
    if (mistake == Mistake::number_behind_mutex) return NumberTaken::behind_mutex;
    return mistake == Mistake::number_last ? NumberTaken::last : Sound::number_taken();
  }
  static bool counter_is_read_under_mutex() { return mistake != Mistake::counter_before_mutex; }
  static bool opens_before_it_looks() { return mistake != Mistake::flag_behind_the_look; }
  static bool reuses_only_empty() { return mistake != Mistake::reuses_non_empty; }
  static bool reuses_only_current() { return mistake != Mistake::reuses_stale; }
  static bool tells_the_view() { return mistake != Mistake::view_not_told; }
  static bool clones_oldest() { return mistake != Mistake::purge_clones_newest; }
  static bool is_removable(TrxNo no, TrxNo low_limit_no) {
    const bool is_first_needed = no == low_limit_no && mistake == Mistake::purge_one_too_far;
    return is_first_needed || Sound::is_removable(no, low_limit_no);
  }
};

/// Calls run.operator()<Rules>() with the rules that `mistake` leaves.
template <typename Run>
void plant(Mistake mistake, const Run& run) {
  if (mistake == Mistake::none) return run.template operator()<Sound>();
  Broken::mistake = mistake;
  run.template operator()<Broken>();
}

}  // namespace engineroom::read_views
