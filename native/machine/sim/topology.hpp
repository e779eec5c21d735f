// Which CPUs share a core, a socket, or only the machine.
#pragma once

#include <cstdint>
#include <vector>

#include "machine/cpu_set.hpp"
#include "machine/sim_config.hpp"

namespace engineroom::machine::sim {

class Topology {
 public:
  explicit Topology(const SimConfig& config)
      : sockets_(config.sockets),
        cpus_(config.cpus()),
        cpus_per_socket_(config.cores_per_socket * config.threads_per_core),
        cpus_per_core_(config.threads_per_core),
        near_(cpus_) {
    for (std::uint32_t cpu = 0; cpu < cpus_; ++cpu) {
      for (auto [i, to] = same_socket(cpu); i < to; ++i) near_[cpu].socket.add(i);
      for (auto [i, to] = same_core(cpu); i < to; ++i) near_[cpu].core.add(i);
    }
  }

  std::uint32_t sockets() const { return sockets_; }
  std::uint32_t cpus() const { return cpus_; }
  std::uint32_t cpus_per_core() const { return cpus_per_core_; }

  std::uint32_t socket_of(std::uint32_t cpu) const { return cpu / cpus_per_socket_; }
  /// CPUs [from, to).
  struct Range {
    std::uint32_t from;
    std::uint32_t to;
  };
  Range cpus_of_socket(std::uint32_t socket) const {
    return {socket * cpus_per_socket_, (socket + 1) * cpus_per_socket_};
  }
  Range same_socket(std::uint32_t cpu) const { return cpus_of_socket(socket_of(cpu)); }
  Range same_core(std::uint32_t cpu) const {
    const std::uint32_t from = cpu / cpus_per_core_ * cpus_per_core_;
    return {from, from + cpus_per_core_};
  }
  /// The same as sets.
  const CpuSet& core_set(std::uint32_t cpu) const { return near_[cpu].core; }
  const CpuSet& socket_set(std::uint32_t cpu) const { return near_[cpu].socket; }

 private:
  struct Near {
    CpuSet socket;
    CpuSet core;
  };

  std::uint32_t sockets_;
  std::uint32_t cpus_;
  std::uint32_t cpus_per_socket_;
  std::uint32_t cpus_per_core_;
  std::vector<Near> near_;  // each CPU
};

}  // namespace engineroom::machine::sim
