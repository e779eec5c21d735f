// What an engine is made of: the design of each part, and which parts are there at all.
#pragma once

#include <cstdint>
#include <string>

#include "common/described.hpp"
#include "common/require.hpp"
#include "engine/binlog.hpp"
#include "engine/buffer_pool.hpp"
#include "engine/gate.hpp"
#include "engine/purge.hpp"
#include "engine/statements.hpp"
#include "group_commit/commit_config.hpp"
#include "lock_sys/lock_config.hpp"
#include "lock_sys/schedulers.hpp"
#include "redo_log/design.hpp"
#include "redo_log/log_config.hpp"
#include "transactions/design.hpp"

namespace engineroom::engine {

/// A search looks whether somebody changes its part of the adaptive hash index, and goes from the root then. If somebody came in between it
/// waits, as in 5.7; or only tries, as in 8.0.31.
enum class HashIndex : std::uint8_t { off, waits, tries };
constexpr auto named(names::Of<HashIndex>) { return names::as_written<HashIndex::tries>("hash_index"); }

struct EngineConfig {
  bool has_row_locks = true;
  bool has_trx_sys = true;
  bool has_redo = true;
  bool has_purge = false;
  bool has_buffer_pool = false;
  redo_log::Design redo = redo_log::Design::log_8_0;
  Binlog binlog = Binlog::off;
  bool durable_first = true;
  bool server_order = false;
  bool has_space_latch = false;
  bool has_page_latches = false;
  HashIndex hash_index = HashIndex::off;
  std::uint64_t flush_every = 1;
  std::uint64_t dirty_percent = 30;
  std::uint64_t cleaned_per_s = 0;
  std::uint64_t undo_ns = 5'000;
  std::uint64_t undo_bytes = 150;
  std::uint64_t space_ns = 60;
  std::uint64_t partitions = 1;
  std::uint64_t hash_search_ns = 0;
  std::uint64_t hash_change_ns = 0;
  Admits admits = Admits::transactions;
  std::uint64_t most_inside = 0;
};
constexpr auto described(options::Of<EngineConfig>) {
  using C = EngineConfig;
  return options::list<C>(
      "an engine",
      {
          options::option<&C::has_row_locks>("off: nobody waits for a row"),
          options::option<&C::has_trx_sys>("off: no ids, no views, no implicit locks"),
          options::option<&C::has_redo>("off: no mini-transactions, and commits are durable at once"),
          options::option<&C::has_purge>("off: nothing is left of a commit that has to be purged"),
          options::option<&C::has_buffer_pool>("off: all pages are there, and nobody latches them"),
          options::option<&C::redo>("the design of the redo log"),
          options::option<&C::binlog>("the design of the commit with a binary log, or off"),
          options::option<&C::durable_first>("without a binary log: row locks are held until the commit is "
                                             "durable, as with one; off: they are let go before"),
          options::option<&C::server_order>("as servers do it: redo of a statement index by index, a "
                                            "commit's number before its redo; off: each in "
                                            "one piece"),
          options::option<&C::has_space_latch>(
              "tablespaces are looked up under one latch, as in 5.7; off: without any"),
          options::option<&C::has_page_latches>(
              "each search writes its root's lines, and a leaf is latched while a lock on a row is asked "
              "for and while redo of it is written; off: without any"),
          options::option<&C::hash_index>("the adaptive hash index: a search that finds nobody changing it "
                                          "waits for its latch, as in 5.7, "
                                          "or only tries, as in 8.0.31; off: none is there"),
          options::option<&C::flush_every>("without a binary log: so many transactions of a client to one "
                                           "that waits for the disk; 0: none does"),
          options::option<&C::dirty_percent>({.most = 100},
                                             "of the mini-transactions make a clean page dirty"),
          options::option<&C::cleaned_per_s>(
              {.most = 1'000'000'000},
              "pages that are written per second: in the long run no more become dirty; 0: no limit"),
          options::option<&C::undo_ns>("taking back one changed row, always the same"),
          options::option<&C::undo_bytes>({.least = 1, .most = kMostMtrBytes}, "redo of taking it back"),
          options::option<&C::space_ns>("looking up a tablespace, under the latch of all of them"),
          options::option<&C::partitions>(
              {.least = 1, .most = 1'024},
              "of each table of TPC-C but warehouse, district and item, or tables of SysBench's: counts with "
              "has_page_latches"),
          options::option<&C::hash_search_ns>("a search under the latch of its part of the hash index"),
          options::option<&C::hash_change_ns>("a change under it"),
          options::option<&C::admits>(
              "of what most_inside lets so many inside: transactions, in the order in which they "
              "came; or statements, as innodb_thread_concurrency"),
          options::option<&C::most_inside>(
              "so many inside the engine at a time, the others wait outside; 0, or as many as "
              "there are clients: all"),
      });
}
inline void check_together(const EngineConfig& config) {
  if (config.server_order && (config.has_purge || config.has_buffer_pool)) {
    refuse(
        "an engine in server_order has no purge and no buffer pool: set has_purge and has_buffer_pool off");
  }
  if (config.has_page_latches && config.has_buffer_pool) {
    refuse("a buffer pool has latches of its pages, and has_page_latches is on: set one of the two off");
  }
  if (config.hash_index != HashIndex::off && !config.has_page_latches) {
    refuse("hash_index is " + std::string(names::of(config.hash_index)) +
           ", and has_page_latches is off: set it, or hash_index to off");
  }
  if (config.binlog == Binlog::off || config.has_redo) return;
  refuse("a binlog of " + std::string(names::of(config.binlog)) +
         " has an engine whose transactions are prepared in its redo, and has_redo is off: set it, or "
         "binlog to off");
}

/// All parts of an engine.
struct Parts {
  EngineConfig engine{};
  lock_sys::LockConfig locks{};
  transactions::TrxSysConfig trx_sys{};
  redo_log::LogConfig log{};
  /// Of a commit with a binary log: its `commit_bytes`, `commit_ns` and `changed_rows` are what the transactions say.
  group_commit::CommitConfig commit{};
  PurgeConfig purge{};
  PoolConfig pool{};
  /// From the caller; empty: the policy of `locks`.
  lock_sys::Order order{};
};

}  // namespace engineroom::engine
