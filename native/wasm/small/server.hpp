// The simulated server of explorables over the whole engine, and a redo log that is small enough for them.
//
// Models      data/machine/four_sockets_176.json, or a part of it: tests hold the runs against the native ones
#pragma once

#include <cstddef>
#include <cstdint>

#include "machine/sim_config.hpp"

namespace engineroom::small {

/// So many sockets, cores of each and CPUs of a core.
inline machine::SimConfig machine_of(std::uint32_t sockets, std::uint32_t cores, std::uint32_t threads) {
  return {.sockets = sockets,
          .cores_per_socket = cores,
          .threads_per_core = threads,
          .smt_permille = 625,
          .load_ps = 1'600,
          .rmw_ps = 7'000,
          .same_core_ps = 10'000,
          .same_socket_ps = 50'000,
          .other_socket_ps = 135'000,
          .first_touch_ps = 20'000,
          .read_occupancy_ps = 10'000,
          .pause_ps = 47'000,
          .copy_ps_per_kib = 100'000,
          .switch_ps = 1'500'000,
          .wake = {.quantiles_ps = {3'000'000}},
          .park_ps = 500'000,
          .unpark_ps = 200'000,
          .wake_each_ps = 1'000'000,
          .yield_ps = 400'000,
          .slice_ps = 3'000'000'000,
          .wakeup_granularity_ps = 4'000'000'000,
          .timer_slack_ps = 50'000'000,
          .pwrite_ps = 1'500'000,
          .pwrite_ps_per_kib = 100'000,
          .fsync_ps = 5'000'000,
          .disk_fsync = {.quantiles_ps = {100'000'000}},
          .disk_ps_per_kib = 500'000,
          .disk_queue_depth = 1};
}

/// Of redo_log::LogConfig, which whoever includes an engine has: small, so that a run is made of its events and not of clearing memory.
template <typename LogConfig>
LogConfig log_config() {
  LogConfig log{.buffer_bytes = std::size_t{1} << 20,
                .recent_written_slots = std::uint64_t{1} << 14,
                .recent_closed_slots = std::uint64_t{1} << 15};
  log.cpu_sample_ns = 5'000'000;  // the runs are short
  return log;
}

}  // namespace engineroom::small
