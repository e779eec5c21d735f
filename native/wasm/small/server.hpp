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
  machine::SimConfig config;
  config.sockets = sockets;
  config.cores_per_socket = cores;
  config.threads_per_core = threads;
  config.smt_permille = 625;
  config.load_ps = 1'600;
  config.rmw_ps = 7'000;
  config.same_core_ps = 10'000;
  config.same_socket_ps = 50'000;
  config.other_socket_ps = 135'000;
  config.first_touch_ps = 20'000;
  config.read_occupancy_ps = 10'000;
  config.pause_ps = 47'000;
  config.copy_ps_per_kib = 100'000;
  config.switch_ps = 1'500'000;
  config.yield_ps = 400'000;
  config.park_ps = 500'000;
  config.unpark_ps = 200'000;
  config.wake_each_ps = 1'000'000;
  config.wake.quantiles_ps = {3'000'000};
  config.timer_slack_ps = 50'000'000;
  config.slice_ps = 3'000'000'000;
  config.wakeup_granularity_ps = 4'000'000'000;
  config.pwrite_ps = 1'500'000;
  config.pwrite_ps_per_kib = 100'000;
  config.fsync_ps = 5'000'000;
  config.disk_ps_per_kib = 500'000;
  config.disk_fsync.quantiles_ps = {100'000'000};
  config.disk_queue_depth = 1;
  return config;
}

/// Of redo_log::LogConfig, which whoever includes an engine has: small, so that a run is made of its events and not of clearing memory.
template <typename LogConfig>
LogConfig log_config() {
  LogConfig log;
  log.buffer_bytes = std::size_t{1} << 20;
  log.recent_written_slots = std::uint64_t{1} << 14;
  log.recent_closed_slots = std::uint64_t{1} << 15;
  log.cpu_sample_ns = 5'000'000;  // the runs are short
  return log;
}

}  // namespace engineroom::small
