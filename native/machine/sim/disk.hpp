// The disk of the simulated machine: so many fsyncs at the same time, each as long as is drawn and its bytes take.
//
// Leaves out  reads; writes go to the page cache (sim_file.hpp), which copies at the price of a pwrite
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "machine/random.hpp"
#include "machine/sim_config.hpp"

namespace engineroom::machine::sim {

class Disk {
 public:
  explicit Disk(const SimConfig& config) : config_(config), free_at_(config.disk_queue_depth) {}

  /// When an fsync is over that is asked for at `from`.
  Time fsync(Time from, std::uint64_t dirty_bytes, Random& random) {
    const auto channel = std::min_element(free_at_.begin(), free_at_.end());
    const Time service =
        config_.disk_fsync.draw(random) + static_cast<Time>(dirty_bytes) * config_.disk_ps_per_kib / 1024;
    *channel = std::max(*channel, from) + service;
    return *channel;
  }

 private:
  const SimConfig& config_;
  std::vector<Time> free_at_;
};

}  // namespace engineroom::machine::sim
