// What a lock system consists of, and the versions as such configurations.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/described.hpp"
#include "common/names.hpp"
#include "lock_sys/queues.hpp"
#include "sync/latch.hpp"

namespace engineroom::lock_sys {

enum class Latching : std::uint8_t { one_mutex, sharded };
constexpr auto named(names::Of<Latching>) {
  return names::table<Latching>("latching",
                                {{"one mutex", Latching::one_mutex}, {"sharded", Latching::sharded}});
}

enum class Detection : std::uint8_t {
  off,         // innodb_deadlock_detect=OFF: the timeout ends a deadlock
  in_request,  // by the session that is about to wait
  background   // by a thread, from a snapshot
};
constexpr auto named(names::Of<Detection>) {
  return names::table<Detection>("detection", {{"off", Detection::off},
                                               {"in the request", Detection::in_request},
                                               {"background", Detection::background}});
}

enum class Design : std::uint8_t { mysql_5_7, mysql_8_0_15, mysql_9_7 };
constexpr auto named(names::Of<Design>) {
  return names::table<Design>(
      "design", {{"5.7", Design::mysql_5_7}, {"8.0.15", Design::mysql_8_0_15}, {"9.7", Design::mysql_9_7}});
}

struct LockConfig {
  Latching latching = Latching::sharded;
  Detection detection = Detection::background;
  Policy policy = Policy::cats_8_0_20;
  bool granted_in_front = true;
  bool holder_passes_waiter = true;
  bool splits_next_key = true;
  bool readers_inherit_gaps = false;
  bool unlock_leaves_gap = true;
  TableLooks table_looks = TableLooks::flat;
  std::size_t cells = 40'961;
  std::size_t page_shards = 512;
  std::size_t table_shards = 512;
  std::size_t global_parts = 64;
  std::uint64_t lock_wait_timeout_ns = 50'000'000'000;
  std::uint64_t check_every_ns = 1'000'000'000;
  std::uint64_t release_interval = 1000;

  // What the instructions take that are not shared words: on real threads what they take there.
  std::uint64_t look_ns = 5;
  std::uint64_t create_ns = 40;
  std::uint64_t weigh_ns = 100;
  std::uint64_t print_ns = 0;
  bool has_lines = false;
  sync::SpinParams latch_spin{};

  QueueDesign queues() const {
    return {.granted_in_front = granted_in_front,
            .holder_passes_waiter = holder_passes_waiter,
            .splits_next_key = splits_next_key,
            .knows_blockers = detection != Detection::in_request,
            .unlock_leaves_gap = unlock_leaves_gap,
            .table_looks = table_looks};
  }
};
constexpr auto described(options::Of<LockConfig>) {
  using options::option;
  using C = LockConfig;
  using sync::SpinParams;
  return options::list<C>(
      "a lock system",
      {
          option<&C::latching>("what guards the queues"),
          option<&C::detection>("who finds deadlocks"),
          option<&C::policy>("who of several waiters is tried first"),
          option<&C::granted_in_front>("a granted lock goes to the front of its page's chain"),
          option<&C::holder_passes_waiter>(
              "who holds what a waiter waits for may take more of the record before it"),
          option<&C::splits_next_key>("who has the record and asks for record and gap gets the gap alone"),
          option<&C::readers_inherit_gaps>(
              "under READ COMMITTED, a locking reader that waits for a row which goes away gets its gap"),
          option<&C::unlock_leaves_gap>("to let go of a row that does not match leaves the lock on its gap"),
          option<&C::table_looks>("which locks of its table an intention lock looks at: 'each', as in 5.7; "
                                  "none where it 'counts' "
                                  "those on the whole table, as in 8.0; 'flat' is each, its memory here"),
          option<&C::cells>({.least = 1, .most = 1 << 24}, "of the hash table of pages"),
          option<&C::page_shards>({.least = 1, .most = 1 << 16, .is_power_of_two = true},
                                  "mutexes over the cells"),
          option<&C::table_shards>({.least = 1, .most = 1 << 16, .is_power_of_two = true},
                                   "mutexes over the tables"),
          option<&C::global_parts>({.least = 1, .most = 1 << 16}, "of the global read-write latch"),
          option<&C::lock_wait_timeout_ns>({.least = 1}, "innodb_lock_wait_timeout"),
          option<&C::check_every_ns>({.least = 1},
                                     "at the latest after so long the thread looks at who waits"),
          option<&C::release_interval>({.least = 1},
                                       "locks that a commit releases before it lets others at the mutex"),
          option<&C::look_ns>("one lock object of a chain looked at"),
          option<&C::create_ns>("one lock object made and put into its chain"),
          option<&C::weigh_ns>("one waiter in the thread's sum of weights and its search for cycles"),
          option<&C::print_ns>("telling of one deadlock, while all queues are latched"),
          option<&C::has_lines>("lock objects and heads of chains are memory that has to come from the CPU "
                                "that changed it last; off: it is here"),
          option<&C::latch_spin, &SpinParams::rounds>("spin_rounds", "looks at a latch before a park"),
          option<&C::latch_spin, &SpinParams::wait_delay>("spin_wait_delay",
                                                          "between two looks a number up to this is drawn"),
          option<&C::latch_spin, &SpinParams::pause_multiplier>("spin_pause_multiplier",
                                                                "pauses for each of it"),
      });
}
inline void check_together(const LockConfig& config) {
  if (config.detection != Detection::in_request || config.latching == Latching::one_mutex) return;
  refuse("a search in the request walks through queues of all pages: it needs latching 'one mutex'");
}

/// A version's lock system, with its defaults.
inline LockConfig config_of(Design design) {
  LockConfig config;
  if (design == Design::mysql_9_7) return config;
  config.latching = Latching::one_mutex;
  config.detection = Detection::in_request;
  config.policy = design == Design::mysql_5_7 ? Policy::fcfs_5_7 : Policy::cats_8_0_3;
  config.granted_in_front = design == Design::mysql_8_0_15;
  config.holder_passes_waiter = false;
  config.splits_next_key = false;
  config.readers_inherit_gaps = true;
  config.unlock_leaves_gap = design == Design::mysql_8_0_15;
  return config;
}

}  // namespace engineroom::lock_sys
