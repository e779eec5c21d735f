// The designs of the transaction system that the chapters compare, and the one name that each has from the page to the
// kernel.
#pragma once

#include <cstdint>

#include "common/described.hpp"
#include "common/names.hpp"
#include "sync/latch.hpp"

namespace engineroom::transactions {

/// Under which latches ids, numbers and the set of active transactions lie.
enum class Latches : std::uint8_t {
  one_5_6,  // one mutex: every transaction enters the list, and each question whether an id is active takes it
  one_5_7,  // as 5.6, but only transactions that write enter
  one_8_0,  // as 5.7, but an id below all active ones needs no mutex (up to 8.0.25)
  split,    // as 8.0, and commit numbers have a mutex of their own: a build of the source, no release
  sharded,  // as split, and each of 256 parts of the active set has a mutex, too (8.0.26 to 9.7)
};
constexpr auto named(names::Of<Latches>) {
  return names::table<Latches>("latches", {{"5.6", Latches::one_5_6},
                                           {"5.7", Latches::one_5_7},
                                           {"8.0", Latches::one_8_0},
                                           {"8.0, split", Latches::split},
                                           {"8.0, sharded", Latches::sharded}});
}

/// What becomes of the view of an autocommit read when the read ends.
enum class Views : std::uint8_t {
  removed,          // 5.6: it leaves the list
  kept,             // 5.7 to 9.7: it stays there, marked closed, and may be used again
  removed_at_once,  // the remedy: as in 5.6, over the list of 5.7
};
constexpr auto named(names::Of<Views>) { return names::as_written<Views::removed_at_once>("views"); }

/// How the active ids are kept that a view copies.
enum class Ids : std::uint8_t {
  vector,  // sorted, eight to a cache line: a view copies all of them
  bitmap,  // a bit for each id from the least active one on: a view copies that span (a patch of 8.0.27)
};
constexpr auto named(names::Of<Ids>) { return names::as_written<Ids::bitmap>("ids"); }

struct TrxSysConfig {
  Latches latches = Latches::sharded;
  Views views = Views::kept;
  Ids ids = Ids::vector;
  bool closes_without_mutex = false;
  bool has_lines = false;
  // What the instructions take that are not shared words and not copies.
  std::uint64_t list_ns = 15;     // entering a list, or leaving it
  std::uint64_t set_ns = 60;      // entering, leaving or searching a tree or a hash table of ids
  std::uint64_t prepare_ns = 40;  // a view, besides its ids
  std::uint64_t walk_ns = 2;      // from one view of the list to the next, besides its line
  sync::SpinParams latch_spin{};
};
constexpr auto described(options::Of<TrxSysConfig>) {
  using C = TrxSysConfig;
  using Spin = sync::SpinParams;
  return options::list<C>(
      "a transaction system",
      {
          options::option<&C::latches>("under which latches ids, numbers and sets lie"),
          options::option<&C::views>("what becomes of the view of an autocommit read"),
          options::option<&C::ids>("how the active ids are kept that a view copies"),
          options::option<&C::closes_without_mutex>(
              "the view of a statement is marked closed at its end, and leaves the list when the session "
              "opens the next one"),
          options::option<&C::has_lines>("lists, sets and ids are memory that has to come from the CPU that "
                                         "changed it last; off: it is here"),
          options::option<&C::list_ns>("entering a list, or leaving it"),
          options::option<&C::set_ns>("entering, leaving or searching a set of ids"),
          options::option<&C::prepare_ns>("making a view, besides copying its ids"),
          options::option<&C::walk_ns>("from one view of the list to the next, besides its line of memory"),
          options::option<&C::latch_spin, &Spin::rounds>("spin_rounds",
                                                         "looks at a latch before a thread sleeps"),
          options::option<&C::latch_spin, &Spin::wait_delay>("spin_wait_delay", "innodb_spin_wait_delay"),
      });
}

}  // namespace engineroom::transactions
