// What a server can be told about its commits, and what their parts take.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/described.hpp"

namespace engineroom::group_commit {

struct CommitConfig {
  std::uint64_t sync_binlog = 1;
  std::uint64_t flush_log_at_trx_commit = 1;
  std::uint64_t delay_us = 0;
  std::uint64_t no_delay_count = 0;
  bool order_commits = true;
  bool own_conditions = false;
  std::uint64_t max_binlog_bytes = std::uint64_t{1} << 30;
  std::uint64_t flush_log_at_timeout_ns = 1'000'000'000;

  // What a transaction writes.
  std::size_t prepare_bytes = 120;
  std::size_t commit_bytes = 200;
  std::uint64_t changed_rows = 1;
  std::size_t io_cache_bytes = 8192;

  // What the instructions take that are not shared words and not copies: on real threads what they take there.
  std::uint64_t prepare_ns = 2'000;
  std::uint64_t encode_ns = 3'000;
  std::uint64_t enroll_ns = 30;
  std::uint64_t write_ns = 2'000;
  std::uint64_t commit_ns = 3'000;
};
constexpr auto described(options::Of<CommitConfig>) {
  using C = CommitConfig;
  return options::list<C>(
      "a commit",
      {
          options::option<&C::sync_binlog>("so many groups to an fsync of the binlog; 0: the system decides"),
          options::option<&C::flush_log_at_trx_commit>(
              {.most = 2}, "innodb_flush_log_at_trx_commit: 0 nothing, 1 write and fsync, 2 write"),
          options::option<&C::delay_us>({.most = 1'000'000},
                                        "binlog_group_commit_sync_delay: before a sync, for others to come"),
          options::option<&C::no_delay_count>(
              {.most = 100'000},
              "binlog_group_commit_sync_no_delay_count: so many end the delay; 0: only its time does"),
          options::option<&C::order_commits>(
              "binlog_order_commits: the engine commits in the binlog's order"),
          options::option<&C::own_conditions>(
              "a condition per waiting session; the servers have one for all"),
          options::option<&C::max_binlog_bytes>({.least = 1}, "max_binlog_size"),
          options::option<&C::flush_log_at_timeout_ns>(
              {.least = 1},
              "innodb_flush_log_at_timeout: how often the redo log is flushed that no commit flushes"),
          options::option<&C::prepare_bytes>({.least = 18, .most = 64 << 20}, "redo of a prepare"),
          options::option<&C::commit_bytes>({.least = 18, .most = 64 << 20}, "redo of the engine's commit"),
          options::option<&C::changed_rows>({.least = 1, .most = 100'000},
                                            "rows of the transaction's update in the binlog"),
          options::option<&C::io_cache_bytes>(
              {.least = 1}, "the binlog's cache: a group that is larger is written in pieces"),
          options::option<&C::prepare_ns>("the engine's prepare, besides its redo"),
          options::option<&C::encode_ns>("a session's events before its turn comes"),
          options::option<&C::enroll_ns>("under the mutex of a stage's queue"),
          options::option<&C::write_ns>("a transaction's events on their way to the binlog's cache"),
          options::option<&C::commit_ns>("the engine's commit, besides its redo"),
      });
}

}  // namespace engineroom::group_commit
